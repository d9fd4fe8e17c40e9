// SPDX-License-Identifier: Apache-2.0
// The debug information of one object, opened with libdw.
//
// libdw sees a file of our making: the .debug_* sections, decompressed and of known size, behind
// headers that are right. It never opens another file by itself, except .dwo files: who
// uses it takes care of those.
#pragma once

#include <elfutils/libdw.h>

#include "object/object.h"

struct dwarf_file {
	char *image;
	Elf *elf;
	Dwarf *dwarf;
	struct dwarf_file *shared; // what several debug files have in common, or NULL
};

// NULL if the object has no debug information, or none that can be read in size_max bytes. Does not
// need the object afterwards.
struct dwarf_file *dwarf_file_new(struct object *obj, uint64_t size_max);
void dwarf_file_free(struct dwarf_file *f);
GUARD_FREE(dwarf_file)

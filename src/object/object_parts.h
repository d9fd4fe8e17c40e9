// SPDX-License-Identifier: Apache-2.0
// What the files of this folder share about an object. Each question is answered by its own file,
// which keeps what it has worked out in the object's slot for it.
#pragma once

#include "object/elf_file.h"
#include "object/object.h"

enum object_part {
	OBJECT_PART_DEBUG_FILE,
	OBJECT_PART_SYMBOLS,
	OBJECT_PART_SOURCE,
	OBJECT_PART_GOPCLNTAB,
	OBJECT_PART_ROWS,
	OBJECT_PART_COUNT,
};

struct object_slot {
	bool tried;  // looked for already; state is NULL if there is none
	void *state; // NULL or what free() takes
	void (*free)(void *state);
};

struct object {
	struct elf_file elf;
	char *path;
	char *root;
	struct elf_bytes notes;
	struct str build_id;
	struct object_slot parts[OBJECT_PART_COUNT];
};

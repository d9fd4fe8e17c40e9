// SPDX-License-Identifier: Apache-2.0
// What binutils' readelf thinks of a file's call frame tables, as rows to compare ours with.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"

#define READELF_CELL 24
#define READELF_REGS 17

// One line of its table: cells as it prints them ("rsp+8", "c-16", "u", "exp"); "" if not printed.
struct readelf_row {
	uint64_t start; // virtual addresses [start, end)
	uint64_t end;
	char cfa[READELF_CELL];
	char regs[READELF_REGS][READELF_CELL]; // by DWARF number
};

struct readelf_frames {
	VEC(struct readelf_row) rows; // ascending
	VEC(struct readelf_row) cies; // start is the CIE's offset in the section
	bool partial;                 // another section describes more
};

// False if readelf cannot be run. `section` is ".eh_frame" or ".debug_frame".
bool readelf_frames_read(const char *path, const char *section, struct readelf_frames *ret);
void readelf_frames_fini(struct readelf_frames *f);

// SPDX-License-Identifier: Apache-2.0
// The functions of one compilation unit and what is inlined into them, by address. Made by walking
// the unit's debug information once; asked by binary search.
#pragma once

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/map.h"
#include "base/vec.h"
#include "object/elf_file.h"

#define SCOPE_NONE UINT32_MAX

// A function, or a function inlined at one place.
struct scope {
	const char *name;   // NULL until asked for, "" if there is none
	uint32_t die;       // offset in .debug_info
	uint32_t parent;    // what it is inlined into; SCOPE_NONE for a function proper
	uint32_t call_file; // of an inlined one: where it was called; 0 if unknown
	uint32_t call_line;
};

// Code from here to the next segment belongs to this scope and none inside of it.
struct scope_segment {
	uint32_t low; // from the unit's base
	uint32_t scope;
};

// A namespace or a type that functions are declared in.
struct scope_context {
	uint32_t die;
	uint32_t parent; // SCOPE_NONE at the top
};

struct scopes {
	Dwarf_Die unit; // the one that was walked: of the .dwo file if there is one
	uint64_t base;
	VEC(struct scope) list;
	VEC(struct scope_segment) segments;
	// For functions without a linkage name: where they are declared.
	VEC(struct scope_context) contexts;
	struct map declared_in; // offset of the function's entry → index of its context
	struct arena names;
};

// `code` is the file whose segments the addresses must be in. False when there is no memory.
bool scopes_init(struct scopes *s, const Dwarf_Die *unit, const struct elf_file *code);
void scopes_fini(struct scopes *s);

// The innermost scope at an address, or SCOPE_NONE.
uint32_t scopes_find(const struct scopes *s, uint64_t vaddr);
// The linkage name, else the plain one behind the names of what it is declared in; NULL if there is
// none. Valid as long as the scopes and the Dwarf.
const char *scopes_name(struct scopes *s, uint32_t scope);

// Ranges of a function that the linker left out lie at 0 or -1; hostile ones anywhere.
bool dwarf_range_is_code(const struct elf_file *code, uint64_t low, uint64_t high);

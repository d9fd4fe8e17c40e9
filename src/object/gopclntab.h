// SPDX-License-Identifier: Apache-2.0
// Go's own table of functions, which every Go program carries, also when it is stripped: names,
// and tables that map each pc to a value, such as the size of the stack frame there.
// Go 1.2 to current.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

struct object;
struct gopclntab;

struct go_func {
	uint64_t entry; // virtual addresses
	uint64_t end;
	struct str name; // valid as long as the object; may be empty
	struct str
		record; // the function's _func, to the end of the table: layout depends on version
	uint32_t pcsp;  // offset of the pc → stack depth table; 0 if there is none
	uint8_t flags;  // GO_FUNC_*; 0 before Go 1.17
};

// abi.FuncFlag
#define GO_FUNC_TOP_FRAME 1 // the outermost function of a stack
#define GO_FUNC_SP_WRITE 2  // assembly that sets the stack pointer: pcsp may not be true

// NULL if the object has none or it is broken. Owned by the object.
const struct gopclntab *object_gopclntab(struct object *obj);

size_t gopclntab_count(const struct gopclntab *table);
// The functions in order of their addresses. False if the entry is broken.
bool gopclntab_func(const struct gopclntab *table, size_t index, struct go_func *ret);
// The index of the last function that starts at or before an address; false if there is none.
bool gopclntab_find(const struct gopclntab *table, uint64_t vaddr, size_t *ret_index);

// One step of a pc-value table: `value` holds from start to end.
struct go_span {
	uint64_t start;
	uint64_t end;
	int32_t value;
};

// struct go_spans spans = gopclntab_spans(table, &func, func.pcsp);
// for (struct go_span s; go_spans_next(&spans, &s);)
struct go_spans {
	struct str rest;
	uint64_t pc;
	uint64_t end; // of the function: no span reaches beyond it
	int32_t value;
	uint32_t quantum;
	bool started;
};
struct go_spans gopclntab_spans(const struct gopclntab *table, const struct go_func *func,
				uint32_t offset);
bool go_spans_next(struct go_spans *spans, struct go_span *ret);

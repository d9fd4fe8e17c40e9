// SPDX-License-Identifier: Apache-2.0
// Unwind rows of an object, a 64 KiB page of text at a time, in the form of wire/unwind.h.
// Sources, best first: .eh_frame, Go's .gopclntab, .debug_frame (also of the debug file), and what
// can be seen from the code of linkage tables and of the place where a program starts.
#pragma once

#include "base/map.h"
#include "base/vec.h"
#include "object/object.h"
#include "wire/unwind.h"

// Distinct rules, shared by all objects; rule number 0 is RULE_NONE.
struct rules {
	VEC(struct wire_rule) list;
	struct map index; // hash → number
};
#define RULES_MAX 32768 // what the BPF map holds

struct error *rules_init(struct rules *r) must_check;
void rules_fini(struct rules *r);
// The number of a rule equal to *rule. RULE_NONE when the table is full or there is no memory.
uint16_t rules_intern(struct rules *r, const struct wire_rule *rule);

struct row_page {
	VEC(struct wire_row) rows; // first one at low16 == 0, ascending
};
void row_page_fini(struct row_page *p);

// Never fails on a broken file: what cannot be read is RULE_NONE for its range.
// ERROR_NO_MEMORY is the only error.
struct error *object_row_page(struct object *obj, uint32_t page, struct rules *rules,
			      struct row_page *ret) must_check;

// The general case, for rules that are CFA_EXPR: runs the file's own table with full DWARF
// expressions for the frame in *state. `offset` is where its code is looked up: the file offset of
// its pc, or of pc - 1 if that is a return address.
struct memory_reader {
	bool (*read)(void *ctx, uint64_t address, uint64_t *ret); // eight bytes of the target
	void *ctx;
};
// Moves *state to the caller; false if the table does not tell.
bool object_unwind_expr(struct object *obj, uint64_t offset, const struct memory_reader *memory,
			struct walk_state *state);

// Where the function around an offset begins, as the unwind tables delimit functions. False if they
// do not tell.
bool object_function_start(struct object *obj, uint64_t offset, uint64_t *ret);

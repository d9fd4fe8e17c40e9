// SPDX-License-Identifier: Apache-2.0
// The stack of a traced child by our rows. A plain reading of wire/unwind.h that shares no code
// with the real walker.
#pragma once

#include <stddef.h>

#include "base/buf.h"
#include "object/object.h"
#include "object/rows.h"
#include "tests/unit/object/traced_child.h"

struct stack_walk_module {
	char *path;
	struct object *object;
	struct buf image; // of the vDSO
	VEC(struct row_page) pages;
};

struct stack_walk_mapping {
	uint64_t start;
	uint64_t end;
	uint64_t offset;
	size_t module;
};

struct stack_walk {
	struct traced_child *child;
	struct rules rules;
	VEC(struct stack_walk_module) modules;
	VEC(struct stack_walk_mapping) mappings;
	char name[512];
};
void stack_walk_fini(struct stack_walk *w);

#define STACK_WALK_FRAMES 256
struct stack {
	uint64_t pcs[STACK_WALK_FRAMES];
	size_t count;
	unsigned end;   // the last frame's enum wire_cfa; CFA_END: it is the outermost one
	unsigned kinds; // bit i: a rule with enum wire_cfa i was used
};
void stack_walk(struct stack_walk *w, struct stack *ret);
// What is at an address in the child; valid until the next call.
const char *stack_walk_name(struct stack_walk *w, uint64_t pc);

// SPDX-License-Identifier: Apache-2.0
// Stacks as a prefix tree: a stack is its caller's stack and one item on top. Node 0 is the empty
// stack. Nodes are numbered in the order they were made, so a caller always comes before its
// callee.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "base/vec.h"

#define STACK_EMPTY 0u
#define STACK_NONE UINT32_MAX // no memory

struct stack_node {
	uint32_t parent;
	uint32_t item;
};

struct stacks {
	VEC(struct stack_node) nodes; // nodes.at[0] is the empty stack
	struct map children;          // (parent, item) → node
};

bool stacks_init(struct stacks *s);
void stacks_fini(struct stacks *s);
// The stack with `item` on top of `parent`, made if it is new. STACK_NONE when there is no memory.
uint32_t stacks_push(struct stacks *s, uint32_t parent, uint32_t item);

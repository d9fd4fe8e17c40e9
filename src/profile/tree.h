// SPDX-License-Identifier: Apache-2.0
// Stacks as a tree that can be walked from caller to callee, with the values that end in each node
// and below it. Made once, in time linear in the nodes; node numbers are those of the stacks.
#pragma once

#include "profile/stacks.h"

struct tree {
	const struct stacks *stacks; // borrowed
	uint32_t *first_child;       // 0 if there is none: the empty stack is nobody's child
	uint32_t *next_sibling;      // 0 if it is the last
	uint64_t *self;
	uint64_t *total;
};

// Siblings come in the order of rank[item], or of their items when rank is NULL. `ranks` is the
// number of different ranks (or items), all below it. False when there is no memory.
bool tree_init(struct tree *t, const struct stacks *s, const uint32_t *rank, size_t ranks);
void tree_fini(struct tree *t);
// After `self` is filled in.
void tree_sum(struct tree *t);
// Prefix order: a caller, then everything below it, then its sibling. Start at the empty stack;
// 0 after the last node. Adds to *depth (may be NULL) how many levels the walk went down.
uint32_t tree_next(const struct tree *t, uint32_t node, int64_t *depth);

// SPDX-License-Identifier: Apache-2.0
// One lifetime, one arena: allocate often, free once. {0} is an empty one.
#pragma once

#include <stddef.h>

#include "base/str.h"

struct arena_block;

struct arena {
	struct arena_block *blocks; // newest first
	char *next;
	size_t left;
};

// Zeroed, aligned to 16. NULL when there is no memory.
void *arena_alloc(struct arena *a, size_t size);
// A zero-terminated copy.
char *arena_copy(struct arena *a, struct str s);
void arena_fini(struct arena *a);

#define arena_new(a, type) ((type *)arena_alloc((a), sizeof(type)))

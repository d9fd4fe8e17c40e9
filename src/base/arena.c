// SPDX-License-Identifier: Apache-2.0
#include "base/arena.h"

#include <stdlib.h>

#include "base/cleanup.h"

#define BLOCK_SIZE ((size_t)64 << 10)

struct arena_block {
	struct arena_block *older;
	_Alignas(16) char data[];
};

void *arena_alloc(struct arena *a, size_t size)
{
	if (size > SIZE_MAX / 2)
		return NULL;
	size = (MAX(size, (size_t)1) + 15) & ~(size_t)15; // nothing has a place of its own, too
	if (size > a->left) {
		size_t room = MAX(size, BLOCK_SIZE);
		struct arena_block *block = calloc(1, sizeof(*block) + room);
		if (!block)
			return NULL;
		block->older = a->blocks;
		a->blocks = block;
		a->next = block->data;
		a->left = room;
	}
	void *p = a->next;
	a->next += size;
	a->left -= size;
	return p;
}

char *arena_copy(struct arena *a, struct str s)
{
	char *copy = arena_alloc(a, s.len + 1);
	if (copy && s.len != 0)
		memcpy(copy, s.ptr, s.len);
	return copy;
}

void arena_fini(struct arena *a)
{
	for (struct arena_block *b = a->blocks, *older; b; b = older) {
		older = b->older;
		free(b);
	}
	*a = (struct arena){ 0 };
}

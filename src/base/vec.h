// SPDX-License-Identifier: Apache-2.0
// A growable array of any type:   VEC(struct frame) frames;
// {0} is an empty one. Growth doubles; running out of memory is reported, never fatal here.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define VEC(type)                                                                                  \
	struct {                                                                                   \
		type *at;                                                                          \
		size_t len;                                                                        \
		size_t cap;                                                                        \
	}

// Makes room for `more` items after `len`. False when there is no memory; the vector is untouched
// then.
bool vec_grow(void *items_ptr, size_t *cap, size_t len, size_t more, size_t item_size);

#define vec_reserve(v, more) vec_grow(&(v)->at, &(v)->cap, (v)->len, (more), sizeof(*(v)->at))
// Appends a copy; true on success.
#define vec_push(v, ...)                                                                           \
	(((v)->len < (v)->cap || vec_reserve((v), 1)) &&                                           \
	 ((v)->at[(v)->len++] = (__VA_ARGS__), true))
#define vec_last(v) (&(v)->at[(v)->len - 1])
// An empty one has no array, and nothing may be added to a null pointer, not even 0.
#define vec_each(item, v)                                                                          \
	for (typeof(*(v)->at) *item = (v)->at; item && item < (v)->at + (v)->len; item++)
#define vec_clear(v) ((v)->len = 0)
#define vec_fini(v)                                                                                \
	do {                                                                                       \
		free((v)->at);                                                                     \
		(v)->at = NULL;                                                                    \
		(v)->len = (v)->cap = 0;                                                           \
	} while (0)
#define vec_sort(v, compare)                                                                       \
	((v)->len != 0 ? qsort((v)->at, (v)->len, sizeof(*(v)->at), (compare)) : (void)0)

// SPDX-License-Identifier: Apache-2.0
// A growable byte buffer to build text or binary data in. {0} is an empty one. A failed growth is
// remembered in `failed` and later appends do nothing, so a writer checks once, at the end.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "base/str.h"

struct buf {
	char *at;
	size_t len;
	size_t cap;
	bool failed;
};

void buf_add(struct buf *b, const void *bytes, size_t len);
void buf_char(struct buf *b, char c);
void buf_text(struct buf *b, const char *text);
void buf_str(struct buf *b, struct str s);
void buf_u64(struct buf *b, uint64_t value); // decimal
void buf_printf(struct buf *b, const char *fmt, ...) printf_like(2, 3);
// Always zero-terminated (the zero is not part of len); "" when empty.
const char *buf_cstr(struct buf *b);
static inline struct str buf_view(const struct buf *b)
{
	return (struct str){ b->at, b->len };
}
void buf_fini(struct buf *b);

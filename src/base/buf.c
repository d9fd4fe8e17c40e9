// SPDX-License-Identifier: Apache-2.0
#include "base/buf.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/vec.h"

static bool room(struct buf *b, size_t more)
{
	if (b->failed || (b->cap - b->len < more && !vec_grow(&b->at, &b->cap, b->len, more, 1)))
		b->failed = true;
	return !b->failed;
}

void buf_add(struct buf *b, const void *bytes, size_t len)
{
	if (len == 0 || !room(b, len))
		return;
	memcpy(b->at + b->len, bytes, len);
	b->len += len;
}

void buf_char(struct buf *b, char c)
{
	buf_add(b, &c, 1);
}

void buf_text(struct buf *b, const char *text)
{
	buf_add(b, text, strlen(text));
}

void buf_str(struct buf *b, struct str s)
{
	buf_add(b, s.ptr, s.len);
}

void buf_u64(struct buf *b, uint64_t value)
{
	char digits[20];
	size_t n = sizeof(digits);
	do {
		digits[--n] = (char)('0' + value % 10);
		value /= 10;
	} while (value != 0);
	buf_add(b, digits + n, sizeof(digits) - n);
}

void buf_printf(struct buf *b, const char *fmt, ...)
{
	va_list args;
	va_start(args, fmt);
	autofree char *text = NULL;
	int len = vasprintf(&text, fmt, args);
	va_end(args);
	if (len < 0) {
		text = NULL;
		b->failed = true;
		return;
	}
	buf_add(b, text, (size_t)len);
}

const char *buf_cstr(struct buf *b)
{
	if (!room(b, 1))
		return "";
	b->at[b->len] = '\0';
	return b->at;
}

void buf_fini(struct buf *b)
{
	free(b->at);
	*b = (struct buf){ 0 };
}

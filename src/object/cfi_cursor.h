// SPDX-License-Identifier: Apache-2.0
// Reading little-endian and LEB128 values out of hostile bytes. A read past the end gives 0 and
// sets `bad`, which stays set: a reader checks once, after a run of reads.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/str.h"

struct cursor {
	const uint8_t *bytes;
	size_t pos;
	size_t end;
	bool bad;
};

// Over [pos, end) of s; what lies outside of s is cut off.
static inline struct cursor cursor_over(struct str s, size_t pos, size_t end)
{
	end = end < s.len ? end : s.len;
	return (struct cursor){ (const uint8_t *)s.ptr, pos < end ? pos : end, end, pos > end };
}

static inline bool cursor_done(const struct cursor *c)
{
	return c->bad || c->pos == c->end;
}

// A value of 1, 2, 4 or 8 bytes.
static inline uint64_t cursor_fixed(struct cursor *c, size_t size)
{
	uint64_t value = 0;
	if (c->bad || c->end - c->pos < size) {
		c->bad = true;
		return 0;
	}
	memcpy(&value, c->bytes + c->pos, size);
	c->pos += size;
	return value;
}

static inline uint8_t cursor_u8(struct cursor *c)
{
	return (uint8_t)cursor_fixed(c, 1);
}

static inline int64_t sign_extend(uint64_t value, size_t size)
{
	unsigned shift = 64 - 8 * (unsigned)size;
	return (int64_t)(value << shift) >> shift;
}

// Bits beyond the 64th are dropped; more than 16 bytes are taken for garbage.
static inline uint64_t cursor_leb(struct cursor *c, bool is_signed)
{
	uint64_t value = 0;
	for (unsigned shift = 0; shift < 16 * 7; shift += 7) {
		uint8_t byte = cursor_u8(c);
		if (c->bad)
			return 0;
		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		if (byte & 0x80)
			continue;
		if (is_signed && byte & 0x40 && shift + 7 < 64)
			value |= UINT64_MAX << (shift + 7);
		return value;
	}
	c->bad = true;
	return 0;
}

static inline uint64_t cursor_uleb(struct cursor *c)
{
	return cursor_leb(c, false);
}

static inline int64_t cursor_sleb(struct cursor *c)
{
	return (int64_t)cursor_leb(c, true);
}

static inline void cursor_skip(struct cursor *c, uint64_t size)
{
	if (c->bad || c->end - c->pos < size)
		c->bad = true;
	else
		c->pos += size;
}

// A uleb length and that many bytes.
static inline struct str cursor_block(struct cursor *c)
{
	uint64_t size = cursor_uleb(c);
	const char *at = (const char *)c->bytes + c->pos;
	cursor_skip(c, size);
	return c->bad ? (struct str){ 0 } : (struct str){ at, size };
}

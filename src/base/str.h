// SPDX-License-Identifier: Apache-2.0
// Text as a view: borrowed bytes with a length. Never owns, never needs a terminating zero.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct str {
	const char *ptr;
	size_t len;
};

#define STR(literal) ((struct str){ "" literal, sizeof(literal) - 1 })
// For printf: "%.*s", STR_ARG(s)
#define STR_ARG(s) (int)(s).len, (s).ptr

static inline struct str str_from(const char *text)
{
	return (struct str){ text, text ? strlen(text) : 0 };
}

static inline bool str_eq(struct str a, struct str b)
{
	return a.len == b.len && (a.len == 0 || memcmp(a.ptr, b.ptr, a.len) == 0);
}

static inline bool str_starts(struct str s, struct str prefix)
{
	return s.len >= prefix.len && memcmp(s.ptr, prefix.ptr, prefix.len) == 0;
}

static inline bool str_ends(struct str s, struct str suffix)
{
	return s.len >= suffix.len &&
	       memcmp(s.ptr + s.len - suffix.len, suffix.ptr, suffix.len) == 0;
}

static inline struct str str_skip(struct str s, size_t n)
{
	n = n < s.len ? n : s.len;
	return (struct str){ s.ptr + n, s.len - n };
}

static inline struct str str_trim_start(struct str s)
{
	while (s.len != 0 && (*s.ptr == ' ' || *s.ptr == '\t'))
		s = str_skip(s, 1);
	return s;
}

// Cuts *rest at the first `sep`: returns what was before it, leaves what is after it.
static inline struct str str_split(struct str *rest, char sep)
{
	const char *at = rest->len != 0 ? memchr(rest->ptr, sep, rest->len) : NULL;
	struct str head = { rest->ptr, at ? (size_t)(at - rest->ptr) : rest->len };
	*rest = str_skip(*rest, at ? head.len + 1 : head.len);
	return head;
}

// The part after the last '/', or all of it.
struct str str_basename(struct str path);
// The whole of s as a number; false if it is empty, has anything else in it, or overflows.
bool str_to_u64(struct str s, int base, uint64_t *ret);
// FNV-1a with a final mix; for hash tables, not for hostile collisions.
uint64_t str_hash(struct str s);
// The entry of words[] within a few typing errors of s, or NULL. For "did you mean".
const char *str_nearest(struct str s, const char *const *words, size_t count);

// SPDX-License-Identifier: Apache-2.0
#include "base/str.h"

#include "base/cleanup.h"

struct str str_basename(struct str path)
{
	for (size_t i = path.len; i != 0; i--)
		if (path.ptr[i - 1] == '/')
			return str_skip(path, i);
	return path;
}

static int digit_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return 99;
}

bool str_to_u64(struct str s, int base, uint64_t *ret)
{
	uint64_t value = 0;
	if (s.len == 0)
		return false;
	for (size_t i = 0; i < s.len; i++) {
		int digit = digit_value(s.ptr[i]);
		if (digit >= base)
			return false;
		if (__builtin_mul_overflow(value, (uint64_t)base, &value) ||
		    __builtin_add_overflow(value, (uint64_t)digit, &value))
			return false;
	}
	*ret = value;
	return true;
}

uint64_t str_hash(struct str s)
{
	uint64_t h = 0xcbf29ce484222325u;
	for (size_t i = 0; i < s.len; i++)
		h = (h ^ (unsigned char)s.ptr[i]) * 0x100000001b3u;
	h ^= h >> 32;
	return h * 0x9e3779b97f4a7c15u;
}

// Levenshtein distance, for words of up to 31 letters; longer ones are infinitely far.
static unsigned edit_distance(struct str a, struct str b)
{
	unsigned row[32];
	if (a.len >= ARRAY_SIZE(row) || b.len >= ARRAY_SIZE(row))
		return ARRAY_SIZE(row);
	for (unsigned j = 0; j <= b.len; j++)
		row[j] = j;
	for (unsigned i = 1; i <= a.len; i++) {
		unsigned diagonal = row[0];
		row[0] = i;
		for (unsigned j = 1; j <= b.len; j++) {
			unsigned substitute = diagonal + (a.ptr[i - 1] != b.ptr[j - 1]);
			unsigned insert_or_delete = MIN(row[j], row[j - 1]) + 1;
			diagonal = row[j];
			row[j] = MIN(substitute, insert_or_delete);
		}
	}
	return row[b.len];
}

const char *str_nearest(struct str s, const char *const *words, size_t count)
{
	const char *best = NULL;
	unsigned best_distance = s.len < 4 ? 2 : 3;
	for (size_t i = 0; i < count; i++) {
		unsigned distance = edit_distance(s, str_from(words[i]));
		if (distance < best_distance && distance < s.len) {
			best = words[i];
			best_distance = distance;
		}
	}
	return best;
}

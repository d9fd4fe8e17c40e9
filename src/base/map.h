// SPDX-License-Identifier: Apache-2.0
// A hash map from a 64-bit key to a 64-bit value: open addressing, linear probing, no deletion
// holes (deletion shifts back). {0} is an empty one. Any key is allowed.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct map_slot {
	uint64_t key;
	uint64_t value;
};

struct map {
	struct map_slot *slots;
	uint8_t *used;
	size_t count;
	size_t mask; // capacity - 1, or 0 when empty
};

static inline uint64_t map_mix(uint64_t x)
{
	x ^= x >> 32;
	x *= 0xd6e8feb86659fd93u;
	x ^= x >> 32;
	return x;
}

// Two 32-bit halves as one key.
static inline uint64_t map_pair(uint32_t high, uint32_t low)
{
	return (uint64_t)high << 32 | low;
}

// The value's place, or NULL. Valid until the next map_put or map_delete.
uint64_t *map_get(const struct map *m, uint64_t key);
// The value's place, made (as 0) if it is not there yet. NULL when there is no memory.
// *ret_new tells which; it may be NULL.
uint64_t *map_put(struct map *m, uint64_t key, bool *ret_new);
bool map_delete(struct map *m, uint64_t key);
void map_clear(struct map *m);
void map_fini(struct map *m);

// for (struct map_slot *s = map_first(m); s; s = map_next(m, s))
struct map_slot *map_first(const struct map *m);
struct map_slot *map_next(const struct map *m, const struct map_slot *slot);

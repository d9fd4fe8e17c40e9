// SPDX-License-Identifier: Apache-2.0
#include "base/map.h"

#include <stdlib.h>
#include <string.h>

static size_t home(const struct map *m, uint64_t key)
{
	return map_mix(key) & m->mask;
}

static size_t find(const struct map *m, uint64_t key)
{
	size_t i = home(m, key);
	while (m->used[i] && m->slots[i].key != key)
		i = (i + 1) & m->mask;
	return i;
}

uint64_t *map_get(const struct map *m, uint64_t key)
{
	if (m->count == 0)
		return NULL;
	size_t i = find(m, key);
	return m->used[i] ? &m->slots[i].value : NULL;
}

static bool grow(struct map *m)
{
	size_t cap = m->slots ? (m->mask + 1) * 2 : 16;
	struct map bigger = { .slots = calloc(cap, sizeof(struct map_slot)),
			      .used = calloc(cap, 1),
			      .count = m->count,
			      .mask = cap - 1 };
	if (!bigger.slots || !bigger.used) {
		map_fini(&bigger);
		return false;
	}
	for (struct map_slot *s = map_first(m); s; s = map_next(m, s)) {
		size_t i = find(&bigger, s->key);
		bigger.slots[i] = *s;
		bigger.used[i] = 1;
	}
	map_fini(m);
	*m = bigger;
	return true;
}

uint64_t *map_put(struct map *m, uint64_t key, bool *ret_new)
{
	if ((!m->slots || m->count * 4 >= (m->mask + 1) * 3) && !grow(m))
		return NULL;
	size_t i = find(m, key);
	bool fresh = !m->used[i];
	if (fresh) {
		m->used[i] = 1;
		m->slots[i] = (struct map_slot){ key, 0 };
		m->count++;
	}
	if (ret_new)
		*ret_new = fresh;
	return &m->slots[i].value;
}

bool map_delete(struct map *m, uint64_t key)
{
	if (m->count == 0)
		return false;
	size_t hole = find(m, key);
	if (!m->used[hole])
		return false;
	// Pull back every later entry of the run whose home is not between the hole and itself.
	for (size_t i = (hole + 1) & m->mask; m->used[i]; i = (i + 1) & m->mask) {
		size_t want = home(m, m->slots[i].key);
		if (((i - want) & m->mask) >= ((i - hole) & m->mask)) {
			m->slots[hole] = m->slots[i];
			hole = i;
		}
	}
	m->used[hole] = 0;
	m->count--;
	return true;
}

void map_clear(struct map *m)
{
	if (m->slots)
		memset(m->used, 0, m->mask + 1);
	m->count = 0;
}

void map_fini(struct map *m)
{
	free(m->slots);
	free(m->used);
	*m = (struct map){ 0 };
}

static struct map_slot *used_from(const struct map *m, size_t i)
{
	for (; m->slots && i <= m->mask; i++)
		if (m->used[i])
			return &m->slots[i];
	return NULL;
}

struct map_slot *map_first(const struct map *m)
{
	return used_from(m, 0);
}

struct map_slot *map_next(const struct map *m, const struct map_slot *slot)
{
	return used_from(m, (size_t)(slot - m->slots) + 1);
}

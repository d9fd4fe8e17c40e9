// SPDX-License-Identifier: Apache-2.0
#include "object/symbol_table.h"

#include <assert.h>

#include "base/cleanup.h"
#include "object/elf_file.h"

static_assert(ELF_BYTES_MAX <= 1u << SYMBOL_NAME_BITS, "a name's offset must fit");
static_assert(SYMBOL_STRINGS_MAX <= 1u << (32 - SYMBOL_NAME_BITS), "and its table's number");

// Functions may lie inside of others (assembly with several entry points): how far back to look
// for the outer one.
#define NESTING_MAX 16

bool symbol_table_add_strings(struct symbol_table *t, struct str strings, uint8_t *ret)
{
	if (t->strings_count == SYMBOL_STRINGS_MAX)
		return false;
	*ret = t->strings_count++;
	t->strings[*ret] = strings;
	return true;
}

bool symbol_table_add(struct symbol_table *t, const struct symbol_source *source)
{
	if (source->start >= source->limit || source->name >= 1u << SYMBOL_NAME_BITS)
		return true;
	return vec_push(&t->sources, *source);
}

static size_t leading_underscores(struct str name)
{
	size_t n = 0;
	while (n < name.len && name.ptr[n] == '_')
		n++;
	return n;
}

static struct str source_name(const struct symbol_table *t, const struct symbol_source *s)
{
	return elf_string(t->strings[s->strings], s->name);
}

// What people call a function is the name with the fewest leading underscores.
static int compare_names(struct str a, struct str b)
{
	size_t a_underscores = leading_underscores(a), b_underscores = leading_underscores(b);
	if (a_underscores != b_underscores)
		return a_underscores < b_underscores ? -1 : 1;
	if (a.len != b.len)
		return a.len < b.len ? -1 : 1;
	return a.len != 0 ? memcmp(a.ptr, b.ptr, a.len) : 0;
}

static int compare_sources(const void *a_ptr, const void *b_ptr, void *table)
{
	const struct symbol_source *a = a_ptr, *b = b_ptr;
	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	if (a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	return compare_names(source_name(table, a), source_name(table, b));
}

// Where a symbol that does not tell its size ends; `next` is the source after all its aliases.
static uint64_t guess_size(const struct symbol_source *s, const struct symbol_source *next,
			   uint64_t gap_max)
{
	uint64_t size = MIN(s->limit - s->start, gap_max);
	return next ? MIN(size, next->start - s->start) : size;
}

bool symbol_table_finish(struct symbol_table *t, uint64_t gap_max)
{
	if (t->sources.len == 0)
		return true;
	qsort_r(t->sources.at, t->sources.len, sizeof(*t->sources.at), compare_sources, t);
	const struct symbol_source *at = t->sources.at, *end = at + t->sources.len;
	uint64_t covered = 0; // up to here a function of known size reaches
	while (at < end) {
		const struct symbol_source *s = at;
		while (at < end && at->start == s->start)
			at++;
		// A label inside a function is a place in it, not another function.
		if ((s->rank & SYMBOL_LABEL) && s->start < covered)
			continue;
		uint64_t size =
			s->size != 0 ? s->size : guess_size(s, at < end ? at : NULL, gap_max);
		uint32_t clamped = (uint32_t)MIN(size, (uint64_t)UINT32_MAX);
		if (s->size != 0)
			covered = MAX(covered, s->start + clamped);
		if (!vec_push(&t->entries,
			      (struct symbol_entry){ s->start, clamped,
						     (uint32_t)s->strings << SYMBOL_NAME_BITS |
							     s->name }))
			return false;
	}
	vec_fini(&t->sources);
	return true;
}

void symbol_table_fini(struct symbol_table *t)
{
	vec_fini(&t->sources);
	vec_fini(&t->entries);
}

const struct symbol_entry *symbol_table_find(const struct symbol_table *t, uint64_t address)
{
	size_t low = 0, high = t->entries.len; // entries before low start at or before address
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (t->entries.at[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	for (size_t i = low; i != 0 && i + NESTING_MAX > low; i--) {
		const struct symbol_entry *e = &t->entries.at[i - 1];
		if (address - e->start < e->size)
			return e;
	}
	return NULL;
}

// A version is "@" or "@@" and something like GLIBC_2.14.
static struct str without_version(struct str name)
{
	const char *at = name.len > 1 ? memchr(name.ptr + 1, '@', name.len - 1) : NULL;
	if (!at)
		return name;
	struct str version = str_skip(name, (size_t)(at - name.ptr) + 1);
	if (str_starts(version, STR("@")))
		version = str_skip(version, 1);
	bool upper = version.len != 0 && *version.ptr >= 'A' && *version.ptr <= 'Z';
	return upper ? (struct str){ name.ptr, (size_t)(at - name.ptr) } : name;
}

struct str symbol_table_name(const struct symbol_table *t, const struct symbol_entry *e)
{
	uint32_t offset = e->name & ((1u << SYMBOL_NAME_BITS) - 1);
	return without_version(elf_string(t->strings[e->name >> SYMBOL_NAME_BITS], offset));
}

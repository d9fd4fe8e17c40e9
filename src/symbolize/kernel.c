// SPDX-License-Identifier: Apache-2.0
// /proc/kallsyms has up to a few hundred thousand lines, "ADDRESS TYPE NAME\t[MODULE]". Kept are an
// address and a place in one pool of names for each function, sorted; and where code ends, so that
// an address far from all code gets no name.
#include "symbolize/kernel.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/vec.h"

#define NO_NAME UINT32_MAX               // no code from here on
#define FUNCTION_MAX ((uint64_t)1 << 20) // the last one of a module has no end of its own

struct kallsyms {
	VEC(uint64_t) addresses; // ascending
	VEC(uint32_t) names;     // of the same index: where in the pool its line begins, or NO_NAME
	struct buf pool;         // "NAME\n" or "NAME\t[MODULE]\n"
};

struct entry {
	uint64_t address;
	uint32_t name;
	uint32_t rank; // of those with the same address the highest is kept
};
typedef VEC(struct entry) entry_vec;

struct builder {
	entry_vec entries;
	struct buf pool;
	bool any_line, any_address;
};

static void builder_fini(struct builder *b)
{
	vec_fini(&b->entries);
	buf_fini(&b->pool);
}

static bool starts_with_any(struct str name, const struct str *prefixes, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (str_starts(name, prefixes[i]))
			return true;
	return false;
}

// The padding in front of a function, which has a symbol of its own.
static bool is_padding(struct str name)
{
	static const struct str prefixes[] = { { "__pfx_", 6 }, { "__cfi_", 6 } };
	return starts_with_any(name, prefixes, ARRAY_SIZE(prefixes));
}

static bool is_code(struct str type, struct str name)
{
	static const struct str ends[] = { { "_etext", 6 }, { "_einittext", 10 } };
	for (size_t i = 0; i < ARRAY_SIZE(ends); i++)
		if (str_eq(name, ends[i]))
			return false;
	return type.len == 1 && memchr("tTwWi", type.ptr[0], 5);
}

// Of several names for one address: not the borders of sections, not the spellings for other ways
// to call it; and rather the global one.
static uint32_t name_rank(char type, struct str name)
{
	static const struct str prefixes[] = { { ".", 1 },       { "__pi_", 5 },
					       { "__ia32_", 7 }, { "_stext", 6 },
					       { "_text", 5 },   { "_sinittext", 10 },
					       { "__do_sys", 8 } };
	bool border = str_ends(name, STR("_text_start")) || str_ends(name, STR("_text_end"));
	bool poor = border || starts_with_any(name, prefixes, ARRAY_SIZE(prefixes));
	return (poor ? 0 : 2) + (type == 'T' || type == 'W' ? 1 : 0) + 1;
}

static bool add_end_of_code(struct builder *b, uint64_t address)
{
	// One is enough for all the data that follows.
	struct entry *last = b->entries.len != 0 ? vec_last(&b->entries) : NULL;
	if (last && last->name == NO_NAME && last->address <= address)
		return true;
	return vec_push(&b->entries, (struct entry){ address, NO_NAME, 0 });
}

static bool add_line(struct builder *b, struct str line)
{
	struct str address_text = str_split(&line, ' '), type = str_split(&line, ' ');
	struct str rest = line, name = str_split(&rest, '\t');
	uint64_t address;
	if (name.len == 0 || !str_to_u64(address_text, 16, &address))
		return true;
	b->any_line = true;
	if (address == 0)
		return true;
	b->any_address = true;
	if (is_padding(name))
		return true;
	if (!is_code(type, name))
		return add_end_of_code(b, address);
	if (b->pool.len >= NO_NAME - line.len)
		return false;
	struct entry e = { address, (uint32_t)b->pool.len, name_rank(type.ptr[0], name) };
	buf_str(&b->pool, line);
	buf_char(&b->pool, '\n');
	return !b->pool.failed && vec_push(&b->entries, e);
}

// Returns how much of the text was used: up to the last newline. False when there is no memory.
static bool add_lines(struct builder *b, struct str text, size_t *ret_used)
{
	struct str rest = text;
	while (rest.len != 0 && memchr(rest.ptr, '\n', rest.len))
		if (!add_line(b, str_split(&rest, '\n')))
			return false;
	*ret_used = text.len - rest.len;
	return true;
}

static int compare_entries(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;
	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	if (x->rank != y->rank)
		return x->rank > y->rank ? -1 : 1;
	return (x->name > y->name) - (x->name < y->name);
}

// Of one address the best name is kept, of several ends of code in a row the first.
static struct error *build_consume(struct builder *b, struct kallsyms **ret)
{
	if (!b->any_line)
		return error_new(ERROR_MALFORMED, "there are no symbols in the kernel's list");
	if (!b->any_address)
		return error_hint(
			error_new(ERROR_DENIED, "the kernel hides the addresses of its functions"),
			"sudo sysctl kernel.kptr_restrict=0 kernel.perf_event_paranoid=1 shows "
			"them to "
			"everybody; for root kptr_restrict=1 is enough");
	if (b->entries.len == 0)
		return error_new(ERROR_MALFORMED, "there are no functions in the kernel's list");
	auto_(kallsyms) k = calloc(1, sizeof(*k));
	if (!k || !vec_reserve(&k->addresses, b->entries.len) ||
	    !vec_reserve(&k->names, b->entries.len))
		return &error_no_memory;
	vec_sort(&b->entries, compare_entries);
	uint64_t last = 0; // no symbol is there
	vec_each (e, &b->entries) {
		bool again =
			k->names.len != 0 && e->name == NO_NAME && *vec_last(&k->names) == NO_NAME;
		if (e->address == last || again)
			continue;
		last = e->address;
		k->addresses.at[k->addresses.len++] = e->address;
		k->names.at[k->names.len++] = e->name;
	}
	k->pool = b->pool;
	b->pool = (struct buf){ 0 };
	*ret = take(k);
	return NULL;
}

struct error *kallsyms_parse(struct str text, struct kallsyms **ret)
{
	__attribute__((cleanup(builder_fini))) struct builder b = { 0 };
	size_t used;
	if (!add_lines(&b, text, &used) || !add_line(&b, str_skip(text, used)))
		return &error_no_memory;
	return build_consume(&b, ret);
}

// In pieces, because the whole text is several times what is kept of it.
struct error *kallsyms_read(struct kallsyms **ret)
{
	static const char path[] = "/proc/kallsyms";
	__attribute__((cleanup(builder_fini))) struct builder b = { 0 };
	autoclose int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return error_sys(errno, "open %s", path);
	size_t cap = 65536, len = 0;
	autofree char *piece = malloc(cap);
	if (!piece)
		return &error_no_memory;
	for (;;) {
		ssize_t n = read(fd, piece + len, cap - len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return error_sys(errno, "read %s", path);
		if (n == 0)
			break;
		len += (size_t)n;
		size_t used;
		if (!add_lines(&b, (struct str){ piece, len }, &used))
			return &error_no_memory;
		// A line that fills the whole buffer is not one of the kernel's.
		if (used == 0 && len == cap)
			used = len;
		len -= used;
		memmove(piece, piece + used, len);
	}
	return build_consume(&b, ret);
}

void kallsyms_free(struct kallsyms *k)
{
	if (!k)
		return;
	vec_fini(&k->addresses);
	vec_fini(&k->names);
	buf_fini(&k->pool);
	free(k);
}

// The last entry at or below an address, plus one; 0 if there is none.
static size_t entries_up_to(const struct kallsyms *k, uint64_t address)
{
	size_t low = 0, high = k->addresses.len;
	while (low < high) {
		size_t mid = low + (high - low) / 2;
		if (k->addresses.at[mid] <= address)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

bool kallsyms_find(const struct kallsyms *k, uint64_t address, struct kernel_symbol *ret)
{
	size_t i = entries_up_to(k, address);
	if (i == 0 || k->names.at[i - 1] == NO_NAME ||
	    address - k->addresses.at[i - 1] >= FUNCTION_MAX)
		return false;
	struct str rest = str_skip(buf_view(&k->pool), k->names.at[i - 1]);
	struct str module = str_split(&rest, '\n');
	ret->name = str_split(&module, '\t');
	// "[name]"
	if (str_starts(module, STR("[")) && str_ends(module, STR("]")))
		module = (struct str){ module.ptr + 1, module.len - 2 };
	ret->module = module;
	ret->offset = address - k->addresses.at[i - 1];
	return true;
}

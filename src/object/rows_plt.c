// SPDX-License-Identifier: Apache-2.0
// Rows of procedure linkage tables that the linker wrote no unwind information for, as lld never
// does. What an entry does to the stack is seen from its first instructions.
#include <string.h>

#include "base/cleanup.h"
#include "object/object_parts.h"
#include "object/rows_fill.h"

#define HEADER_SIZE 16 // PLT0: two pushes' worth of stack, for whoever resolves the symbol

// How an entry begins, and from which byte on what it pushes is on the stack.
static const struct {
	const char *code;
	size_t size;
	int16_t push_done;
} entries[] = {
	{ "\xff\x25", 2, 11 },                    // jmp *slot; push $n; jmp PLT0
	{ "\xf3\x0f\x1e\xfa\x68", 5, 9 },         // endbr64; push $n; jmp PLT0
	{ "\xf3\x0f\x1e\xfa\xf2\xff\x25", 7, 0 }, // endbr64; bnd jmp *slot
	{ "\xf3\x0f\x1e\xfa\xff\x25", 6, 0 },     // endbr64; jmp *slot
};

static const struct {
	const char *name;
	bool pushes; // its entries are lazily resolved
} tables[] = {
	{ ".plt", true },
	{ ".plt.sec", false },
	{ ".plt.got", false },
};

struct linkage_table {
	struct rows_range range;
	uint64_t header; // its size
	int16_t push_done;
};

// The byte from which on an entry that begins at this offset has pushed; 0 if it never does, -1 if
// it is no entry that we know.
static int16_t find_push(const struct object *obj, uint64_t offset)
{
	char code[8];
	if (!elf_read(&obj->elf, offset, sizeof(code), code))
		return -1;
	for (size_t i = 0; i < ARRAY_SIZE(entries); i++)
		if (memcmp(code, entries[i].code, entries[i].size) == 0)
			return entries[i].push_done;
	return -1;
}

static bool has_header(const struct object *obj, uint64_t offset)
{
	char code[2];
	return elf_read(&obj->elf, offset, sizeof(code), code) &&
	       memcmp(code, "\xff\x35", 2) == 0; // push GOT[1]
}

static bool read_table(const struct object *obj, size_t i, struct linkage_table *ret)
{
	const struct elf_section *section = elf_section_find(&obj->elf, tables[i].name);
	if (!section || section->header.sh_type != SHT_PROGBITS ||
	    !(section->header.sh_flags & SHF_EXECINSTR) ||
	    section->header.sh_addr & ARCH_PLT_ENTRY_MASK)
		return false;
	const Elf64_Shdr *h = &section->header;
	ret->range.start = h->sh_offset;
	if (__builtin_add_overflow(h->sh_offset, h->sh_size, &ret->range.end))
		return false;
	ret->header = tables[i].pushes && has_header(obj, h->sh_offset) ? HEADER_SIZE : 0;
	ret->push_done = find_push(obj, h->sh_offset + ret->header);
	if (!tables[i].pushes && ret->push_done > 0)
		ret->push_done = 0;
	return ret->push_done >= 0;
}

// The table that is first in a range.
static bool find_table(const struct object *obj, struct rows_range range, struct linkage_table *ret)
{
	bool found = false;
	for (size_t i = 0; i < ARRAY_SIZE(tables); i++) {
		struct linkage_table t = { 0 };
		if (!read_table(obj, i, &t) || t.range.start >= range.end ||
		    t.range.end <= range.start || (found && t.range.start >= ret->range.start))
			continue;
		*ret = t;
		found = true;
	}
	return found;
}

static void add_table(struct rows_fill *fill, const struct linkage_table *t,
		      struct rows_range range)
{
	const struct wire_rule plain = { .cfa = CFA_REG, .cfa_reg = ARCH_REG_SP, .ra = -1 };
	const struct wire_rule lazy = {
		.cfa = CFA_PLT, .cfa_reg = ARCH_REG_SP, .cfa_add = t->push_done, .ra = -1
	};
	const struct {
		uint64_t start;
		const struct wire_rule *rule;
		int32_t cfa_offset;
	} parts[] = {
		{ 0, &plain, 16 }, // the entry has pushed
		{ MIN(t->header, 6u), &plain, 24 },
		{ t->header, t->push_done > 0 ? &lazy : &plain, 8 },
	};
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		uint64_t start = MAX(t->range.start + parts[i].start, range.start);
		uint64_t end =
			i + 1 < ARRAY_SIZE(parts) ? t->range.start + parts[i + 1].start : range.end;
		if (start < MIN(end, range.end) &&
		    !rows_add(fill, start, parts[i].rule, parts[i].cfa_offset))
			return;
	}
}

void rows_fill_plt(struct rows_fill *fill, struct rows_range range, unsigned stage)
{
	struct linkage_table t = { 0 };
	while (range.start < range.end && !fill->err && find_table(fill->object, range, &t)) {
		struct rows_range known = { MAX(t.range.start, range.start),
					    MIN(t.range.end, range.end) };
		if (range.start < known.start)
			rows_fill_stage(fill, (struct rows_range){ range.start, known.start },
					stage + 1);
		if (!fill->err)
			add_table(fill, &t, known);
		range.start = known.end;
	}
	if (range.start < range.end && !fill->err)
		rows_fill_stage(fill, range, stage + 1);
}

// SPDX-License-Identifier: Apache-2.0
// Builds the rows of a page of text: the best table first, its holes from the next one, and what
// no table knows as RULE_NONE.
#include "object/rows.h"

#include "object/cfi_rule.h"
#include "object/cfi_sources.h"
#include "object/object_parts.h"
#include "object/rows_fill.h"

// --- rules ---

struct error *rules_init(struct rules *r)
{
	*r = (struct rules){ 0 };
	if (!vec_push(&r->list, (struct wire_rule){ .cfa = CFA_NONE }))
		return &error_no_memory;
	return NULL;
}

void rules_fini(struct rules *r)
{
	vec_fini(&r->list);
	map_fini(&r->index);
}

uint16_t rules_intern(struct rules *r, const struct wire_rule *rule)
{
	static const struct wire_rule none = { .cfa = CFA_NONE };
	if (memcmp(rule, &none, sizeof(none)) == 0)
		return RULE_NONE;
	uint64_t key = str_hash((struct str){ (const char *)rule, sizeof(*rule) });
	// Two rules of the same hash: the next key is as good.
	for (const uint64_t *number; (number = map_get(&r->index, key)); key++)
		if (memcmp(&r->list.at[*number], rule, sizeof(*rule)) == 0)
			return (uint16_t)*number;
	if (r->list.len == RULES_MAX || !vec_reserve(&r->list, 1))
		return RULE_NONE;
	uint64_t *number = map_put(&r->index, key, /* ret_new= */ NULL);
	if (!number)
		return RULE_NONE;
	*number = r->list.len;
	r->list.at[r->list.len++] = *rule;
	return (uint16_t)*number;
}

// --- pages ---

void row_page_fini(struct row_page *p)
{
	vec_fini(&p->rows);
}

bool rows_add(struct rows_fill *fill, uint64_t offset, const struct wire_rule *rule,
	      int32_t cfa_offset)
{
	struct row_page *page = fill->page;
	struct wire_row row = {
		.low16 = (uint16_t)(offset & (TEXT_PAGE_SIZE - 1)),
		.rule = rules_intern(fill->rules, rule),
		.cfa_offset = cfa_offset,
	};
	if (row.rule == RULE_NONE)
		row.cfa_offset = 0;
	if (page->rows.len != 0 && vec_last(&page->rows)->low16 == row.low16)
		page->rows.len--;
	const struct wire_row *last = page->rows.len != 0 ? vec_last(&page->rows) : NULL;
	if (last && last->rule == row.rule && last->cfa_offset == row.cfa_offset)
		return true;
	if (!vec_push(&page->rows, row))
		fill->err = &error_no_memory;
	return !fill->err;
}

struct fde_rows {
	struct rows_fill *fill;
	const struct cfi_fde *fde;
	uint64_t offset;          // of the FDE's code
	struct rows_range wanted; // what is outside is left out
};

static bool add_row(void *ctx, const struct cfi_row *row)
{
	struct fde_rows *r = ctx;
	uint64_t delta = r->offset - r->fde->start;
	uint64_t start = MAX(row->start + delta, r->wanted.start);
	uint64_t end = MIN(row->end + delta, r->wanted.end);
	struct wire_rule rule;
	int32_t cfa_offset;
	if (start >= end)
		return start < r->wanted.end; // before what is wanted, or behind it
	cfi_rule_make(row, &r->fde->cie, &rule, &cfa_offset);
	return rows_add(r->fill, start, &rule, cfa_offset);
}

// Rows for a part of an FDE's code; false (and no rows) if its program is malformed.
static bool fill_from_fde(struct rows_fill *fill, const struct cfi_index *index,
			  const struct cfi_span *span, struct rows_range wanted)
{
	struct cfi_fde fde = { 0 };
	if (!cfi_index_read(index, span, &fde))
		return false;
	struct fde_rows r = { fill, &fde, span->start, wanted };
	size_t kept = fill->page->rows.len;
	enum cfi_end end = cfi_run(&fill->sources->runner, &index->section, &fde,
				   &(struct cfi_rows){ add_row, &r });
	if (end == CFI_NO_MEMORY)
		fill->err = &error_no_memory;
	if (end == CFI_MALFORMED)
		fill->page->rows.len = kept;
	return end == CFI_DONE;
}

static void fill_from_cfi(struct rows_fill *fill, struct rows_range range, unsigned stage,
			  enum cfi_source source)
{
	const struct cfi_index *index = NULL;
	fill->err = cfi_sources_index(fill->sources, source, &index);
	if (fill->err)
		return;
	const struct cfi_span *span = cfi_index_find(index, range.start);
	for (; span && span->start < range.end && !fill->err; span = cfi_index_next(index, span)) {
		struct rows_range known = { MAX(span->start, range.start),
					    MIN(span->start + span->size, range.end) };
		if (range.start < known.start)
			rows_fill_stage(fill, (struct rows_range){ range.start, known.start },
					stage + 1);
		if (!fill->err && !fill_from_fde(fill, index, span, known) && !fill->err)
			rows_fill_stage(fill, known, stage + 1);
		range.start = known.end;
	}
	if (range.start < range.end && !fill->err)
		rows_fill_stage(fill, range, stage + 1);
}

static void fill_eh_frame(struct rows_fill *fill, struct rows_range range, unsigned stage)
{
	fill_from_cfi(fill, range, stage, CFI_SOURCE_EH_FRAME);
}

static void fill_debug_frame(struct rows_fill *fill, struct rows_range range, unsigned stage)
{
	fill_from_cfi(fill, range, stage, CFI_SOURCE_DEBUG_FRAME);
}

static void fill_debug_file(struct rows_fill *fill, struct rows_range range, unsigned stage)
{
	fill_from_cfi(fill, range, stage, CFI_SOURCE_DEBUG_FILE);
}

// Where a program starts, often without any table, nothing is outside. Some instructions that call
// the first function, in ld.so two of them, and jump to the program.
#define ENTRY_CODE_SIZE 80

static void fill_entry(struct rows_fill *fill, struct rows_range range, unsigned stage)
{
	static const struct wire_rule root = { .cfa = CFA_END };
	uint64_t vaddr = fill->object->elf.header.e_entry, entry;
	if (vaddr == 0 || !object_offset(fill->object, vaddr, &entry) || entry < range.start ||
	    entry >= range.end) {
		rows_fill_stage(fill, range, stage + 1);
		return;
	}
	if (range.start < entry)
		rows_fill_stage(fill, (struct rows_range){ range.start, entry }, stage + 1);
	rows_add(fill, entry, &root, 0);
	range.start = MIN(entry + ENTRY_CODE_SIZE, range.end);
	if (range.start < range.end && !fill->err)
		rows_fill_stage(fill, range, stage + 1);
}

static void fill_none(struct rows_fill *fill, struct rows_range range, unsigned stage)
{
	static const struct wire_rule none = { .cfa = CFA_NONE };
	(void)stage;
	rows_add(fill, range.start, &none, 0);
}

// Best first.
static void (*const stages[])(struct rows_fill *fill, struct rows_range range, unsigned stage) = {
	fill_eh_frame, rows_fill_go, fill_debug_frame, fill_debug_file,
	rows_fill_plt, fill_entry,   fill_none,
};

void rows_fill_stage(struct rows_fill *fill, struct rows_range range, unsigned stage)
{
	stages[stage](fill, range, stage);
}

struct error *object_row_page(struct object *obj, uint32_t page, struct rules *rules,
			      struct row_page *ret)
{
	auto_fini(row_page) rows = { 0 };
	struct rows_fill fill = { .object = obj, .rules = rules, .page = &rows };
	struct error *err = object_cfi_sources(obj, &fill.sources);
	if (err)
		return err;
	uint64_t start = (uint64_t)page << TEXT_PAGE_SHIFT;
	rows_fill_stage(&fill, (struct rows_range){ start, start + TEXT_PAGE_SIZE }, 0);
	if (fill.err)
		return fill.err;
	*ret = rows;
	rows = (struct row_page){ 0 };
	return NULL;
}

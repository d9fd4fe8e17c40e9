// SPDX-License-Identifier: Apache-2.0
// The FDEs of a section by file offset: 16 bytes each, built once.
#include "object/cfi.h"

static int compare_spans(const void *a, const void *b)
{
	const struct cfi_span *x = a, *y = b;
	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->entry < y->entry ? -1 : x->entry > y->entry;
}

static struct error *collect(struct cfi_index *index, const struct cfi_places *places)
{
	const struct cfi_section *s = &index->section;
	struct cfi_fde fde = { 0 };
	struct cfi_entry entry;
	size_t pos = 0;
	while (cfi_next(s, &pos, &entry)) {
		uint64_t start;
		if (entry.is_cie || entry.offset > UINT32_MAX || !cfi_read_fde(s, &entry, &fde))
			continue;
		// Linkers leave the addresses of dropped functions at 0 in .debug_frame.
		if (s->debug_frame && fde.start == 0)
			continue;
		uint64_t size = fde.end - fde.start;
		if (size > UINT32_MAX || !places->offset(places->ctx, fde.start, fde.end, &start))
			continue;
		if (!vec_push(&index->spans,
			      (struct cfi_span){ start, (uint32_t)size, (uint32_t)entry.offset }))
			return &error_no_memory;
	}
	return NULL;
}

// Linkers mostly write FDEs in the order of the code: often there is nothing to sort.
static bool is_sorted(const struct cfi_index *index)
{
	for (size_t i = 1; i < index->spans.len; i++)
		if (compare_spans(&index->spans.at[i - 1], &index->spans.at[i]) > 0)
			return false;
	return true;
}

static void remove_overlaps(struct cfi_index *index)
{
	size_t kept = 0;
	vec_each (span, &index->spans) {
		struct cfi_span *last = kept != 0 ? &index->spans.at[kept - 1] : NULL;
		if (last && span->start == last->start)
			continue;
		if (last && span->start - last->start < last->size)
			last->size = (uint32_t)(span->start - last->start);
		index->spans.at[kept++] = *span;
	}
	index->spans.len = kept;
}

struct error *cfi_index_init(struct cfi_index *index, const struct cfi_section *section,
			     const struct cfi_places *places)
{
	*index = (struct cfi_index){ .section = *section };
	struct error *err = collect(index, places);
	if (err) {
		cfi_index_fini(index);
		return err;
	}
	if (!is_sorted(index))
		vec_sort(&index->spans, compare_spans);
	remove_overlaps(index);
	return NULL;
}

void cfi_index_fini(struct cfi_index *index)
{
	vec_fini(&index->spans);
}

const struct cfi_span *cfi_index_find(const struct cfi_index *index, uint64_t offset)
{
	size_t low = 0, high = index->spans.len;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct cfi_span *span = &index->spans.at[middle];
		if (span->start + span->size > offset)
			high = middle;
		else
			low = middle + 1;
	}
	return low < index->spans.len ? &index->spans.at[low] : NULL;
}

bool cfi_index_read(const struct cfi_index *index, const struct cfi_span *span, struct cfi_fde *fde)
{
	struct cfi_entry entry;
	size_t pos = span->entry;
	return cfi_next(&index->section, &pos, &entry) &&
	       cfi_read_fde(&index->section, &entry, fde);
}

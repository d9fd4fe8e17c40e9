// SPDX-License-Identifier: Apache-2.0
// Opens the input as an ELF file and asks everything one can ask of an object.
#include <stdlib.h>

#include "base/cleanup.h"
#include "object/demangle.h"
#include "object/gopclntab.h"
#include "object/object.h"
#include "object/rows.h"
#include "tests/fuzz/fuzz.h"

#define PLACES_MAX 512

static void ask_of_place(struct object *obj, uint64_t offset)
{
	struct source_frame frames[4];
	struct symbol symbol;
	char code[8];
	uint64_t vaddr, back;
	if (!object_vaddr(obj, offset, &vaddr))
		return;
	object_offset(obj, vaddr, &back);
	object_read(obj, offset, code, sizeof(code));
	if (object_symbol(obj, offset, &symbol))
		free(demangle(symbol.name));
	object_source_frames(obj, offset, offset % 32 == 0, frames, ARRAY_SIZE(frames));
}

static void ask_of_sections(struct object *obj)
{
	static const char *const names[] = { ".text",       ".symtab",     ".eh_frame_hdr",
					     ".eh_frame",   ".debug_info", ".gnu_debugdata",
					     ".debug_line", ".gopclntab" };
	struct str content;
	uint64_t vaddr;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		object_section(obj, names[i], &content, &vaddr);
}

static void ask_of_go(struct object *obj)
{
	const struct gopclntab *table = object_gopclntab(obj);
	struct go_func func;
	size_t index;
	for (size_t i = 0; table && i < gopclntab_count(table) && i < PLACES_MAX; i++) {
		if (!gopclntab_func(table, i, &func))
			continue;
		gopclntab_find(table, func.entry, &index);
		struct go_spans spans = gopclntab_spans(table, &func, func.pcsp);
		for (struct go_span span; go_spans_next(&spans, &span);)
			if (span.end > func.end)
				abort();
	}
}

#define PAGES_MAX 8

static void ask_of_rows(struct object *obj, size_t size)
{
	auto_fini(rules) rules = { 0 };
	auto_(error) err = rules_init(&rules);
	for (uint32_t page = 0; !err && page <= size >> TEXT_PAGE_SHIFT && page < PAGES_MAX;
	     page++) {
		auto_fini(row_page) rows = { 0 };
		err = object_row_page(obj, page, &rules, &rows);
		for (size_t i = 0; i < rows.rows.len; i++)
			if (i != 0 && rows.rows.at[i].low16 <= rows.rows.at[i - 1].low16)
				abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	auto_(object) obj = NULL;
	auto_(error) err =
		object_open_memory((struct str){ (const char *)data, size }, "input", &obj);
	if (err)
		return 0;
	size_t step = MAX(size / PLACES_MAX, (size_t)1);
	for (size_t offset = 0; offset < size; offset += step)
		ask_of_place(obj, offset);
	ask_of_sections(obj);
	ask_of_go(obj);
	ask_of_rows(obj, size);
	object_build_id(obj);
	object_debug_file(obj);
	return 0;
}

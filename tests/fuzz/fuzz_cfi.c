// SPDX-License-Identifier: Apache-2.0
// Takes the input for an .eh_frame or, by its first byte, a .debug_frame: all FDEs, all rows of a
// few pages, and the general case at each of them.
#include <stdlib.h>

#include "object/rows.h"
#include "tests/fuzz/fuzz.h"
#include "tests/unit/object/cfi_writer.h"

// Memory that holds its own address, with holes.
static bool read_address(void *ctx, uint64_t address, uint64_t *ret)
{
	(void)ctx;
	*ret = address;
	return address % 5 != 0;
}

static void check_page(struct object *obj, uint32_t number, const struct rules *rules,
		       const struct row_page *page)
{
	const struct memory_reader memory = { read_address, NULL };
	for (size_t i = 0; i < page->rows.len; i++) {
		const struct wire_row *row = &page->rows.at[i];
		bool follows = i == 0 ? row->low16 == 0 : row->low16 > row[-1].low16;
		if (!follows || row->rule >= rules->list.len)
			abort();
		struct walk_state state = { .pc = 0x7f0000000000, .known = i % 2 ? 0xffff : 0x80 };
		object_unwind_expr(obj, ((uint64_t)number << TEXT_PAGE_SHIFT) + row->low16, &memory,
				   &state);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size == 0)
		return 0;
	struct str table = { (const char *)data + 1, size - 1 };
	auto_fini(buf) image = { 0 };
	write_image(&image, data[0] % 2 == 0 ? &(struct image_text){ .eh_frame = table }
					     : &(struct image_text){ .debug_frame = table });
	auto_(object) obj = NULL;
	auto_(error) err = object_open_memory(buf_view(&image), "input", &obj);
	auto_fini(rules) rules = { 0 };
	if (!err)
		err = rules_init(&rules);
	for (uint32_t page = 0; !err && page <= IMAGE_SIZE >> TEXT_PAGE_SHIFT; page++) {
		auto_fini(row_page) rows = { 0 };
		err = object_row_page(obj, page, &rules, &rows);
		if (!err && rows.rows.len == 0)
			abort();
		if (!err)
			check_page(obj, page, &rules, &rows);
	}
	return 0;
}

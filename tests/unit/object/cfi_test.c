// SPDX-License-Identifier: Apache-2.0
// Every form in which an entry of .eh_frame and .debug_frame can be written, and broken.
#include <dwarf.h>

#include "object/cfi.h"
#include "tests/test.h"
#include "tests/unit/object/cfi_writer.h"

// Addresses below 1 MB are in "the file", at the same offset.
static bool place(void *ctx, uint64_t start, uint64_t end, uint64_t *ret)
{
	(void)ctx;
	*ret = start;
	return end <= 0x100000;
}

#define SECTION_VADDR 0x8000
#define DATA_BASE 0x2000

static struct error *make_index(const struct buf *b, bool debug_frame, struct cfi_index *ret)
{
	struct cfi_section section = { .bytes = buf_view(b),
				       .vaddr = SECTION_VADDR,
				       .data_base = DATA_BASE,
				       .debug_frame = debug_frame };
	return cfi_index_init(ret, &section, &(struct cfi_places){ place, NULL });
}

// Whether a table with this CIE, one FDE of it and one plain FDE gives a span [start, start + 0x10)
// for the first one, and in any case the plain one.
static bool span_found(const struct cfi_cie_text *cie, struct str addresses, struct str rest,
		       uint64_t start, bool *ret_plain)
{
	auto_fini(buf) b = { 0 };
	size_t at = write_cie(&b, cie);
	write_fde(&b, cie, at, addresses, rest);
	struct cfi_cie_text plain = plain_cie;
	plain.debug_frame = cie->debug_frame;
	at = write_cie(&b, &plain);
	uint64_t plain_addresses[] = { 0xf000, 0x100 };
	write_fde(&b, &plain, at,
		  (struct str){ (const char *)plain_addresses, sizeof(plain_addresses) }, BYTES(0));
	auto_fini(cfi_index) index = { 0 };
	auto_(error) err = make_index(&b, cie->debug_frame, &index);
	const struct cfi_span *plain_span = cfi_index_find(&index, 0xf080);
	*ret_plain = !err && plain_span && plain_span->start == 0xf000;
	const struct cfi_span *span = cfi_index_find(&index, start);
	struct cfi_fde fde = { 0 };
	return !err && span && span->start == start && span->size == 0x10 &&
	       cfi_index_read(&index, span, &fde) && fde.start == start;
}

#define LE2(v) (v) & 0xff, (v) >> 8 & 0xff
#define LE4(v) LE2(v), LE2((v) >> 16)
#define LE8(v) LE4(v), 0, 0, 0, 0

TEST(cfi_reads_addresses_in_every_encoding)
{
	// A CIE of 24 bytes in .eh_frame puts the FDE's addresses at offset 32.
	const uint32_t here = SECTION_VADDR + 32;
	const struct {
		uint8_t encoding;
		bool usable;
		struct str addresses;
	} cases[] = {
		{ DW_EH_PE_absptr, true, BYTES(LE8(0x1230), LE8(0x10)) },
		{ DW_EH_PE_udata2, true, BYTES(LE2(0x1230), LE2(0x10)) },
		{ DW_EH_PE_udata4, true, BYTES(LE4(0x1230), LE4(0x10)) },
		{ DW_EH_PE_udata8, true, BYTES(LE8(0x1230), LE8(0x10)) },
		{ DW_EH_PE_uleb128, true, BYTES(0xb0, 0x24, 0x10) },
		{ DW_EH_PE_sleb128, true, BYTES(0xb0, 0xa4, 0x00, 0x10) },
		{ DW_EH_PE_sdata2, true, BYTES(LE2(0x1230), LE2(0x10)) },
		{ DW_EH_PE_sdata4, true, BYTES(LE4(0x1230), LE4(0x10)) },
		{ DW_EH_PE_sdata8, true, BYTES(LE8(0x1230), LE8(0x10)) },
		{ DW_EH_PE_signed, true, BYTES(LE8(0x1230), LE8(0x10)) },
		{ DW_EH_PE_pcrel | DW_EH_PE_sdata4, true, BYTES(LE4(0x1230 - here), LE4(0x10)) },
		{ DW_EH_PE_datarel | DW_EH_PE_sdata4, true,
		  BYTES(LE4(0x1230u - DATA_BASE), LE4(0x10)) },
		{ DW_EH_PE_textrel | DW_EH_PE_udata4, true, BYTES(LE4(0x1230), LE4(0x10)) },
		{ DW_EH_PE_aligned, true, BYTES(LE8(0x1230), LE8(0x10)) },
		{ DW_EH_PE_funcrel | DW_EH_PE_udata4, false, BYTES(LE4(0x1230), LE4(0x10)) },
		{ DW_EH_PE_indirect | DW_EH_PE_udata4, false, BYTES(LE4(0x1230), LE4(0x10)) },
		{ DW_EH_PE_omit, false, BYTES(LE8(0x1230), LE8(0x10)) },
		{ 0x07, false, BYTES(LE8(0x1230), LE8(0x10)) }, // no such format
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		bool plain;
		struct cfi_cie_text cie = {
			.augmentation_data = { (const char *)&cases[i].encoding, 1 },
		};
		bool found = span_found(&cie, cases[i].addresses, BYTES(0), 0x1230, &plain);
		if (found != cases[i].usable || !plain)
			printf("# encoding %#x\n", cases[i].encoding);
		CHECK(found == cases[i].usable);
		CHECK(plain);
	}
}

struct cie_case {
	struct cfi_cie_text cie;
	struct str addresses, rest;
	bool usable;
};

static void check_cies(const struct cie_case *cases, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		bool plain;
		bool found = span_found(&cases[i].cie, cases[i].addresses, cases[i].rest, 0x1230,
					&plain);
		if (found != cases[i].usable || !plain)
			printf("# case %zu\n", i);
		CHECK(found == cases[i].usable);
		CHECK(plain);
	}
}

TEST(cfi_reads_every_version)
{
	const struct str eight = BYTES(LE8(0x1230), LE8(0x10)),
			 four = BYTES(LE4(0x1230), LE4(0x10));
	const struct str none = { 0 };
	const struct cie_case cases[] = {
		{ { .version = 1, .augmentation = "" }, eight, none, true },
		{ { .version = 3, .augmentation = "" }, eight, none, true },
		{ { .version = 4, .augmentation = "", .address_size = 8 }, eight, none, true },
		{ { .version = 4, .augmentation = "", .address_size = 4 }, four, none, true },
		{ { .version = 4, .augmentation = "", .address_size = 8, .segment_size = 2 },
		  BYTES(0x77, 0x77, LE8(0x1230), LE8(0x10)),
		  none,
		  true },
		{ { .version = 4, .augmentation = "", .address_size = 3 }, eight, none, false },
		{ { .version = 2, .augmentation = "" }, eight, none, false },
		{ { .version = 5, .augmentation = "" }, eight, none, false },
		{ { .debug_frame = true, .augmentation = "" }, eight, none, true },
		{ { .debug_frame = true, .wide = true, .augmentation = "" }, eight, none, true },
		{ { .wide = true, .augmentation = "" }, eight, none, true },
	};
	check_cies(cases, ARRAY_SIZE(cases));
}

TEST(cfi_reads_every_augmentation)
{
	const struct str eight = BYTES(LE8(0x1230), LE8(0x10)),
			 four = BYTES(LE4(0x1230), LE4(0x10));
	const struct str none = { 0 }, empty_block = BYTES(0), long_block = BYTES(3, 1, 2, 3);
	const struct cie_case cases[] = {
		{ { .augmentation = "eh" }, eight, none, true },
		{ { .augmentation = "z" }, eight, long_block, true },
		{ { .augmentation = "zRS", .augmentation_data = BYTES(3) },
		  four,
		  empty_block,
		  true },
		{ { .augmentation = "zRBG", .augmentation_data = BYTES(3) },
		  four,
		  empty_block,
		  true },
		{ { .augmentation = "zLR", .augmentation_data = BYTES(0x1b, 3) },
		  four,
		  long_block,
		  true },
		{ { .augmentation = "zPLR", .augmentation_data = BYTES(0x9b, 1, 2, 3, 4, 0x1b, 3) },
		  four,
		  long_block,
		  true },
		{ { .augmentation = "zPR", .augmentation_data = BYTES(0x01, 0x81, 0x02, 3) },
		  four,
		  empty_block,
		  true },
		{ { .augmentation = "zPR", .augmentation_data = BYTES(0x07, 3) },
		  four,
		  empty_block,
		  false },
		{ { .augmentation = "zR?", .augmentation_data = BYTES(3, 9, 9) },
		  four,
		  empty_block,
		  true },
		{ { .augmentation = "zR" }, four, empty_block, false }, // its block is too short
		{ { .augmentation = "armcc+" }, eight, none, false },
	};
	check_cies(cases, ARRAY_SIZE(cases));
}

TEST(cfi_of_overlapping_fdes_keeps_the_one_that_starts_later)
{
	auto_fini(buf) b = { 0 };
	size_t cie = write_cie(&b, &plain_cie);
	size_t inner = write_plain_fde(&b, cie, 0x1100, 0x100, STR(""));
	size_t outer = write_plain_fde(&b, cie, 0x1000, 0x1000, STR(""));
	write_plain_fde(&b, cie, 0x1100, 0x80, STR("")); // starts where a known one does
	write_plain_fde(&b, cie, 0x1000, 0x1000, STR(""));
	auto_fini(cfi_index) index = { 0 };
	CHECK_OK(make_index(&b, false, &index));
	CHECK(index.spans.len == 2);
	CHECK(index.spans.at[0].start == 0x1000 && index.spans.at[0].size == 0x100);
	CHECK(index.spans.at[0].entry == outer);
	CHECK(index.spans.at[1].start == 0x1100 && index.spans.at[1].size == 0x100);
	CHECK(index.spans.at[1].entry == inner);
	CHECK(cfi_index_find(&index, 0x10ff) == &index.spans.at[0]);
	CHECK(cfi_index_find(&index, 0x1100) == &index.spans.at[1]);
	CHECK(cfi_index_find(&index, 0xfff) == &index.spans.at[0]); // the next one
	CHECK(!cfi_index_find(&index, 0x1200));
}

TEST(cfi_leaves_out_what_is_nowhere_and_keeps_the_rest)
{
	auto_fini(buf) b = { 0 };
	size_t cie = write_cie(&b, &plain_cie);
	write_plain_fde(&b, cie, 0xfff00, 0x200, STR("")); // reaches out of the file
	write_plain_fde(&b, cie, 0x1000, 0, STR(""));
	write_plain_fde(&b, cie, UINT64_MAX - 5, 0x10, STR(""));
	write_plain_fde(&b, 0x10000, 0x2000, 0x10, STR("")); // its CIE is not there
	buf_add(&b, "\0\0\0\0", 4);                          // a terminator in between
	buf_add(&b, "\2\0\0\0??", 6);                        // too short to be an entry
	write_plain_fde(&b, cie, 0x3000, 0x10, STR(""));
	buf_add(&b, "\xf0\xff\xff\x7f????", 8); // longer than the section
	write_plain_fde(&b, cie, 0x4000, 0x10, STR(""));
	auto_fini(cfi_index) index = { 0 };
	CHECK_OK(make_index(&b, false, &index));
	CHECK(index.spans.len == 1);
	CHECK(index.spans.at[0].start == 0x3000);
}

TEST(cfi_ends_at_a_zero_length_if_nothing_else_tells_the_end)
{
	auto_fini(buf) b = { 0 };
	size_t cie = write_cie(&b, &plain_cie);
	write_plain_fde(&b, cie, 0x1000, 0x10, STR(""));
	buf_add(&b, "\0\0\0\0\0\0\0\0", 8);
	write_plain_fde(&b, cie, 0x2000, 0x10, STR(""));
	struct cfi_section section = { .bytes = buf_view(&b), .ends_at_zero = true };
	auto_fini(cfi_index) index = { 0 };
	CHECK_OK(cfi_index_init(&index, &section, &(struct cfi_places){ place, NULL }));
	CHECK(index.spans.len == 1);
}

TEST(cfi_ignores_functions_that_the_linker_dropped)
{
	auto_fini(buf) b = { 0 };
	struct cfi_cie_text cie = { .debug_frame = true, .augmentation = "" };
	size_t at = write_cie(&b, &cie);
	write_fde(&b, &cie, at, BYTES(LE8(0), LE8(0x5000)), STR(""));
	write_fde(&b, &cie, at, BYTES(LE8(0x1000), LE8(0x10)), STR(""));
	auto_fini(cfi_index) index = { 0 };
	CHECK_OK(make_index(&b, true, &index));
	CHECK(index.spans.len == 1 && index.spans.at[0].start == 0x1000);
}

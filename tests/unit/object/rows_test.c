// SPDX-License-Identifier: Apache-2.0
// From tables to the rows of a page.
#include <dwarf.h>
#include <fcntl.h>

#include "object/object.h"
#include "object/rows.h"
#include "tests/test.h"
#include "tests/unit/object/cfi_writer.h"

struct table_file {
	struct buf eh_frame;
	struct buf debug_frame;
	struct buf image;
	struct object *object;
	struct rules rules;
	struct row_page page;
};

static void table_file_fini(struct table_file *f)
{
	row_page_fini(&f->page);
	rules_fini(&f->rules);
	object_free(f->object);
	buf_fini(&f->image);
	buf_fini(&f->debug_frame);
	buf_fini(&f->eh_frame);
}

static struct error *make_page(struct table_file *f, uint32_t page)
{
	struct error *err = NULL;
	if (!f->object) {
		write_image(&f->image, &(struct image_text){ buf_view(&f->eh_frame),
							     buf_view(&f->debug_frame) });
		err = object_open_memory(buf_view(&f->image), "image", &f->object);
	}
	if (!err && f->rules.list.len == 0)
		err = rules_init(&f->rules);
	row_page_fini(&f->page);
	return err ? err : object_row_page(f->object, page, &f->rules, &f->page);
}

// Row i: its start and rule.
static const struct wire_rule *rule_at(const struct table_file *f, size_t i, unsigned low16)
{
	static const struct wire_rule no_such_row = { .cfa = CFA_KIND_COUNT };
	if (i >= f->page.rows.len || f->page.rows.at[i].low16 != low16)
		return &no_such_row;
	return &f->rules.list.at[f->page.rows.at[i].rule];
}

// The rule of a function whose program starts like this.
static struct wire_rule rule_of(struct str program, const char *augmentation, int32_t *ret_offset)
{
	auto_fini(table_file) f = { 0 };
	struct cfi_cie_text cie = plain_cie;
	cie.augmentation = augmentation;
	size_t at = write_cie(&f.eh_frame, &cie);
	write_plain_fde(&f.eh_frame, at, IMAGE_VADDR + 0x1000, 0x100, program);
	auto_(error) err = make_page(&f, 0);
	*ret_offset = f.page.rows.len > 1 ? f.page.rows.at[1].cfa_offset : -1;
	return *rule_at(&f, 1, 0x1000);
}

TEST(rules_are_kept_once_and_none_is_zero)
{
	auto_fini(rules) r = { 0 };
	CHECK_OK(rules_init(&r));
	struct wire_rule rule = { .cfa = CFA_NONE };
	CHECK(rules_intern(&r, &rule) == RULE_NONE);
	rule.cfa = CFA_REG;
	CHECK(rules_intern(&r, &rule) == 1);
	rule.cfa_reg = 3;
	CHECK(rules_intern(&r, &rule) == 2);
	rule.cfa_reg = 0;
	CHECK(rules_intern(&r, &rule) == 1);
	CHECK(r.list.len == 3);
}

TEST(rules_that_do_not_fit_are_none)
{
	auto_fini(rules) r = { 0 };
	CHECK_OK(rules_init(&r));
	struct wire_rule rule = { .cfa = CFA_REG };
	for (unsigned i = 1; i < RULES_MAX; i++) {
		rule.ra = (int16_t)i;
		CHECK(rules_intern(&r, &rule) == i);
	}
	rule.cfa_reg = 7;
	CHECK(rules_intern(&r, &rule) == RULE_NONE);
	CHECK(r.list.len == RULES_MAX);
}

TEST(a_page_starts_at_zero_and_holes_are_none)
{
	auto_fini(table_file) f = { 0 };
	size_t cie = write_cie(&f.eh_frame, &plain_cie);
	write_plain_fde(&f.eh_frame, cie, IMAGE_VADDR + 0x1000, 0x20,
			BYTES(DW_CFA_advance_loc | 4, DW_CFA_def_cfa_offset, 16));
	write_plain_fde(&f.eh_frame, cie, IMAGE_VADDR + 0x1020, 0x20,
			BYTES(DW_CFA_def_cfa_offset, 16));
	CHECK_OK(make_page(&f, 0));
	CHECK(f.page.rows.len == 4); // the second function goes on as the first one ended
	CHECK(rule_at(&f, 0, 0)->cfa == CFA_NONE);
	CHECK(rule_at(&f, 1, 0x1000)->cfa == CFA_REG && f.page.rows.at[1].cfa_offset == 8);
	CHECK(rule_at(&f, 2, 0x1004)->cfa == CFA_REG && f.page.rows.at[2].cfa_offset == 16);
	CHECK(rule_at(&f, 1, 0x1000) == rule_at(&f, 2, 0x1004));
	CHECK(rule_at(&f, 3, 0x1040)->cfa == CFA_NONE);
}

TEST(a_function_that_crosses_pages_is_in_each_of_them)
{
	auto_fini(table_file) f = { 0 };
	size_t cie = write_cie(&f.eh_frame, &plain_cie);
	write_plain_fde(&f.eh_frame, cie, IMAGE_VADDR + 0xfff0, 0x20020,
			BYTES(DW_CFA_advance_loc1, 0x18, DW_CFA_def_cfa_offset, 16,
			      DW_CFA_advance_loc4, 0x00, 0x00, 2, 0, DW_CFA_def_cfa_offset, 24));
	CHECK_OK(make_page(&f, 0));
	CHECK(f.page.rows.len == 2 && f.page.rows.at[1].low16 == 0xfff0);
	CHECK_OK(make_page(&f, 1));
	CHECK(f.page.rows.len == 2);
	CHECK(rule_at(&f, 0, 0)->cfa == CFA_REG && f.page.rows.at[0].cfa_offset == 8);
	CHECK(rule_at(&f, 1, 8)->cfa == CFA_REG && f.page.rows.at[1].cfa_offset == 16);
	CHECK_OK(make_page(&f, 2));
	CHECK(f.page.rows.len == 1 && f.page.rows.at[0].cfa_offset == 16);
	CHECK_OK(make_page(&f, 3));
	CHECK(f.page.rows.len == 3);
	CHECK(rule_at(&f, 1, 8)->cfa == CFA_REG && f.page.rows.at[1].cfa_offset == 24);
	CHECK(rule_at(&f, 2, 0x10)->cfa == CFA_NONE);
	CHECK_OK(make_page(&f, UINT32_MAX));
	CHECK(f.page.rows.len == 1 && rule_at(&f, 0, 0)->cfa == CFA_NONE);
}

TEST(one_broken_function_is_taken_from_the_next_table)
{
	auto_fini(table_file) f = { 0 };
	size_t cie = write_cie(&f.eh_frame, &plain_cie);
	write_plain_fde(&f.eh_frame, cie, IMAGE_VADDR + 0x1000, 0x20, STR(""));
	write_plain_fde(&f.eh_frame, cie, IMAGE_VADDR + 0x1020, 0x20,
			BYTES(DW_CFA_advance_loc | 1, DW_CFA_restore_state));
	write_plain_fde(&f.eh_frame, cie, IMAGE_VADDR + 0x1040, 0x20, STR(""));
	struct cfi_cie_text debug_cie = { .debug_frame = true, .augmentation = "" };
	cie = write_cie(&f.debug_frame, &debug_cie);
	uint64_t addresses[] = { IMAGE_VADDR + 0x1010, 0x20 };
	write_fde(&f.debug_frame, &debug_cie, cie, (struct str){ (const char *)addresses, 16 },
		  BYTES(DW_CFA_def_cfa_offset, 32));
	CHECK_OK(make_page(&f, 0));
	CHECK(f.page.rows.len == 6);
	CHECK(f.page.rows.at[1].low16 == 0x1000 && f.page.rows.at[1].cfa_offset == 8);
	CHECK(f.page.rows.at[2].low16 == 0x1020 && f.page.rows.at[2].cfa_offset == 32);
	CHECK(rule_at(&f, 3, 0x1030)->cfa == CFA_NONE);
	CHECK(f.page.rows.at[4].low16 == 0x1040 && f.page.rows.at[4].cfa_offset == 8);
	CHECK(rule_at(&f, 5, 0x1060)->cfa == CFA_NONE);
}

TEST(rules_say_what_the_table_says)
{
	int32_t offset;
	struct wire_rule r = rule_of(BYTES(DW_CFA_offset | X86_RBX, 3, DW_CFA_offset | X86_RBP, 2,
					   DW_CFA_undefined, X86_R12, DW_CFA_same_value, X86_R13),
				     "zR", &offset);
	CHECK(r.cfa == CFA_REG && r.cfa_reg == X86_RSP && offset == 8 && r.ra == -1);
	CHECK(r.saved[0] == -3 && r.saved[1] == -2 && r.saved[2] == SAVED_UNKNOWN);
	CHECK(r.saved[3] == SAVED_SAME && r.saved[4] == SAVED_SAME && r.fp_based == 0);

	r = rule_of(BYTES(DW_CFA_def_cfa_expression, 3, DW_OP_breg6, 0x78, DW_OP_deref,
			  DW_CFA_expression, X86_RBP, 2, DW_OP_breg6, 0, DW_CFA_expression, X86_RBX,
			  2, DW_OP_breg6, 0x70),
		    "zR", &offset);
	CHECK(r.cfa == CFA_DEREF && r.cfa_reg == X86_RBP && offset == -8 && r.cfa_add == 0);
	CHECK(r.fp_based == 3 && r.saved[0] == -4 && r.saved[1] == -2); // from FP_BASE

	r = rule_of(BYTES(DW_CFA_def_cfa_expression, 5, DW_OP_breg7, 0x20, DW_OP_deref,
			  DW_OP_plus_uconst, 8),
		    "zR", &offset);
	CHECK(r.cfa == CFA_DEREF && r.cfa_reg == X86_RSP && offset == 32 && r.cfa_add == 8);

	r = rule_of(BYTES(DW_CFA_undefined, ARCH_REG_RA), "zR", &offset);
	CHECK(r.cfa == CFA_END);
	r = rule_of(BYTES(DW_CFA_register, ARCH_REG_RA, X86_RDI), "zR", &offset);
	CHECK(r.cfa == CFA_REG && r.flags == RULE_RA_IN_REG && r.ra == X86_RDI);
	r = rule_of(BYTES(DW_CFA_same_value, ARCH_REG_RA), "zR", &offset);
	CHECK(r.cfa == CFA_KIND_COUNT); // none: one row for the whole page
}

#define PLT_CFA(push_done)                                                                         \
	DW_CFA_def_cfa_expression, 11, DW_OP_breg7, 8, DW_OP_breg16, 0, DW_OP_lit15, DW_OP_and,    \
		DW_OP_lit0 + (push_done), DW_OP_ge, DW_OP_lit3, DW_OP_shl, DW_OP_plus

TEST(linkage_tables_are_recognised)
{
	int32_t offset;
	struct wire_rule r = rule_of(BYTES(PLT_CFA(11)), "zR", &offset);
	CHECK(r.cfa == CFA_PLT && r.cfa_add == 11);
	r = rule_of(BYTES(PLT_CFA(9)), "zR", &offset);
	CHECK(r.cfa == CFA_PLT && r.cfa_add == 9);
	r = rule_of(BYTES(PLT_CFA(17)), "zR", &offset);
	CHECK(r.cfa == CFA_EXPR);
}

// What glibc says of its signal trampoline; `moved` shifts one register.
static void signal_program(struct buf *b, unsigned moved)
{
	static const uint8_t order[] = ARCH_SIGNAL_REGS;
	buf_str(b, BYTES(DW_CFA_def_cfa_expression, 4, DW_OP_breg7, 0xa0, 0x01, DW_OP_deref));
	for (unsigned i = 0; i <= ARCH_SIGNAL_REGS_COUNT; i++) {
		uint8_t reg = i < ARCH_SIGNAL_REGS_COUNT ? order[i] : ARCH_REG_RA;
		unsigned at = ARCH_SIGNAL_REGS_OFFSET + 8 * i + (i == moved ? 8 : 0);
		buf_str(b, BYTES(DW_CFA_expression, reg, 3, DW_OP_breg7,
				 (uint8_t)(0x80 | (at & 0x7f)), (uint8_t)(at >> 7)));
	}
}

TEST(signal_frames_are_recognised_only_if_they_are_complete)
{
	int32_t offset;
	auto_fini(buf) good = { 0 }, bad = { 0 };
	signal_program(&good, UINT32_MAX);
	struct wire_rule r = rule_of(buf_view(&good), "zRS", &offset);
	CHECK(r.cfa == CFA_SIGNAL);
	r = rule_of(buf_view(&good), "zR", &offset); // nothing says that it is a signal frame
	CHECK(r.cfa == CFA_EXPR);
	for (unsigned i = 0; i <= ARCH_SIGNAL_REGS_COUNT; i++) {
		bad.len = 0;
		signal_program(&bad, i);
		r = rule_of(buf_view(&bad), "zRS", &offset);
		CHECK(r.cfa == CFA_EXPR);
	}
	r = rule_of(BYTES(DW_CFA_nop), "zRS", &offset);
	CHECK(r.cfa == CFA_EXPR);
}

TEST(what_a_rule_cannot_say_is_an_expression)
{
	const struct str programs[] = {
		BYTES(DW_CFA_def_cfa_expression, 1, DW_OP_lit5),
		BYTES(DW_CFA_def_cfa_sf, X86_RSP, 0x80, 0x80, 0x80, 0x80,
		      0x70), // more than 32 bits
		BYTES(DW_CFA_def_cfa, ARCH_REG_RA, 8),
		BYTES(DW_CFA_offset_extended_sf, X86_RBX, 0), // at the CFA itself
		BYTES(DW_CFA_offset_extended, X86_RBX, 0x80, 0x80, 2),
		BYTES(DW_CFA_val_offset, X86_RBX, 2),
		BYTES(DW_CFA_register, X86_RBX, X86_R12),
		BYTES(DW_CFA_expression, X86_RBX, 2, DW_OP_breg7, 8),
		BYTES(DW_CFA_expression, X86_RBX, 2, DW_OP_breg6, 7),
		BYTES(DW_CFA_expression, X86_RBX, 2, DW_OP_breg6, 16), // at FP_BASE itself
		BYTES(DW_CFA_val_expression, X86_RBX, 2, DW_OP_breg7, 8),
		BYTES(DW_CFA_offset | X86_RSP, 2),
		BYTES(DW_CFA_register, ARCH_REG_RA, ARCH_REG_RA),
		BYTES(DW_CFA_expression, ARCH_REG_RA, 2, DW_OP_breg7, 8),
	};
	for (size_t i = 0; i < ARRAY_SIZE(programs); i++) {
		int32_t offset;
		struct wire_rule r = rule_of(programs[i], "zR", &offset);
		if (r.cfa != CFA_EXPR)
			printf("# program %zu\n", i);
		CHECK(r.cfa == CFA_EXPR && offset == 0);
	}
}

// Memory that holds its own address.
static bool read_address(void *ctx, uint64_t address, uint64_t *ret)
{
	(void)ctx;
	*ret = address;
	return true;
}

TEST(unwinding_by_expressions_finds_every_register)
{
	auto_fini(table_file) f = { 0 };
	struct cfi_cie_text cie = plain_cie;
	cie.augmentation = "zRS";
	size_t at = write_cie(&f.eh_frame, &cie);
	write_plain_fde(&f.eh_frame, at, IMAGE_VADDR + 0x1000, 0x100,
			BYTES(DW_CFA_advance_loc1, 0x10, DW_CFA_def_cfa_expression, 4, DW_OP_breg7,
			      0, DW_OP_lit16, DW_OP_plus, DW_CFA_expression, X86_RBX, 2, DW_OP_lit8,
			      DW_OP_plus, DW_CFA_val_expression, X86_R12, 3, DW_OP_lit24,
			      DW_OP_plus, DW_OP_dup, DW_CFA_register, X86_R13, X86_RAX,
			      DW_CFA_val_offset, X86_RDX, 1, DW_CFA_undefined, X86_R14));
	CHECK_OK(make_page(&f, 0));
	const struct memory_reader memory = { read_address, NULL };
	const struct walk_state start = {
		.pc = 0x7f0000001010,
		.regs = { [X86_RSP] = 0x9000, [X86_RAX] = 0x77, [X86_RBP] = 0x99 },
		.known = 1u << X86_RSP | 1u << X86_RAX | 1u << X86_RBP | 1u << X86_R14,
		.exact = 1,
		.leaf = 1,
	};
	struct walk_state state = start;
	CHECK(object_unwind_expr(f.object, 0x1010, &memory, &state));
	CHECK(state.pc == 0x9008 && state.regs[X86_RSP] == 0x9010);
	CHECK(state.regs[X86_RBX] == 0x9018); // memory at CFA + 8
	CHECK(state.regs[X86_R12] == 0x9028); // CFA + 24
	CHECK(state.regs[X86_R13] == 0x77);   // was in rax
	CHECK(state.regs[X86_RDX] == 0x9008); // CFA - 8
	CHECK(state.regs[X86_RBP] == 0x99);   // kept
	CHECK(state.known == (1u << X86_RSP | 1u << X86_RBX | 1u << X86_R12 | 1u << X86_R13 |
			      1u << X86_RDX | 1u << X86_RBP));
	CHECK(state.exact == 1 && state.leaf == 0);
	state = start;
	state.known = 0;
	CHECK(!object_unwind_expr(f.object, 0x1010, &memory, &state));
	CHECK(!object_unwind_expr(f.object, 0x1100, &memory, &state));
	CHECK(!object_unwind_expr(f.object, 0xfff, &memory, &state));
	CHECK(memcmp(state.regs, start.regs, sizeof(start.regs)) == 0);
}

// --- damaged tables ---

// All pages, and the general case at each row.
static bool use_everything(struct table_file *f)
{
	const struct memory_reader memory = { read_address, NULL };
	for (uint32_t page = 0; page < IMAGE_SIZE >> TEXT_PAGE_SHIFT; page++) {
		auto_(error) err = make_page(f, page);
		if (err || f->page.rows.len == 0 || f->page.rows.at[0].low16 != 0)
			return false;
		vec_each (row, &f->page.rows) {
			struct walk_state state = { .known = 0xffff };
			object_unwind_expr(f->object,
					   ((uint64_t)page << TEXT_PAGE_SHIFT) + row->low16,
					   &memory, &state);
			if (row > f->page.rows.at && row->low16 <= row[-1].low16)
				return false;
		}
	}
	return true;
}

static void write_varied_table(struct buf *b)
{
	auto_fini(buf) signal = { 0 };
	signal_program(&signal, UINT32_MAX);
	size_t cie = write_cie(b, &plain_cie);
	write_plain_fde(b, cie, IMAGE_VADDR + 0x1000, 0x100,
			BYTES(DW_CFA_advance_loc | 4, DW_CFA_def_cfa_offset, 16,
			      DW_CFA_offset | X86_RBX, 2, DW_CFA_remember_state,
			      DW_CFA_advance_loc1, 8, DW_CFA_restore_state,
			      DW_CFA_def_cfa_expression, 3, DW_OP_breg6, 0x78, DW_OP_deref));
	write_plain_fde(b, cie, IMAGE_VADDR + 0x2000, 0x20000, BYTES(PLT_CFA(11)));
	struct cfi_cie_text other = plain_cie;
	other.augmentation = "zRS";
	cie = write_cie(b, &other);
	write_plain_fde(b, cie, IMAGE_VADDR + 0x1800, 0x10, buf_view(&signal));
}

TEST(damaged_tables_do_no_harm)
{
	auto_fini(buf) good = { 0 };
	write_varied_table(&good);
	for (size_t len = 0; len <= good.len; len++) {
		auto_fini(table_file) f = { 0 };
		buf_add(&f.eh_frame, good.at, len);
		CHECK(use_everything(&f));
	}
	for (size_t bit = 0; bit < good.len * 8; bit++) {
		auto_fini(table_file) f = { 0 };
		buf_add(&f.eh_frame, good.at, good.len);
		f.eh_frame.at[bit / 8] ^= (char)(1 << bit % 8);
		CHECK(use_everything(&f));
	}
}

// SPDX-License-Identifier: Apache-2.0
// Every instruction of call frame programs.
#include <dwarf.h>

#include "object/cfi_run.h"
#include "tests/test.h"
#include "tests/unit/object/cfi_writer.h"

#define FUNCTION 0x1000
#define FUNCTION_SIZE 0x100

struct run {
	VEC(struct cfi_row) rows;
	enum cfi_end end;
};

static void run_fini(struct run *run)
{
	vec_fini(&run->rows);
}

static bool keep_row(void *ctx, const struct cfi_row *row)
{
	struct run *run = ctx;
	return vec_push(&run->rows, *row);
}

// Runs a program of FUNCTION. The bytes must stay: expressions point into them.
static void run_program(struct buf *b, const struct cfi_cie_text *cie, struct str program,
			struct run *ret)
{
	size_t at = write_cie(b, cie);
	size_t fde_at = write_plain_fde(b, at, FUNCTION, FUNCTION_SIZE, program);
	struct cfi_section section = { .bytes = buf_view(b) };
	struct cfi_entry entry;
	struct cfi_fde fde = { 0 };
	struct cfi_runner runner = { 0 };
	ret->end = CFI_NO_MEMORY;
	if (!cfi_next(&section, &fde_at, &entry) || !cfi_read_fde(&section, &entry, &fde))
		return;
	ret->end = cfi_run(&runner, &section, &fde, &(struct cfi_rows){ keep_row, ret });
	cfi_runner_fini(&runner);
}

static bool is_rule(const struct cfi_rule *rule, enum cfi_how how, int64_t value)
{
	return rule->how == how && rule->value == value;
}

TEST(cfi_run_gives_rows_without_holes)
{
	auto_fini(buf) b = { 0 };
	auto_fini(run) run = { 0 };
	run_program(&b, &plain_cie,
		    BYTES(DW_CFA_advance_loc | 4, DW_CFA_def_cfa_offset, 16,
			  DW_CFA_offset | X86_RBX, 2, DW_CFA_advance_loc1, 0x20,
			  DW_CFA_def_cfa_register, X86_RBP, DW_CFA_advance_loc2, 0x10, 0,
			  DW_CFA_restore | X86_RBX, DW_CFA_advance_loc4, 8, 0, 0, 0, DW_CFA_def_cfa,
			  X86_RSP, 0x88, 0x01),
		    &run);
	static const uint64_t starts[] = { 0x1000, 0x1004, 0x1024, 0x1034, 0x103c, 0x1100 };
	CHECK(run.end == CFI_DONE && run.rows.len == 5);
	for (size_t i = 0; i < 5; i++) {
		CHECK(run.rows.at[i].start == starts[i] && run.rows.at[i].end == starts[i + 1]);
		CHECK(is_rule(&run.rows.at[i].regs[ARCH_REG_RA], CFI_OFFSET, -8));
	}
	CHECK(run.rows.at[0].cfa.reg == X86_RSP && run.rows.at[0].cfa.value == 8);
	CHECK(run.rows.at[1].cfa.reg == X86_RSP && run.rows.at[1].cfa.value == 16);
	CHECK(is_rule(&run.rows.at[1].regs[X86_RBX], CFI_OFFSET, -16));
	CHECK(run.rows.at[2].cfa.reg == X86_RBP && run.rows.at[2].cfa.value == 16);
	CHECK(run.rows.at[3].regs[X86_RBX].how == CFI_UNSPECIFIED);
	CHECK(run.rows.at[4].cfa.reg == X86_RSP && run.rows.at[4].cfa.value == 0x88);
}

TEST(cfi_run_knows_every_rule_of_a_register)
{
	auto_fini(buf) b = { 0 };
	auto_fini(run) run = { 0 };
	run_program(&b, &plain_cie,
		    BYTES(DW_CFA_undefined, X86_RAX, DW_CFA_same_value, X86_RDX, DW_CFA_register,
			  X86_RCX, X86_R9, DW_CFA_offset_extended, X86_RBX, 3,
			  DW_CFA_offset_extended_sf, X86_RSI, 0x7e, DW_CFA_val_offset, X86_RDI, 2,
			  DW_CFA_val_offset_sf, X86_RBP, 0x7f, DW_CFA_expression, X86_R8, 2,
			  DW_OP_breg7, 8, DW_CFA_val_expression, X86_R9, 1, DW_OP_lit5,
			  DW_CFA_GNU_negative_offset_extended, X86_R10, 2, DW_CFA_GNU_args_size, 8,
			  DW_CFA_GNU_window_save, DW_CFA_register, X86_R11, 17, DW_CFA_def_cfa_sf,
			  X86_RSP, 0x7d, DW_CFA_offset | 0x21, 4, DW_CFA_restore_extended, 0x21),
		    &run);
	CHECK(run.end == CFI_DONE && run.rows.len == 1);
	const struct cfi_rule *regs = run.rows.at[0].regs;
	CHECK(regs[X86_RAX].how == CFI_UNDEFINED);
	CHECK(regs[X86_RDX].how == CFI_SAME);
	CHECK(is_rule(&regs[X86_RCX], CFI_REGISTER, X86_R9));
	CHECK(is_rule(&regs[X86_RBX], CFI_OFFSET, -24));
	CHECK(is_rule(&regs[X86_RSI], CFI_OFFSET, 16));
	CHECK(is_rule(&regs[X86_RDI], CFI_VAL_OFFSET, -16));
	CHECK(is_rule(&regs[X86_RBP], CFI_VAL_OFFSET, 8));
	CHECK(regs[X86_R8].how == CFI_EXPRESSION && regs[X86_R8].size == 2);
	CHECK(regs[X86_R9].how == CFI_VAL_EXPRESSION && regs[X86_R9].bytes[0] == DW_OP_lit5);
	CHECK(is_rule(&regs[X86_R10], CFI_OFFSET, 16));
	CHECK(regs[X86_R11].how == CFI_UNDEFINED); // a vector register's value is never known
	CHECK(run.rows.at[0].cfa.value == 24);
}

TEST(cfi_run_remembers_states_as_deep_as_they_are_nested)
{
	enum { DEPTH = 200 };
	auto_fini(buf) b = { 0 }, program = { 0 };
	auto_fini(run) run = { 0 };
	for (int i = 0; i < DEPTH; i++)
		buf_str(&program, BYTES(DW_CFA_remember_state, DW_CFA_def_cfa_offset,
					0x80 | (uint8_t)(i & 0x7f), (uint8_t)(i >> 7)));
	for (int i = 0; i < DEPTH; i++)
		buf_str(&program, BYTES(DW_CFA_advance_loc | 1, DW_CFA_restore_state));
	run_program(&b, &plain_cie, buf_view(&program), &run);
	CHECK(run.end == CFI_DONE && run.rows.len == DEPTH + 1);
	for (int i = 0; i < DEPTH; i++)
		CHECK(run.rows.at[i].cfa.value == DEPTH - 1 - i);
	CHECK(run.rows.at[DEPTH].cfa.value == 8);
}

TEST(cfi_run_restores_to_what_the_cie_says)
{
	auto_fini(buf) b = { 0 };
	auto_fini(run) run = { 0 };
	struct cfi_cie_text cie = plain_cie;
	cie.code_align = 4;
	cie.program = BYTES(DW_CFA_def_cfa, X86_RSP, 8, DW_CFA_offset | ARCH_REG_RA, 1,
			    DW_CFA_same_value, X86_RBX);
	run_program(&b, &cie,
		    BYTES(DW_CFA_offset | X86_RBX, 2, DW_CFA_undefined, ARCH_REG_RA,
			  DW_CFA_advance_loc | 2, DW_CFA_restore | X86_RBX, DW_CFA_restore_extended,
			  ARCH_REG_RA),
		    &run);
	CHECK(run.end == CFI_DONE && run.rows.len == 2);
	CHECK(run.rows.at[1].start == FUNCTION + 8); // by the code alignment
	CHECK(run.rows.at[0].regs[ARCH_REG_RA].how == CFI_UNDEFINED);
	CHECK(run.rows.at[1].regs[X86_RBX].how == CFI_SAME);
	CHECK(is_rule(&run.rows.at[1].regs[ARCH_REG_RA], CFI_OFFSET, -8));
}

TEST(cfi_run_stops_at_the_end_of_the_function)
{
	auto_fini(buf) b = { 0 };
	auto_fini(run) run = { 0 };
	run_program(&b, &plain_cie,
		    BYTES(DW_CFA_set_loc, 0x80, 0x10, 0, 0, 0, 0, 0, 0, DW_CFA_def_cfa_offset, 16,
			  DW_CFA_advance_loc4, 0, 0, 0, 0xff, DW_CFA_def_cfa_offset, 24,
			  DW_CFA_advance_loc | 1, 0x3f),
		    &run);
	CHECK(run.end == CFI_DONE && run.rows.len == 2);
	CHECK(run.rows.at[1].start == 0x1080 && run.rows.at[1].end == FUNCTION + FUNCTION_SIZE);
	CHECK(run.rows.at[1].cfa.value == 16);
}

TEST(cfi_run_refuses_what_makes_no_sense)
{
	const struct str programs[] = {
		BYTES(DW_CFA_restore_state),
		BYTES(0x3f),
		BYTES(DW_CFA_advance_loc | 8, DW_CFA_set_loc, 0, 0x10, 0, 0, 0, 0, 0, 0),
		BYTES(DW_CFA_def_cfa_expression, 1, DW_OP_lit0, DW_CFA_def_cfa_offset, 8),
		BYTES(DW_CFA_def_cfa_expression, 1, DW_OP_lit0, DW_CFA_def_cfa_register, 6),
		BYTES(DW_CFA_def_cfa, 40, 8),
		BYTES(DW_CFA_def_cfa_expression, 0x7f, 0, 0), // reaches out of the FDE
		BYTES(DW_CFA_advance_loc4, 1, 0, 0, 0, DW_CFA_offset_extended, 0xff, 0xff, 0xff,
		      0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
		      0xff, 0xff, 1, 1),
	};
	for (size_t i = 0; i < ARRAY_SIZE(programs); i++) {
		auto_fini(buf) b = { 0 };
		auto_fini(run) run = { 0 };
		run_program(&b, &plain_cie, programs[i], &run);
		if (run.end != CFI_MALFORMED)
			printf("# program %zu\n", i);
		CHECK(run.end == CFI_MALFORMED);
	}
}

TEST(cfi_run_refuses_an_endless_nesting)
{
	auto_fini(buf) b = { 0 }, program = { 0 };
	auto_fini(run) run = { 0 };
	for (int i = 0; i < 5000; i++)
		buf_char(&program, DW_CFA_remember_state);
	run_program(&b, &plain_cie, buf_view(&program), &run);
	CHECK(run.end == CFI_MALFORMED);
}

TEST(cfi_run_refuses_a_cie_that_moves)
{
	auto_fini(buf) b = { 0 };
	auto_fini(run) run = { 0 };
	struct cfi_cie_text cie = plain_cie;
	cie.program = BYTES(DW_CFA_def_cfa, X86_RSP, 8, DW_CFA_advance_loc | 1);
	run_program(&b, &cie, STR(""), &run);
	CHECK(run.end == CFI_MALFORMED);
}

// SPDX-License-Identifier: Apache-2.0
#include <dwarf.h>

#include "object/dwarf_expr.h"
#include "tests/test.h"
#include "tests/unit/object/cfi_writer.h"

// Memory in which each byte of an address below 0x1000 is its own low byte.
static bool read_low_bytes(void *ctx, uint64_t address, uint64_t *ret)
{
	(void)ctx;
	if (address > 0x1000 - 8)
		return false;
	uint8_t bytes[8];
	for (unsigned i = 0; i < 8; i++)
		bytes[i] = (uint8_t)(address + i);
	memcpy(ret, bytes, 8);
	return true;
}

static bool run(struct str code, uint64_t *ret)
{
	const struct memory_reader memory = { read_low_bytes, NULL };
	const struct walk_state state = {
		.pc = 0x5005,
		.regs = { [X86_RBX] = 0x300, [X86_RSP] = 0x700, [X86_R12] = 0x1200 },
		.known = 1u << X86_RBX | 1u << X86_RSP | 1u << X86_R12,
	};
	return dwarf_expr_run(&(struct dwarf_expr){ .code = code,
						    .state = &state,
						    .memory = &memory,
						    .bias = 0x10000,
						    .has_cfa = true,
						    .cfa = 0xcfa },
			      ret);
}

struct expr_case {
	uint64_t value;
	struct str code;
};

static void check_cases(const struct expr_case *cases, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		uint64_t value = 0;
		bool ok = run(cases[i].code, &value);
		if (!ok || value != cases[i].value)
			printf("# case %zu: %s %#lx\n", i, ok ? "gives" : "fails", value);
		CHECK(ok && value == cases[i].value);
	}
}

TEST(expr_knows_every_way_to_get_a_value)
{
	const struct expr_case cases[] = {
		{ 0xcfa, BYTES(DW_OP_nop) },
		{ 0x11234, BYTES(DW_OP_addr, 0x34, 0x12, 0, 0, 0, 0, 0, 0) },
		{ 0xfe, BYTES(DW_OP_const1u, 0xfe) },
		{ -2ull, BYTES(DW_OP_const1s, 0xfe) },
		{ 0xfffe, BYTES(DW_OP_const2u, 0xfe, 0xff) },
		{ -2ull, BYTES(DW_OP_const2s, 0xfe, 0xff) },
		{ 0xfffffffe, BYTES(DW_OP_const4u, 0xfe, 0xff, 0xff, 0xff) },
		{ -2ull, BYTES(DW_OP_const4s, 0xfe, 0xff, 0xff, 0xff) },
		{ 1ull << 56, BYTES(DW_OP_const8u, 0, 0, 0, 0, 0, 0, 0, 1) },
		{ 1ull << 56, BYTES(DW_OP_const8s, 0, 0, 0, 0, 0, 0, 0, 1) },
		{ 0x80, BYTES(DW_OP_constu, 0x80, 1) },
		{ -128ull, BYTES(DW_OP_consts, 0x80, 0x7f) },
		{ 31, BYTES(DW_OP_lit31) },
		{ 0x2f8, BYTES(DW_OP_breg3, 0x78) },
		{ 0x1201, BYTES(DW_OP_bregx, X86_R12, 1) },
		{ 0x5007, BYTES(DW_OP_breg16, 2) },
		{ 6, BYTES(DW_OP_lit3, DW_OP_dup, DW_OP_plus) },
		{ 3, BYTES(DW_OP_lit3, DW_OP_lit4, DW_OP_drop) },
		{ 3, BYTES(DW_OP_lit3, DW_OP_lit4, DW_OP_over) },
		{ 3, BYTES(DW_OP_lit3, DW_OP_lit4, DW_OP_lit5, DW_OP_pick, 2) },
		{ 3, BYTES(DW_OP_lit3, DW_OP_lit4, DW_OP_swap) },
		{ 4, BYTES(DW_OP_lit3, DW_OP_lit4, DW_OP_lit5, DW_OP_rot) },
		{ 3, BYTES(DW_OP_lit3, DW_OP_lit4, DW_OP_lit5, DW_OP_rot, DW_OP_drop) },
		{ 5, BYTES(DW_OP_lit3, DW_OP_lit4, DW_OP_lit5, DW_OP_rot, DW_OP_drop, DW_OP_drop) },
		{ 0x0706050403020100, BYTES(DW_OP_breg7, 0, DW_OP_deref) },
		{ 0x0100, BYTES(DW_OP_breg7, 0, DW_OP_deref_size, 2) },
		{ 0xff, BYTES(DW_OP_const2u, 0xff, 0x0f, DW_OP_deref_size, 1) }, // the last byte
	};
	check_cases(cases, ARRAY_SIZE(cases));
}

TEST(expr_knows_every_way_to_change_a_value)
{
	const struct expr_case cases[] = {
		{ 5, BYTES(DW_OP_const1s, 0xfb, DW_OP_abs) },
		{ 4, BYTES(DW_OP_lit6, DW_OP_lit12, DW_OP_and) },
		{ -3ull, BYTES(DW_OP_lit7, DW_OP_const1s, 0xfe, DW_OP_div) },
		{ 2, BYTES(DW_OP_lit5, DW_OP_lit3, DW_OP_minus) },
		{ 1, BYTES(DW_OP_lit7, DW_OP_lit3, DW_OP_mod) },
		{ 21, BYTES(DW_OP_lit7, DW_OP_lit3, DW_OP_mul) },
		{ -7ull, BYTES(DW_OP_lit7, DW_OP_neg) },
		{ ~7ull, BYTES(DW_OP_lit7, DW_OP_not) },
		{ 14, BYTES(DW_OP_lit6, DW_OP_lit12, DW_OP_or) },
		{ 18, BYTES(DW_OP_lit6, DW_OP_lit12, DW_OP_plus) },
		{ 0x106, BYTES(DW_OP_lit6, DW_OP_plus_uconst, 0x80, 2) },
		{ 24, BYTES(DW_OP_lit6, DW_OP_lit2, DW_OP_shl) },
		{ 0, BYTES(DW_OP_lit6, DW_OP_const1u, 64, DW_OP_shl) },
		{ 3, BYTES(DW_OP_lit6, DW_OP_lit1, DW_OP_shr) },
		{ -1ull >> 1, BYTES(DW_OP_const1s, 0xff, DW_OP_lit1, DW_OP_shr) },
		{ -1ull, BYTES(DW_OP_const1s, 0xff, DW_OP_lit1, DW_OP_shra) },
		{ -1ull, BYTES(DW_OP_const1s, 0xff, DW_OP_const1u, 200, DW_OP_shra) },
		{ 10, BYTES(DW_OP_lit6, DW_OP_lit12, DW_OP_xor) },
		{ 1, BYTES(DW_OP_lit6, DW_OP_lit6, DW_OP_eq) },
		{ 1, BYTES(DW_OP_lit6, DW_OP_const1s, 0xff, DW_OP_ge) },
		{ 0, BYTES(DW_OP_lit6, DW_OP_lit6, DW_OP_gt) },
		{ 1, BYTES(DW_OP_const1s, 0xff, DW_OP_lit6, DW_OP_le) },
		{ 1, BYTES(DW_OP_const1s, 0xff, DW_OP_lit6, DW_OP_lt) },
		{ 1, BYTES(DW_OP_lit5, DW_OP_lit6, DW_OP_ne) },
		{ 8, BYTES(DW_OP_lit8, DW_OP_skip, 1, 0, DW_OP_lit9) },
		{ 9, BYTES(DW_OP_lit8, DW_OP_lit0, DW_OP_bra, 1, 0, DW_OP_lit9) },
		{ 8, BYTES(DW_OP_lit8, DW_OP_lit1, DW_OP_bra, 1, 0, DW_OP_lit9) },
		// 10 down to 0, backwards
		{ 0,
		  BYTES(DW_OP_lit10, DW_OP_lit1, DW_OP_minus, DW_OP_dup, DW_OP_bra, 0xfa, 0xff) },
		{ 1ull << 63,
		  BYTES(DW_OP_const8u, 0, 0, 0, 0, 0, 0, 0, 0x80, DW_OP_const1s, 0xff, DW_OP_div) },
	};
	check_cases(cases, ARRAY_SIZE(cases));
}

TEST(expr_refuses_what_makes_no_sense)
{
	const struct str cases[] = {
		BYTES(DW_OP_drop),                          // nothing is left
		BYTES(DW_OP_drop, DW_OP_drop),              //
		BYTES(DW_OP_plus),                          //
		BYTES(DW_OP_rot),                           //
		BYTES(DW_OP_lit1, DW_OP_pick, 2),           //
		BYTES(DW_OP_lit1, DW_OP_lit0, DW_OP_div),   //
		BYTES(DW_OP_lit1, DW_OP_lit0, DW_OP_mod),   //
		BYTES(DW_OP_breg0, 0),                      // a register that is not known
		BYTES(DW_OP_bregx, 40, 0),                  //
		BYTES(DW_OP_breg12 - 4, 0),                 //
		BYTES(DW_OP_const2u, 0, 0x10, DW_OP_deref), // memory that cannot be read
		BYTES(DW_OP_lit0, DW_OP_deref_size, 0),     //
		BYTES(DW_OP_lit0, DW_OP_deref_size, 9),     //
		BYTES(DW_OP_const4u, 1, 2),                 // ends too early
		BYTES(DW_OP_skip, 0x10, 0),                 // leads out
		BYTES(DW_OP_skip, 0xfc, 0xff),              //
		BYTES(DW_OP_skip, 0xfd, 0xff),              // for ever
		BYTES(DW_OP_dup, DW_OP_skip, 0xfc, 0xff),   // more than the stack holds
		BYTES(DW_OP_call_frame_cfa),
		BYTES(DW_OP_fbreg, 0),
		BYTES(0xff),
		BYTES(DW_OP_reg3),
		BYTES(DW_OP_push_object_address),
		BYTES(DW_OP_piece, 8),
		BYTES(DW_OP_xderef),
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		uint64_t value;
		bool ok = run(cases[i], &value);
		if (ok)
			printf("# case %zu\n", i);
		CHECK(!ok);
	}
}

TEST(expr_recognises_a_register_and_an_offset)
{
	struct dwarf_place p;
	CHECK(dwarf_expr_place(BYTES(DW_OP_breg6, 0x70), &p));
	CHECK(p.reg == X86_RBP && p.offset == -16 && !p.deref && p.add == 0);
	CHECK(dwarf_expr_place(BYTES(DW_OP_breg7, 8, DW_OP_deref, DW_OP_plus_uconst, 16), &p));
	CHECK(p.reg == X86_RSP && p.offset == 8 && p.deref && p.add == 16);
	CHECK(dwarf_expr_place(BYTES(DW_OP_bregx, X86_R12, 0, DW_OP_lit8, DW_OP_plus, DW_OP_deref,
				     DW_OP_const1u, 3, DW_OP_minus),
			       &p));
	CHECK(p.reg == X86_R12 && p.offset == 8 && p.deref && p.add == -3);
	CHECK(!dwarf_expr_place(STR(""), &p));
	CHECK(!dwarf_expr_place(BYTES(DW_OP_breg7), &p));
	CHECK(!dwarf_expr_place(BYTES(DW_OP_breg16, 0), &p));
	CHECK(!dwarf_expr_place(BYTES(DW_OP_lit3), &p));
	CHECK(!dwarf_expr_place(BYTES(DW_OP_breg7, 0, DW_OP_deref, DW_OP_deref), &p));
	CHECK(!dwarf_expr_place(BYTES(DW_OP_breg7, 0, DW_OP_lit8), &p));
	CHECK(!dwarf_expr_place(BYTES(DW_OP_breg7, 0, DW_OP_lit8, DW_OP_and), &p));
	CHECK(!dwarf_expr_place(
		BYTES(DW_OP_breg7, 0, DW_OP_const8u, 0, 0, 0, 0, 0, 0, 0, 0x80, DW_OP_minus), &p));
}

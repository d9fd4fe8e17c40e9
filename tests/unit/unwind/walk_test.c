// SPDX-License-Identifier: Apache-2.0
// The walker against a made-up target: memory, mappings and rows are arrays in this file.
#include <string.h>

#include "tests/test.h"
#include "wire/unwind.h"

#define STACK_BASE 0x7000ull
#define STACK_WORDS 256
#define CODE_BASE 0x400000ull
#define CODE_END 0x500000ull

struct walk_host {
	struct wire_row row[16];
	struct wire_rule rule[16];
	wu64 row_start[16]; // address from which row i holds
	int rows;
	wu64 stack[STACK_WORDS];
	wu64 code; // at every address
	wu64 emitted[64];
	int count;
	int deny_reads_from; // countdown: this read fails with WALK_NEED_MEMORY; 0 is never
};

#include "unwind/walk.h"

static int host_place(struct walk_host *h, wu64 address, struct walk_place *ret)
{
	(void)h;
	ret->file = 2;
	ret->offset = address;
	return address >= CODE_BASE && address < CODE_END ? 0 : WALK_BAD_PC;
}

static int host_rule(struct walk_host *h, const struct walk_place *place, struct wire_row *row,
		     struct wire_rule *rule)
{
	memset(rule, 0, sizeof(*rule));
	memset(row, 0, sizeof(*row));
	for (int i = 0; i < h->rows; i++) {
		if (h->row_start[i] <= place->offset) {
			*row = h->row[i];
			*rule = h->rule[i];
		}
	}
	return 0;
}

static void host_fetch(struct walk_host *h, wu64 address)
{
	(void)h, (void)address;
}

static int host_word(struct walk_host *h, wu64 address, wu64 *ret)
{
	if (h->deny_reads_from != 0 && --h->deny_reads_from == 0)
		return WALK_NEED_MEMORY;
	if (address < STACK_BASE || address % 8 != 0 || address >= STACK_BASE + sizeof(h->stack))
		return WALK_BAD_READ;
	*ret = h->stack[(address - STACK_BASE) / 8];
	return 0;
}

static int host_code(struct walk_host *h, const struct walk_place *place, wu64 address, wu64 *ret)
{
	(void)place, (void)address;
	*ret = h->code;
	return 0;
}

static int host_expr(struct walk_host *h, const struct walk_place *place, struct walk_state *s)
{
	(void)h, (void)place, (void)s;
	return WALK_NEED_EXPR;
}

static int host_emit(struct walk_host *h, wu64 address)
{
	if (h->count == 64)
		return WALK_TOO_DEEP;
	h->emitted[h->count++] = address;
	return 0;
}

static void add_row(struct walk_host *h, wu64 from, struct wire_rule rule, ws32 cfa_offset)
{
	h->row_start[h->rows] = from;
	h->rule[h->rows] = rule;
	h->row[h->rows++].cfa_offset = cfa_offset;
}

static struct walk_state start_at(wu64 pc, wu64 sp)
{
	struct walk_state s = {
		.pc = pc, .known = (1u << ARCH_REG_COUNT) - 1, .exact = 1, .leaf = 1
	};
	s.regs[ARCH_REG_SP] = sp;
	return s;
}

static int walk(struct walk_host *h, struct walk_state *s)
{
	int end = WALK_GO_ON;
	for (int i = 0; i < 100 && end == WALK_GO_ON; i++)
		end = walk_step(h, s);
	return end;
}

static void put(struct walk_host *h, wu64 address, wu64 value)
{
	h->stack[(address - STACK_BASE) / 8] = value;
}

static const struct wire_rule sp_rule = { .cfa = CFA_REG, .cfa_reg = ARCH_REG_SP, .ra = -1 };
static const struct wire_rule end_rule = { .cfa = CFA_END };

TEST(walk_follows_rows_to_the_outermost_frame_and_names_calls_not_returns)
{
	struct walk_host h = { 0 };
	add_row(&h, 0x400000, end_rule, 0); // _start
	add_row(&h, 0x401000, sp_rule, 24); // main
	add_row(&h, 0x402000, sp_rule, 8);  // leaf
	put(&h, 0x7000, 0x401010);          // leaf returns into main
	put(&h, 0x7018, 0x400020);          // main returns into _start
	struct walk_state s = start_at(0x402005, 0x7000);
	CHECK(walk(&h, &s) == WALK_ROOT);
	CHECK(h.count == 3);
	CHECK(h.emitted[0] == 0x402005);
	CHECK(h.emitted[1] == 0x40100f);
	CHECK(h.emitted[2] == 0x40001f);
}

TEST(walk_looks_up_the_call_and_not_the_next_function)
{
	struct walk_host h = { 0 };
	add_row(&h, 0x400000, end_rule, 0);
	add_row(&h, 0x401000, sp_rule, 16); // ends with a call that never returns, at 0x401ffb
	add_row(&h, 0x402000, sp_rule, 8);  // the next function: its row would be wrong
	add_row(&h, 0x403000, sp_rule, 8);
	put(&h, 0x7000, 0x402000); // return address is the next function's first byte
	put(&h, 0x7010, 0x400020);
	struct walk_state s = start_at(0x403000, 0x7000);
	CHECK(walk(&h, &s) == WALK_ROOT);
	CHECK(h.count == 3 && h.emitted[1] == 0x401fff);
}

TEST(walk_restores_saved_registers_so_that_callers_may_count_from_them)
{
	struct walk_host h = { 0 };
	struct wire_rule saves_rbx = sp_rule;
	saves_rbx.saved[0] = -2;
	struct wire_rule from_rbx = { .cfa = CFA_REG, .cfa_reg = X86_RBX, .ra = -1 };
	add_row(&h, 0x400000, end_rule, 0);
	add_row(&h, 0x401000, from_rbx, 16);
	add_row(&h, 0x402000, saves_rbx, 16);
	put(&h, 0x7000, 0x7100);   // caller's rbx
	put(&h, 0x7008, 0x401010); // return into it
	put(&h, 0x7108, 0x400010); // CFA of the caller is rbx + 16
	struct walk_state s = start_at(0x402004, 0x7000);
	CHECK(walk(&h, &s) == WALK_ROOT);
	CHECK(h.count == 3);
}

TEST(walk_takes_a_register_that_an_epilogue_has_popped_as_it_is)
{
	struct walk_host h = { 0 };
	struct wire_rule saves_rbx = sp_rule;
	saves_rbx.saved[0] = -2; // below the stack pointer by now
	add_row(&h, 0x400000, end_rule, 0);
	add_row(&h, 0x402000, saves_rbx, 8);
	put(&h, 0x7010, 0x400010);
	put(&h, 0x7008, 0xdead);
	struct walk_state s = start_at(0x402009, 0x7010);
	s.regs[X86_RBX] = 42;
	CHECK(walk_step(&h, &s) == WALK_GO_ON);
	CHECK(s.regs[X86_RBX] == 42);
}

TEST(walk_follows_a_realigned_stack)
{
	struct walk_host h = { 0 };
	// CFA = *(rbp - 8); rbp itself is saved at rbp + 0.
	struct wire_rule drap = {
		.cfa = CFA_DEREF, .cfa_reg = X86_RBP, .ra = -1, .fp_based = 1 << 1
	};
	drap.saved[1] = -2; // from FP_BASE
	add_row(&h, 0x400000, end_rule, 0);
	add_row(&h, 0x402000, drap, -8);
	put(&h, 0x70f8, 0x7200);   // the CFA
	put(&h, 0x71f8, 0x400010); // return address below it
	put(&h, 0x7100, 0x7800);   // the caller's rbp
	struct walk_state s = start_at(0x402010, 0x7040);
	s.regs[X86_RBP] = 0x7100;
	CHECK(walk_step(&h, &s) == WALK_GO_ON);
	CHECK(s.regs[ARCH_REG_SP] == 0x7200 && s.pc == 0x400010);
	CHECK(s.regs[X86_RBP] == 0x7800);
}

TEST(walk_follows_the_frame_pointer_to_another_stack)
{
	struct walk_host h = { 0 };
	const struct wire_rule frame_rule = { .cfa = CFA_FRAME };
	add_row(&h, 0x400000, end_rule, 0);
	add_row(&h, 0x402000, frame_rule, 0);
	put(&h, 0x7100, 0x7180);   // the caller's rbp
	put(&h, 0x7108, 0x400010); // return address
	struct walk_state s = start_at(0x402010, 0x7700);
	s.regs[X86_RBP] = 0x7100;
	CHECK(walk_step(&h, &s) == WALK_GO_ON);
	CHECK(s.regs[ARCH_REG_SP] == 0x7110 && s.pc == 0x400010);
	CHECK(s.regs[X86_RBP] == 0x7180);
	CHECK(s.known == (1u << X86_RBP | 1u << X86_RSP));
	s = start_at(0x402010, 0x7700);
	s.known &= ~(1u << X86_RBP);
	CHECK(walk_step(&h, &s) == WALK_NO_ROW);
}

TEST(walk_crosses_a_signal_frame_to_the_exact_interrupted_instruction)
{
	struct walk_host h = { 0 };
	const struct wire_rule signal_rule = { .cfa = CFA_SIGNAL };
	add_row(&h, 0x400000, end_rule, 0);
	add_row(&h, 0x401000, sp_rule, 8);
	add_row(&h, 0x403000, signal_rule, 0);
	add_row(&h, 0x404000, sp_rule, 8);
	put(&h, 0x7000, 0x403001); // handler returns to the trampoline
	wu64 gregs = 0x7008 + ARCH_SIGNAL_REGS_OFFSET;
	put(&h, gregs + 8 * 15, 0x7400);   // rsp: another stack
	put(&h, gregs + 8 * 16, 0x401000); // rip: the first byte of a function
	put(&h, 0x7400, 0x400010);
	struct walk_state s = start_at(0x404000, 0x7000);
	CHECK(walk(&h, &s) == WALK_ROOT);
	CHECK(h.count == 4);
	CHECK(h.emitted[1] == 0x403001);
	CHECK(h.emitted[2] == 0x401000); // not one less
}

TEST(walk_uses_frame_pointers_where_there_are_no_rows)
{
	struct walk_host h = { 0 };
	put(&h, 0x7020, 0x7080);
	put(&h, 0x7028, 0x401010);
	put(&h, 0x7080, 0);
	put(&h, 0x7088, 0x400010);
	struct walk_state s = start_at(0x402000, 0x7000);
	s.regs[ARCH_REG_FP] = 0x7020;
	CHECK(walk(&h, &s) == WALK_ROOT); // a frame pointer of zero
	CHECK(h.count == 3 && h.emitted[1] == 0x40100f && h.emitted[2] == 0x40000f);
}

TEST(walk_knows_a_function_without_rows_that_has_no_frame_yet)
{
	struct walk_host h = { .code = 0x55 }; // push %rbp
	put(&h, 0x7000, 0x401010);
	struct walk_state s = start_at(0x402000, 0x7000);
	s.regs[ARCH_REG_FP] = 0x7100;
	CHECK(walk_step(&h, &s) == WALK_GO_ON);
	CHECK(s.pc == 0x401010 && s.regs[ARCH_REG_SP] == 0x7008 && s.regs[ARCH_REG_FP] == 0x7100);
}

TEST(walk_stops_and_says_so_where_neither_row_nor_frame_pointer_helps)
{
	struct walk_host h = { 0 };
	struct walk_state s = start_at(0x402000, 0x7100);
	s.regs[ARCH_REG_FP] = 0x1234567; // an ordinary value
	CHECK(walk(&h, &s) == WALK_NO_ROW);
	CHECK(h.count == 1);
}

TEST(walk_refuses_a_caller_below_its_callee)
{
	struct walk_host h = { 0 };
	add_row(&h, 0x400000, sp_rule, -16);
	struct walk_state s = start_at(0x402000, 0x7100);
	CHECK(walk(&h, &s) == WALK_BAD_CFA);
	CHECK(h.count == 1);
}

TEST(walk_that_lacks_memory_leaves_the_frame_to_another_host)
{
	// Whichever read fails first: going on with the same state must give the same stack.
	for (int deny = 1; deny < 6; deny++) {
		struct walk_host h = { .deny_reads_from = deny };
		struct wire_rule saves = sp_rule;
		saves.saved[0] = -2;
		saves.saved[1] = -3;
		add_row(&h, 0x400000, end_rule, 0);
		add_row(&h, 0x401000, saves, 32);
		put(&h, 0x7018, 0x401020);
		put(&h, 0x7038, 0x400010);
		struct walk_state s = start_at(0x401010, 0x7000);
		int end = walk(&h, &s);
		CHECK(end == WALK_NEED_MEMORY);
		CHECK(walk(&h, &s) == WALK_ROOT);
		CHECK(h.count == 3);
		CHECK(h.emitted[0] == 0x401010 && h.emitted[1] == 0x40101f &&
		      h.emitted[2] == 0x40000f);
	}
}

TEST(walk_of_a_linkage_table_entry_depends_on_how_far_it_got)
{
	const struct wire_rule plt = { .cfa = CFA_PLT, .cfa_add = 11, .ra = -1 };
	for (wu64 at = 0; at < 16; at++) {
		struct walk_host h = { 0 };
		add_row(&h, 0x400000, plt, 0);
		put(&h, 0x7000, at < 11 ? 0x400f00 : 5);
		put(&h, 0x7008, 0x400f00);
		struct walk_state s = start_at(0x400100 + at, 0x7000);
		CHECK(walk_step(&h, &s) == WALK_GO_ON);
		CHECK(s.pc == 0x400f00);
		CHECK(s.regs[ARCH_REG_SP] == (at < 11 ? 0x7008 : 0x7010));
	}
}

TEST(walk_finds_a_return_address_in_a_register)
{
	struct walk_host h = { 0 };
	struct wire_rule in_rdi = {
		.cfa = CFA_REG, .cfa_reg = ARCH_REG_SP, .flags = RULE_RA_IN_REG, .ra = X86_RDI
	};
	add_row(&h, 0x400000, end_rule, 0);
	add_row(&h, 0x402000, in_rdi, 0);
	struct walk_state s = start_at(0x402000, 0x7000);
	s.regs[X86_RDI] = 0x400010;
	CHECK(walk(&h, &s) == WALK_ROOT);
	CHECK(h.count == 2);
}

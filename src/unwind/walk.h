// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) OR Apache-2.0
// The stack walker, written once. It is compiled into the BPF program, where it runs inside the
// interrupt on the target's own CPU, and into the binary, where it walks stack copies; so it is
// restricted C: no allocation, no unbounded loop, no recursion.
//
// Who includes it is the host: it defines struct walk_host before the #include, and after it the
// functions declared here as host_*.
//
// A frame is emitted only when its caller has been found or can never be. So when a host answers
// with WALK_NEED_*, *state still is the frame that was not dealt with, and another host, one that
// has what was missing, goes on exactly there.
#pragma once

#include "wire/unwind.h"

#define WALK_GO_ON (-1)
// A BPF program's loops over registers are unrolled, so that every index is a constant.
#ifdef __bpf__
#define WALK_UNROLL _Pragma("clang loop unroll(full)")
#else
#define WALK_UNROLL
#endif
#define walk_inline static inline __attribute__((always_inline))

// Where code is: in a file, or (file 0) in anonymous memory.
struct walk_place {
	wu32 file;
	wu64 offset;
};

// What a host provides. All answer with 0 or an enum walk_end.

// Which file and offset an address is.
static int host_place(struct walk_host *h, wu64 address, struct walk_place *ret);
// The unwind row there.
static int host_rule(struct walk_host *h, const struct walk_place *place, struct wire_row *row,
		     struct wire_rule *rule);
// Memory from here on is wanted next: eight words.
static void host_fetch(struct walk_host *h, wu64 address);
// A word of the target's memory.
static int host_word(struct walk_host *h, wu64 address, wu64 *ret);
// The same for eight bytes of code.
static int host_code(struct walk_host *h, const struct walk_place *place, wu64 address, wu64 *ret);
// The general case of a row.
static int host_expr(struct walk_host *h, const struct walk_place *place, struct walk_state *s);
// A frame was found. 0 or WALK_TOO_DEEP.
static int host_emit(struct walk_host *h, wu64 address);

// A frame larger than this is taken for garbage.
#define WALK_MAX_FRAME_SIZE (64ull << 20)

walk_inline int walk_emit_end(struct walk_host *h, wu64 address, int end)
{
	int err = host_emit(h, address);
	return err ? err : end;
}

// The registers the kernel saved when it delivered a signal.
walk_inline int walk_signal(struct walk_host *h, struct walk_state *s)
{
	const wu8 order[ARCH_SIGNAL_REGS_COUNT] = ARCH_SIGNAL_REGS;
	wu64 at = s->regs[ARCH_REG_SP] + ARCH_SIGNAL_REGS_OFFSET;
	wu64 sp = 0, pc, value;
	int err;

	// Nothing in *s may change before all reads have succeeded, except what no later host uses:
	// the stack pointer is what this frame is found by, so it is written last.
	err = host_word(h, at + 8 * ARCH_SIGNAL_REGS_COUNT, &pc);
	if (err)
		return err;
	WALK_UNROLL
	for (int i = 0; i < ARCH_SIGNAL_REGS_COUNT; i++) {
		if (i % 8 == 0)
			host_fetch(h, at + 8 * i);
		err = host_word(h, at + 8 * i, &value);
		if (err)
			return err;
		if (order[i] == ARCH_REG_SP)
			sp = value;
		else
			s->regs[order[i]] = value;
	}
	err = host_emit(h, s->pc);
	if (err)
		return err;
	s->regs[ARCH_REG_SP] = sp;
	s->pc = pc;
	s->known = (1u << ARCH_REG_COUNT) - 1;
	s->exact = 1;
	s->leaf = 0;
	return WALK_GO_ON;
}

// Moves on to a caller whose pc and stack pointer are known; saved registers were set before.
walk_inline int walk_to_caller(struct walk_host *h, struct walk_state *s, wu64 emit, wu64 ra,
			       wu64 cfa)
{
	int err = host_emit(h, emit);
	if (err)
		return err;
	if (ra == 0)
		return WALK_ROOT;
	s->pc = ra;
	s->regs[ARCH_REG_SP] = cfa;
	s->known &= ARCH_SAVED_MASK | 1u << ARCH_REG_SP;
	s->exact = 0;
	s->leaf = 0;
	return WALK_GO_ON;
}

// To the caller through a frame record: its frame pointer, then the return address.
walk_inline int walk_linked_frame(struct walk_host *h, struct walk_state *s, wu64 fp, wu64 emit)
{
	wu64 ra, caller_fp;
	host_fetch(h, fp);
	int err = host_word(h, fp + 8, &ra);
	if (!err)
		err = host_word(h, fp, &caller_fp);
	if (err)
		return err;
	s->regs[ARCH_REG_FP] = caller_fp;
	// The other preserved registers may have been saved anywhere.
	s->known &= 1u << ARCH_REG_FP | 1u << ARCH_REG_SP;
	return walk_to_caller(h, s, emit, ra, fp + 16);
}

// No unwind information: the code at the program counter and the frame pointer.
walk_inline int walk_frame_pointer(struct walk_host *h, struct walk_state *s,
				   const struct walk_place *place, wu64 emit)
{
	wu64 sp = s->regs[ARCH_REG_SP], fp = s->regs[ARCH_REG_FP];
	wu64 code = 0, ra;
	int err;

	// For a return address the place is that of the call, one byte earlier.
	struct walk_place at_pc = { .file = place->file, .offset = place->offset + (s->pc - emit) };
	enum arch_code here = host_code(h, &at_pc, s->pc, &code) ? CODE_OTHER : arch_code_at(code);
	if (here == CODE_SIGRETURN)
		return walk_signal(h, s);
	if (s->exact && here == CODE_NO_FRAME) {
		host_fetch(h, sp);
		err = host_word(h, sp, &ra);
		return err ? err : walk_to_caller(h, s, emit, ra, sp + 8);
	}
	if (s->exact && here == CODE_FRAME_PUSHED)
		fp = sp;
	// The kernel starts a program with a frame pointer of zero, and so do makers of threads.
	// (In an interrupted function it may be any value, zero too.)
	else if (fp == 0 && !s->exact && s->known & 1u << ARCH_REG_FP)
		return walk_emit_end(h, emit, WALK_ROOT);
	if (fp < sp || fp - sp > WALK_MAX_FRAME_SIZE || fp % 8 != 0 ||
	    !(s->known & 1u << ARCH_REG_FP))
		return walk_emit_end(h, emit, WALK_NO_ROW);
	return walk_linked_frame(h, s, fp, emit);
}

// A function that has left its stack, but not its frame pointer.
walk_inline int walk_frame(struct walk_host *h, struct walk_state *s, wu64 emit)
{
	wu64 fp = s->regs[ARCH_REG_FP];
	if (!(s->known & 1u << ARCH_REG_FP))
		return walk_emit_end(h, emit, WALK_NO_ROW);
	return walk_linked_frame(h, s, fp, emit);
}

// The caller's stack pointer by a row; *ret_cfa is 0 if the row's register is not known.
walk_inline int walk_cfa(struct walk_host *h, const struct walk_state *s,
			 const struct wire_row *row, const struct wire_rule *rule, wu64 *ret_cfa)
{
	wu64 base = s->regs[rule->cfa_reg & (ARCH_REG_COUNT - 1)];
	wu64 cfa = 0;

	if (rule->cfa == CFA_PLT) {
		wu64 entry = s->pc & ARCH_PLT_ENTRY_MASK;
		cfa = s->regs[ARCH_REG_SP] + 8 + (entry >= (wu64)rule->cfa_add ? 8 : 0);
	} else if (s->known >> (rule->cfa_reg & (ARCH_REG_COUNT - 1)) & 1) {
		cfa = base + (wu64)(ws64)row->cfa_offset;
		if (rule->cfa == CFA_DEREF) {
			wu64 at = cfa;
			host_fetch(h, at);
			int err = host_word(h, at, &cfa);
			if (err)
				return err;
			cfa += (wu64)(ws64)rule->cfa_add;
		}
	}
	*ret_cfa = cfa;
	return 0;
}

// The ordinary case: a row tells where everything is.
walk_inline int walk_row(struct walk_host *h, struct walk_state *s, const struct wire_row *row,
			 const struct wire_rule *rule, wu64 emit)
{
	const wu8 saved_regs[ARCH_SAVED_COUNT] = ARCH_SAVED_REGS;
	wu64 values[ARCH_SAVED_COUNT] = { 0 };
	wu32 restored = 0;
	wu64 sp = s->regs[ARCH_REG_SP], fp = s->regs[ARCH_REG_FP], cfa, ra;
	int err = walk_cfa(h, s, row, rule, &cfa);
	if (err)
		return err;
	if (cfa <= sp || cfa - sp > WALK_MAX_FRAME_SIZE) {
		// Only the interrupted function may not have moved the stack pointer.
		if (!(cfa == sp && s->exact && rule->flags & RULE_RA_IN_REG))
			return walk_emit_end(h, emit, WALK_BAD_CFA);
	}
	host_fetch(h, cfa - 64 < sp ? sp : cfa - 64);
	if (rule->flags & RULE_RA_IN_REG) {
		wu32 reg = rule->ra & (ARCH_REG_COUNT - 1);
		if (!(s->known >> reg & 1))
			return walk_emit_end(h, emit, WALK_NO_ROW);
		ra = s->regs[reg];
	} else {
		err = host_word(h, cfa + (wu64)(8 * (ws64)rule->ra), &ra);
		if (err)
			return err;
	}
	WALK_UNROLL
	for (int i = 0; i < ARCH_SAVED_COUNT; i++) {
		ws16 words = rule->saved[i];
		if (words == SAVED_SAME || words == SAVED_UNKNOWN)
			continue;
		wu64 at = (rule->fp_based >> i & 1 ? FP_BASE(fp) : cfa) + (wu64)(8 * (ws64)words);
		// Below the stack pointer: an epilogue has popped it, the register has it back.
		if (at < sp)
			continue;
		err = host_word(h, at, &values[i]);
		if (err)
			return err;
		restored |= 1u << i;
	}
	WALK_UNROLL
	for (int i = 0; i < ARCH_SAVED_COUNT; i++) {
		if (rule->saved[i] == SAVED_UNKNOWN) {
			s->known &= ~(1u << saved_regs[i]);
		} else if (restored >> i & 1) {
			s->regs[saved_regs[i]] = values[i];
			s->known |= 1u << saved_regs[i];
		}
	}
	return walk_to_caller(h, s, emit, ra, cfa);
}

// One frame: emits it and moves *s to its caller. WALK_GO_ON, or why the walk ended.
walk_inline int walk_step(struct walk_host *h, struct walk_state *s)
{
	// A return address is the instruction after the call, which may belong to another function.
	wu64 address = s->exact ? s->pc : s->pc - 1;
	struct walk_place place;
	struct wire_row row;
	struct wire_rule rule;
	int err = host_place(h, address, &place);
	if (err)
		return err;
	err = host_rule(h, &place, &row, &rule);
	if (err)
		return err;
	if (rule.cfa == CFA_NONE)
		return walk_frame_pointer(h, s, &place, address);
	if (rule.cfa == CFA_END)
		return walk_emit_end(h, address, WALK_ROOT);
	if (rule.cfa == CFA_SIGNAL)
		return walk_signal(h, s);
	if (rule.cfa == CFA_FRAME)
		return walk_frame(h, s, address);
	if (rule.cfa == CFA_EXPR) {
		err = host_expr(h, &place, s);
		if (err)
			return err;
		err = host_emit(h, address);
		return err ? err : WALK_GO_ON;
	}
	return walk_row(h, s, &row, &rule, address);
}

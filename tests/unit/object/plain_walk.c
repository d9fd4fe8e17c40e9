// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/object/plain_walk.h"

static bool walk_signal(const struct memory_reader *memory, struct walk_state *state)
{
	static const uint8_t order[] = ARCH_SIGNAL_REGS;
	uint64_t at = state->regs[ARCH_REG_SP] + ARCH_SIGNAL_REGS_OFFSET, value;
	for (size_t i = 0; i < ARCH_SIGNAL_REGS_COUNT; i++, at += 8) {
		if (!memory->read(memory->ctx, at, &value))
			return false;
		state->regs[order[i]] = value;
	}
	state->known = 0xffff;
	state->exact = 1;
	if (!memory->read(memory->ctx, at, &value))
		return false;
	state->pc = value;
	return true;
}

static bool find_cfa(const struct memory_reader *memory, const struct walk_state *state,
		     const struct wire_rule *rule, const struct wire_row *row, uint64_t *ret)
{
	uint64_t at = state->regs[rule->cfa_reg] + (uint64_t)(int64_t)row->cfa_offset;
	if (!(state->known >> rule->cfa_reg & 1))
		return false;
	if (rule->cfa == CFA_PLT)
		at = state->regs[ARCH_REG_SP] +
		     ((int)(state->pc & ARCH_PLT_ENTRY_MASK) >= rule->cfa_add ? 16 : 8);
	*ret = at;
	if (rule->cfa != CFA_DEREF)
		return true;
	if (!memory->read(memory->ctx, at, ret))
		return false;
	*ret += (uint64_t)(int64_t)rule->cfa_add;
	return true;
}

static bool walk_row(const struct memory_reader *memory, struct walk_state *state,
		     const struct wire_rule *rule, const struct wire_row *row)
{
	static const uint8_t saved_regs[] = ARCH_SAVED_REGS;
	struct walk_state caller = { 0 };
	uint64_t cfa, value;
	if (!find_cfa(memory, state, rule, row, &cfa))
		return false;
	for (unsigned i = 0; i < ARCH_SAVED_COUNT; i++) {
		unsigned reg = saved_regs[i];
		bool fp_based = rule->fp_based >> i & 1;
		uint64_t base = fp_based ? FP_BASE(state->regs[ARCH_REG_FP]) : cfa;
		bool known = state->known >> reg & 1;
		value = state->regs[reg];
		if (rule->saved[i] == SAVED_UNKNOWN)
			known = false;
		else if (rule->saved[i] != SAVED_SAME)
			known = memory->read(memory->ctx,
					     base + (uint64_t)(8 * (int64_t)rule->saved[i]),
					     &value);
		caller.regs[reg] = known ? value : 0;
		caller.known |= (unsigned)known << reg;
	}
	value = state->regs[rule->ra & 15];
	if (!(rule->flags & RULE_RA_IN_REG) &&
	    !memory->read(memory->ctx, cfa + (uint64_t)(8 * (int64_t)rule->ra), &value))
		return false;
	caller.pc = value;
	caller.regs[ARCH_REG_SP] = cfa;
	caller.known |= 1u << ARCH_REG_SP;
	*state = caller;
	return true;
}

static bool walk_frame(const struct memory_reader *memory, struct walk_state *state)
{
	uint64_t fp = state->regs[ARCH_REG_FP], caller_fp, pc;
	if (!(state->known >> ARCH_REG_FP & 1) || !memory->read(memory->ctx, fp, &caller_fp) ||
	    !memory->read(memory->ctx, fp + 8, &pc))
		return false;
	*state = (struct walk_state){ .pc = pc, .known = 1u << ARCH_REG_FP | 1u << ARCH_REG_SP };
	state->regs[ARCH_REG_FP] = caller_fp;
	state->regs[ARCH_REG_SP] = fp + 16;
	return true;
}

bool plain_walk(const struct wire_rule *rule, const struct wire_row *row,
		const struct memory_reader *memory, struct walk_state *state)
{
	switch (rule->cfa) {
	case CFA_REG:
	case CFA_DEREF:
	case CFA_PLT:
		return walk_row(memory, state, rule, row);
	case CFA_FRAME:
		return walk_frame(memory, state);
	case CFA_SIGNAL:
		return walk_signal(memory, state);
	default:
		return false;
	}
}

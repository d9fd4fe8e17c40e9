// SPDX-License-Identifier: Apache-2.0
// The machine of DWARF 5 section 6.4.2. One table says which operands an instruction has and which
// small function carries it out.
#include "object/cfi_run.h"

#include <dwarf.h>

#include "object/cfi_cursor.h"

// Compilers nest remember_state once or twice.
#define REMEMBERED_MAX 1024
// A CIE's program runs again for each of its FDEs, so a long one would cost its square.
#define CIE_STEPS_MAX 1024
// An FDE's program runs again for each page of its function; compilers stay far below this.
#define FDE_STEPS_MAX (1u << 22)

struct machine {
	struct cfi_runner *runner;
	const struct cfi_section *section;
	const struct cfi_fde *fde;
	const struct cfi_rows *rows;
	struct cfi_row now;
	struct cfi_row initial;  // what the CIE's program left
	struct cfi_rule ignored; // of vector and other registers that no walk needs
	bool in_cie;
	bool stopped; // the receiver has enough, or the end of the function was reached
	bool no_memory;
};

struct operands {
	uint64_t a;
	uint64_t b;
	struct str block;
};

// Each returns false if the instruction makes no sense.
typedef bool step_fn(struct machine *m, const struct operands *op);

static struct cfi_rule *rule_of(struct machine *m, uint64_t reg)
{
	return reg < CFI_REG_COUNT ? &m->now.regs[reg] : &m->ignored;
}

// A factored offset; overflow wraps and ends up as an offset nobody accepts.
static int64_t factored(const struct machine *m, uint64_t value)
{
	return (int64_t)(value * (uint64_t)m->fde->cie.data_align);
}

static bool move_to(struct machine *m, uint64_t location)
{
	if (m->in_cie || location < m->now.start)
		return false;
	if (location == m->now.start)
		return true;
	m->now.end = location < m->fde->end ? location : m->fde->end;
	if (!m->rows->row(m->rows->ctx, &m->now) || location >= m->fde->end)
		m->stopped = true;
	m->now.start = location;
	return true;
}

static bool do_nothing(struct machine *m, const struct operands *op)
{
	(void)m, (void)op;
	return true;
}

static bool do_set_loc(struct machine *m, const struct operands *op)
{
	return move_to(m, op->a);
}

static bool do_advance(struct machine *m, const struct operands *op)
{
	uint64_t delta;
	if (__builtin_mul_overflow(op->a, m->fde->cie.code_align, &delta) ||
	    delta > UINT64_MAX - m->now.start)
		return false;
	return move_to(m, m->now.start + delta);
}

static bool do_offset(struct machine *m, const struct operands *op)
{
	*rule_of(m, op->a) = (struct cfi_rule){ .how = CFI_OFFSET, .value = factored(m, op->b) };
	return true;
}

static bool do_negative_offset(struct machine *m, const struct operands *op)
{
	*rule_of(m, op->a) = (struct cfi_rule){ .how = CFI_OFFSET, .value = factored(m, -op->b) };
	return true;
}

static bool do_val_offset(struct machine *m, const struct operands *op)
{
	*rule_of(m, op->a) =
		(struct cfi_rule){ .how = CFI_VAL_OFFSET, .value = factored(m, op->b) };
	return true;
}

static bool do_restore(struct machine *m, const struct operands *op)
{
	*rule_of(m, op->a) = op->a < CFI_REG_COUNT ? m->initial.regs[op->a]
						   : (struct cfi_rule){ .how = CFI_UNSPECIFIED };
	return true;
}

static bool do_undefined(struct machine *m, const struct operands *op)
{
	*rule_of(m, op->a) = (struct cfi_rule){ .how = CFI_UNDEFINED };
	return true;
}

static bool do_same(struct machine *m, const struct operands *op)
{
	*rule_of(m, op->a) = (struct cfi_rule){ .how = CFI_SAME };
	return true;
}

static bool do_register(struct machine *m, const struct operands *op)
{
	bool known = op->b < CFI_REG_COUNT; // of a vector register we never learn the value
	*rule_of(m, op->a) = (struct cfi_rule){ .how = known ? CFI_REGISTER : CFI_UNDEFINED,
						.value = (int64_t)op->b };
	return true;
}

static bool do_expression(struct machine *m, const struct operands *op)
{
	*rule_of(m, op->a) = (struct cfi_rule){ .how = CFI_EXPRESSION,
						.size = (uint32_t)op->block.len,
						.bytes = op->block.ptr };
	return true;
}

static bool do_val_expression(struct machine *m, const struct operands *op)
{
	*rule_of(m, op->a) = (struct cfi_rule){ .how = CFI_VAL_EXPRESSION,
						.size = (uint32_t)op->block.len,
						.bytes = op->block.ptr };
	return true;
}

static bool do_remember(struct machine *m, const struct operands *op)
{
	(void)op;
	if (m->runner->remembered.len == REMEMBERED_MAX)
		return false;
	m->no_memory = !vec_push(&m->runner->remembered, m->now);
	return !m->no_memory;
}

static bool do_restore_state(struct machine *m, const struct operands *op)
{
	(void)op;
	if (m->runner->remembered.len == 0)
		return false;
	uint64_t start = m->now.start;
	m->now = *vec_last(&m->runner->remembered);
	m->now.start = start;
	m->runner->remembered.len--;
	return true;
}

static bool set_cfa(struct machine *m, uint64_t reg, int64_t offset)
{
	m->now.cfa = (struct cfi_rule){ .how = CFI_CFA, .reg = (uint8_t)reg, .value = offset };
	return reg < CFI_REG_COUNT;
}

static bool do_def_cfa(struct machine *m, const struct operands *op)
{
	return set_cfa(m, op->a, (int64_t)op->b);
}

static bool do_def_cfa_sf(struct machine *m, const struct operands *op)
{
	return set_cfa(m, op->a, factored(m, op->b));
}

static bool do_def_cfa_register(struct machine *m, const struct operands *op)
{
	return m->now.cfa.how == CFI_CFA && set_cfa(m, op->a, m->now.cfa.value);
}

static bool do_def_cfa_offset(struct machine *m, const struct operands *op)
{
	return m->now.cfa.how == CFI_CFA && set_cfa(m, m->now.cfa.reg, (int64_t)op->a);
}

static bool do_def_cfa_offset_sf(struct machine *m, const struct operands *op)
{
	return m->now.cfa.how == CFI_CFA && set_cfa(m, m->now.cfa.reg, factored(m, op->a));
}

static bool do_def_cfa_expression(struct machine *m, const struct operands *op)
{
	m->now.cfa = (struct cfi_rule){ .how = CFI_EXPRESSION,
					.size = (uint32_t)op->block.len,
					.bytes = op->block.ptr };
	return true;
}

enum operand {
	NONE,
	FIXED1,
	FIXED2,
	FIXED4,
	FIXED8,
	ADDRESS,
	ULEB,
	SLEB,
	BLOCK,
	LOW6, // the low six bits of the instruction itself
};

struct instruction {
	step_fn *run; // NULL: no such instruction
	uint8_t a;
	uint8_t b;
};

static const struct instruction instructions[0x40] = {
	[DW_CFA_nop] = { do_nothing, NONE, NONE },
	[DW_CFA_set_loc] = { do_set_loc, ADDRESS, NONE },
	[DW_CFA_advance_loc1] = { do_advance, FIXED1, NONE },
	[DW_CFA_advance_loc2] = { do_advance, FIXED2, NONE },
	[DW_CFA_advance_loc4] = { do_advance, FIXED4, NONE },
	[DW_CFA_MIPS_advance_loc8] = { do_advance, FIXED8, NONE },
	[DW_CFA_offset_extended] = { do_offset, ULEB, ULEB },
	[DW_CFA_restore_extended] = { do_restore, ULEB, NONE },
	[DW_CFA_undefined] = { do_undefined, ULEB, NONE },
	[DW_CFA_same_value] = { do_same, ULEB, NONE },
	[DW_CFA_register] = { do_register, ULEB, ULEB },
	[DW_CFA_remember_state] = { do_remember, NONE, NONE },
	[DW_CFA_restore_state] = { do_restore_state, NONE, NONE },
	[DW_CFA_def_cfa] = { do_def_cfa, ULEB, ULEB },
	[DW_CFA_def_cfa_register] = { do_def_cfa_register, ULEB, NONE },
	[DW_CFA_def_cfa_offset] = { do_def_cfa_offset, ULEB, NONE },
	[DW_CFA_def_cfa_expression] = { do_def_cfa_expression, BLOCK, NONE },
	[DW_CFA_expression] = { do_expression, ULEB, BLOCK },
	[DW_CFA_offset_extended_sf] = { do_offset, ULEB, SLEB },
	[DW_CFA_def_cfa_sf] = { do_def_cfa_sf, ULEB, SLEB },
	[DW_CFA_def_cfa_offset_sf] = { do_def_cfa_offset_sf, SLEB, NONE },
	[DW_CFA_val_offset] = { do_val_offset, ULEB, ULEB },
	[DW_CFA_val_offset_sf] = { do_val_offset, ULEB, SLEB },
	[DW_CFA_val_expression] = { do_val_expression, ULEB, BLOCK },
	[DW_CFA_GNU_window_save] = { do_nothing, NONE, NONE },
	[DW_CFA_GNU_args_size] = { do_nothing, ULEB, NONE },
	[DW_CFA_GNU_negative_offset_extended] = { do_negative_offset, ULEB, ULEB },
};

// The three whose first operand is in the low six bits, by the two bits above them.
static const struct instruction packed[4] = {
	[DW_CFA_advance_loc >> 6] = { do_advance, LOW6, NONE },
	[DW_CFA_offset >> 6] = { do_offset, LOW6, ULEB },
	[DW_CFA_restore >> 6] = { do_restore, LOW6, NONE },
};

static uint64_t read_operand(const struct machine *m, struct cursor *c, uint8_t kind,
			     struct str *ret_block)
{
	const struct cfi_cie *cie = &m->fde->cie;
	uint64_t address = 0;
	switch (kind) {
	case FIXED1:
	case FIXED2:
	case FIXED4:
	case FIXED8:
		return cursor_fixed(c, (size_t)1 << (kind - FIXED1));
	case ADDRESS:
		if (!cfi_read_pointer(m->section, c, cie->pointer_encoding, cie->address_size,
				      &address))
			c->bad = true;
		return address;
	case ULEB:
		return cursor_uleb(c);
	case SLEB:
		return (uint64_t)cursor_sleb(c);
	case BLOCK:
		*ret_block = cursor_block(c);
		return 0;
	default:
		return 0;
	}
}

static bool step(struct machine *m, struct cursor *c)
{
	uint8_t byte = cursor_u8(c);
	const struct instruction *in = byte >> 6 ? &packed[byte >> 6] : &instructions[byte];
	struct operands op = { 0 };
	op.a = in->a == LOW6 ? byte & 0x3f : read_operand(m, c, in->a, &op.block);
	op.b = read_operand(m, c, in->b, &op.block);
	return in->run && !c->bad && op.block.len <= UINT32_MAX && in->run(m, &op);
}

static bool run_cie(struct machine *m)
{
	const struct cfi_cie *cie = &m->fde->cie;
	struct cursor c = cursor_over(m->section->bytes, cie->program, cie->program_end);
	m->in_cie = true;
	for (unsigned steps = 0; !cursor_done(&c); steps++)
		if (steps == CIE_STEPS_MAX || !step(m, &c))
			return false;
	m->in_cie = false;
	m->initial = m->now;
	return !c.bad;
}

static bool run_fde(struct machine *m)
{
	const struct cfi_fde *fde = m->fde;
	struct cursor c = cursor_over(m->section->bytes, fde->program, fde->program_end);
	for (unsigned steps = 0; !cursor_done(&c) && !m->stopped; steps++)
		if (steps == FDE_STEPS_MAX || !step(m, &c))
			return false;
	return !c.bad && (m->stopped || move_to(m, fde->end));
}

enum cfi_end cfi_run(struct cfi_runner *runner, const struct cfi_section *section,
		     const struct cfi_fde *fde, const struct cfi_rows *rows)
{
	struct machine m = { .runner = runner, .section = section, .fde = fde, .rows = rows };
	m.now.start = fde->start;
	vec_clear(&runner->remembered);
	bool good = run_cie(&m) && run_fde(&m);
	return m.no_memory ? CFI_NO_MEMORY : good ? CFI_DONE : CFI_MALFORMED;
}

void cfi_runner_fini(struct cfi_runner *runner)
{
	vec_fini(&runner->remembered);
}

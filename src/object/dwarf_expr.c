// SPDX-License-Identifier: Apache-2.0
// The stack machine of DWARF 5 section 2.5.1, without what has no meaning in call frame
// information (frame bases, object addresses, calls, pieces).
#include "object/dwarf_expr.h"

#include <dwarf.h>

#include "object/cfi_cursor.h"

#define STACK_MAX 64
#define STEPS_MAX 4096 // branches may loop

struct machine {
	const struct dwarf_expr *expr;
	struct cursor code;
	uint64_t stack[STACK_MAX];
	size_t depth;
};

static bool push(struct machine *m, uint64_t value)
{
	if (m->depth == STACK_MAX)
		return false;
	m->stack[m->depth++] = value;
	return true;
}

// The n-th value from the top; n < depth must hold.
static uint64_t *top(struct machine *m, size_t n)
{
	return &m->stack[m->depth - 1 - n];
}

static bool push_register(struct machine *m, uint64_t reg, int64_t offset)
{
	const struct walk_state *state = m->expr->state;
	if (reg == ARCH_REG_RA)
		return push(m, state->pc + (uint64_t)offset);
	if (reg >= ARCH_REG_COUNT || !(state->known >> reg & 1))
		return false;
	return push(m, state->regs[reg] + (uint64_t)offset);
}

static bool deref(struct machine *m, size_t size)
{
	const struct memory_reader *memory = m->expr->memory;
	if (m->depth == 0 || size == 0 || size > 8)
		return false;
	uint64_t address = *top(m, 0), value, spare = 8 - size;
	if (memory->read(memory->ctx, address, &value)) {
		*top(m, 0) = value << 8 * spare >> 8 * spare;
		return true;
	}
	// The last bytes before unreadable memory.
	if (spare == 0 || !memory->read(memory->ctx, address - spare, &value))
		return false;
	*top(m, 0) = value >> 8 * spare;
	return true;
}

// Two operands; b was on top. False for a division by zero.
static bool binary(uint8_t op, uint64_t a, uint64_t b, uint64_t *ret)
{
	switch (op) {
	case DW_OP_and:
		*ret = a & b;
		return true;
	case DW_OP_or:
		*ret = a | b;
		return true;
	case DW_OP_xor:
		*ret = a ^ b;
		return true;
	case DW_OP_plus:
		*ret = a + b;
		return true;
	case DW_OP_minus:
		*ret = a - b;
		return true;
	case DW_OP_mul:
		*ret = a * b;
		return true;
	case DW_OP_div: // signed; the one overflow wraps like the negation it is
		*ret = b == UINT64_MAX ? -a : b != 0 ? (uint64_t)((int64_t)a / (int64_t)b) : 0;
		return b != 0;
	case DW_OP_mod:
		*ret = b != 0 ? a % b : 0;
		return b != 0;
	case DW_OP_shl:
		*ret = b < 64 ? a << b : 0;
		return true;
	case DW_OP_shr:
		*ret = b < 64 ? a >> b : 0;
		return true;
	default: // DW_OP_shra
		*ret = (uint64_t)((int64_t)a >> (b < 64 ? b : 63));
		return true;
	}
}

static bool compare(uint8_t op, int64_t a, int64_t b)
{
	switch (op) {
	case DW_OP_eq:
		return a == b;
	case DW_OP_ge:
		return a >= b;
	case DW_OP_gt:
		return a > b;
	case DW_OP_le:
		return a <= b;
	case DW_OP_lt:
		return a < b;
	default: // DW_OP_ne
		return a != b;
	}
}

static bool do_binary(struct machine *m, uint8_t op)
{
	if (m->depth < 2)
		return false;
	uint64_t a = *top(m, 1), b = *top(m, 0);
	m->depth--;
	if (op >= DW_OP_eq && op <= DW_OP_ne) {
		*top(m, 0) = compare(op, (int64_t)a, (int64_t)b);
		return true;
	}
	return binary(op, a, b, top(m, 0));
}

static bool do_unary(struct machine *m, uint8_t op)
{
	if (m->depth == 0)
		return false;
	uint64_t *value = top(m, 0);
	switch (op) {
	case DW_OP_abs:
		*value = (int64_t)*value < 0 ? -*value : *value;
		return true;
	case DW_OP_neg:
		*value = -*value;
		return true;
	case DW_OP_not:
		*value = ~*value;
		return true;
	default: // DW_OP_plus_uconst
		*value += cursor_uleb(&m->code);
		return true;
	}
}

static bool do_constant(struct machine *m, uint8_t op)
{
	static const uint8_t sizes[] = { 1, 2, 4, 8 };
	if (op == DW_OP_addr)
		return push(m, cursor_fixed(&m->code, 8) + m->expr->bias);
	if (op == DW_OP_constu || op == DW_OP_consts)
		return push(m, cursor_leb(&m->code, op == DW_OP_consts));
	size_t size = sizes[(op - DW_OP_const1u) / 2];
	uint64_t value = cursor_fixed(&m->code, size);
	bool is_signed = (op - DW_OP_const1u) % 2 != 0;
	return push(m, is_signed ? (uint64_t)sign_extend(value, size) : value);
}

static bool pick(struct machine *m, size_t n)
{
	return n < m->depth && push(m, *top(m, n));
}

static bool do_shuffle(struct machine *m, uint8_t op)
{
	uint64_t kept;
	switch (op) {
	case DW_OP_dup:
		return pick(m, 0);
	case DW_OP_over:
		return pick(m, 1);
	case DW_OP_pick:
		return pick(m, cursor_u8(&m->code));
	case DW_OP_drop:
		if (m->depth == 0)
			return false;
		m->depth--;
		return true;
	case DW_OP_swap:
		if (m->depth < 2)
			return false;
		kept = *top(m, 0);
		*top(m, 0) = *top(m, 1);
		*top(m, 1) = kept;
		return true;
	default: // DW_OP_rot: the first becomes the third
		if (m->depth < 3)
			return false;
		kept = *top(m, 0);
		*top(m, 0) = *top(m, 1);
		*top(m, 1) = *top(m, 2);
		*top(m, 2) = kept;
		return true;
	}
}

static bool do_branch(struct machine *m, uint8_t op)
{
	int64_t distance = sign_extend(cursor_fixed(&m->code, 2), 2);
	bool taken = true;
	if (op == DW_OP_bra) {
		if (m->depth == 0)
			return false;
		taken = *top(m, 0) != 0;
		m->depth--;
	}
	if (!taken)
		return true;
	int64_t target = (int64_t)m->code.pos + distance;
	if (target < 0 || target > (int64_t)m->code.end)
		return false;
	m->code.pos = (size_t)target;
	return true;
}

static bool do_memory(struct machine *m, uint8_t op)
{
	return deref(m, op == DW_OP_deref ? 8 : cursor_u8(&m->code));
}

static bool do_bregx(struct machine *m, uint8_t op)
{
	(void)op;
	uint64_t reg = cursor_uleb(&m->code);
	return push_register(m, reg, cursor_sleb(&m->code));
}

static bool do_nothing(struct machine *m, uint8_t op)
{
	(void)m, (void)op;
	return true;
}

static bool do_literal(struct machine *m, uint8_t op)
{
	return push(m, op - DW_OP_lit0);
}

static bool do_breg(struct machine *m, uint8_t op)
{
	return push_register(m, op - DW_OP_breg0, cursor_sleb(&m->code));
}

// Everything not listed is refused.
static const struct {
	uint8_t first, last;
	bool (*run)(struct machine *m, uint8_t op);
} operations[] = {
	{ DW_OP_breg0, DW_OP_breg31, do_breg },
	{ DW_OP_lit0, DW_OP_lit31, do_literal },
	{ DW_OP_deref, DW_OP_deref, do_memory },
	{ DW_OP_deref_size, DW_OP_deref_size, do_memory },
	{ DW_OP_plus_uconst, DW_OP_plus_uconst, do_unary },
	{ DW_OP_addr, DW_OP_addr, do_constant },
	{ DW_OP_const1u, DW_OP_consts, do_constant },
	{ DW_OP_dup, DW_OP_rot, do_shuffle },
	{ DW_OP_abs, DW_OP_abs, do_unary },
	{ DW_OP_neg, DW_OP_not, do_unary },
	{ DW_OP_and, DW_OP_and, do_binary },
	{ DW_OP_div, DW_OP_mul, do_binary },
	{ DW_OP_or, DW_OP_plus, do_binary },
	{ DW_OP_shl, DW_OP_xor, do_binary },
	{ DW_OP_eq, DW_OP_ne, do_binary },
	{ DW_OP_bra, DW_OP_bra, do_branch },
	{ DW_OP_skip, DW_OP_skip, do_branch },
	{ DW_OP_bregx, DW_OP_bregx, do_bregx },
	{ DW_OP_nop, DW_OP_nop, do_nothing },
};

static bool step(struct machine *m)
{
	uint8_t op = cursor_u8(&m->code);
	for (size_t i = 0; i < ARRAY_SIZE(operations); i++)
		if (op >= operations[i].first && op <= operations[i].last)
			return operations[i].run(m, op);
	return false;
}

bool dwarf_expr_run(const struct dwarf_expr *expr, uint64_t *ret)
{
	struct machine m = { .expr = expr, .code = cursor_over(expr->code, 0, expr->code.len) };
	if (expr->has_cfa)
		push(&m, expr->cfa);
	for (unsigned steps = 0; !cursor_done(&m.code); steps++)
		if (steps == STEPS_MAX || !step(&m))
			return false;
	if (m.code.bad || m.depth == 0)
		return false;
	*ret = *top(&m, 0);
	return true;
}

// The constant that an addition takes from the code: plus_uconst N, or a constant and plus.
static bool read_addend(struct cursor *c, uint8_t op, int64_t *ret)
{
	struct machine m = { .code = *c };
	if (op == DW_OP_plus_uconst) {
		*ret = (int64_t)cursor_uleb(c);
		return true;
	}
	if (op >= DW_OP_lit0 && op <= DW_OP_lit31)
		do_literal(&m, op);
	else if (op >= DW_OP_const1u && op <= DW_OP_consts)
		do_constant(&m, op);
	else
		return false;
	*c = m.code;
	*ret = (int64_t)m.stack[0];
	uint8_t sign = cursor_u8(c);
	if (sign == DW_OP_minus)
		*ret = (int64_t) - (uint64_t)*ret;
	return sign == DW_OP_plus || sign == DW_OP_minus;
}

#define PLACE_MAX (1ll << 40) // sums of a few of these do not overflow

bool dwarf_expr_place(struct str code, struct dwarf_place *ret)
{
	struct cursor c = cursor_over(code, 0, code.len);
	struct dwarf_place place = { 0 };
	uint8_t op = cursor_u8(&c);
	uint64_t reg = op == DW_OP_bregx ? cursor_uleb(&c) : (uint64_t)op - DW_OP_breg0;
	place.offset = cursor_sleb(&c);
	if (reg >= ARCH_REG_COUNT || place.offset > PLACE_MAX || place.offset < -PLACE_MAX)
		return false;
	place.reg = (uint8_t)reg;
	while (!cursor_done(&c)) {
		int64_t addend = 0;
		op = cursor_u8(&c);
		if (op == DW_OP_nop)
			continue;
		if (op == DW_OP_deref && !place.deref) {
			place.deref = true;
			continue;
		}
		int64_t *sum = place.deref ? &place.add : &place.offset;
		if (!read_addend(&c, op, &addend) || addend > PLACE_MAX || addend < -PLACE_MAX)
			return false;
		*sum += addend;
		if (*sum > PLACE_MAX || *sum < -PLACE_MAX)
			return false;
	}
	*ret = place;
	return !c.bad;
}

// SPDX-License-Identifier: Apache-2.0
#include "object/cfi_rule.h"

#include <dwarf.h>

#include "base/cleanup.h"
#include "object/dwarf_expr.h"

#define WORD 8

static const uint8_t saved_regs[ARCH_SAVED_COUNT] = ARCH_SAVED_REGS;
static const uint8_t signal_regs[ARCH_SIGNAL_REGS_COUNT] = ARCH_SIGNAL_REGS;

// A procedure linkage table's CFA in binutils' words. *ret_push_done: the byte of an entry from
// which on 8 more are on the stack.
static bool is_plt(const struct cfi_rule *cfa, int16_t *ret_push_done)
{
	enum { PUSH_DONE_AT = 6 };
	static const uint8_t shape[] = {
		DW_OP_breg0 + ARCH_REG_SP,
		WORD,
		DW_OP_breg0 + ARCH_REG_RA,
		0,
		DW_OP_lit0 + ARCH_PLT_ENTRY_MASK,
		DW_OP_and,
		DW_OP_lit0, // + push_done
		DW_OP_ge,
		DW_OP_lit0 + 3,
		DW_OP_shl,
		DW_OP_plus,
	};
	if (cfa->how != CFI_EXPRESSION || cfa->size != sizeof(shape))
		return false;
	for (size_t i = 0; i < sizeof(shape); i++)
		if (i != PUSH_DONE_AT && (uint8_t)cfa->bytes[i] != shape[i])
			return false;
	int push_done = (uint8_t)cfa->bytes[PUSH_DONE_AT] - DW_OP_lit0;
	*ret_push_done = (int16_t)push_done;
	return push_done >= 0 && push_done <= (int)ARCH_PLT_ENTRY_MASK;
}

// Whether a rule says "at the stack pointer + offset" in an expression.
static bool is_on_stack(const struct cfi_rule *rule, int64_t offset)
{
	struct dwarf_place place;
	return rule->how == CFI_EXPRESSION && dwarf_expr_place(cfi_rule_expression(rule), &place) &&
	       !place.deref && place.reg == ARCH_REG_SP && place.offset == offset;
}

// The kernel's layout of a signal frame, in full.
static bool is_signal(const struct cfi_row *row, const struct cfi_cie *cie)
{
	struct dwarf_place cfa;
	int64_t offset = ARCH_SIGNAL_REGS_OFFSET;
	if (!cie->signal || row->cfa.how != CFI_EXPRESSION ||
	    !dwarf_expr_place(cfi_rule_expression(&row->cfa), &cfa) || !cfa.deref || cfa.add != 0)
		return false;
	for (size_t i = 0; i < ARCH_SIGNAL_REGS_COUNT; i++, offset += WORD) {
		if (!is_on_stack(&row->regs[signal_regs[i]], offset))
			return false;
		if (signal_regs[i] == ARCH_REG_SP &&
		    (cfa.reg != ARCH_REG_SP || cfa.offset != offset))
			return false;
	}
	return is_on_stack(&row->regs[cie->return_column], offset);
}

// A distance in words that is none of the special values.
static bool to_words(int64_t bytes, int16_t *ret)
{
	int64_t words = bytes / WORD;
	if (bytes % WORD != 0 || words <= SAVED_UNKNOWN || words > INT16_MAX)
		return false;
	*ret = (int16_t)words;
	return true;
}

static bool make_saved(const struct cfi_rule *from, unsigned i, struct wire_rule *rule)
{
	struct dwarf_place place;
	switch (from->how) {
	case CFI_UNSPECIFIED:
	case CFI_SAME:
		rule->saved[i] = SAVED_SAME;
		return true;
	case CFI_UNDEFINED:
		rule->saved[i] = SAVED_UNKNOWN;
		return true;
	case CFI_OFFSET:
		return to_words(from->value, &rule->saved[i]) && rule->saved[i] != SAVED_SAME;
	case CFI_EXPRESSION: // gcc's realigned stacks
		if (!dwarf_expr_place(cfi_rule_expression(from), &place) || place.deref ||
		    place.reg != ARCH_REG_FP)
			return false;
		rule->fp_based |= (uint8_t)(1u << i);
		return to_words(place.offset - FP_BASE(0), &rule->saved[i]) &&
		       rule->saved[i] != SAVED_SAME;
	default:
		return false;
	}
}

static bool make_return(const struct cfi_rule *from, struct wire_rule *rule)
{
	if (from->how == CFI_OFFSET)
		return to_words(from->value, &rule->ra);
	if (from->how != CFI_REGISTER || from->value >= ARCH_REG_COUNT)
		return false;
	rule->flags = RULE_RA_IN_REG;
	rule->ra = (int16_t)from->value;
	return true;
}

static bool make_cfa(const struct cfi_rule *from, struct wire_rule *rule, int32_t *ret_offset)
{
	struct dwarf_place place = { .reg = from->reg };
	if (from->how == CFI_CFA) {
		place.offset = from->value;
	} else if (is_plt(from, &rule->cfa_add)) {
		rule->cfa = CFA_PLT;
		rule->cfa_reg = ARCH_REG_SP;
		*ret_offset = WORD;
		return true;
	} else if (!dwarf_expr_place(cfi_rule_expression(from), &place)) {
		return false;
	}
	rule->cfa = place.deref ? CFA_DEREF : CFA_REG;
	rule->cfa_reg = place.reg;
	rule->cfa_add = (int16_t)place.add;
	*ret_offset = (int32_t)place.offset;
	return place.reg < ARCH_REG_COUNT && rule->cfa_add == place.add &&
	       *ret_offset == place.offset;
}

// The stack pointer of the caller is the CFA, whatever else the table may say about it.
static bool is_plain_stack_pointer(const struct cfi_rule *rule)
{
	return rule->how <= CFI_SAME || (rule->how == CFI_VAL_OFFSET && rule->value == 0);
}

static bool make_plain(const struct cfi_row *row, const struct cfi_cie *cie, struct wire_rule *rule,
		       int32_t *ret_offset)
{
	if (cie->signal || !is_plain_stack_pointer(&row->regs[ARCH_REG_SP]) ||
	    !make_return(&row->regs[cie->return_column], rule) ||
	    !make_cfa(&row->cfa, rule, ret_offset))
		return false;
	for (unsigned i = 0; i < ARCH_SAVED_COUNT; i++)
		if (!make_saved(&row->regs[saved_regs[i]], i, rule))
			return false;
	return true;
}

void cfi_rule_make(const struct cfi_row *row, const struct cfi_cie *cie, struct wire_rule *ret,
		   int32_t *ret_cfa_offset)
{
	uint8_t return_how = row->regs[cie->return_column].how;
	*ret = (struct wire_rule){ .cfa = CFA_NONE };
	*ret_cfa_offset = 0;
	if (return_how == CFI_UNDEFINED) {
		ret->cfa = CFA_END;
		return;
	}
	// A table that is silent about the return address or the CFA cannot be followed.
	if (row->cfa.how == CFI_UNSPECIFIED || return_how == CFI_UNSPECIFIED ||
	    return_how == CFI_SAME)
		return;
	if (is_signal(row, cie)) {
		ret->cfa = CFA_SIGNAL;
		return;
	}
	if (!make_plain(row, cie, ret, ret_cfa_offset)) {
		*ret = (struct wire_rule){ .cfa = CFA_EXPR };
		*ret_cfa_offset = 0;
	}
}

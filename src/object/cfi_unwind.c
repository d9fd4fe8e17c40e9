// SPDX-License-Identifier: Apache-2.0
// One step of a walk with everything the tables can say, expressions included.
#include "object/cfi_sources.h"
#include "object/dwarf_expr.h"
#include "object/rows.h"

struct frame {
	const struct walk_state *state;
	const struct memory_reader *memory;
	struct cfi_row row;
	struct cfi_cie cie;
	uint64_t bias; // from the file's addresses to the process's
	uint64_t cfa;
};

static bool run_expression(const struct frame *f, const struct cfi_rule *rule, bool has_cfa,
			   uint64_t *ret)
{
	struct dwarf_expr expr = {
		.code = cfi_rule_expression(rule),
		.state = f->state,
		.memory = f->memory,
		.bias = f->bias,
		.has_cfa = has_cfa,
		.cfa = f->cfa,
	};
	return dwarf_expr_run(&expr, ret);
}

static bool read_register(const struct frame *f, uint64_t reg, uint64_t *ret)
{
	if (reg >= ARCH_REG_COUNT) {
		*ret = f->state->pc;
		return reg == ARCH_REG_RA;
	}
	*ret = f->state->regs[reg];
	return f->state->known >> reg & 1;
}

static bool find_cfa(struct frame *f)
{
	const struct cfi_rule *rule = &f->row.cfa;
	if (rule->how == CFI_EXPRESSION)
		return run_expression(f, rule, /* has_cfa= */ false, &f->cfa);
	if (rule->how != CFI_CFA || !read_register(f, rule->reg, &f->cfa))
		return false;
	f->cfa += (uint64_t)rule->value;
	return true;
}

// The caller's value of a register.
static bool find_register(const struct frame *f, unsigned reg, uint64_t *ret)
{
	const struct cfi_rule *rule = &f->row.regs[reg];
	uint64_t address = f->cfa + (uint64_t)rule->value;
	switch (rule->how) {
	case CFI_OFFSET:
		return f->memory->read(f->memory->ctx, address, ret);
	case CFI_VAL_OFFSET:
		*ret = address;
		return true;
	case CFI_REGISTER:
		return read_register(f, (uint64_t)rule->value, ret);
	case CFI_EXPRESSION:
		return run_expression(f, rule, /* has_cfa= */ true, &address) &&
		       f->memory->read(f->memory->ctx, address, ret);
	case CFI_VAL_EXPRESSION:
		return run_expression(f, rule, /* has_cfa= */ true, ret);
	case CFI_UNSPECIFIED:
	case CFI_SAME:
		return ARCH_SAVED_MASK >> reg & 1 && read_register(f, reg, ret);
	default:
		return false;
	}
}

static bool unwind(struct frame *f, struct walk_state *ret)
{
	struct walk_state caller = { .exact = f->cie.signal };
	uint64_t value;
	if (!find_cfa(f) || !find_register(f, f->cie.return_column, &value))
		return false;
	caller.pc = value;
	for (unsigned reg = 0; reg < ARCH_REG_COUNT; reg++) {
		bool is_cfa = reg == ARCH_REG_SP && f->row.regs[reg].how <= CFI_SAME;
		if (!is_cfa && !find_register(f, reg, &value))
			continue;
		caller.regs[reg] = is_cfa ? f->cfa : value;
		caller.known |= 1u << reg;
	}
	*ret = caller;
	return true;
}

struct search {
	uint64_t vaddr;
	struct cfi_row *ret;
	bool found;
};

static bool is_row(void *ctx, const struct cfi_row *row)
{
	struct search *search = ctx;
	if (search->vaddr >= row->end)
		return true;
	search->found = true;
	*search->ret = *row;
	return false;
}

static bool find_row(struct cfi_sources *sources, enum cfi_source source, uint64_t offset,
		     struct frame *f)
{
	const struct cfi_index *index;
	auto_(error) err = cfi_sources_index(sources, source, &index);
	const struct cfi_span *span = err ? NULL : cfi_index_find(index, offset);
	struct cfi_fde fde = { 0 };
	if (!span || offset < span->start || !cfi_index_read(index, span, &fde))
		return false;
	struct search search = { .vaddr = offset - span->start + fde.start, .ret = &f->row };
	enum cfi_end end = cfi_run(&sources->runner, &index->section, &fde,
				   &(struct cfi_rows){ is_row, &search });
	f->cie = fde.cie;
	f->bias = f->state->pc - (f->state->exact ? 0 : 1) - search.vaddr;
	return end == CFI_DONE && search.found;
}

bool object_unwind_expr(struct object *obj, uint64_t offset, const struct memory_reader *memory,
			struct walk_state *state)
{
	struct frame f = { .state = state, .memory = memory };
	struct cfi_sources *sources;
	auto_(error) err = object_cfi_sources(obj, &sources);
	if (err)
		return false;
	for (enum cfi_source source = 0; source < CFI_SOURCE_COUNT; source++)
		if (find_row(sources, source, offset, &f))
			return unwind(&f, state);
	return false;
}

// SPDX-License-Identifier: Apache-2.0
#include "object/dwarf_scopes.h"

#include <dwarf.h>

#include "base/cleanup.h"

// Real programs reach about 30.
#define DEPTH_MAX 128
// A bound on what one unit may make us keep.
#define RANGES_MAX (4u << 20)

struct scope_range {
	uint64_t low, high;
	uint32_t scope;
	uint32_t depth;
};

struct walk {
	struct scopes *scopes;
	const struct elf_file *code;
	VEC(struct scope_range) ranges;
	Dwarf_Off furthest; // entries are visited in order, so that broken links cannot make loops
	bool out_of_memory;
};

bool dwarf_range_is_code(const struct elf_file *code, uint64_t low, uint64_t high)
{
	if (low == 0 || high <= low)
		return false;
	const struct elf_segment *s = elf_segment_by_vaddr(code, low);
	return s && (s->header.p_flags & PF_X);
}

// --- walking ---

static uint32_t attribute_number(Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute attribute;
	Dwarf_Word value;
	if (!dwarf_attr(die, name, &attribute) || dwarf_formudata(&attribute, &value) != 0 ||
	    value > UINT32_MAX)
		return 0;
	return (uint32_t)value;
}

// Adds the entry's ranges for the scope that would be next in the list; how many?
static size_t add_ranges(struct walk *w, Dwarf_Die *die, uint32_t depth)
{
	Dwarf_Addr base, low, high;
	ptrdiff_t offset = 0;
	size_t count = 0;
	while ((offset = dwarf_ranges(die, offset, &base, &low, &high)) > 0) {
		if (!dwarf_range_is_code(w->code, low, high))
			continue;
		if (w->ranges.len >= RANGES_MAX ||
		    !vec_push(&w->ranges,
			      (struct scope_range){ low, high, (uint32_t)w->scopes->list.len,
						    depth })) {
			w->out_of_memory = true;
			break;
		}
		count++;
	}
	return count;
}

// What the entries of a level of the tree lie in.
struct surroundings {
	uint32_t scope;
	uint32_t context;
};

struct level {
	Dwarf_Die die;
	struct surroundings in;
};

// The scope that the children of a function lie in.
static uint32_t visit_function(struct walk *w, struct level *level, uint32_t depth)
{
	struct scope scope = { .die = (uint32_t)dwarf_dieoffset(&level->die),
			       .parent = SCOPE_NONE };
	// In C nothing has a context, elsewhere nearly everything has a linkage name.
	if (level->in.context != SCOPE_NONE && !dwarf_hasattr(&level->die, DW_AT_linkage_name)) {
		uint64_t *context = map_put(&w->scopes->declared_in, scope.die, NULL);
		if (context)
			*context = level->in.context;
	}
	if (add_ranges(w, &level->die, depth) == 0)
		return level->in.scope;
	if (dwarf_tag(&level->die) == DW_TAG_inlined_subroutine) {
		scope.parent = level->in.scope;
		scope.call_file = attribute_number(&level->die, DW_AT_call_file);
		scope.call_line = attribute_number(&level->die, DW_AT_call_line);
	}
	if (!vec_push(&w->scopes->list, scope)) {
		w->out_of_memory = true;
		return level->in.scope;
	}
	return (uint32_t)w->scopes->list.len - 1;
}

// What the children of an entry lie in.
static struct surroundings visit(struct walk *w, struct level *level, uint32_t depth)
{
	struct surroundings in = level->in;
	struct scope_context context = { (uint32_t)dwarf_dieoffset(&level->die), in.context };
	switch (dwarf_tag(&level->die)) {
	case DW_TAG_subprogram:
	case DW_TAG_inlined_subroutine:
		in.scope = visit_function(w, level, depth);
		break;
	case DW_TAG_namespace:
	case DW_TAG_module:
	case DW_TAG_class_type:
	case DW_TAG_structure_type:
	case DW_TAG_union_type:
	case DW_TAG_interface_type:
	case DW_TAG_enumeration_type:
		if (vec_push(&w->scopes->contexts, context))
			in.context = (uint32_t)w->scopes->contexts.len - 1;
		break;
	default:
		break;
	}
	return in;
}

// Which entries can have functions or inlined functions somewhere below them.
static bool has_scopes(Dwarf_Die *die)
{
	switch (dwarf_tag(die)) {
	case DW_TAG_subprogram:
		// Without code of its own it only describes what is inlined elsewhere.
		return dwarf_hasattr(die, DW_AT_low_pc) || dwarf_hasattr(die, DW_AT_ranges);
	case DW_TAG_inlined_subroutine:
	case DW_TAG_lexical_block:
	case DW_TAG_try_block:
	case DW_TAG_catch_block:
	case DW_TAG_namespace:
	case DW_TAG_module:
	case DW_TAG_class_type:
	case DW_TAG_structure_type:
	case DW_TAG_union_type:
	case DW_TAG_interface_type:
	case DW_TAG_enumeration_type:
		return true;
	default:
		return false;
	}
}

static bool advances(struct walk *w, Dwarf_Die *die)
{
	Dwarf_Off offset = dwarf_dieoffset(die);
	if (offset == (Dwarf_Off)-1 || offset <= w->furthest || offset > UINT32_MAX)
		return false;
	w->furthest = offset;
	return true;
}

static void walk_unit(struct walk *w, Dwarf_Die *unit)
{
	struct level levels[DEPTH_MAX];
	size_t depth = 0;
	w->furthest = dwarf_dieoffset(unit);
	levels[0].in = (struct surroundings){ SCOPE_NONE, SCOPE_NONE };
	if (dwarf_child(unit, &levels[0].die) == 0 && advances(w, &levels[0].die))
		depth = 1;
	while (depth != 0 && !w->out_of_memory) {
		struct level *level = &levels[depth - 1];
		struct surroundings in = visit(w, level, (uint32_t)depth);
		if (depth < DEPTH_MAX && has_scopes(&level->die) &&
		    dwarf_child(&level->die, &levels[depth].die) == 0 &&
		    advances(w, &levels[depth].die)) {
			levels[depth++].in = in;
			continue;
		}
		while (depth != 0 &&
		       (dwarf_siblingof(&levels[depth - 1].die, &levels[depth - 1].die) != 0 ||
			!advances(w, &levels[depth - 1].die)))
			depth--;
	}
}

// --- from nested ranges to segments side by side ---

static int compare_ranges(const void *a_ptr, const void *b_ptr)
{
	const struct scope_range *a = a_ptr, *b = b_ptr;
	if (a->low != b->low)
		return a->low < b->low ? -1 : 1;
	if (a->depth != b->depth)
		return a->depth < b->depth ? -1 : 1;
	return a->high > b->high ? -1 : a->high < b->high;
}

static bool add_segment(struct scopes *s, uint64_t low, uint32_t scope)
{
	struct scope_segment segment = { (uint32_t)(low - s->base), scope };
	if (low - s->base > UINT32_MAX)
		return true;
	if (s->segments.len != 0 && vec_last(&s->segments)->low == segment.low)
		vec_last(&s->segments)->scope = scope;
	else if (!vec_push(&s->segments, segment))
		return false;
	return true;
}

// An inner range ends at the latest where the outer one ends.
struct open_ranges {
	VEC(struct scope_range) stack;
};

static bool close_until(struct scopes *s, struct open_ranges *open, uint64_t address)
{
	while (open->stack.len != 0 && vec_last(&open->stack)->high <= address) {
		uint64_t end = vec_last(&open->stack)->high;
		open->stack.len--;
		uint32_t outer = open->stack.len != 0 ? vec_last(&open->stack)->scope : SCOPE_NONE;
		if (!add_segment(s, end, outer))
			return false;
	}
	return true;
}

static bool flatten(struct walk *w)
{
	struct scopes *s = w->scopes;
	struct open_ranges open = { 0 };
	bool ok = true;
	vec_sort(&w->ranges, compare_ranges);
	s->base = w->ranges.len != 0 ? w->ranges.at[0].low : 0;
	vec_each (r, &w->ranges) {
		struct scope_range range = *r;
		ok = ok && close_until(s, &open, range.low);
		if (open.stack.len != 0)
			range.high = MIN(range.high, vec_last(&open.stack)->high);
		ok = ok && add_segment(s, range.low, range.scope) && vec_push(&open.stack, range);
	}
	ok = ok && close_until(s, &open, UINT64_MAX);
	vec_fini(&open.stack);
	return ok;
}

bool scopes_init(struct scopes *s, const Dwarf_Die *unit, const struct elf_file *code)
{
	*s = (struct scopes){ .unit = *unit };
	struct walk w = { .scopes = s, .code = code };
	walk_unit(&w, &s->unit);
	bool ok = !w.out_of_memory && flatten(&w);
	vec_fini(&w.ranges);
	if (!ok)
		scopes_fini(s);
	return ok;
}

void scopes_fini(struct scopes *s)
{
	vec_fini(&s->list);
	vec_fini(&s->segments);
	vec_fini(&s->contexts);
	map_fini(&s->declared_in);
	arena_fini(&s->names);
}

uint32_t scopes_find(const struct scopes *s, uint64_t vaddr)
{
	size_t low = 0, high = s->segments.len; // segments before low start at or before vaddr
	if (vaddr < s->base || vaddr - s->base > UINT32_MAX)
		return SCOPE_NONE;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (s->segments.at[middle].low <= vaddr - s->base)
			low = middle + 1;
		else
			high = middle;
	}
	return low != 0 ? s->segments.at[low - 1].scope : SCOPE_NONE;
}

// SPDX-License-Identifier: Apache-2.0
#include "cli/function_table.h"

#include "cli/elide.h"
#include "cli/text.h"

#define NARROW 60       // below it there are no columns of numbers beside the percentages
#define MODULE_WIDTH 24 // with its brackets
#define LEAST_NAME 20   // what a module must leave for the name, or it is left out

bool frame_unnamed(const struct profile *p, const struct frame *f)
{
	struct str name = profile_text(p, f->name), module = profile_text(p, f->module);
	return module.len != 0 && str_starts(name, module) &&
	       str_starts(str_skip(name, module.len), STR("+0x"));
}

// A share of the whole and, where there is room, the number; right-aligned.
static void add_share(struct buf *out, uint64_t part, uint64_t whole, bool narrow)
{
	auto_fini(buf) count = { 0 };
	auto_fini(buf) percent = { 0 };
	text_count(&count, part);
	text_percent(&percent, part, whole);
	if (narrow)
		buf_printf(out, "%7s  ", buf_cstr(&percent));
	else
		buf_printf(out, "%8s %10s  ", buf_cstr(&percent), buf_cstr(&count));
}

// "  [module]"; nothing for a frame that says it already.
static void add_module(struct buf *out, const struct profile *p, const struct frame *f)
{
	struct str module = profile_text(p, f->module);
	if (module.len == 0 || str_starts(profile_text(p, f->name), module))
		return;
	bool brackets = str_starts(module, STR("[")) && str_ends(module, STR("]"));
	buf_text(out, brackets ? "  " : "  [");
	elide_middle(out, module, brackets ? MODULE_WIDTH : MODULE_WIDTH - 2);
	buf_text(out, brackets ? "" : "]");
}

static void add_function(struct buf *out, const struct profile *p, const struct frame *f,
			 size_t room)
{
	struct str name = profile_text(p, f->name);
	auto_fini(buf) module = { 0 };
	add_module(&module, p, f);
	size_t taken = module.len != 0 ? text_columns(buf_view(&module)) : 0;
	// Where the terminal is too narrow for both the name is worth more.
	bool both = room >= taken + LEAST_NAME || room >= taken + text_columns(name);
	elide_name(out, name, both ? room - taken : room);
	if (both)
		buf_str(out, buf_view(&module));
}

static void add_row(struct buf *out, const struct function_table *t, const struct function_total *f)
{
	uint64_t whole = profile_total(t->profile);
	bool narrow = t->columns != 0 && t->columns < NARROW;
	size_t start = out->len;
	add_share(out, f->self, whole, narrow);
	add_share(out, f->total, whole, narrow);
	size_t used = out->len - start;
	size_t room = t->columns == 0 ? SIZE_MAX : t->columns > used ? t->columns - used : 0;
	add_function(out, t->profile, &t->profile->frames.at[f->frame], room);
	buf_char(out, '\n');
}

static size_t add_heading(struct buf *out, const struct function_table *t)
{
	const char *unit = t->profile->info.unit;
	size_t start = out->len;
	if (t->columns != 0 && t->columns < NARROW)
		buf_printf(out, "%7s  %7s  ", "self", "total");
	else
		buf_printf(out, "%8s %10s  %8s %10s  ", "self", unit, "total", unit);
	size_t indent = out->len - start;
	buf_text(out, "function\n");
	return indent;
}

void function_table(struct buf *out, const struct function_table *t)
{
	if (t->totals->len == 0 || t->rows == 0)
		return;
	size_t indent = add_heading(out, t);
	for (size_t i = 0; i < MIN(t->rows, t->totals->len); i++)
		add_row(out, t, &t->totals->at[i]);
	if (t->totals->len > t->rows) {
		text_spaces(out, indent);
		buf_printf(out, "and %zu more\n", t->totals->len - t->rows);
	}
	buf_char(out, '\n');
}

// SPDX-License-Identifier: Apache-2.0
#include "cli/summary.h"

#include <string.h>
#include <sys/wait.h>

#include "cli/text.h"

#define NUMBERS_WIDTH 43 // of the columns left of the names
#define LEAST_NAME 20

// One number and its share, right-aligned.
static void share(struct buf *out, uint64_t part, uint64_t whole)
{
	auto_fini(buf) count = { 0 };
	auto_fini(buf) percent = { 0 };
	text_count(&count, part);
	text_percent(&percent, part, whole);
	buf_printf(out, "%8s %10s ", buf_cstr(&percent), buf_cstr(&count));
}

static void function_row(struct buf *out, const struct profile *p, const struct function_total *f,
			 size_t columns)
{
	const struct frame *frame = &p->frames.at[f->frame];
	uint64_t whole = profile_total(p);
	share(out, f->self, whole);
	buf_char(out, ' ');
	share(out, f->total, whole);
	buf_text(out, "  ");
	auto_fini(buf) name = { 0 };
	buf_str(&name, profile_text(p, frame->name));
	struct str module = profile_text(p, frame->module);
	// A frame that has no name of its own is module+offset and says it already.
	if (module.len != 0 && !str_starts(buf_view(&name), module))
		buf_printf(&name, "  [%.*s]", STR_ARG(module));
	size_t room = columns > NUMBERS_WIDTH + LEAST_NAME ? columns - NUMBERS_WIDTH : LEAST_NAME;
	text_fit(out, buf_view(&name), room);
	buf_char(out, '\n');
}

static struct error *functions(struct buf *out, const struct profile *p, size_t rows,
			       size_t columns)
{
	function_totals totals = { 0 };
	struct error *err = profile_functions(p, &totals);
	if (err)
		return err;
	if (totals.len != 0 && rows != 0) {
		buf_printf(out, "%8s %10s  %8s %10s   %s\n", "self", p->info.unit, "total",
			   p->info.unit, "function");
		for (size_t i = 0; i < MIN(rows, totals.len); i++)
			function_row(out, p, &totals.at[i], columns);
		if (totals.len > rows)
			buf_printf(out, "%*s and %zu more\n", NUMBERS_WIDTH - 1, "",
				   totals.len - rows);
		buf_char(out, '\n');
	}
	vec_fini(&totals);
	return NULL;
}

static void line(struct buf *out, const struct summary_opts *o, const char *text)
{
	text_wrap(out, &(struct wrap){ .width = o->columns }, text);
	buf_char(out, '\n');
}

static void labelled(struct buf *out, const char *label, uint64_t part, uint64_t whole)
{
	buf_printf(out, "  %s ", label);
	text_count(out, part);
	if (whole == 0)
		return;
	buf_text(out, " (");
	text_percent(out, part, whole);
	buf_char(out, ')');
}

static void quality(struct buf *out, const struct summary_opts *o)
{
	const struct profile *p = o->result->profile;
	const struct profile_info *i = &p->info;
	buf_text(out, "samples ");
	text_count(out, p->samples.len);
	labelled(out, "lost", i->lost, /* whole= */ 0);
	labelled(out, "truncated", i->truncated, p->samples.len);
	labelled(out, "unknown", i->unknown, p->samples.len);
	buf_printf(out, "  engine %s\n", i->engine);
	if (i->engine_reason) {
		auto_fini(buf) reason = { 0 };
		text_printable(&reason, str_from(i->engine_reason));
		line(out, o, buf_cstr(&reason));
	}
}

static void command_end(struct buf *out, int status)
{
	if (status == -1)
		return;
	if (WIFSIGNALED(status))
		buf_printf(out, "the program was killed by signal %d (%s)\n", WTERMSIG(status),
			   strsignal(WTERMSIG(status)));
	else if (WIFEXITED(status) && WEXITSTATUS(status) != 0)
		buf_printf(out, "the program exited with status %d\n", WEXITSTATUS(status));
}

static void early_end(struct buf *out, const struct summary_opts *o)
{
	if (!o->processes || !o->result->targets_exited)
		return;
	auto_fini(buf) text = { 0 };
	buf_text(&text, "the target exited after ");
	text_time(&text, o->result->profile->info.duration_ns);
	if (o->wanted_ns != 0) {
		buf_text(&text, " of ");
		text_time(&text, o->wanted_ns);
	}
	buf_text(&text, "; what was collected until then is in the file");
	line(out, o, buf_cstr(&text));
}

struct error *summary_text(struct buf *out, const struct summary_opts *o)
{
	const struct profile *p = o->result->profile;
	struct error *err = functions(out, p, o->rows, o->columns);
	if (err)
		return err;
	if (p->samples.len == 0 && p->info.lost == 0)
		line(out, o,
		     "no samples: the target used no CPU time meanwhile, and event cpu counts only "
		     "time spent running");
	quality(out, o);
	command_end(out, o->result->command_status);
	early_end(out, o);
	return NULL;
}

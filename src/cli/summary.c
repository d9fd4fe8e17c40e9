// SPDX-License-Identifier: Apache-2.0
#include "cli/summary.h"

#include <limits.h>
#include <string.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "cli/function_table.h"
#include "cli/text.h"

#define MANY_UNKNOWN 20  // percent of the samples, from which on the way out is told
#define MANY_TRUNCATED 5 // percent
#define HIGHER_RATE 4999 // samples a second, for what ends soon

static void line(struct buf *out, const struct summary_opts *o, const char *text)
{
	text_wrap(out, &(struct wrap){ .width = o->columns != 0 ? o->columns : UINT_MAX }, text);
	buf_char(out, '\n');
}

// Numbers with their labels, two spaces between them; a line ends between two of them.
struct figures {
	struct buf *out;
	size_t columns; // SIZE_MAX: no end
	size_t used;
};

static void add_figure(struct figures *f, struct str text)
{
	size_t gap = f->used != 0 ? 2 : 0;
	if (gap != 0 && f->used + gap + text.len > f->columns) {
		buf_char(f->out, '\n');
		f->used = gap = 0;
	}
	text_spaces(f->out, gap);
	buf_str(f->out, text);
	f->used += gap + text.len;
}

static void labelled(struct figures *f, const char *label, uint64_t part, uint64_t whole)
{
	auto_fini(buf) text = { 0 };
	buf_printf(&text, "%s ", label);
	text_count(&text, part);
	if (whole != 0) {
		buf_text(&text, " (");
		text_percent(&text, part, whole);
		buf_char(&text, ')');
	}
	add_figure(f, buf_view(&text));
}

// Each of the reasons, which have "; " between them, on a line of its own.
static void engine_reasons(struct buf *out, const struct summary_opts *o, const char *reasons)
{
	for (const char *end; *reasons != '\0'; reasons = *end != '\0' ? end + 2 : end) {
		end = strstr(reasons, "; ");
		end = end ? end : reasons + strlen(reasons);
		auto_fini(buf) reason = { 0 };
		text_printable(&reason, (struct str){ reasons, (size_t)(end - reasons) });
		line(out, o, buf_cstr(&reason));
	}
}

static void quality(struct buf *out, const struct summary_opts *o)
{
	const struct profile *p = o->result->profile;
	const struct profile_info *i = &p->info;
	struct figures f = { out, o->columns != 0 ? o->columns : SIZE_MAX, 0 };
	labelled(&f, "samples", p->samples.len, /* whole= */ 0);
	labelled(&f, "lost", i->lost, /* whole= */ 0);
	labelled(&f, "truncated", i->truncated, p->samples.len);
	labelled(&f, "unknown", i->unknown, p->samples.len);
	auto_fini(buf) engine = { 0 };
	buf_printf(&engine, "engine %s", i->engine);
	add_figure(&f, buf_view(&engine));
	buf_char(out, '\n');
	if (i->engine_reason)
		engine_reasons(out, o, i->engine_reason);
}

static bool above(uint64_t part, uint64_t whole, unsigned percent)
{
	return part * 100 > whole * percent;
}

// The module that most of the samples without a name are in; "" if it is none.
static struct str least_named_module(const struct profile *p, const function_totals *totals)
{
	struct str worst = STR("");
	uint64_t most = 0;
	autofree uint64_t *counts = calloc(p->strings.len, sizeof(*counts));
	for (size_t i = 0; counts && i < totals->len; i++) {
		const struct frame *f = &p->frames.at[totals->at[i].frame];
		if (!frame_unnamed(p, f))
			continue;
		counts[f->module] += totals->at[i].self;
		if (counts[f->module] > most) {
			most = counts[f->module];
			worst = profile_text(p, f->module);
		}
	}
	return worst;
}

static void unknown_hint(struct buf *out, const struct summary_opts *o,
			 const function_totals *totals)
{
	const struct profile *p = o->result->profile;
	if (!above(p->info.unknown, p->samples.len, MANY_UNKNOWN))
		return;
	auto_fini(buf) text = { 0 };
	struct str module = least_named_module(p, totals);
	buf_text(&text, "much is unknown");
	if (module.len != 0) {
		buf_text(&text, ", most of it in ");
		text_printable(&text, module);
	}
	if (str_starts(module, STR("["))) // memory, not a file
		buf_text(&text, ": code that no file and no perf map names");
	else
		buf_text(&text, ": install its debug symbols (a package like NAME-dbgsym), or do "
				"not strip it");
	line(out, o, buf_cstr(&text));
}

static void truncated_hint(struct buf *out, const struct summary_opts *o)
{
	const struct profile *p = o->result->profile;
	if (!above(p->info.truncated, p->samples.len, MANY_TRUNCATED))
		return;
	bool copied = strcmp(p->info.engine, "perf") == 0;
	auto_fini(buf) text = { 0 };
	buf_printf(&text,
		   "many stacks are truncated: there may be code without unwind information%s, or "
		   "more than 2,048 frames",
		   copied ? ", more stack than the perf engine copies" : "");
	line(out, o, buf_cstr(&text));
}

static void no_samples(struct buf *out, const struct summary_opts *o)
{
	const struct profile_info *i = &o->result->profile->info;
	uint64_t rate = i->period != 0 ? NS_PER_SEC / i->period : 0;
	auto_fini(buf) text = { 0 };
	buf_text(&text, "no samples: the target used too little CPU time");
	if (rate != 0)
		buf_printf(&text, " for %llu samples a second", (unsigned long long)rate);
	if (rate < HIGHER_RATE)
		buf_printf(&text, " (a higher rate: -F %d)", HIGHER_RATE);
	buf_text(&text, ", or it only waited");
	if (!o->root)
		buf_text(&text, ", or it changed its privileges, and then only root may sample it");
	line(out, o, buf_cstr(&text));
}

static void command_end(struct buf *out, const struct recording_result *r)
{
	int status = r->command_status;
	if (r->command_left != 0)
		buf_printf(out, "pid %d is still running: it did not end on SIGTERM\n",
			   r->command_left);
	else if (r->command_ended_by_us)
		buf_text(out, "the program was still running and was ended\n");
	if (status == -1 || r->command_ended_by_us || r->command_left != 0)
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
	function_totals totals = { 0 };
	struct error *err = profile_functions(p, &totals);
	if (err)
		return err;
	function_table(out, &(struct function_table){ p, &totals, o->rows, o->columns });
	if (p->samples.len == 0 && p->info.lost == 0)
		no_samples(out, o);
	quality(out, o);
	unknown_hint(out, o, &totals);
	truncated_hint(out, o);
	command_end(out, o->result);
	early_end(out, o);
	vec_fini(&totals);
	return NULL;
}

// SPDX-License-Identifier: Apache-2.0
// wick doctor: what this machine permits, what that costs, and the one command that changes it.
#include "cli/doctor.h"

#include "cli/command.h"
#include "cli/terminal.h"
#include "cli/text.h"

#define NAME_WIDTH 20
#define STATE_WIDTH 8
#define TEXT_COLUMN (NAME_WIDTH + STATE_WIDTH + 2)
#define DETAIL_INDENT 4
#define LABEL_WIDTH 8

static const struct {
	const char *name;
	enum style style;
} states[FINDING_COUNT] = {
	[FINDING_OK] = { "ok", STYLE_GREEN },
	[FINDING_LIMITED] = { "limited", STYLE_YELLOW },
	[FINDING_NO] = { "no", STYLE_RED },
};

// A label and its text, below what was found.
static void add_detail(struct buf *out, const struct terminal *t, const char *label,
		       struct buf *text)
{
	buf_printf(out, "%*s%-*s", DETAIL_INDENT, "", LABEL_WIDTH, label);
	unsigned column = DETAIL_INDENT + LABEL_WIDTH;
	text_wrap(out, &(struct wrap){ column, column, t->columns }, buf_cstr(text));
	buf_char(out, '\n');
}

static void add_finding(struct buf *out, const struct terminal *t, const char *name,
			struct finding *f)
{
	auto_fini(buf) found = { 0 };
	text_printable(&found, buf_view(&f->found)); // a probe's message may quote anything
	buf_printf(out, "%-*s %s%-*s%s ", NAME_WIDTH, name, style_begin(t, states[f->state].style),
		   STATE_WIDTH, states[f->state].name, style_end(t));
	text_wrap(out, &(struct wrap){ TEXT_COLUMN, TEXT_COLUMN, t->columns }, buf_cstr(&found));
	buf_char(out, '\n');
	if (f->state == FINDING_OK)
		return;
	add_detail(out, t, "costs", &f->cost);
	add_detail(out, t, "change", &f->change);
}

static const char *engine_name(const struct error *bpf, const struct error *perf)
{
	return !bpf ? "bpf" : !perf ? "perf" : NULL;
}

// Returns whether any engine works.
static bool add_verdict(struct buf *out, const struct machine *m, const struct terminal *t)
{
	const char *own = engine_name(m->bpf, m->perf_own);
	const char *all = engine_name(m->bpf, m->perf_all);
	auto_fini(buf) sentence = { 0 };
	buf_text(&sentence, "`wick record` ");
	if (!own && !all)
		buf_text(&sentence, "cannot work here: neither engine is permitted.");
	else if (own && all && own == all)
		buf_printf(&sentence,
			   "will use engine %s, for your own processes and for the whole machine.",
			   own);
	else
		buf_printf(&sentence, "will %s%s for your own processes, and %s%s.",
			   own ? "use engine " : "not work", own ? own : "",
			   all ? "use engine "
			       : "cannot record other users' processes or the "
				 "whole machine (-a)",
			   all ? all : "");
	buf_char(out, '\n');
	text_wrap(out, &(struct wrap){ .width = t->columns }, buf_cstr(&sentence));
	buf_char(out, '\n');
	return own || all;
}

static int run_doctor(const void *options, const struct operands *operands)
{
	(void)options;
	(void)operands;
	struct terminal t = terminal_of(stdout);
	auto_fini(machine) m = { 0 };
	auto_fini(buf) text = { 0 };
	machine_init(&m);
	for (size_t i = 0; i < check_count; i++) {
		auto_fini(finding) f = { 0 };
		checks[i].run(&m, &f);
		add_finding(&text, &t, checks[i].name, &f);
	}
	bool works = add_verdict(&text, &m, &t);
	struct error *err = print_buf(stdout, &text);
	if (err)
		return report_consume(err);
	return works ? EXIT_DONE : EXIT_FAILED;
}

const struct command command_doctor = {
	.name = "doctor",
	.summary = "show what this machine permits, and what changes it",
	.usage = (const char *const[]){ "", NULL },
	.description =
		"Tries out what `wick record` needs and reads the settings that matter. Each line "
		"is ok, limited or no; what is not ok says what that costs and which command "
		"changes it. Changes nothing itself. The exit status is 0 if some engine works "
		"and 1 if none does.",
	.run = run_doctor,
};

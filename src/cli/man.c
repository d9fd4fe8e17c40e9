// SPDX-License-Identifier: Apache-2.0
#include "cli/man.h"

#include <ctype.h>
#include <string.h>

#include "cli/help.h"
#include "cli/options.h"
#include "cli/terminal.h"

#define RELEASE_DATE "2026-11-15" // of the version in meson.build

// Text in a paragraph. Roff reads a backslash anywhere, and a dot or a quote where a line begins.
static void roff_text(struct buf *out, struct str s)
{
	bool line_start = out->len == 0 || out->at[out->len - 1] == '\n';
	for (size_t i = 0; i < s.len; i++) {
		char c = s.ptr[i];
		if (line_start && (c == '.' || c == '\''))
			buf_text(out, "\\&");
		line_start = c == '\n';
		if (c == '\\')
			buf_text(out, "\\e");
		else if (c == '-')
			buf_text(out, "\\-");
		else
			buf_char(out, c);
	}
}

static void roff_line(struct buf *out, const char *text)
{
	roff_text(out, str_from(text));
	buf_char(out, '\n');
}

// Paragraphs are parted by an empty line in the tables and by .PP in roff.
static void roff_paragraphs(struct buf *out, const char *text)
{
	for (const char *end; (end = strstr(text, "\n\n")); text = end + 2) {
		roff_text(out, (struct str){ text, (size_t)(end - text) });
		buf_text(out, "\n.PP\n");
	}
	roff_line(out, text);
}

// "wick-record" or "wick", with roff's minus.
static void page_name(struct buf *out, const struct command *c)
{
	buf_text(out, "wick");
	if (c)
		buf_printf(out, "\\-%s", c->name);
}

static void header(struct buf *out, const struct command *c, const char *summary)
{
	buf_text(out, ".TH WICK");
	if (c) {
		buf_char(out, '-');
		for (const char *p = c->name; *p; p++)
			buf_char(out, (char)toupper((unsigned char)*p));
	}
	buf_text(out,
		 " 1 " RELEASE_DATE " \"wick " WICK_VERSION "\" \"User Commands\"\n.SH NAME\n");
	page_name(out, c);
	buf_text(out, " \\- ");
	roff_line(out, summary);
}

static void option(struct buf *out, const struct option_spec *o)
{
	buf_text(out, ".TP\n");
	if (o->letter)
		buf_printf(out, "\\fB\\-%c\\fR, ", o->letter);
	buf_text(out, "\\fB\\-\\-");
	roff_text(out, str_from(o->name));
	buf_text(out, "\\fR");
	if (o->argument) {
		buf_text(out, " \\fI");
		roff_text(out, str_from(o->argument));
		buf_text(out, "\\fR");
	}
	buf_char(out, '\n');
	roff_line(out, o->help);
	if (o->default_text) {
		buf_text(out, "Default: ");
		roff_text(out, str_from(o->default_text));
		buf_text(out, ".\n");
	}
}

static void options(struct buf *out, const struct command *c)
{
	const char *group = NULL;
	const struct option_spec *o;
	buf_text(out, ".SH OPTIONS\n");
	for (size_t i = 0; (o = command_option(c, i)); i++) {
		if (!group || strcmp(group, o->group) != 0) {
			buf_text(out, ".SS ");
			roff_line(out, o->group);
		}
		group = o->group;
		option(out, o);
	}
}

static void examples(struct buf *out, const struct example *e)
{
	if (!e)
		return;
	buf_text(out, ".SH EXAMPLES\n");
	for (; e->line; e++) {
		buf_text(out, ".TP\n.B ");
		roff_line(out, e->line);
		roff_line(out, e->what);
	}
}

static void environment_and_status(struct buf *out)
{
	buf_text(out, ".SH EXIT STATUS\n"
		      ".TP\n.B 0\nDone.\n"
		      ".TP\n.B 1\nFailed; standard error says why.\n"
		      ".TP\n.B 2\nWrong usage; nothing was touched.\n"
		      ".SH ENVIRONMENT\n"
		      ".TP\n.B NO_COLOR\nIf it is set and not empty, nothing is coloured.\n");
}

static void see_also(struct buf *out, const struct command *c)
{
	buf_text(out, ".SH SEE ALSO\n");
	const char *separator = "";
	if (c) {
		buf_text(out, ".BR wick (1)");
		separator = ",\n";
	}
	for (size_t i = 0; i < command_count; i++) {
		// help and completion have no page of their own: wick(1) says it all.
		if (commands[i] == c || commands[i] == &command_help ||
		    commands[i] == &command_completion)
			continue;
		buf_printf(out, "%s.BR wick\\-%s (1)", separator, commands[i]->name);
		separator = ",\n";
	}
	buf_char(out, '\n');
}

static void command_page(struct buf *out, const struct command *c)
{
	header(out, c, c->summary);
	buf_text(out, ".SH SYNOPSIS\n");
	for (size_t i = 0; c->usage[i]; i++) {
		buf_printf(out, "%s.B wick %s\n", i != 0 ? ".br\n" : "", c->name);
		roff_line(out, c->usage[i]);
	}
	buf_text(out, ".SH DESCRIPTION\n");
	roff_paragraphs(out, c->description);
	options(out, c);
	examples(out, c->examples);
	environment_and_status(out);
	see_also(out, c);
}

static void main_page(struct buf *out)
{
	header(out, /* c= */ NULL, "a profiler that draws flame graphs");
	buf_text(out, ".SH SYNOPSIS\n.B wick\n\\fICOMMAND\\fR [\\fIOPTION\\fR...]\n"
		      ".SH DESCRIPTION\n");
	roff_paragraphs(out, help_purpose);
	buf_text(out, ".SH COMMANDS\n");
	for (size_t i = 0; i < command_count; i++) {
		buf_printf(out, ".TP\n.B wick %s\n", commands[i]->name);
		roff_line(out, commands[i]->summary);
	}
	examples(out, help_examples);
	environment_and_status(out);
	see_also(out, /* c= */ NULL);
}

void man_page(struct buf *out, const struct command *c)
{
	if (c)
		command_page(out, c);
	else
		main_page(out);
}

struct error *man_print(const struct command *c)
{
	auto_fini(buf) page = { 0 };
	man_page(&page, c);
	return print_buf(stdout, &page);
}

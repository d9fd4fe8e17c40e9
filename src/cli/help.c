// SPDX-License-Identifier: Apache-2.0
#include "cli/help.h"

#include <string.h>

#include "cli/man.h"
#include "cli/options.h"
#include "cli/text.h"

#define OPTION_COLUMN 28 // of the help text beside an option
#define COMMAND_COLUMN 15
#define INDENT 2

const char help_purpose[] =
	"wick shows where a program spends its time, as a flame graph. It needs "
	"no restart, no frame pointers and no flags on the program.";

const struct example help_examples[] = {
	{ "wick record -p 4711 -d 10", "a running process, for ten seconds" },
	{ "wick record -- ./program", "a program from its first instruction" },
	{ "wick record -a -d 10", "the whole machine" },
	{ "wick list", "what can be profiled here" },
	{ "wick doctor", "what this machine permits" },
	{ 0 },
};

static void heading(struct buf *out, const struct terminal *t, const char *text)
{
	buf_printf(out, "\n%s%s:%s\n", style_begin(t, STYLE_BOLD), text, style_end(t));
}

static void paragraph(struct buf *out, const struct terminal *t, unsigned indent, const char *text)
{
	text_wrap(out, &(struct wrap){ .indent = indent, .width = t->columns }, text);
	buf_char(out, '\n');
}

struct entry {
	const char *name;
	unsigned column; // of the text
	const char *text;
};

// A name on the left and its text beside it, or below it where the name is too long.
static void entry(struct buf *out, const struct terminal *t, const struct entry *e)
{
	size_t start = out->len;
	text_spaces(out, INDENT);
	buf_text(out, e->name);
	size_t used = out->len - start;
	if (used + 2 > e->column) {
		buf_char(out, '\n');
		used = 0;
	}
	text_spaces(out, e->column - used);
	text_wrap(out, &(struct wrap){ e->column, e->column, t->columns }, e->text);
	buf_char(out, '\n');
}

void help_option_name(struct buf *out, const struct option_spec *o)
{
	if (o->letter)
		buf_printf(out, "-%c, --%s", o->letter, o->name);
	else
		buf_printf(out, "    --%s", o->name);
	if (o->argument)
		buf_printf(out, " %s", o->argument);
}

static void option(struct buf *out, const struct terminal *t, const struct option_spec *o)
{
	auto_fini(buf) name = { 0 };
	auto_fini(buf) text = { 0 };
	help_option_name(&name, o);
	buf_text(&text, o->help);
	if (o->default_text)
		buf_printf(&text, " Default: %s.", o->default_text);
	entry(out, t, &(struct entry){ buf_cstr(&name), OPTION_COLUMN, buf_cstr(&text) });
}

static void options(struct buf *out, const struct terminal *t, const struct command *c)
{
	const char *group = NULL;
	const struct option_spec *o;
	for (size_t i = 0; (o = command_option(c, i)); i++) {
		if (!group || strcmp(group, o->group) != 0)
			heading(out, t, o->group);
		group = o->group;
		option(out, t, o);
	}
}

static void examples(struct buf *out, const struct terminal *t, const struct example *e)
{
	if (!e)
		return;
	heading(out, t, "Examples");
	size_t widest_line = 0, widest = 0;
	for (size_t i = 0; e[i].line; i++) {
		widest_line = MAX(widest_line, strlen(e[i].line));
		widest = MAX(widest, strlen(e[i].what));
	}
	// Beside each other if all of them fit, else the words above the line.
	bool beside = INDENT + widest_line + 2 + widest <= t->columns;
	for (; e->line; e++) {
		if (beside)
			buf_printf(out, "  %-*s  %s\n", (int)widest_line, e->line, e->what);
		else
			buf_printf(out, "  # %s\n  %s\n", e->what, e->line);
	}
}

void help_command(struct buf *out, const struct terminal *t, const struct command *c)
{
	for (size_t i = 0; c->usage[i]; i++) {
		size_t start = out->len;
		buf_printf(out, "%s wick %s ", i == 0 ? "Usage:" : "      ", c->name);
		unsigned column = (unsigned)(out->len - start);
		text_wrap(out, &(struct wrap){ column, column, t->columns }, c->usage[i]);
		buf_char(out, '\n');
	}
	buf_char(out, '\n');
	paragraph(out, t, 0, c->description);
	options(out, t, c);
	examples(out, t, c->examples);
}

void help_overview(struct buf *out, const struct terminal *t)
{
	buf_text(out, "Usage: wick COMMAND [OPTION...]\n\n");
	paragraph(out, t, 0, help_purpose);
	heading(out, t, "Commands");
	for (size_t i = 0; i < command_count; i++)
		entry(out, t,
		      &(struct entry){ commands[i]->name, COMMAND_COLUMN, commands[i]->summary });
	examples(out, t, help_examples);
	buf_char(out, '\n');
	paragraph(out, t, 0, "`wick help COMMAND` describes a command, `man wick` all of them.");
}

struct error *help_print(const struct command *c)
{
	auto_fini(buf) text = { 0 };
	struct terminal t = terminal_of(stdout);
	if (c)
		help_command(&text, &t, c);
	else
		help_overview(&text, &t);
	return print_buf(stdout, &text);
}

struct help_options {
	bool man;
};

static int run_help(const void *options_, const struct operands *operands)
{
	const struct help_options *o = options_;
	const struct command *c = NULL;
	struct error *err = NULL;
	if (operands->words.len != 0)
		err = command_by_name(operands->words.at[0], &c);
	if (!err)
		err = o->man ? man_print(c) : help_print(c);
	return err ? report_consume(err) : EXIT_DONE;
}

static const struct option_spec help_option_table[] = {
	{ .name = "man",
	  .group = "Options",
	  .offset = offsetof(struct help_options, man),
	  .help = "Print it as a man page in roff." },
	{ 0 },
};

const struct command command_help = {
	.name = "help",
	.summary = "describe a command, or all of them",
	.usage = (const char *const[]){ "[--man] [COMMAND]", NULL },
	.description = "Describes a command and its options. Without one, lists the commands.",
	.options = help_option_table,
	.options_size = sizeof(struct help_options),
	.max_words = 1,
	.complete = COMPLETE_CHOICES,
	.choice = command_choice,
	.run = run_help,
};

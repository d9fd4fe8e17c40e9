// SPDX-License-Identifier: Apache-2.0
#include "cli/completion.h"
#include "cli/options.h"

static void quoted(struct buf *out, struct str s)
{
	buf_char(out, '\'');
	for (size_t i = 0; i < s.len; i++) {
		if (s.ptr[i] == '\'' || s.ptr[i] == '\\')
			buf_char(out, '\\');
		buf_char(out, s.ptr[i]);
	}
	buf_char(out, '\'');
}

static void described(struct buf *out, struct str text)
{
	buf_text(out, " -d ");
	quoted(out, text);
	buf_char(out, '\n');
}

// What may follow: -x asks for a value and offers no files, -r offers files too.
static void value(struct buf *out, enum complete complete, choice_fn *choice)
{
	switch (complete) {
	case COMPLETE_CHOICES:
		buf_text(out, " -x -a '");
		add_choices(out, choice);
		buf_char(out, '\'');
		break;
	case COMPLETE_PID:
		buf_text(out, " -x -a '(__fish_complete_pids)'");
		break;
	case COMPLETE_FILE:
		buf_text(out, " -r -F");
		break;
	case COMPLETE_NOTHING:
		buf_text(out, " -x");
		break;
	}
}

static void command_lines(struct buf *out, const struct command *c)
{
	const struct option_spec *o;
	for (size_t i = 0; (o = command_option(c, i)); i++) {
		buf_printf(out, "complete -c wick -n '__fish_seen_subcommand_from %s'", c->name);
		if (o->letter)
			buf_printf(out, " -s %c", o->letter);
		buf_printf(out, " -l %s", o->name);
		if (o->argument)
			value(out, o->complete, o->choice);
		described(out, first_sentence(o->help));
	}
	if (c->complete == COMPLETE_CHOICES) {
		buf_printf(out, "complete -c wick -n '__fish_seen_subcommand_from %s'", c->name);
		value(out, c->complete, c->choice);
		buf_char(out, '\n');
	}
	if (c->takes_program)
		buf_printf(out,
			   "complete -c wick -n '__fish_seen_subcommand_from %s; and contains -- "
			   "-- (commandline -opc)' -F -a '(__fish_complete_command)'\n",
			   c->name);
}

void completion_fish(struct buf *out)
{
	buf_text(out,
		 "# fish completion for wick, printed by `wick completion fish`\n"
		 "complete -c wick -f\n"
		 "complete -c wick -n __fish_use_subcommand -s h -l help -d 'Show the commands'\n"
		 "complete -c wick -n __fish_use_subcommand -l version -d 'Show the version'\n");
	for (size_t i = 0; i < command_count; i++) {
		buf_printf(out, "complete -c wick -n __fish_use_subcommand -a %s",
			   commands[i]->name);
		described(out, str_from(commands[i]->summary));
	}
	for (size_t i = 0; i < command_count; i++)
		command_lines(out, commands[i]);
}

// SPDX-License-Identifier: Apache-2.0
#include "cli/completion.h"
#include "cli/options.h"

#include <string.h>

static const char script_head[] = "#compdef wick\n"
				  "# zsh completion for wick, printed by `wick completion zsh`\n"
				  "_wick() {\n"
				  "\tlocal curcontext=$curcontext state line\n"
				  "\tlocal -a wick_commands\n"
				  "\twick_commands=(\n";

static const char script_middle[] = "\t)\n"
				    "\t_arguments -C '(- *)'{-h,--help}'[Show the commands]' '(- "
				    "*)--version[Show the version]' \\\n"
				    "\t\t'1:command:->command' '*::argument:->argument'\n"
				    "\tcase $state in\n"
				    "\tcommand) _describe command wick_commands ;;\n"
				    "\targument)\n"
				    "\t\tcase $words[1] in\n";

static const char script_tail[] =
	"\t\tesac ;;\n"
	"\tesac\n"
	"}\n"
	// Autoloaded from fpath it completes at once; sourced it registers.
	"if [[ $zsh_eval_context[-1] == loadautofunc ]]; then\n"
	"\t_wick \"$@\"\n"
	"else\n"
	"\tcompdef _wick wick\n"
	"fi\n";

// Inside single quotes, where `special` characters also need a backslash.
static void quoted(struct buf *out, struct str s, const char *special)
{
	for (size_t i = 0; i < s.len; i++) {
		char c = s.ptr[i];
		if (c == '\'') {
			buf_text(out, "'\\''");
			continue;
		}
		if (c == '\\' || strchr(special, c))
			buf_char(out, '\\');
		buf_char(out, c);
	}
}

static void action(struct buf *out, enum complete complete, choice_fn *choice)
{
	switch (complete) {
	case COMPLETE_CHOICES:
		buf_char(out, '(');
		add_choices(out, choice);
		buf_char(out, ')');
		break;
	case COMPLETE_PID:
		buf_text(out, "_pids");
		break;
	case COMPLETE_FILE:
		buf_text(out, "_files");
		break;
	case COMPLETE_NOTHING:
		buf_char(out, ' ');
		break;
	}
}

static void option(struct buf *out, const struct option_spec *o)
{
	// An option with a letter is written '(-p --pid)'{-p+,--pid=}'[...]'.
	buf_text(out, "\t\t\t\t");
	if (o->letter)
		buf_printf(out, "'*'{-%c%s,--%s%s}'", o->letter, o->argument ? "+" : "", o->name,
			   o->argument ? "=" : "");
	else
		buf_printf(out, "'*--%s%s", o->name, o->argument ? "=" : "");
	buf_char(out, '[');
	quoted(out, first_sentence(o->help), "[]");
	buf_char(out, ']');
	if (o->argument) {
		buf_char(out, ':');
		quoted(out, str_from(o->argument), ":");
		buf_char(out, ':');
		action(out, o->complete, o->choice);
	}
	buf_text(out, "' \\\n");
}

static void command_case(struct buf *out, const struct command *c)
{
	const struct option_spec *o;
	buf_printf(out, "\t\t%s)\n\t\t\t_arguments -s -S \\\n", c->name);
	for (size_t i = 0; (o = command_option(c, i)); i++)
		option(out, o);
	if (c->takes_program) {
		buf_text(out, "\t\t\t\t'(-)1:program: _command_names -e' "
			      "'*::argument: _normal' ;;\n");
	} else if (c->max_words != 0) {
		buf_text(out, "\t\t\t\t'1:word:");
		action(out, c->complete, c->choice);
		buf_text(out, "' ;;\n");
	} else {
		buf_text(out, "\t\t\t\t;;\n");
	}
}

void completion_zsh(struct buf *out)
{
	buf_text(out, script_head);
	for (size_t i = 0; i < command_count; i++) {
		buf_printf(out, "\t\t'%s:", commands[i]->name);
		quoted(out, str_from(commands[i]->summary), ":");
		buf_text(out, "'\n");
	}
	buf_text(out, script_middle);
	for (size_t i = 0; i < command_count; i++)
		command_case(out, commands[i]);
	buf_text(out, script_tail);
}

// SPDX-License-Identifier: Apache-2.0
#include "cli/completion.h"
#include "cli/options.h"

static const char script_head[] =
	"# bash completion for wick, printed by `wick completion bash`\n"
	"_wick()\n"
	"{\n"
	"\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} command= i\n"
	"\t# bash takes --pid=1 for three words\n"
	"\tif [[ $cur == = ]]; then\n"
	"\t\tcur=\n"
	"\telif [[ $prev == = ]]; then\n"
	"\t\tprev=${COMP_WORDS[COMP_CWORD-2]}\n"
	"\tfi\n"
	"\tCOMPREPLY=()\n"
	"\tfor ((i = 1; i < COMP_CWORD; i++)); do\n"
	"\t\tcase ${COMP_WORDS[i]} in\n"
	"\t\t--) return ;; # a program: bash completes files by itself\n"
	"\t\t-*) ;;\n"
	"\t\t*) [[ $command ]] || command=${COMP_WORDS[i]} ;;\n"
	"\t\tesac\n"
	"\tdone\n"
	"\tcase $command in\n";

static const char script_tail[] = "\tesac\n"
				  "}\n"
				  "complete -o default -F _wick wick\n";

static void words_from(struct buf *out, const char *indent, const char *words)
{
	buf_printf(out, "%smapfile -t COMPREPLY < <(compgen -W \"%s\" -- \"$cur\")\n", indent,
		   words);
}

// What to offer for the value of an option that stands before the cursor.
static void value_case(struct buf *out, const struct option_spec *o)
{
	buf_text(out, "\t\t");
	if (o->letter)
		buf_printf(out, "-%c|", o->letter);
	buf_printf(out, "--%s)\n", o->name);
	auto_fini(buf) words = { 0 };
	switch (o->complete) {
	case COMPLETE_CHOICES:
		add_choices(&words, o->choice);
		words_from(out, "\t\t\t", buf_cstr(&words));
		break;
	case COMPLETE_PID:
		words_from(out, "\t\t\t", "$(cd /proc && echo [0-9]*)");
		break;
	case COMPLETE_FILE:
		buf_text(out, "\t\t\t:\n");
		break;
	case COMPLETE_NOTHING:
		buf_text(out, "\t\t\tcompopt +o default\n");
		break;
	}
	buf_text(out, "\t\t\treturn ;;\n");
}

static void command_case(struct buf *out, const struct command *c)
{
	const struct option_spec *o;
	auto_fini(buf) words = { 0 };
	if (c->complete == COMPLETE_CHOICES) {
		add_choices(&words, c->choice);
		buf_char(&words, ' ');
	}
	buf_printf(out, "\t%s)\n\t\tcase $prev in\n", c->name);
	for (size_t i = 0; (o = command_option(c, i)); i++) {
		if (o->argument)
			value_case(out, o);
		buf_printf(&words, "%s--%s", i != 0 ? " " : "", o->name);
	}
	buf_text(out, "\t\tesac\n");
	words_from(out, "\t\t", buf_cstr(&words));
	buf_text(out, "\t\t;;\n");
}

void completion_bash(struct buf *out)
{
	buf_text(out, script_head);
	for (size_t i = 0; i < command_count; i++)
		command_case(out, commands[i]);
	auto_fini(buf) words = { 0 };
	add_choices(&words, command_choice);
	buf_text(&words, " --help --version");
	buf_text(out, "\t'')\n");
	words_from(out, "\t\t", buf_cstr(&words));
	buf_text(out, "\t\t;;\n");
	buf_text(out, script_tail);
}

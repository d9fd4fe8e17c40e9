// SPDX-License-Identifier: Apache-2.0
#include "cli/completion.h"

#include <string.h>

#include "cli/terminal.h"

static const struct {
	const char *name;
	void (*write)(struct buf *out);
} shells[] = {
	{ "bash", completion_bash },
	{ "zsh", completion_zsh },
	{ "fish", completion_fish },
};

static const char *shell_choice(size_t i)
{
	return i < ARRAY_SIZE(shells) ? shells[i].name : NULL;
}

struct str first_sentence(const char *help)
{
	const char *end = strstr(help, ". ");
	struct str s = end ? (struct str){ help, (size_t)(end - help) } : str_from(help);
	if (s.len != 0 && s.ptr[s.len - 1] == '.')
		s.len--;
	return s;
}

void add_choices(struct buf *out, choice_fn *choice)
{
	const char *word;
	for (size_t i = 0; (word = choice(i)); i++)
		buf_printf(out, "%s%s", i != 0 ? " " : "", word);
}

static struct error *print_script(const char *shell)
{
	for (size_t i = 0; i < ARRAY_SIZE(shells); i++) {
		if (strcmp(shell, shells[i].name) != 0)
			continue;
		auto_fini(buf) script = { 0 };
		shells[i].write(&script);
		return print_buf(stdout, &script);
	}
	return error_hint(error_new(ERROR_USAGE, "no completion for the shell %s", shell),
			  "there is one for bash, zsh and fish");
}

static int run_completion(const void *options, const struct operands *operands)
{
	(void)options;
	struct error *err = NULL;
	if (operands->words.len == 0)
		err = error_hint(error_new(ERROR_USAGE, "which shell?"),
				 "wick completion bash, zsh or fish");
	else
		err = print_script(operands->words.at[0]);
	return err ? report_consume(err) : EXIT_DONE;
}

static const struct example completion_examples[] = {
	{ "source <(wick completion bash)", "in this shell, until it ends" },
	{ "wick completion fish > ~/.config/fish/completions/wick.fish", "for good, in fish" },
	{ 0 },
};

const struct command command_completion = {
	.name = "completion",
	.summary = "print a script with which a shell completes wick's words",
	.usage = (const char *const[]){ "bash|zsh|fish", NULL },
	.description = "Prints a completion script on standard output. An installed wick has them "
		       "in place already.",
	.examples = completion_examples,
	.max_words = 1,
	.complete = COMPLETE_CHOICES,
	.choice = shell_choice,
	.run = run_completion,
};

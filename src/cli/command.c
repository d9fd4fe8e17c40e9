// SPDX-License-Identifier: Apache-2.0
// Finds the command, reads its options, runs it.
#include "cli/command.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "cli/help.h"
#include "cli/options.h"
#include "cli/terminal.h"

const struct command *const commands[] = {
	&command_record, &command_list, &command_doctor, &command_completion, &command_help,
};
const size_t command_count = ARRAY_SIZE(commands);

const char *command_choice(size_t i)
{
	return i < command_count ? commands[i]->name : NULL;
}

struct error *command_by_name(const char *name, const struct command **ret)
{
	const char *names[ARRAY_SIZE(commands)];
	for (size_t i = 0; i < command_count; i++) {
		names[i] = commands[i]->name;
		if (strcmp(name, names[i]) == 0) {
			*ret = commands[i];
			return NULL;
		}
	}
	struct error *err = error_new(ERROR_USAGE, "unknown command %s", name);
	const char *near = likely_word(str_from(name), names, command_count);
	if (near)
		return error_hint(err, "did you mean `wick %s`?", near);
	return error_hint(err, "`wick help` lists the commands");
}

static int run(const struct command *c, char **argv)
{
	autofree void *options = calloc(1, MAX(c->options_size, 1u));
	if (!options)
		return report_consume(&error_no_memory);
	auto_fini(operands) operands = { 0 };
	struct error *err = options_parse(c, argv, options, &operands);
	if (!err && operands.help)
		err = help_print(c);
	int status = err             ? report_consume(err)
		     : operands.help ? EXIT_DONE
				     : c->run(options, &operands);
	if (c->fini)
		c->fini(options);
	return status;
}

// What was printed may still be in memory, and the disk may be full.
static int finish(int status)
{
	if ((fflush(stdout) != 0 || ferror(stdout)) && status == EXIT_DONE)
		return report_consume(error_sys(errno ? errno : EIO, "write to standard output"));
	return status;
}

// Only `wick record` has options that people expect to work without a command.
static struct error *option_first(const char *name)
{
	if (option_known(&command_record, name))
		return error_hint(error_new(ERROR_USAGE, "options come after a command"),
				  "wick record %s", name);
	return error_hint(error_new(ERROR_USAGE, "unknown option %s", name),
			  "`wick help` lists the commands");
}

// If a standard stream is closed, the next file that is opened takes its number, and what is
// printed would go into that file. Opened the wrong way round, they still cannot be used.
static void fill_standard_streams(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 && errno == EBADF)
			open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

int cli_main(int argc, char **argv)
{
	static const struct {
		const char *word, *command;
	} spellings[] = {
		{ "-h", "help" },
		{ "--help", "help" },
	};
	fill_standard_streams();
	const char *name = argc > 1 ? argv[1] : "help";
	if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0 || strcmp(name, "-v") == 0) {
		puts("wick " WICK_VERSION);
		return finish(EXIT_DONE);
	}
	for (size_t i = 0; i < ARRAY_SIZE(spellings); i++)
		if (strcmp(name, spellings[i].word) == 0)
			name = spellings[i].command;
	const struct command *c;
	struct error *err = name[0] == '-' ? option_first(name) : command_by_name(name, &c);
	return finish(err ? report_consume(err) : run(c, argv + MIN(argc, 2)));
}

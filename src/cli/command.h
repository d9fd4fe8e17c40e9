// SPDX-License-Identifier: Apache-2.0
// A command is a table: parsing, help, man page and shell completion all come from it.
// To add one: write src/cli/NAME.c with a const struct command, declare it below, and add it to
// the array in command.c.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/vec.h"

enum exit_status {
	EXIT_DONE = 0,
	EXIT_FAILED = 1,
	EXIT_USAGE = 2,
};

// What a shell offers for an argument.
enum complete {
	COMPLETE_NOTHING,
	COMPLETE_CHOICES, // the words of choice()
	COMPLETE_FILE,
	COMPLETE_PID,
};

// The i-th possible word, or NULL after the last.
typedef const char *choice_fn(size_t i);
// Reads `value` into *place, which is the option's field in the command's options.
typedef struct error *parse_fn(const char *value, void *place);

struct option_spec {
	char letter;              // 0 if there is none
	const char *name;         // without dashes; NULL ends the table
	const char *argument;     // what the value is called; NULL for a flag
	size_t offset;            // of the field: a bool for a flag, else whatever parse() fills
	parse_fn *parse;          // NULL for a flag
	const char *group;        // heading it stands under; the options of a group are neighbours
	const char *help;         // sentences; the first one also describes it in shells
	const char *default_text; // NULL if there is nothing worth saying
	enum complete complete;
	choice_fn *choice;
};

struct example {
	const char *line;
	const char *what;
};

// The words of a command line that are no options.
struct operands {
	VEC(char *) words;   // before "--"; after it too, unless the command takes a program
	char **program;      // the words after "--", NULL-terminated; NULL without "--"
	size_t program_size; // how many
	bool help;           // -h or --help was there; nothing else was looked at
};
void operands_fini(struct operands *o);

struct command {
	const char *name;
	const char *summary;      // one line without a full stop
	const char *const *usage; // what follows "wick NAME", a line for each way; NULL-terminated
	const char *description;  // paragraphs, an empty line between them
	const struct option_spec *options;
	const struct example *examples; // ended by an empty one
	size_t options_size;    // of the struct that the options are parsed into, from zeros
	size_t max_words;       // how many operands it takes
	bool takes_program;     // words after "--" are a program and its arguments
	enum complete complete; // for its operands
	choice_fn *choice;
	void (*fini)(void *options); // may be NULL
	int (*run)(const void *options, const struct operands *operands);
};

extern const struct command command_record;
extern const struct command command_list;
extern const struct command command_doctor;
extern const struct command command_completion;
extern const struct command command_help;

extern const struct command *const commands[];
extern const size_t command_count;

const char *command_choice(size_t i);
// ERROR_USAGE with the nearest known one in the hint.
struct error *command_by_name(const char *name, const struct command **ret) must_check;

// All of a run: argv[0] is the program. Returns the exit status.
int cli_main(int argc, char **argv);

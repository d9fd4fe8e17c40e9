// SPDX-License-Identifier: Apache-2.0
// Command-line options, read by a command's table:   -p1  -p 1,2  --pid=1  --pid 1  -aq  --
#pragma once

#include "base/str.h"
#include "cli/command.h"

// -h, --help, which every command has and no table lists.
extern const struct option_spec option_help;

// The option number i of a command, its own ones first and then --help; NULL after the last.
const struct option_spec *command_option(const struct command *c, size_t i);

// An option of the command, as "-p", "-p7", "--pid" or "--pid=7".
bool option_known(const struct command *c, const char *spelled);

// The only one of the words that begins like `typed`, else the one nearest in spelling; or NULL.
const char *likely_word(struct str typed, const char *const *words, size_t count);

// `argv` are the words after the command's name. `options` must be zeroed. ERROR_USAGE says what is
// wrong and what is near it; `options` may be filled in part then.
struct error *options_parse(const struct command *c, char **argv, void *options,
			    struct operands *ret) must_check;

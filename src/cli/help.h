// SPDX-License-Identifier: Apache-2.0
// Help on the terminal, made from the commands' tables.
#pragma once

#include "base/buf.h"
#include "cli/command.h"
#include "cli/terminal.h"

// "-p, --pid PID[,PID...]"; with four spaces where there is no letter.
void help_option_name(struct buf *out, const struct option_spec *o);
void help_command(struct buf *out, const struct terminal *t, const struct command *c);
void help_overview(struct buf *out, const struct terminal *t);
// On standard output; the overview without a command.
struct error *help_print(const struct command *c) must_check;

// What the overview and wick(1) say.
extern const char help_purpose[];
extern const struct example help_examples[];

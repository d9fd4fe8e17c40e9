// SPDX-License-Identifier: Apache-2.0
// Completion scripts for shells, made from the commands' tables. To add a shell: write
// src/cli/completion_NAME.c and add it to the array in completion.c.
#pragma once

#include "base/buf.h"
#include "base/str.h"
#include "cli/command.h"

void completion_bash(struct buf *out);
void completion_zsh(struct buf *out);
void completion_fish(struct buf *out);

// For one shell or another: the first sentence of a help text, without its full stop.
struct str first_sentence(const char *help);
// The words of choice(), with spaces between them.
void add_choices(struct buf *out, choice_fn *choice);

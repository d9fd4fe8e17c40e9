// SPDX-License-Identifier: Apache-2.0
// Man pages in roff, made from the commands' tables.
#pragma once

#include "base/buf.h"
#include "cli/command.h"

// wick-NAME(1), or wick(1) without a command.
void man_page(struct buf *out, const struct command *c);
struct error *man_print(const struct command *c) must_check;

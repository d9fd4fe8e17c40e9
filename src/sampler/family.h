// SPDX-License-Identifier: Apache-2.0
// The processes to sample: targets and their descendants, some of which are born while we look.
#pragma once

#include "sampler/sampler.h"
#include "target/proc.h"

// What to do with a process found; an error ends the search.
typedef struct error *(*family_add)(void *ctx, pid_t pid);

// Calls add() for each target and, with opts->children, for each descendant, each once. Looks again
// until a look finds nobody new: who is added must from then on see to its own children. We
// ourselves are left out: who records the shell that wick was started from wants to see the shell's
// other children. Tells opts->hooks.
struct error *family_find(const struct sampler_opts *opts, family_add add, void *ctx) must_check;

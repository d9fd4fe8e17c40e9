// SPDX-License-Identifier: Apache-2.0
// Which processes a recording is about.
#pragma once

#include "cli/command.h"
#include "cli/record.h"

struct record_target {
	pid_vec pids;         // running processes; empty for a program or the whole machine
	char *const *program; // to start; borrowed from the command line
	bool whole_machine;
	char *title; // for people: "pid 42 (nginx)"
	char *slug;  // for a file's name: "nginx-42"; only letters, digits, '.', '_' and '-'
};

// Exactly one kind of target, else ERROR_USAGE with an example. Processes must be there, and be
// processes.
struct error *record_target_choose(const struct record_options *o, const struct operands *operands,
				   struct record_target *ret) must_check;
void record_target_fini(struct record_target *t);

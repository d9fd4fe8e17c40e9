// SPDX-License-Identifier: Apache-2.0
// A program that is started for the recording: held before its first instruction until everything
// is ready to sample it.
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"

struct command {
	pid_t pid;     // 0 if there is none
	int go_fd;     // closed to let it go
	int result_fd; // tells why it could not be started
	int status;    // of waitpid(), once it has ended
	bool ended;
};

// The process exists but has not become the program yet.
struct error *command_prepare(char *const *argv, struct command *ret) must_check;
// ERROR_NOT_FOUND, ERROR_DENIED ...: it cannot be started.
struct error *command_go(struct command *c, const char *name) must_check;
bool command_ended(struct command *c);
// Waits until it ends by itself, but not longer than this.
bool command_ends_within(struct command *c, int ms);
// Ends it if it is still there.
void command_fini(struct command *c);

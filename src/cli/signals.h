// SPDX-License-Identifier: Apache-2.0
// Ctrl-C and its relatives end a recording early; it is still written. A second Ctrl-C ends wick at
// once and leaves no temporary file behind.
#pragma once

#include <signal.h>

// Begins to catch SIGINT, SIGTERM and SIGHUP; writing into a closed pipe becomes an error.
void signals_catch(void);
// Set when one of them came.
const volatile sig_atomic_t *signals_stop(void);
// Between these a signal that would end us waits.
struct signals_held {
	sigset_t before;
};
struct signals_held signals_hold(void);
void signals_release(const struct signals_held *held);
// The temporary file that a second Ctrl-C has to remove; NULL when there is none. The text must
// stay until the next call.
void signals_guard_temporary(const char *path);

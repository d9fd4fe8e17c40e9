// SPDX-License-Identifier: Apache-2.0
#include "cli/signals.h"

#include <errno.h>
#include <unistd.h>

#include "base/cleanup.h"

static volatile sig_atomic_t stop;
static const char *volatile temporary;

const volatile sig_atomic_t *signals_stop(void)
{
	return &stop;
}

// Makes only calls that signal-safety(7) allows.
static void on_stop(int signal_number)
{
	int saved = errno;
	if (signal_number == SIGINT && stop) {
		if (temporary)
			unlink(temporary);
		// Blocked while this handler runs: ends us as soon as it returns.
		signal(SIGINT, SIG_DFL);
		raise(SIGINT);
	}
	stop = 1;
	errno = saved;
}

static void on_pipe(int signal_number)
{
	(void)signal_number;
}

void signals_catch(void)
{
	static const int stops[] = { SIGINT, SIGTERM, SIGHUP };
	for (size_t i = 0; i < ARRAY_SIZE(stops); i++) {
		struct sigaction old, action = { .sa_handler = on_stop };
		// nohup asks for SIGHUP to be ignored, and means it.
		if (stops[i] == SIGHUP && sigaction(SIGHUP, NULL, &old) == 0 &&
		    old.sa_handler == SIG_IGN)
			continue;
		sigaction(stops[i], &action, NULL);
	}
	// Not SIG_IGN, which a program that wick starts would inherit.
	struct sigaction action = { .sa_handler = on_pipe, .sa_flags = SA_RESTART };
	sigaction(SIGPIPE, &action, NULL);
}

struct signals_held signals_hold(void)
{
	struct signals_held held;
	sigset_t stops;
	sigemptyset(&stops);
	sigaddset(&stops, SIGINT);
	sigaddset(&stops, SIGTERM);
	sigaddset(&stops, SIGHUP);
	sigprocmask(SIG_BLOCK, &stops, &held.before);
	return held;
}

void signals_release(const struct signals_held *held)
{
	sigprocmask(SIG_SETMASK, &held->before, NULL);
}

void signals_guard_temporary(const char *path)
{
	temporary = path;
}

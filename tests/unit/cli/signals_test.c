// SPDX-License-Identifier: Apache-2.0
#include "cli/signals.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "tests/test.h"

// What the handlers do ends a process, so each of these runs in a child. Returns its wait status.
static int in_child(void (*body)(const char *path), const char *path)
{
	fflush(stdout);
	pid_t child = fork();
	if (child == 0) {
		body(path);
		_exit(99);
	}
	int status = -1;
	waitpid(child, &status, 0);
	return status;
}

static void stops_once(const char *path)
{
	static const int stops[] = { SIGINT, SIGTERM, SIGHUP };
	(void)path;
	signals_catch();
	if (*signals_stop())
		_exit(1);
	for (size_t i = 1; i < ARRAY_SIZE(stops); i++)
		raise(stops[i]);
	_exit(*signals_stop() ? 0 : 2);
}

TEST(a_stop_signal_is_remembered_and_ends_nothing)
{
	CHECK(in_child(stops_once, NULL) == 0);
}

static void stays_ignored(const char *path)
{
	(void)path;
	signal(SIGHUP, SIG_IGN);
	signals_catch();
	raise(SIGHUP);
	_exit(*signals_stop() ? 1 : 0);
}

TEST(a_hangup_that_was_ignored_stays_ignored)
{
	CHECK(in_child(stays_ignored, NULL) == 0);
}

static void writes_into_a_closed_pipe(const char *path)
{
	int ends[2];
	(void)path;
	signals_catch();
	if (pipe(ends) != 0)
		_exit(1);
	close(ends[0]);
	bool failed = write(ends[1], "x", 1) < 0;
	// A program that is started must not inherit this.
	struct sigaction action;
	sigaction(SIGPIPE, NULL, &action);
	_exit(failed && action.sa_handler != SIG_IGN ? 0 : 2);
}

TEST(a_closed_pipe_is_an_error_and_not_the_end)
{
	CHECK(in_child(writes_into_a_closed_pipe, NULL) == 0);
}

static void interrupted_twice(const char *path)
{
	struct outfile *file = NULL;
	signals_catch();
	if (outfile_open(&(struct outfile_opts){ .path = path }, &file))
		_exit(1);
	signals_guard_temporary(outfile_temporary(file));
	raise(SIGINT);
	raise(SIGINT);
}

TEST(a_second_interrupt_ends_it_and_removes_the_temporary_file)
{
	char directory[] = "/tmp/wick-signals-XXXXXX", path[64];
	CHECK(mkdtemp(directory));
	snprintf(path, sizeof(path), "%s/out", directory);
	int status = in_child(interrupted_twice, path);
	bool empty = rmdir(directory) == 0;
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGINT);
	CHECK(empty);
}

static void interrupted_while_writing_a_pipe(const char *path)
{
	struct outfile *file = NULL;
	signals_catch();
	if (outfile_open(&(struct outfile_opts){ .path = path, .overwrite = true }, &file))
		_exit(1);
	signals_guard_temporary(outfile_temporary(file));
	raise(SIGINT);
	raise(SIGINT);
}

TEST(a_second_interrupt_leaves_alone_what_was_written_into_directly)
{
	char directory[] = "/tmp/wick-signals-XXXXXX", path[64];
	CHECK(mkdtemp(directory));
	snprintf(path, sizeof(path), "%s/pipe", directory);
	CHECK(mkfifo(path, 0600) == 0);
	autoclose int reader = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	CHECK(reader >= 0);
	int status = in_child(interrupted_while_writing_a_pipe, path);
	bool there = unlink(path) == 0 && rmdir(directory) == 0;
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGINT);
	CHECK(there);
}

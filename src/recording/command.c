// SPDX-License-Identifier: Apache-2.0
#include "recording/command.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>

#define WAIT_STEP_MS 10
#define TERM_PATIENCE_MS 2000

static _Noreturn void become(char *const *argv, int go_fd, int result_fd)
{
	char byte;
	ssize_t n;
	do {
		n = read(go_fd, &byte, 1);
	} while (n < 0 && errno == EINTR);
	if (n != 1)
		_exit(127); // the profiler gave up
	// What the caller ignores or blocks is its own affair.
	signal(SIGPIPE, SIG_DFL);
	execvp(argv[0], argv);
	int why = errno;
	(void)!write(result_fd, &why, sizeof(why));
	_exit(127);
}

struct error *command_prepare(char *const *argv, struct command *ret)
{
	int go[2], result[2];
	if (pipe2(go, O_CLOEXEC) != 0)
		return error_sys(errno, "start %s", argv[0]);
	autoclose int go_read = go[0];
	autoclose int go_write = go[1];
	if (pipe2(result, O_CLOEXEC) != 0)
		return error_sys(errno, "start %s", argv[0]);
	autoclose int result_read = result[0];
	autoclose int result_write = result[1];
	pid_t pid = fork();
	if (pid < 0)
		return error_sys(errno, "start %s", argv[0]);
	if (pid == 0) {
		close(go_write); // or it would hold itself
		become(argv, go_read, result_write);
	}
	*ret = (struct command){ .pid = pid,
				 .go_fd = take_fd(go_write),
				 .result_fd = take_fd(result_read) };
	return NULL;
}

struct error *command_go(struct command *c, const char *name)
{
	int why = 0;
	(void)!write(c->go_fd, "", 1);
	close(take_fd(c->go_fd));
	ssize_t n;
	do {
		n = read(c->result_fd, &why, sizeof(why));
	} while (n < 0 && errno == EINTR);
	if (n != sizeof(why))
		return NULL;
	return error_sys(why, "cannot start %s", name);
}

bool command_ended(struct command *c)
{
	if (c->pid != 0 && !c->ended && waitpid(c->pid, &c->status, WNOHANG) == c->pid)
		c->ended = true;
	return c->ended;
}

static bool ends_within(struct command *c, int ms)
{
	for (; ms > 0 && !command_ended(c); ms -= WAIT_STEP_MS)
		usleep(WAIT_STEP_MS * 1000);
	return command_ended(c);
}

void command_end(struct command *c, int patience_ms)
{
	if (c->pid == 0 || ends_within(c, patience_ms))
		return;
	kill(c->pid, SIGTERM);
	(void)ends_within(c, TERM_PATIENCE_MS); // who ignores it goes on alone
}

void command_fini(struct command *c)
{
	if (c->pid == 0)
		return;
	if (c->go_fd >= 0) {
		kill(c->pid, SIGKILL);
		close(c->go_fd);
		waitpid(c->pid, &c->status, 0);
	}
	close(c->result_fd);
	c->pid = 0;
}

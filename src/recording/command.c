// SPDX-License-Identifier: Apache-2.0
#include "recording/command.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>

#define WAIT_STEP_MS 10

static _Noreturn void become(char *const *argv, int go_fd, int result_fd)
{
	char byte;
	ssize_t n;
	do {
		n = read(go_fd, &byte, 1);
	} while (n < 0 && errno == EINTR);
	if (n != 1)
		_exit(127); // the profiler gave up
	// The profiler ignores it; the program shall not.
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

bool command_ends_within(struct command *c, int ms)
{
	for (; ms > 0 && !command_ended(c); ms -= WAIT_STEP_MS)
		usleep(WAIT_STEP_MS * 1000);
	return command_ended(c);
}

void command_fini(struct command *c)
{
	if (c->pid == 0)
		return;
	// Held before its start it has done nothing yet, and nobody else would end it.
	bool held = c->go_fd >= 0;
	if (!command_ended(c))
		kill(c->pid, held ? SIGKILL : SIGTERM);
	if (held) {
		close(c->go_fd);
		waitpid(c->pid, &c->status, 0);
	}
	close(c->result_fd);
	c->pid = 0;
}

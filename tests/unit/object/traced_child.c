// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/object/traced_child.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>

static void run_child(void (*body)(void), char *const *argv)
{
	if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0)
		_exit(77);
	if (argv) {
		int null = open("/dev/null", O_RDWR | O_CLOEXEC);
		dup2(null, STDOUT_FILENO);
		execv(argv[0], argv);
		_exit(77);
	}
	raise(SIGSTOP);
	body();
	_exit(0);
}

struct traced_child *traced_child_new(void (*body)(void), char *const *argv)
{
	auto_(traced_child) c = calloc(1, sizeof(*c));
	if (!c)
		return NULL;
	c->memory = -1;
	c->pid = fork();
	if (c->pid == 0)
		run_child(body, argv);
	int status = 0;
	c->ended = c->pid < 0 || waitpid(c->pid, &status, 0) != c->pid || !WIFSTOPPED(status);
	char path[64];
	snprintf(path, sizeof(path), "/proc/%d/mem", (int)c->pid);
	c->memory = c->ended ? -1 : open(path, O_RDONLY | O_CLOEXEC);
	return c->memory >= 0 ? take(c) : NULL;
}

void traced_child_free(struct traced_child *c)
{
	if (!c)
		return;
	if (!c->ended) {
		kill(c->pid, SIGKILL);
		waitpid(c->pid, NULL, 0);
	}
	close_guard(&c->memory);
	free(c);
}

bool traced_child_step(struct traced_child *c)
{
	int status, deliver = 0;
	siginfo_t info;
	// A signal that is not the trap of our own step goes on to the child.
	if (ptrace(PTRACE_GETSIGINFO, c->pid, NULL, &info) == 0 && info.si_signo != SIGTRAP &&
	    info.si_signo != SIGSTOP)
		deliver = info.si_signo;
	if (c->ended || ptrace(PTRACE_SINGLESTEP, c->pid, NULL, (long)deliver) != 0 ||
	    waitpid(c->pid, &status, 0) != c->pid || !WIFSTOPPED(status))
		c->ended = true;
	return !c->ended;
}

bool traced_child_regs(const struct traced_child *c, uint64_t ret[TRACED_REGS])
{
	struct user_regs_struct r;
	if (ptrace(PTRACE_GETREGS, c->pid, NULL, &r) != 0)
		return false;
	const uint64_t regs[TRACED_REGS] = { r.rax, r.rdx, r.rcx, r.rbx, r.rsi, r.rdi,
					     r.rbp, r.rsp, r.r8,  r.r9,  r.r10, r.r11,
					     r.r12, r.r13, r.r14, r.r15, r.rip };
	memcpy(ret, regs, sizeof(regs));
	return true;
}

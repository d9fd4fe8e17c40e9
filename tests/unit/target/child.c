// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/target/child.h"

#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/file.h"

static void serve(child_work *work, void *arg, int commands, int answers)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (int round = 0;; round++) {
		int answer = work(round, arg);
		char command;
		if (write(answers, &answer, sizeof(answer)) != sizeof(answer) ||
		    read(commands, &command, 1) != 1)
			_exit(0);
	}
}

struct child child_start(child_work *work, void *arg)
{
	int down[2], up[2];
	if (pipe2(down, O_CLOEXEC) != 0 || pipe2(up, O_CLOEXEC) != 0)
		return (struct child){ 0 };
	pid_t pid = fork();
	if (pid == 0) {
		close(down[1]);
		close(up[0]);
		serve(work, arg, down[0], up[1]);
	}
	close(down[0]);
	close(up[1]);
	return (struct child){ pid, down[1], up[0] };
}

int child_answer(const struct child *c)
{
	int answer;
	return c->pid > 0 && read(c->answers, &answer, sizeof(answer)) == sizeof(answer) ? answer
											 : -1;
}

int child_command(const struct child *c)
{
	return write(c->commands, "", 1) == 1 ? child_answer(c) : -1;
}

struct program {
	const char *path;
	char *const *argv;
	pid_t pid;
};

static int exec_program(int round, void *arg)
{
	const struct program *p = arg;
	(void)round;
	execv(p->path, p->argv);
	_exit(127);
}

static bool is_mapped(void *arg)
{
	const struct program *p = arg;
	char path[64];
	snprintf(path, sizeof(path), "/proc/%d/maps", p->pid);
	auto_fini(buf) maps = { 0 };
	auto_(error) err = file_read(path, &maps);
	return !err && strstr(buf_cstr(&maps), p->path) && strstr(buf_cstr(&maps), "/libc.so");
}

struct child child_exec(const char *path, char *const argv[])
{
	struct program p = { .path = path, .argv = argv };
	struct child c = child_start(exec_program, &p);
	p.pid = c.pid;
	if (c.pid > 0 && !wait_until(is_mapped, &p))
		child_fini(&c);
	return c;
}

void child_fini(struct child *c)
{
	if (c->pid <= 0)
		return;
	kill(c->pid, SIGKILL);
	waitpid(c->pid, NULL, 0);
	close(c->commands);
	close(c->answers);
	*c = (struct child){ 0 };
}

struct temp_dir temp_dir_new(void)
{
	struct temp_dir dir = { "/tmp/wick-test-XXXXXX" };
	if (!mkdtemp(dir.path))
		abort();
	return dir;
}

static int remove_entry(const char *path, const struct stat *st, int kind, struct FTW *ftw)
{
	(void)st;
	(void)kind;
	(void)ftw;
	return remove(path);
}

void temp_dir_fini(struct temp_dir *dir)
{
	nftw(dir->path, remove_entry, 8, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}

bool copy_file(const char *from, const char *to)
{
	auto_fini(buf) bytes = { 0 };
	auto_(error) err = file_read(from, &bytes);
	if (err)
		return false;
	autoclose int fd = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0755);
	return fd >= 0 && write(fd, bytes.at, bytes.len) == (ssize_t)bytes.len;
}

bool same_bytes(int fd, const char *path)
{
	auto_fini(buf) a = { 0 }, b = { 0 };
	auto_(error) err = file_read_fd(fd, "the descriptor", &a);
	auto_(error) other_err = file_read(path, &b);
	return !err && !other_err && a.len != 0 && str_eq(buf_view(&a), buf_view(&b));
}

bool wait_until(bool (*condition)(void *arg), void *arg)
{
	for (int i = 0; i < 5000; i++) {
		if (condition(arg))
			return true;
		usleep(1000);
	}
	return false;
}

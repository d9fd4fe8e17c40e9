// SPDX-License-Identifier: Apache-2.0
// Children to look at: they do something, say that it is done, and stay until they are stopped.
#pragma once

#include <stdbool.h>
#include <sys/types.h>

struct child {
	pid_t pid; // 0 if it could not be started
	int commands;
	int answers;
};

// Runs work() in a child. What it returns is answered to us; then the child waits for commands.
// For each child_command() work() is called again in it, with the next round.
typedef int child_work(int round, void *arg);
struct child child_start(child_work *work, void *arg);
// The answer to the first round or to the last command; -1 if the child is gone.
int child_answer(const struct child *c);
int child_command(const struct child *c);
// Starts a program and waits until its file is mapped.
struct child child_exec(const char *path, char *const argv[]);
void child_fini(struct child *c);

// A directory that is removed again with all that is in it.
struct temp_dir {
	char path[64];
};
struct temp_dir temp_dir_new(void);
void temp_dir_fini(struct temp_dir *dir);

bool copy_file(const char *from, const char *to);
bool same_bytes(int fd, const char *path);
// Waits for a condition, up to five seconds.
bool wait_until(bool (*condition)(void *arg), void *arg);

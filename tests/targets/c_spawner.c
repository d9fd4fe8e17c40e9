// SPDX-License-Identifier: Apache-2.0
// Starts the program named on the command line again and again, one after the other, for so many
// milliseconds; prints how many it started. With "vfork" the child works a little before its exec,
// on its parent's memory.
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "target.h"

static uint64_t wall_clock(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

FUNCTION void before_exec(void)
{
	burn_for(50 * MS);
}

FUNCTION void start_and_wait(char **command, int use_vfork)
{
	pid_t child = use_vfork ? vfork() : fork();
	if (child == 0) {
		if (use_vfork)
			before_exec();
		execv(command[0], command);
		_exit(127);
	}
	int status;
	if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
		exit(1);
	NO_TAIL_CALL();
}

int main(int argc, char **argv)
{
	if (argc < 4)
		return 2;
	int use_vfork = strcmp(argv[1], "vfork") == 0;
	target_ready();
	if (!target_await_go())
		return 1;
	uint64_t end = wall_clock() + strtoull(argv[2], NULL, 10) * MS;
	int started = 0;
	for (; wall_clock() < end; started++)
		start_and_wait(argv + 3, use_vfork);
	printf("%d\n", started);
	fflush(stdout);
	pause();
}

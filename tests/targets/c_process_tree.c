// SPDX-License-Identifier: Apache-2.0
// A family of processes: a parent, a child and a grandchild from before the recording, and a child
// and a grandchild that are born when the test says go. All of them work all the time.
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "target.h"

FUNCTION void parent_work(void)
{
	burn_for(MS);
}

FUNCTION void child_work(void)
{
	burn_for(MS);
}

FUNCTION void grandchild_work(void)
{
	burn_for(MS);
}

FUNCTION void late_child_work(void)
{
	burn_for(MS);
}

FUNCTION void late_grandchild_work(void)
{
	burn_for(MS);
}

static void work_forever(void (*work)(void))
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;) {
		work();
		NO_TAIL_CALL();
	}
}

static void start_branch(void (*child)(void), void (*grandchild)(void))
{
	if (fork() != 0)
		return;
	if (fork() == 0)
		work_forever(grandchild);
	work_forever(child);
}

int main(void)
{
	start_branch(child_work, grandchild_work);
	target_ready();
	if (!target_await_go())
		return 1;
	start_branch(late_child_work, late_grandchild_work);
	work_forever(parent_work);
}

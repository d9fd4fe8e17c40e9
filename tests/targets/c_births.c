// SPDX-License-Identifier: Apache-2.0
// When told to go, gives birth to a child every 20 ms, 40 times. Each has a name of its own, stays,
// and works a little now and then.
#include <signal.h>
#include <sys/prctl.h>

#include "target.h"

#define CHILDREN 40

FUNCTION void child_work(void)
{
	burn_for(MS);
}

FUNCTION void live(int number)
{
	char name[16];
	snprintf(name, sizeof(name), "born-%d", number);
	prctl(PR_SET_NAME, name);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;) {
		child_work();
		usleep(60000 + (unsigned)number * 37);
	}
}

int main(void)
{
	target_ready();
	if (!target_await_go())
		return 1;
	for (int i = 0; i < CHILDREN; i++) {
		if (fork() == 0)
			live(i);
		usleep(20000);
	}
	pause();
}

// SPDX-License-Identifier: Apache-2.0
// A signal handler on an alternate stack that takes half of the CPU time. Its callers are the
// signal frame, the function it interrupted, and main. With SAME_STACK it runs on the thread's own.
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

#include "target.h"

FUNCTION void in_handler(void)
{
	burn_for(5 * MS);
}

FUNCTION void on_signal(int number)
{
	(void)number;
	in_handler();
	NO_TAIL_CALL();
}

FUNCTION void interrupted(void)
{
	for (;;)
		spin();
}

FUNCTION void call_interrupted(void)
{
	interrupted();
	NO_TAIL_CALL();
}

int main(void)
{
	struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_RESTART };
#ifndef SAME_STACK
	size_t size = 64 << 10;
	stack_t alternate = { .ss_sp = malloc(size), .ss_size = size };
	if (!alternate.ss_sp || sigaltstack(&alternate, NULL) != 0)
		return 1;
	action.sa_flags |= SA_ONSTACK;
#endif
	// CPU time of the process, so that the share does not depend on how busy the machine is.
	struct itimerval every = { .it_interval.tv_usec = 10000, .it_value.tv_usec = 10000 };
	if (sigaction(SIGPROF, &action, NULL) != 0 || setitimer(ITIMER_PROF, &every, NULL) != 0)
		return 1;
	target_ready();
	call_interrupted();
}

// SPDX-License-Identifier: Apache-2.0
// pass_on() jumps to land() instead of calling it: its frame is gone, and the rest of the chain
// must hold. never_back() is called by the last instruction of its caller: the return address is
// already in the next function, which must not be shown.
#include <stdlib.h>

#include "target.h"

FUNCTION void land(uint64_t ns)
{
	burn_for(ns);
}

FUNCTION void pass_on(uint64_t ns)
{
	land(ns + 1);
}

FUNCTION void take_off(uint64_t ns)
{
	pass_on(ns);
	NO_TAIL_CALL();
}

FUNCTION __attribute__((noreturn)) void never_back(void)
{
	for (;;) {
		// Of changing length, so that it cannot beat with the sampling rate.
		uint64_t slice = MS / 4 + cpu_clock() % (MS / 2);
		take_off(slice);
		burn_for(slice);
	}
}

FUNCTION __attribute__((noreturn)) void calls_at_its_end(void)
{
	target_ready();
	never_back();
}

FUNCTION void the_function_after(void)
{
	burn_for(MS);
}

int main(int argc, char **argv)
{
	(void)argv;
	if (argc > 1)
		the_function_after();
	else
		calls_at_its_end();
	return 0;
}

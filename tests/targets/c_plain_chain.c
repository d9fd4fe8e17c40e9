// SPDX-License-Identifier: Apache-2.0
// A plain chain, main → first → second → third, for everything that is a matter of how a program
// is linked, stripped, started, moved or deleted. PREFIX gives the functions other names, so that
// a test sees whether names come from the right file.
#include <sys/prctl.h>

#include "target.h"

#ifndef PREFIX
#define PREFIX chain
#endif
#define JOIN(a, b) a##_##b
#define NAME(a, b) JOIN(a, b)

FUNCTION void NAME(PREFIX, third)(void)
{
	burn_for(MS);
}

FUNCTION void NAME(PREFIX, second)(void)
{
	NAME(PREFIX, third)();
	NO_TAIL_CALL();
}

FUNCTION void NAME(PREFIX, first)(void)
{
	NAME(PREFIX, second)();
	NO_TAIL_CALL();
}

int main(int argc, char **argv)
{
	if (argc > 1)
		prctl(PR_SET_NAME, argv[1]);
	target_ready();
	for (;;)
		NAME(PREFIX, first)();
}

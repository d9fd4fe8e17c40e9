// SPDX-License-Identifier: Apache-2.0
// Asks for the time all the time: the samples fall into the vDSO.
#include "target.h"

FUNCTION void ask_the_time(void)
{
	struct timespec t;
	for (int i = 0; i < 10000; i++)
		clock_gettime(CLOCK_MONOTONIC, &t);
}

int main(void)
{
	target_ready();
	for (;;)
		ask_the_time();
}

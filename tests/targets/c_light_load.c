// SPDX-License-Identifier: Apache-2.0
// Uses so many percent of one CPU, in its own function.
#include <stdlib.h>

#include "target.h"

FUNCTION void light_work(uint64_t ns)
{
	burn_for(ns);
}

int main(int argc, char **argv)
{
	unsigned percent = argc > 1 ? (unsigned)atoi(argv[1]) : 100;
	target_ready();
	for (;;) {
		// Rounds of 5 to 10 ms: of changing length, so that they cannot beat with the
		// sampling rate.
		uint64_t hundredth = MS / 20 + cpu_clock() % (MS / 20);
		light_work(percent * hundredth);
		if (percent < 100)
			usleep((unsigned)((100 - percent) * hundredth / 1000));
	}
}

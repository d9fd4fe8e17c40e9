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
		light_work(percent * MS / 10);
		if (percent < 100)
			usleep((100 - percent) * 100);
	}
}

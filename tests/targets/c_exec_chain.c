// SPDX-License-Identifier: Apache-2.0
// Works for a while, then becomes the next program of its arguments, which does the same. STAGE
// names the function.
#include "target.h"

FUNCTION void STAGE(void)
{
	burn_until(cpu_clock() + 60 * MS);
}

int main(int argc, char **argv)
{
	STAGE();
	if (argc > 1)
		execv(argv[1], argv + 1);
	return 0;
}

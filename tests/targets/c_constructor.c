// SPDX-License-Identifier: Apache-2.0
// Works before main: 300 ms in a constructor, 300 ms in main, 300 ms after main.
#include <stdlib.h>

#include "target.h"

FUNCTION void work_before_main(void)
{
	burn_until(300 * MS);
}

FUNCTION void work_in_main(void)
{
	burn_until(600 * MS);
}

FUNCTION void work_after_main(void)
{
	burn_until(900 * MS);
}

__attribute__((constructor)) static void constructor(void)
{
	work_before_main();
	NO_TAIL_CALL();
}

__attribute__((destructor)) static void destructor(void)
{
	work_after_main();
	NO_TAIL_CALL();
}

int main(void)
{
	work_in_main();
	NO_TAIL_CALL();
	return 7;
}

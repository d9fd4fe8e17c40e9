// SPDX-License-Identifier: Apache-2.0
// Lives for 20 ms of CPU time.
#include "target.h"

FUNCTION void brief_work(void)
{
	burn_until(20 * MS);
}

FUNCTION void brief_life(void)
{
	brief_work();
	NO_TAIL_CALL();
}

int main(void)
{
	brief_life();
}

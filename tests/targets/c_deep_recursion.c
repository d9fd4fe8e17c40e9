// SPDX-License-Identifier: Apache-2.0
// 1,500 calls deep. FRAME_BYTES makes each frame that much larger: the stack no longer fits into
// the copy that the kernel hands out with a sample.
#include <string.h>

#include "target.h"

#ifndef FRAME_BYTES
#define FRAME_BYTES 0
#endif

FUNCTION void bottom(void)
{
	for (;;)
		burn_for(MS);
}

FUNCTION void descend(int levels)
{
#if FRAME_BYTES > 0
	char ballast[FRAME_BYTES];
	memset(ballast, levels, sizeof(ballast));
	__asm__ volatile("" : : "r"(ballast) : "memory");
#endif
	if (levels > 1)
		descend(levels - 1);
	else
		bottom();
	NO_TAIL_CALL();
}

int main(void)
{
	target_ready();
	descend(1500);
}

// SPDX-License-Identifier: Apache-2.0
// A library for c_dlopen.c. LEAF names its inner function, FRAME_BYTES makes the outer one's frame
// that much larger.
#include "target.h"

#ifndef FRAME_BYTES
#define FRAME_BYTES 0
#endif

void plugin_work(uint64_t ns);

FUNCTION void LEAF(uint64_t ns)
{
	burn_for(ns);
}

FUNCTION void plugin_work(uint64_t ns)
{
#if FRAME_BYTES > 0
	char ballast[FRAME_BYTES];
	__asm__ volatile("" : : "r"(ballast) : "memory");
#endif
	LEAF(ns);
	NO_TAIL_CALL();
}

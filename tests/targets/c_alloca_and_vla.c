// SPDX-License-Identifier: Apache-2.0
// Frames whose size is known only at run time: alloca and a variable-length array.
#include <alloca.h>
#include <string.h>

#include "target.h"

FUNCTION void under_both(void)
{
	burn_for(MS);
}

FUNCTION void with_vla(int n)
{
	volatile char array[n];
	array[0] = array[n - 1] = 1;
	under_both();
	NO_TAIL_CALL();
	array[0] = 2;
}

FUNCTION void with_alloca(int n)
{
	for (int i = 0; i < 4; i++) {
		char *room = alloca((size_t)n + 16 * (size_t)i);
		memset(room, 1, (size_t)n);
		__asm__ volatile("" : : "r"(room) : "memory");
		with_vla(n + i);
	}
	NO_TAIL_CALL();
}

int main(void)
{
	target_ready();
	for (int n = 64;; n = 64 + (n + 37) % 512)
		with_alloca(n);
}

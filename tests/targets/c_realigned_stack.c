// SPDX-License-Identifier: Apache-2.0
// Frames that realign the stack: locals aligned to 64 bytes beside a variable-length array, with
// arguments on the stack. The compiler keeps the old stack pointer in a register of its own and
// describes the frame with a DWARF expression.
#include "target.h"

FUNCTION void under_realigned(void)
{
	burn_for(MS);
}

FUNCTION int realigned_inner(int a, int b, int c, int d, int e, int f, int on_stack, int n)
{
	volatile char wide[64] __attribute__((aligned(64)));
	volatile char array[n];
	array[0] = (char)(a + b + c + d + e + f + on_stack);
	wide[on_stack & 63] = array[0];
	under_realigned();
	NO_TAIL_CALL();
	return wide[on_stack & 63] + array[0] + on_stack;
}

FUNCTION int realigned_outer(int n)
{
	volatile int wide[16] __attribute__((aligned(64)));
	wide[n & 15] = n;
	int sum = realigned_inner(1, 2, 3, 4, 5, 6, n & 63, n);
	NO_TAIL_CALL();
	return sum + wide[n & 15];
}

int main(void)
{
	target_ready();
	for (int n = 64;; n = 64 + (n + 37) % 512)
		realigned_outer(n);
}

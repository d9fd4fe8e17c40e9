// SPDX-License-Identifier: Apache-2.0
// A hot loop of calls through the procedure linkage table, to functions that do next to nothing:
// a good part of the samples falls into the table's stubs.
#include "target.h"

uint64_t tick(uint64_t n);
uint64_t tock(uint64_t n);

FUNCTION uint64_t call_through_plt(uint64_t n)
{
	for (int i = 0; i < 100000; i++) {
		n = tick(n);
		n = tock(n);
	}
	return n;
}

int main(void)
{
	target_ready();
	uint64_t n = 0;
	for (;;)
		n = call_through_plt(n);
}

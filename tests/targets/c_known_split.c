// SPDX-License-Identifier: Apache-2.0
// Three call chains of different depth that take 50, 30 and 20 % of the CPU time. The split holds
// by construction: each leaf burns up to a deadline on the thread's own CPU clock.
#include "target.h"

FUNCTION void copy_bytes(uint64_t deadline)
{
	burn_until(deadline);
}

FUNCTION void inflate_block(uint64_t deadline)
{
	copy_bytes(deadline);
	NO_TAIL_CALL();
}

FUNCTION void decode_page(uint64_t deadline)
{
	inflate_block(deadline);
	NO_TAIL_CALL();
}

FUNCTION void handle_read(uint64_t deadline)
{
	decode_page(deadline);
	NO_TAIL_CALL();
}

FUNCTION void checksum(uint64_t deadline)
{
	burn_until(deadline);
}

FUNCTION void handle_write(uint64_t deadline)
{
	checksum(deadline);
	NO_TAIL_CALL();
}

FUNCTION void housekeeping(uint64_t deadline)
{
	burn_until(deadline);
}

int main(void)
{
	target_ready();
	uint64_t deadline = cpu_clock();
	for (uint32_t round = 1;; round = round * 1103515245 + 12345) {
		// 0.5 to 1.5 ms a tenth: rounds of changing length cannot beat with the sampling
		// rate.
		uint64_t tenth = MS / 2 + (round >> 8) % MS;
		handle_read(deadline += 5 * tenth);
		handle_write(deadline += 3 * tenth);
		housekeeping(deadline += 2 * tenth);
	}
}

// SPDX-License-Identifier: Apache-2.0
// The library that c_plt_calls.c calls.
#include <stdint.h>

uint64_t tick(uint64_t n);
uint64_t tock(uint64_t n);

__attribute__((noinline)) uint64_t tick(uint64_t n)
{
	return n * 3 + 1;
}

__attribute__((noinline)) uint64_t tock(uint64_t n)
{
	return n ^ 0x5555;
}

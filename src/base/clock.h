// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdint.h>
#include <time.h>

#define NS_PER_SEC 1000000000ull

// CLOCK_MONOTONIC: the clock of bpf_ktime_get_ns() and of our perf events.
static inline uint64_t clock_now(void)
{
	struct timespec ts;
	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * NS_PER_SEC + (uint64_t)ts.tv_nsec;
}

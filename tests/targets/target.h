// SPDX-License-Identifier: Apache-2.0
// What the test targets share: functions that stay functions, and burning an exact amount of CPU.
#pragma once

#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#ifdef __cplusplus
extern "C" {
#endif

// A function of its own, never inlined, cloned or merged with another.
#if defined(__clang__)
#define FUNCTION __attribute__((noinline, used))
#else
#define FUNCTION __attribute__((noipa, used))
#endif

// After a call: there is still something to do, so the call is not turned into a jump.
#define NO_TAIL_CALL() __asm__ volatile("" ::: "memory")

#define MS UINT64_C(1000000)
#define TARGET_LIFE_S 150

static inline __attribute__((always_inline)) uint64_t cpu_clock(void)
{
	struct timespec t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

// Some 20 microseconds of arithmetic that no compiler can leave out.
static inline __attribute__((always_inline)) void spin(void)
{
	uint64_t x = 88172645463325252;
	for (int i = 0; i < 8000; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		__asm__ volatile("" : "+r"(x));
	}
}

// Burns in the calling function itself, until its thread has used that much CPU time since its
// start. Deadlines instead of durations: what one slice takes too long, the next gets less.
static inline __attribute__((always_inline)) void burn_until(uint64_t deadline)
{
	do
		spin();
	while (cpu_clock() < deadline);
}

static inline __attribute__((always_inline)) void burn_for(uint64_t ns)
{
	burn_until(cpu_clock() + ns);
}

// Tells the test that the target is up. A target that a broken test forgot ends by itself.
static inline void target_ready(void)
{
	alarm(TARGET_LIFE_S);
	puts("ready");
	fflush(stdout);
}

// Waits for the test to say that recording has begun; false if it never will.
static inline int target_await_go(void)
{
	char c;
	return read(STDIN_FILENO, &c, 1) == 1;
}

#ifdef __cplusplus
}
#endif

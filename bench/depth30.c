// SPDX-License-Identifier: Apache-2.0
// What the profilers are measured on: a program that computes 30 calls below main and looks at the
// clock all the time. Where the clock jumps, something else had the CPU: a timer, a profiler's
// interrupt. It adds that up in windows of a millisecond. Argument: the file for them.
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

#define WINDOW_NS 1000000
#define JUMP_NS 500 // a round of the loop takes a twentieth of it
#define WINDOWS_MAX (1 << 17)

struct window {
	uint64_t start, length; // CLOCK_MONOTONIC, nanoseconds
	uint64_t taken;         // of it, by somebody else
	uint64_t longest;       // the longest time in one piece
	long switches;          // how often another task took the CPU meanwhile
};

static struct window windows[WINDOWS_MAX];
static volatile sig_atomic_t stop;
static double ns_per_tick = 1;

static void on_signal(int number)
{
	(void)number;
	stop = 1;
}

static uint64_t now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static inline __attribute__((always_inline)) uint64_t ticks(void)
{
#if defined(__x86_64__)
	return __rdtsc();
#else
	return now();
#endif
}

static long switches(void)
{
	struct rusage usage;
	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_nivcsw;
}

void done(uint64_t result);
__attribute__((noipa)) void done(uint64_t result)
{
	__asm__ volatile("" ::"r"(result));
}

void level_30(struct window *w);
// Not a leaf, so that a build with frame pointers has one here: gcc gives leaf functions none.
__attribute__((noipa)) void level_30(struct window *w)
{
	uint64_t jump = (uint64_t)(JUMP_NS / ns_per_tick), taken = 0, longest = 0,
		 x = 88172645463325252;
	uint64_t last = ticks(), end = last + (uint64_t)(WINDOW_NS / ns_per_tick);
	while (last < end) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		__asm__ volatile("" : "+r"(x));
		uint64_t tick = ticks(), gap = tick - last;
		if (__builtin_expect(gap > jump, 0)) {
			taken += gap;
			longest = gap > longest ? gap : longest;
		}
		last = tick;
	}
	w->taken = (uint64_t)((double)taken * ns_per_tick);
	w->longest = (uint64_t)((double)longest * ns_per_tick);
	done(x);
}

#define LEVEL(number, next)                                                                        \
	void level_##number(struct window *w);                                                     \
	__attribute__((noipa)) void level_##number(struct window *w)                               \
	{                                                                                          \
		level_##next(w);                                                                   \
		__asm__ volatile("" ::: "memory");                                                 \
	}

LEVEL(29, 30)
LEVEL(28, 29)
LEVEL(27, 28)
LEVEL(26, 27)
LEVEL(25, 26)
LEVEL(24, 25)
LEVEL(23, 24)
LEVEL(22, 23)
LEVEL(21, 22)
LEVEL(20, 21)
LEVEL(19, 20)
LEVEL(18, 19)
LEVEL(17, 18)
LEVEL(16, 17)
LEVEL(15, 16)
LEVEL(14, 15)
LEVEL(13, 14)
LEVEL(12, 13)
LEVEL(11, 12)
LEVEL(10, 11)
LEVEL(9, 10)
LEVEL(8, 9)
LEVEL(7, 8)
LEVEL(6, 7)
LEVEL(5, 6)
LEVEL(4, 5)
LEVEL(3, 4)
LEVEL(2, 3)
LEVEL(1, 2)

static void calibrate(void)
{
	uint64_t begin = now(), first = ticks();
	usleep(100000);
	ns_per_tick = (double)(now() - begin) / (double)(ticks() - first);
}

static int write_windows(const char *path, int count)
{
	FILE *out = fopen(path, "w");
	if (!out)
		return 1;
	for (const struct window *w = windows; w < windows + count; w++)
		fprintf(out, "%lu %lu %lu %lu %ld\n", w->start, w->length, w->taken, w->longest,
			w->switches);
	return fclose(out) != 0;
}

int main(int argc, char **argv)
{
	if (argc != 2)
		return 2;
	signal(SIGTERM, on_signal);
	alarm(600);
	calibrate();
	puts("ready");
	fflush(stdout);
	int count = 0;
	for (; count < WINDOWS_MAX && !stop; count++) {
		struct window *w = &windows[count];
		long before = switches();
		w->start = now();
		level_1(w);
		w->length = now() - w->start;
		w->switches = switches() - before;
	}
	return write_windows(argv[1], count);
}

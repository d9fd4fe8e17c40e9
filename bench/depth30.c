// SPDX-License-Identifier: Apache-2.0
// What the profilers are measured on: a program that computes 30 calls below main, in windows of
// equal work, and writes down how long each took. Argument: the file for that.
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define WINDOW_NS 1000000
#define WINDOWS_MAX (1 << 17)

struct window {
	uint64_t start, length; // CLOCK_MONOTONIC, nanoseconds
	long switches;          // how often another task took the CPU away meanwhile
};

static struct window windows[WINDOWS_MAX];
static volatile sig_atomic_t stop;

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

static long switches(void)
{
	struct rusage usage;
	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_nivcsw;
}

uint64_t level_30(uint64_t units);
__attribute__((noipa)) uint64_t level_30(uint64_t units)
{
	uint64_t x = 88172645463325252;
	while (units--) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		__asm__ volatile("" : "+r"(x));
	}
	return x;
}

#define LEVEL(number, next)                                                                        \
	uint64_t level_##number(uint64_t units);                                                   \
	__attribute__((noipa)) uint64_t level_##number(uint64_t units)                             \
	{                                                                                          \
		uint64_t x = level_##next(units) + number;                                         \
		__asm__ volatile("" ::: "memory");                                                 \
		return x;                                                                          \
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

// How much work fills a window on this machine: the fastest of some tries.
static uint64_t calibrate(void)
{
	const uint64_t units = 1000000;
	uint64_t best = UINT64_MAX;
	for (int i = 0; i < 50; i++) {
		uint64_t begin = now();
		level_1(units);
		uint64_t took = now() - begin;
		best = took < best ? took : best;
	}
	return units * WINDOW_NS / best;
}

static int write_windows(const char *path, int count)
{
	FILE *out = fopen(path, "w");
	if (!out)
		return 1;
	for (int i = 0; i < count; i++)
		fprintf(out, "%lu %lu %ld\n", windows[i].start, windows[i].length,
			windows[i].switches);
	return fclose(out) != 0;
}

int main(int argc, char **argv)
{
	if (argc != 2)
		return 2;
	signal(SIGTERM, on_signal);
	alarm(600);
	uint64_t units = calibrate();
	puts("ready");
	fflush(stdout);
	int count = 0;
	for (; count < WINDOWS_MAX && !stop; count++) {
		long before = switches();
		uint64_t begin = now();
		level_1(units);
		windows[count] = (struct window){ begin, now() - begin, switches() - before };
	}
	return write_windows(argv[1], count);
}

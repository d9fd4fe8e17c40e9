// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/object/varied_work.h"

#include <alloca.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int compare_ints(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

__attribute__((noinline)) static int use_realigned(int size)
{
	char aligned[96] __attribute__((aligned(64)));
	char *more = alloca((size_t)size);
	memset(more, size, (size_t)size);
	snprintf(aligned, sizeof(aligned), "%d %s", size, "text");
	return aligned[2] + more[size / 2];
}

static void on_signal(int sig)
{
	char text[32];
	snprintf(text, sizeof(text), "signal %d", sig);
}

void varied_work(void)
{
	int numbers[] = { 5, 3, 9, 1, 7, 8, 2, 6 };
	signal(SIGUSR1, on_signal);
	raise(SIGUSR1);
	use_realigned(numbers[3] * 16);
	qsort(numbers, 8, sizeof(*numbers), compare_ints);
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	free(strdup("copy"));
	char text[64];
	snprintf(text, sizeof(text), "%.3f %lld", strtod("1.25e3", NULL) / numbers[0],
		 (long long)now.tv_sec);
}

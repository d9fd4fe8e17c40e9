// SPDX-License-Identifier: Apache-2.0
// Starts 500 threads, each of which works for 0.2 ms of every second. With "late" it waits to be
// told to go before it starts them.
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "target.h"

FUNCTION void thread_leaf(void)
{
	burn_for(MS / 5);
}

FUNCTION void thread_work(unsigned seed)
{
	usleep(seed * 7919 % 1000000);
	for (;;) {
		thread_leaf();
		usleep(1000000);
	}
}

FUNCTION void *thread_main(void *arg)
{
	thread_work((unsigned)(uintptr_t)arg);
	return NULL;
}

FUNCTION void late_leaf(void)
{
	for (;;)
		burn_for(MS);
}

FUNCTION void *late_thread(void *arg)
{
	late_leaf();
	return arg;
}

static int start(void *(*function)(void *), uintptr_t number)
{
	pthread_attr_t attributes;
	pthread_t thread;
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, 64 << 10);
	if (pthread_create(&thread, &attributes, function, (void *)number) != 0)
		return 0;
	char name[16];
	snprintf(name, sizeof(name), "worker-%u", (unsigned)number);
	pthread_setname_np(thread, name);
	return 1;
}

int main(int argc, char **argv)
{
	if (argc > 1 && strcmp(argv[1], "late") == 0) {
		target_ready();
		if (!target_await_go() || !start(late_thread, 0))
			return 1;
	} else {
		for (int i = 0; i < 500; i++)
			if (!start(thread_main, (uintptr_t)i))
				return 1;
		target_ready();
	}
	for (;;)
		pause();
}

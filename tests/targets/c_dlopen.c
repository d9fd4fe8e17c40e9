// SPDX-License-Identifier: Apache-2.0
// Runs its own code until told to go; then, one after the other, opens the libraries named on the
// command line, calls `plugin_work` in each for a while and closes it again. The second may well
// land at the addresses where the first one was.
#include <dlfcn.h>

#include "target.h"

#ifndef PLUGIN_MS
#define PLUGIN_MS 120
#endif

FUNCTION void call_plugin(const char *path)
{
	void *library = dlopen(path, RTLD_NOW);
	if (!library) {
		fprintf(stderr, "%s\n", dlerror());
		return;
	}
	void (*work)(uint64_t ns) = (void (*)(uint64_t))dlsym(library, "plugin_work");
	printf("%p\n", (void *)work);
	work(PLUGIN_MS * MS);
	dlclose(library);
	NO_TAIL_CALL();
}

FUNCTION void own_work(void)
{
	burn_for(MS);
}

int main(int argc, char **argv)
{
	target_ready();
	if (!target_await_go())
		return 1;
	for (int i = 1; i < argc; i++)
		call_plugin(argv[i]);
	puts("done");
	fflush(stdout);
	for (;;)
		own_work();
}

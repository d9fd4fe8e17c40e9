// SPDX-License-Identifier: Apache-2.0
// Runs every registered test whose name contains argv[1] (or all) and prints TAP.
#include <string.h>

#include "tests/test.h"

static struct test *first, **last = &first;
static bool failed;
static const char *skipped;

void test_register(struct test *t)
{
	*last = t;
	last = &t->next;
}

void test_fail(const char *file, int line, const char *what)
{
	printf("# %s:%d: %s\n", file, line, what);
	failed = true;
}

void test_skip(const char *reason)
{
	skipped = reason;
}

int main(int argc, char **argv)
{
	int count = 0, failures = 0;
	setvbuf(stdout, NULL, _IOLBF, 0);
	for (struct test *t = first; t; t = t->next) {
		if (argc > 1 && !strstr(t->name, argv[1]))
			continue;
		failed = false;
		skipped = NULL;
		t->run();
		count++;
		failures += failed;
		printf("%sok %d - %s", failed ? "not " : "", count, t->name);
		if (skipped && !failed)
			printf(" # SKIP %s", skipped);
		printf("\n");
	}
	printf("1..%d\n", count);
	return failures != 0;
}

// SPDX-License-Identifier: Apache-2.0
// Functions that are inlined into their caller: only debug information knows of them.
#include "target.h"

#define INLINED static inline __attribute__((always_inline))

INLINED void inlined_leaf(void)
{
	spin(); // the hot line
}

INLINED void inlined_middle(void)
{
	inlined_leaf();
}

FUNCTION void real_function(void)
{
	for (int i = 0; i < 100; i++)
		inlined_middle();
}

int main(void)
{
	target_ready();
	for (;;)
		real_function();
}

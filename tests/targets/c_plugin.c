// SPDX-License-Identifier: Apache-2.0
// A library for c_dlopen.c. LEAF names its inner function.
#include "target.h"

void plugin_work(uint64_t ns);

FUNCTION void LEAF(uint64_t ns)
{
	burn_for(ns);
}

FUNCTION void plugin_work(uint64_t ns)
{
	LEAF(ns);
	NO_TAIL_CALL();
}

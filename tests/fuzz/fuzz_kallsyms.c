// SPDX-License-Identifier: Apache-2.0
// Reads the input as /proc/kallsyms and looks up what it has in it.
#include <stdlib.h>

#include "symbolize/kernel.h"
#include "tests/fuzz/fuzz.h"

static void look_up(const struct kallsyms *k, uint64_t address)
{
	struct kernel_symbol s;
	if (!kallsyms_find(k, address, &s))
		return;
	if (s.name.len == 0 || s.offset > address || memchr(s.name.ptr, '\t', s.name.len) ||
	    (s.module.len != 0 && memchr(s.module.ptr, '\n', s.module.len)))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str text = { (const char *)data, size };
	auto_(kallsyms) k = NULL;
	auto_(error) err = kallsyms_parse(text, &k);
	while (!err && text.len != 0) {
		struct str line = str_split(&text, '\n');
		uint64_t address;
		if (!str_to_u64(str_split(&line, ' '), 16, &address))
			continue;
		look_up(k, address);
		look_up(k, address - 1);
		look_up(k, address + 1);
	}
	return 0;
}

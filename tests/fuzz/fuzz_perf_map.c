// SPDX-License-Identifier: Apache-2.0
// Reads the input as a perf map; the last line must be found, whatever came before it.
#include <stdlib.h>

#include "base/buf.h"
#include "symbolize/perf_map.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	auto_fini(buf) text = { 0 };
	buf_add(&text, data, size);
	buf_text(&text, "\n7000 1000 the last\n");
	auto_(perf_map) map = NULL;
	auto_(error) err = perf_map_parse(buf_view(&text), &map);
	if (err || text.failed)
		return 0;
	if (!str_eq(perf_map_find(map, 0x7000), STR("the last")) ||
	    !str_eq(perf_map_find(map, 0x7fff), STR("the last")))
		abort();
	for (uint64_t address = 1; address != 0; address *= 2) {
		struct str name = perf_map_find(map, address);
		if (name.len > size + 8 || (name.len != 0 && memchr(name.ptr, '\n', name.len)))
			abort();
	}
	return 0;
}

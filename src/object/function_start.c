// SPDX-License-Identifier: Apache-2.0
// Where a function without a symbol begins: compilers write one FDE a function.
#include "object/cfi_sources.h"
#include "object/rows.h"

bool object_function_start(struct object *obj, uint64_t offset, uint64_t *ret)
{
	struct cfi_sources *sources;
	auto_(error) err = object_cfi_sources(obj, &sources);
	for (enum cfi_source source = 0; !err && source < CFI_SOURCE_COUNT; source++) {
		const struct cfi_index *index;
		auto_(error) no_index = cfi_sources_index(sources, source, &index);
		const struct cfi_span *span = no_index ? NULL : cfi_index_find(index, offset);
		if (span && span->start <= offset) {
			*ret = span->start;
			return true;
		}
	}
	return false;
}

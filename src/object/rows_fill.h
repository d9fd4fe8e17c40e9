// SPDX-License-Identifier: Apache-2.0
// What the tables that rows come from share while a page is being filled.
#pragma once

#include "object/cfi_sources.h"
#include "object/rows.h"

struct rows_fill {
	struct object *object;
	struct cfi_sources *sources;
	struct rules *rules;
	struct row_page *page;
	struct error *err; // the reason why filling was given up
};

// From this file offset on, until the next one that is added, the rule holds. Offsets ascend.
// False if filling was given up.
bool rows_add(struct rows_fill *fill, uint64_t offset, const struct wire_rule *rule,
	      int32_t cfa_offset);

// SPDX-License-Identifier: Apache-2.0
// What the tables that rows come from share while a page is being filled. Each table is a stage: it
// fills what it knows and leaves the holes to the next one.
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

// File offsets [start, end).
struct rows_range {
	uint64_t start;
	uint64_t end;
};

// Fills a range by this stage and, where it knows nothing, by the ones after it.
void rows_fill_stage(struct rows_fill *fill, struct rows_range range, unsigned stage);
void rows_fill_go(struct rows_fill *fill, struct rows_range range, unsigned stage);
void rows_fill_plt(struct rows_fill *fill, struct rows_range range, unsigned stage);

// From this file offset on, until the next one that is added, the rule holds. Offsets ascend; of
// two at one offset the later one counts. False if filling was given up.
bool rows_add(struct rows_fill *fill, uint64_t offset, const struct wire_rule *rule,
	      int32_t cfa_offset);

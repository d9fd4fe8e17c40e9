// SPDX-License-Identifier: Apache-2.0
// The call frame tables of an object, best first, each indexed when first needed.
#pragma once

#include "object/cfi.h"
#include "object/cfi_run.h"
#include "object/object.h"

enum cfi_source {
	CFI_SOURCE_EH_FRAME,
	CFI_SOURCE_DEBUG_FRAME,
	CFI_SOURCE_DEBUG_FILE, // the .debug_frame of the separate debug file
	CFI_SOURCE_COUNT,
};

struct cfi_sources {
	struct object *object;
	struct {
		bool tried;
		struct cfi_index index;
	} at[CFI_SOURCE_COUNT];
	struct cfi_runner runner;
};

// Owned by the object.
struct error *object_cfi_sources(struct object *obj, struct cfi_sources **ret) must_check;
// An index without spans if the object does not have this table.
struct error *cfi_sources_index(struct cfi_sources *sources, enum cfi_source source,
				const struct cfi_index **ret) must_check;

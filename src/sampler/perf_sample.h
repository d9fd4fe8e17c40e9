// SPDX-License-Identifier: Apache-2.0
// A sample of engine perf, taken out of its record.
#pragma once

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>

#include "sampler/sampler.h"

struct perf_sample_shape {
	uint64_t sample_type; // of TID, TIME, CPU, CALLCHAIN, REGS_USER, STACK_USER
};

struct perf_sample {
	struct raw_sample raw; // points into the record and into this
	struct walk_state state;
	wu64 kernel[MAX_KERNEL_FRAMES];
};

// False for a record that ends early. Must not be copied: *ret points into itself.
bool perf_sample_parse(const struct perf_event_header *record,
		       const struct perf_sample_shape *shape, struct perf_sample *ret);

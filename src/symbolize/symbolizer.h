// SPDX-License-Identifier: Apache-2.0
// From an address to frames of a profile: one, or several where functions were inlined. A frame
// that has no name shows its module and offset.
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "object/object.h"
#include "profile/profile.h"

struct symbolizer;

struct symbolizer_opts {
	struct profile *profile; // frames are interned here
	bool inlines;
	bool lines;
};
struct error *symbolizer_new(const struct symbolizer_opts *opts,
			     struct symbolizer **ret) must_check;
void symbolizer_free(struct symbolizer *s);
GUARD_FREE(symbolizer)

#define SYMBOLIZED_MAX 64

struct symbolized {
	uint32_t frames[SYMBOLIZED_MAX]; // innermost first
	size_t count;                    // at least 1, unless there is no memory
	bool unnamed;                    // the innermost is only module+offset
};

// obj may be NULL: a file that cannot be read.
void symbolize_native(struct symbolizer *s, struct object *obj, const char *path, uint64_t offset,
		      struct symbolized *ret);
void symbolize_kernel(struct symbolizer *s, uint64_t address, struct symbolized *ret);
// Code without a file: /tmp/perf-PID.map. `base` is where its mapping starts.
void symbolize_generated(struct symbolizer *s, pid_t pid, uint64_t address, uint64_t base,
			 struct symbolized *ret);

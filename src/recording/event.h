// SPDX-License-Identifier: Apache-2.0
// What can be sampled. To add an event: one entry in the array in event.c.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/str.h"

struct event {
	const char *name;    // for -e
	const char *unit;    // of a sample's value
	const char *summary; // one line for help texts
	uint64_t default_period_ns;
};

extern const struct event events[];
extern const size_t event_count;

// ERROR_USAGE with the nearest known one in the hint.
struct error *event_by_name(struct str name, const struct event **ret) must_check;

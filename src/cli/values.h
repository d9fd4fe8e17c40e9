// SPDX-License-Identifier: Apache-2.0
// Values of options as people write them. Each is a parse_fn: ERROR_USAGE says what is wrong and
// what would be right; the option's name is put in front by the caller.
#pragma once

#include <stdbool.h>

#include "base/error.h"

struct error *parse_duration(const char *value, void *place) must_check; // uint64_t, nanoseconds
struct error *parse_interval(const char *value, void *place) must_check; // uint64_t, nanoseconds
struct error *parse_rate(const char *value, void *place) must_check;     // uint64_t, 1e-9 hertz
struct error *parse_pids(const char *value, void *place) must_check;     // pid_vec, added to
struct error *parse_count(const char *value, void *place) must_check;    // struct count
struct error *parse_text(const char *value, void *place) must_check;     // const char *

// A number that may be 0, so that being there must be told apart.
struct count {
	bool given;
	unsigned value;
};

#define NANO_HZ 1000000000ull // parse_rate()'s unit in a hertz

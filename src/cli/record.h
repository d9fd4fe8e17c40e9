// SPDX-License-Identifier: Apache-2.0
// What `wick record` was asked to do.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "cli/command.h"
#include "cli/values.h"
#include "format/format.h"
#include "recording/event.h"
#include "recording/recording.h"
#include "target/proc.h"

// Zero is "not given" everywhere.
struct record_options {
	pid_vec pids;
	const char *name_regex;
	bool whole_machine;
	bool no_children;

	const struct event *event;
	uint64_t rate; // in 1e-9 hertz
	uint64_t interval_ns;
	uint64_t duration_ns;
	enum engine_choice engine;

	bool no_kernel;
	bool no_inlines;
	bool lines;
	bool threads;

	const char *output;
	const struct format *format;
	bool force;
	bool quiet;
	struct count top;
};

extern const struct option_spec record_option_table[];

// Nanoseconds between samples. `max_rate` is the kernel's limit in hertz, 0 if not known:
// ERROR_USAGE beyond it. Without -F and -i it is the event's own period, or the limit.
struct error *record_period(const struct record_options *o, const struct event *event,
			    uint64_t max_rate, uint64_t *ret) must_check;

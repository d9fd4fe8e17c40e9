// SPDX-License-Identifier: Apache-2.0
// What a finished recording says on the terminal: the hottest functions and how good it is.
#pragma once

#include "base/buf.h"
#include "base/error.h"
#include "recording/recording.h"

#define SUMMARY_ROWS 10

struct summary_opts {
	const struct recording_result *result;
	size_t rows;
	unsigned columns;   // of the terminal; 0: it is none, and nothing is cut
	bool processes;     // the targets were running processes, not a program of ours
	uint64_t wanted_ns; // how long it should have been; 0 if nobody said
	bool root;          // we are
};
struct error *summary_text(struct buf *out, const struct summary_opts *opts) must_check;

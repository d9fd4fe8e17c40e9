// SPDX-License-Identifier: Apache-2.0
// A line on the terminal that says how a recording goes. Nothing where no person looks.
#pragma once

#include "cli/terminal.h"
#include "recording/recording.h"

struct progress {
	const char *title;    // of the target
	uint64_t duration_ns; // 0 if it has no end
	bool enabled;
	bool shown; // there is a line to clear
};

void progress_init(struct progress *p, const char *title, uint64_t duration_ns, bool quiet);
// For recording_opts.on_progress; ctx is the struct progress.
void progress_show(void *ctx, const struct recording_progress *now);
void progress_clear(struct progress *p);
// The text, shortened to `columns`.
void progress_text(struct buf *out, const struct progress *p, const struct recording_progress *now,
		   unsigned columns);

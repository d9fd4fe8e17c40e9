// SPDX-License-Identifier: Apache-2.0
// Text for people: wrapped, fitted into columns, and never able to drive the terminal.
#pragma once

#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"

// Breaks `text` at spaces so that no line is longer than `width`, as far as words allow. The first
// line begins at column `at`, where the cursor already is; the others are indented by `indent`.
// A "\n" in the text breaks too. Ends without a line break.
struct wrap {
	unsigned at;
	unsigned indent;
	unsigned width;
};
void text_wrap(struct buf *out, const struct wrap *w, const char *text);
void text_spaces(struct buf *out, size_t count);

// Columns a terminal needs for UTF-8 text that text_printable() let through.
size_t text_columns(struct str s);
// Appends s with everything that is not plain text (control characters, bytes that are not UTF-8,
// characters that turn the writing direction) as a visible escape like \x1b.
void text_printable(struct buf *out, struct str s);
// The same, cut to at most `columns` with "..." at its end.
void text_fit(struct buf *out, struct str s, size_t columns);
// Like text_fit(), filled up with spaces to exactly `columns`.
void text_cell(struct buf *out, struct str s, size_t columns);

// 1234567 as "1,234,567".
void text_count(struct buf *out, uint64_t n);
// 12.3 %: one decimal; "0.0 %" of nothing.
void text_percent(struct buf *out, uint64_t part, uint64_t whole);
// Nanoseconds as "12.3 s", "1 m 05 s", "2 h 03 m".
void text_time(struct buf *out, uint64_t ns);

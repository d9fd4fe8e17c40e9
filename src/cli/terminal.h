// SPDX-License-Identifier: Apache-2.0
// What a stream is connected to, and how a message is written on it.
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "base/buf.h"
#include "base/error.h"

struct terminal {
	bool interactive; // a person looks at it
	bool colour;      // interactive, and NO_COLOR is not set
	unsigned columns; // 80 where it is not known; at least 40, to lay things out in
};
struct terminal terminal_of(FILE *stream);
// Its columns at this moment, however few; 80 where that is not known.
unsigned terminal_columns(FILE *stream);

enum style {
	STYLE_PLAIN,
	STYLE_BOLD,
	STYLE_RED,
	STYLE_GREEN,
	STYLE_YELLOW,
	STYLE_COUNT,
};
// The sequence that begins a style; "" where there is no colour.
const char *style_begin(const struct terminal *t, enum style s);
const char *style_end(const struct terminal *t);

// Writes all of b; ERROR_FAILED if the stream cannot take it or b ran out of memory.
struct error *print_buf(FILE *stream, const struct buf *b) must_check;
// "wick: MESSAGE" and, if there is a hint, "  hint: HINT" on standard error. Returns the exit
// status that fits. The only place that prints errors.
int report_consume(struct error *err);
// "wick: TEXT" on standard error, for what the user should know and what is no error.
void note(const char *fmt, ...) printf_like(1, 2);

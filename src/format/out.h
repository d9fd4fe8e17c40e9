// SPDX-License-Identifier: Apache-2.0
// Writing text to a stream in large pieces, with escaping. The first failure is remembered and
// later writes do nothing, so a format checks once, at the end, with out_finish().
#pragma once

#include <stdint.h>
#include <stdio.h>

#include "base/error.h"
#include "base/str.h"

struct out {
	FILE *stream;
	int errnum; // of the first write that failed
	size_t len;
	char bytes[32768];
};

void out_init(struct out *o, FILE *stream);
void out_add(struct out *o, const char *bytes, size_t len);
void out_text(struct out *o, const char *text);
void out_str(struct out *o, struct str s);
void out_char(struct out *o, char c);
void out_u64(struct out *o, uint64_t value);
// A JSON string with its quotation marks, harmless inside an HTML script element too.
void out_json(struct out *o, struct str s);
// Text for HTML, between tags or in a quoted attribute.
void out_html(struct out *o, struct str s);
// Flushes the stream as well.
struct error *out_finish(struct out *o) must_check;

// The length of the character that s begins with, or 0 where that is no valid UTF-8. s is not
// empty.
size_t utf8_length(struct str s);

// SPDX-License-Identifier: Apache-2.0
// Profile formats. To add one: write src/format/NAME.c with a const struct format, declare it
// below, add it to the array in format.c, and describe it in docs/adding-a-format.md's table.
#pragma once

#include <stdio.h>

#include "base/error.h"
#include "base/str.h"
#include "profile/profile.h"

struct format {
	const char *name; // for --format
	const char *const
		*extensions; // without the dot; NULL-terminated; the first is the usual one
	const char *summary; // one line for help texts
	struct error *(*write)(const struct profile *p, FILE *out);
};

extern const struct format format_folded;
extern const struct format format_html;

extern const struct format *const formats[];
extern const size_t format_count;

// ERROR_USAGE with the nearest known one in the hint.
struct error *format_by_name(struct str name, const struct format **ret) must_check;
struct error *format_by_path(const char *path, const struct format **ret) must_check;

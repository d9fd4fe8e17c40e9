// SPDX-License-Identifier: Apache-2.0
// The hottest functions as a table.
#pragma once

#include "base/buf.h"
#include "profile/profile.h"

struct function_table {
	const struct profile *profile;
	const function_totals *totals;
	size_t rows;
	size_t columns; // of the terminal; 0: nothing is cut
};
void function_table(struct buf *out, const struct function_table *t);

// It has no name of its own but is called module+offset.
bool frame_unnamed(const struct profile *p, const struct frame *f);

// SPDX-License-Identifier: Apache-2.0
// The flame-graph page, made of web/ by tools/embed.py: pieces of fixed text, each followed by the
// slot that html.c fills in.
#pragma once

#include <stddef.h>

struct page_piece {
	const char *text;
	size_t len;
	const char *slot; // NULL after the last piece
};

extern const struct page_piece page_pieces[];
extern const size_t page_piece_count;

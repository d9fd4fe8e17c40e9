// SPDX-License-Identifier: Apache-2.0
#include "cli/elide.h"

#include <stdbool.h>

#include "cli/text.h"

#define ELLIPSIS "\u2026" // one column

// The first character of printable text, with its bytes.
static struct str first_character(struct str s)
{
	size_t len = s.len != 0;
	while (len < s.len && (s.ptr[len] & 0xc0) == 0x80)
		len++;
	return (struct str){ s.ptr, len };
}

// Bytes of s that fill at most `columns`.
static size_t bytes_of(struct str s, size_t columns)
{
	size_t bytes = 0, used = 0;
	while (bytes < s.len) {
		struct str c = first_character(str_skip(s, bytes));
		used += text_columns(c);
		if (used > columns)
			break;
		bytes += c.len;
	}
	return bytes;
}

// The end of s that fills at most `columns`.
static struct str end_of(struct str s, size_t columns)
{
	size_t left = text_columns(s);
	while (s.len != 0 && left > columns) {
		struct str c = first_character(s);
		left -= text_columns(c);
		s = str_skip(s, c.len);
	}
	return s;
}

// For text that is printable already; `head` columns of it at most are its beginning.
static void add_elided(struct buf *out, struct str s, size_t columns, size_t head)
{
	if (s.len == 0 || columns == 0)
		return;
	if (text_columns(s) <= columns) {
		buf_str(out, s);
		return;
	}
	head = MIN(head, columns - 1);
	buf_add(out, s.ptr, bytes_of(s, head));
	buf_text(out, ELLIPSIS);
	buf_str(out, end_of(s, columns - 1 - head));
}

void elide_middle(struct buf *out, struct str s, size_t columns)
{
	auto_fini(buf) text = { 0 };
	text_printable(&text, s);
	add_elided(out, buf_view(&text), columns, columns / 3);
}

void elide_command(struct buf *out, struct str command, size_t columns)
{
	auto_fini(buf) text = { 0 };
	text_printable(&text, command);
	struct str rest = buf_view(&text), shown = rest;
	if (text.len != 0 && text_columns(shown) > columns) {
		struct str program = str_basename(str_split(&rest, ' '));
		if (program.len != 0)
			shown = str_skip(shown, (size_t)(program.ptr - shown.ptr));
	}
	add_elided(out, shown, columns, columns / 2);
}

// Length of "operator<<" and its like at the beginning of s, whose brackets are none; else 0.
static size_t operator_length(struct str s)
{
	static const struct str word = STR("operator");
	if (!str_starts(s, word))
		return 0;
	size_t len = word.len;
	while (len < s.len && memchr("<>=-", s.ptr[len], 4))
		len++;
	return len > word.len ? len : 0;
}

// Copies s with "…" for what is in its outermost angle brackets. False if they do not match.
static bool without_arguments(struct buf *out, struct str s)
{
	size_t depth = 0;
	for (size_t i = 0; i < s.len; i++) {
		size_t skipped = operator_length(str_skip(s, i));
		char c = s.ptr[i];
		if (skipped != 0) {
			if (depth == 0)
				buf_add(out, s.ptr + i, skipped);
			i += skipped - 1;
			continue;
		}
		bool closes = c == '>' && !(i > 0 && s.ptr[i - 1] == '-'); // "->" is no bracket
		if (closes && depth == 0)
			return false;
		depth -= closes;
		if (depth == 0)
			buf_char(out, c);
		if (c == '<' && depth++ == 0)
			buf_text(out, ELLIPSIS);
	}
	return depth == 0;
}

void elide_name(struct buf *out, struct str name, size_t columns)
{
	auto_fini(buf) text = { 0 };
	auto_fini(buf) shorter = { 0 };
	text_printable(&text, name);
	bool shorten = text.len != 0 && text_columns(buf_view(&text)) > columns &&
		       without_arguments(&shorter, buf_view(&text));
	add_elided(out, buf_view(shorten ? &shorter : &text), columns, columns / 3);
}

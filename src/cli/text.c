// SPDX-License-Identifier: Apache-2.0
#include "cli/text.h"

#include <stdbool.h>
#include <stdio.h>

#include "base/cleanup.h"
#include "base/clock.h"

void text_spaces(struct buf *out, size_t count)
{
	for (size_t i = 0; i < count; i++)
		buf_char(out, ' ');
}

static struct str next_word(struct str *line)
{
	*line = str_trim_start(*line);
	return str_split(line, ' ');
}

void text_wrap(struct buf *out, const struct wrap *w, const char *text)
{
	unsigned column = w->at;
	struct str rest = str_from(text);
	for (bool first_line = true; rest.len != 0; first_line = false) {
		struct str line = str_split(&rest, '\n');
		bool line_start = true;
		if (!first_line) {
			buf_char(out, '\n');
			column = 0;
		}
		for (;;) {
			struct str word = next_word(&line);
			if (word.len == 0)
				break;
			if (!line_start && column + 1 + word.len > w->width) {
				buf_char(out, '\n');
				column = 0;
				line_start = true;
			}
			size_t gap = !line_start ? 1 : column < w->indent ? w->indent - column : 0;
			text_spaces(out, gap);
			buf_str(out, word);
			column += (unsigned)(gap + word.len);
			line_start = false;
		}
	}
}

// The first character of s; its bytes are in *ret_len. Bytes that are not UTF-8 are -1, one by one.
static int32_t decode(struct str s, size_t *ret_len)
{
	const unsigned char *p = (const unsigned char *)s.ptr;
	*ret_len = 1;
	if (p[0] < 0x80)
		return p[0];
	size_t len = p[0] >= 0xf0 ? 4 : p[0] >= 0xe0 ? 3 : 2;
	static const int32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	if (p[0] < 0xc2 || p[0] > 0xf4 || s.len < len)
		return -1;
	int32_t c = p[0] & (0xff >> (len + 1));
	for (size_t i = 1; i < len; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return -1;
		c = c << 6 | (p[i] & 0x3f);
	}
	if (c < least[len] || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
		return -1;
	*ret_len = len;
	return c;
}

struct range {
	int32_t first, last;
};

static bool in_ranges(int32_t c, const struct range *ranges, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (c >= ranges[i].first && c <= ranges[i].last)
			return true;
	return false;
}

// Control characters, and what hides or reorders its neighbours.
static bool is_unsafe(int32_t c)
{
	static const struct range unsafe[] = {
		{ -1, 0x1f },       { 0x7f, 0x9f },        { 0xad, 0xad },     { 0x61c, 0x61c },
		{ 0x180e, 0x180e }, { 0x200b, 0x200f },    { 0x2028, 0x202e }, { 0x2060, 0x206f },
		{ 0xfe00, 0xfe0f }, { 0xfeff, 0xfeff },    { 0xfff9, 0xfffb }, { 0xe0000, 0xe0fff },
		{ 0xe000, 0xf8ff }, { 0xf0000, 0x10ffff },
	};
	return in_ranges(c, unsafe, ARRAY_SIZE(unsafe));
}

static unsigned columns_of(int32_t c)
{
	static const struct range combining[] = {
		{ 0x300, 0x36f },   { 0x1ab0, 0x1aff }, { 0x1dc0, 0x1dff },
		{ 0x20d0, 0x20ff }, { 0xfe20, 0xfe2f },
	};
	static const struct range wide[] = {
		{ 0x1100, 0x115f }, { 0x2e80, 0x303e },   { 0x3041, 0xa4cf },   { 0xa960, 0xa97f },
		{ 0xac00, 0xd7a3 }, { 0xf900, 0xfaff },   { 0xfe30, 0xfe6f },   { 0xff00, 0xff60 },
		{ 0xffe0, 0xffe6 }, { 0x1f300, 0x1faff }, { 0x20000, 0x3fffd },
	};
	if (in_ranges(c, combining, ARRAY_SIZE(combining)))
		return 0;
	return in_ranges(c, wide, ARRAY_SIZE(wide)) ? 2 : 1;
}

// Appends the first character of *s in its visible form, takes it off, returns its columns.
static unsigned put_character(struct buf *out, struct str *s)
{
	size_t len;
	int32_t c = decode(*s, &len);
	unsigned columns;
	if (!is_unsafe(c)) {
		buf_add(out, s->ptr, len);
		columns = columns_of(c);
	} else {
		size_t before = out->len;
		if (c >= 0xa0)
			buf_printf(out, "\\u%04x", (unsigned)c);
		else
			buf_printf(out, "\\x%02x", c < 0 ? (unsigned char)*s->ptr : (unsigned)c);
		columns = (unsigned)(out->len - before);
	}
	*s = str_skip(*s, len);
	return columns;
}

void text_printable(struct buf *out, struct str s)
{
	while (s.len != 0)
		put_character(out, &s);
}

size_t text_columns(struct str s)
{
	size_t columns = 0;
	while (s.len != 0) {
		size_t len;
		columns += columns_of(decode(s, &len));
		s = str_skip(s, len);
	}
	return columns;
}

void text_fit(struct buf *out, struct str s, size_t columns)
{
	static const char dots[] = "...";
	size_t start = out->len, used = 0, dots_at = start;
	size_t room_for_dots = columns > sizeof(dots) - 1 ? columns - (sizeof(dots) - 1) : 0;
	while (s.len != 0) {
		size_t before = out->len;
		used += put_character(out, &s);
		if (out->failed)
			return;
		if (used <= room_for_dots)
			dots_at = out->len;
		if (used > columns) {
			out->len = room_for_dots != 0 ? dots_at : before;
			if (room_for_dots != 0)
				buf_text(out, dots);
			return;
		}
	}
}

void text_cell(struct buf *out, struct str s, size_t columns)
{
	size_t start = out->len, used = 0;
	text_fit(out, s, columns);
	if (out->failed)
		return;
	if (out->len != start)
		used = text_columns((struct str){ out->at + start, out->len - start });
	text_spaces(out, columns > used ? columns - used : 0);
}

void text_count(struct buf *out, uint64_t n)
{
	char digits[32];
	int len = snprintf(digits, sizeof(digits), "%llu", (unsigned long long)n);
	for (int i = 0; i < len; i++) {
		if (i != 0 && (len - i) % 3 == 0)
			buf_char(out, ',');
		buf_char(out, digits[i]);
	}
}

void text_percent(struct buf *out, uint64_t part, uint64_t whole)
{
	buf_printf(out, "%.1f %%", whole != 0 ? 100.0 * (double)part / (double)whole : 0.0);
}

void text_time(struct buf *out, uint64_t ns)
{
	uint64_t seconds = ns / NS_PER_SEC;
	if (seconds < 60)
		buf_printf(out, "%.1f s", (double)(ns / (NS_PER_SEC / 10)) / 10);
	else if (seconds < 3600)
		buf_printf(out, "%u m %02u s", (unsigned)(seconds / 60), (unsigned)(seconds % 60));
	else
		buf_printf(out, "%llu h %02u m", (unsigned long long)(seconds / 3600),
			   (unsigned)(seconds / 60 % 60));
}

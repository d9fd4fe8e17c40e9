// SPDX-License-Identifier: Apache-2.0
#include "format/out.h"

#include <errno.h>

void out_init(struct out *o, FILE *stream)
{
	o->stream = stream;
	o->errnum = 0;
	o->len = 0;
}

static void write_bytes(struct out *o, const char *bytes, size_t len)
{
	if (o->errnum != 0 || len == 0)
		return;
	errno = 0;
	if (fwrite(bytes, 1, len, o->stream) != len)
		o->errnum = errno != 0 ? errno : EIO;
}

void out_add(struct out *o, const char *bytes, size_t len)
{
	if (len > sizeof(o->bytes) - o->len) {
		write_bytes(o, o->bytes, o->len);
		o->len = 0;
	}
	if (len > sizeof(o->bytes)) {
		write_bytes(o, bytes, len);
	} else if (len != 0) {
		memcpy(o->bytes + o->len, bytes, len);
		o->len += len;
	}
}

void out_text(struct out *o, const char *text)
{
	out_add(o, text, strlen(text));
}

void out_str(struct out *o, struct str s)
{
	out_add(o, s.ptr, s.len);
}

void out_char(struct out *o, char c)
{
	out_add(o, &c, 1);
}

void out_u64(struct out *o, uint64_t value)
{
	char digits[20];
	size_t first = sizeof(digits);
	do {
		digits[--first] = (char)('0' + value % 10);
		value /= 10;
	} while (value != 0);
	out_add(o, digits + first, sizeof(digits) - first);
}

struct error *out_finish(struct out *o)
{
	write_bytes(o, o->bytes, o->len);
	o->len = 0;
	errno = 0;
	if (o->errnum == 0 && (fflush(o->stream) != 0 || ferror(o->stream)))
		o->errnum = errno != 0 ? errno : EIO;
	return o->errnum != 0 ? error_sys(o->errnum, "write the profile") : NULL;
}

size_t utf8_length(struct str s)
{
	// By the first byte: how long, and what the second byte may be (the rest is 80..BF).
	static const struct {
		unsigned char first, last, length, second_first, second_last;
	} forms[] = {
		{ 0x00, 0x7f, 1, 0, 0 },       { 0xc2, 0xdf, 2, 0x80, 0xbf },
		{ 0xe0, 0xe0, 3, 0xa0, 0xbf }, { 0xe1, 0xec, 3, 0x80, 0xbf },
		{ 0xed, 0xed, 3, 0x80, 0x9f }, { 0xee, 0xef, 3, 0x80, 0xbf },
		{ 0xf0, 0xf0, 4, 0x90, 0xbf }, { 0xf1, 0xf3, 4, 0x80, 0xbf },
		{ 0xf4, 0xf4, 4, 0x80, 0x8f },
	};
	const unsigned char *c = (const unsigned char *)s.ptr;
	for (size_t i = 0; i < ARRAY_SIZE(forms); i++) {
		if (c[0] < forms[i].first || c[0] > forms[i].last)
			continue;
		if (forms[i].length > s.len)
			return 0;
		for (size_t j = 1; j < forms[i].length; j++)
			if (c[j] < (j == 1 ? forms[i].second_first : 0x80) ||
			    c[j] > (j == 1 ? forms[i].second_last : 0xbf))
				return 0;
		return forms[i].length;
	}
	return 0;
}

// Copies runs of plain bytes at once and hands every other character to `special`, which gets the
// character (or one byte that is none) and tells whether it wrote something in its place.
static void out_escaped(struct out *o, struct str s, const bool special_byte[256],
			bool (*special)(struct out *o, struct str character, bool valid))
{
	size_t plain = 0; // start of what is not written yet
	for (size_t i = 0; i < s.len;) {
		if (!special_byte[(unsigned char)s.ptr[i]]) {
			i++;
			continue;
		}
		size_t length = utf8_length(str_skip(s, i));
		struct str character = { s.ptr + i, length != 0 ? length : 1 };
		out_add(o, s.ptr + plain, i - plain);
		if (!special(o, character, length != 0))
			out_str(o, character);
		i += character.len;
		plain = i;
	}
	out_add(o, s.ptr + plain, s.len - plain);
}

// A script element ends at "</script", whatever is around it, so no '<' may stay; U+2028 and
// U+2029 end a line in older JavaScript.
static bool json_special(struct out *o, struct str character, bool valid)
{
	char escape[8];
	if (!valid) {
		out_text(o, "\\ufffd");
		return true;
	}
	if (character.len == 1) {
		snprintf(escape, sizeof(escape), "\\u%04x", (unsigned)*character.ptr);
		out_text(o, escape);
		return true;
	}
	bool line_end = str_eq(character, STR("\u2028")) || str_eq(character, STR("\u2029"));
	if (line_end)
		out_text(o, str_eq(character, STR("\u2028")) ? "\\u2028" : "\\u2029");
	return line_end;
}

void out_json(struct out *o, struct str s)
{
	static const bool special[256] = {
		[0 ... 0x1f] = true, ['"'] = true, ['\\'] = true, ['<'] = true,
		['>'] = true,        ['&'] = true, [0x7f] = true, [0x80 ... 0xff] = true,
	};
	out_char(o, '"');
	out_escaped(o, s, special, json_special);
	out_char(o, '"');
}

static bool html_special(struct out *o, struct str character, bool valid)
{
	if (!valid || (character.len == 1 && (unsigned char)*character.ptr < 0x20) ||
	    *character.ptr == 0x7f) {
		out_text(o, valid ? " " : "\uFFFD");
		return true;
	}
	if (character.len != 1)
		return false;
	out_text(o, "&#");
	out_u64(o, (unsigned char)*character.ptr);
	out_char(o, ';');
	return true;
}

void out_html(struct out *o, struct str s)
{
	static const bool special[256] = {
		[0 ... 0x1f] = true, ['"'] = true, ['\''] = true,          ['<'] = true,
		['>'] = true,        ['&'] = true, [0x7f ... 0xff] = true,
	};
	out_escaped(o, s, special, html_special);
}

// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "base/clock.h"
#include "cli/progress.h"
#include "cli/text.h"
#include "tests/test.h"

static bool wraps_to(const struct wrap *w, const char *text, const char *expected)
{
	auto_fini(buf) out = { 0 };
	text_wrap(&out, w, text);
	return strcmp(buf_cstr(&out), expected) == 0;
}

static bool fits_to(const char *text, size_t columns, const char *expected)
{
	auto_fini(buf) out = { 0 };
	text_fit(&out, str_from(text), columns);
	return strcmp(buf_cstr(&out), expected) == 0 && text_columns(buf_view(&out)) <= columns;
}

static bool prints_as(struct str text, const char *expected)
{
	auto_fini(buf) out = { 0 };
	text_printable(&out, text);
	return strcmp(buf_cstr(&out), expected) == 0;
}

TEST(text_is_broken_at_spaces_within_the_width)
{
	CHECK(wraps_to(&(struct wrap){ 0, 0, 9 }, "one two three", "one two\nthree"));
	CHECK(wraps_to(&(struct wrap){ 0, 0, 7 }, "one two three", "one two\nthree"));
	CHECK(wraps_to(&(struct wrap){ 0, 0, 6 }, "one two three", "one\ntwo\nthree"));
	CHECK(wraps_to(&(struct wrap){ 0, 2, 9 }, "one two three", "  one two\n  three"));
	CHECK(wraps_to(&(struct wrap){ 4, 4, 9 }, "one two", "one\n    two"));
	CHECK(wraps_to(&(struct wrap){ 0, 0, 4 }, "a unbreakable b", "a\nunbreakable\nb"));
	CHECK(wraps_to(&(struct wrap){ 0, 0, 80 }, "", ""));
}

TEST(line_breaks_in_the_text_stay)
{
	CHECK(wraps_to(&(struct wrap){ 0, 0, 80 }, "one\ntwo\n\nthree", "one\ntwo\n\nthree"));
}

TEST(what_could_drive_a_terminal_is_made_visible)
{
	CHECK(prints_as(STR("plain <text>, ~ and \xc3\xa9\xe6\xbc\xa2"),
			"plain <text>, ~ and \xc3\xa9\xe6\xbc\xa2"));
	CHECK(prints_as(STR("\x1b[31mred\x1b[0m"), "\\x1b[31mred\\x1b[0m"));
	CHECK(prints_as(STR("a\r\n\tb\x7f\0c"), "a\\x0d\\x0a\\x09b\\x7f\\x00c"));
	CHECK(prints_as(STR("\xc2\x9b[2J"), "\\x9b[2J"));  // CSI in one character
	CHECK(prints_as(STR("a\xff\xc3"), "a\\xff\\xc3")); // not UTF-8
	CHECK(prints_as(STR("\xc0\x9b\xed\xa0\x80"), "\\xc0\\x9b\\xed\\xa0\\x80")); // nor these
	CHECK(prints_as(STR("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80"));
	CHECK(prints_as(STR("exe\xe2\x80\xaetxt"), "exe\\u202etxt")); // right to left
}

TEST(text_is_cut_to_its_columns)
{
	CHECK(fits_to("abcdef", 6, "abcdef"));
	CHECK(fits_to("abcdefg", 6, "abc..."));
	CHECK(fits_to("ab\x1b"
		      "cd",
		      6, "ab..."));
	CHECK(fits_to("\xe6\xbc\xa2\xe6\xbc\xa2\xe6\xbc\xa2", 5, "\xe6\xbc\xa2..."));
	CHECK(fits_to("abcd", 3, "abc"));
	CHECK(fits_to("abcd", 0, ""));
	CHECK(fits_to("", 5, ""));
}

TEST(a_cell_has_exactly_its_width)
{
	auto_fini(buf) out = { 0 };
	text_cell(&out, STR("ab"), 4);
	text_cell(&out, STR("abcdefgh"), 4);
	text_cell(&out, STR(""), 2);
	CHECK(strcmp(buf_cstr(&out), "ab  a...  ") == 0);
}

TEST(numbers_are_written_for_people)
{
	auto_fini(buf) out = { 0 };
	static const uint64_t counts[] = { 0, 12, 999, 1000, 1234567, UINT64_MAX };
	for (size_t i = 0; i < ARRAY_SIZE(counts); i++) {
		text_count(&out, counts[i]);
		buf_char(&out, ' ');
	}
	CHECK(strcmp(buf_cstr(&out), "0 12 999 1,000 1,234,567 18,446,744,073,709,551,615 ") == 0);
	out.len = 0;
	text_percent(&out, 1, 3);
	text_percent(&out, 0, 0);
	CHECK(strcmp(buf_cstr(&out), "33.3 %0.0 %") == 0);
	out.len = 0;
	text_time(&out, 59990000000);
	buf_char(&out, ' ');
	text_time(&out, 61 * NS_PER_SEC);
	buf_char(&out, ' ');
	text_time(&out, 7260 * NS_PER_SEC);
	CHECK(strcmp(buf_cstr(&out), "59.9 s 1 m 01 s 2 h 01 m") == 0);
}

TEST(the_progress_line_says_it_all_and_never_breaks)
{
	struct progress p = { .title = "pid 42 (ng\x1b[inx)" };
	const struct recording_progress now = { 12300000000, 1234, 0 };
	auto_fini(buf) out = { 0 };
	progress_text(&out, &p, &now, 100);
	CHECK(strcmp(buf_cstr(&out), "recording pid 42 (ng\\x1b[inx)  12.3 s  1,234 samples  0 lost"
				     "   Ctrl-C to stop") == 0);
	p.duration_ns = 30 * NS_PER_SEC;
	out.len = 0;
	progress_text(&out, &p, &now, 64); // its title is what is shortened
	CHECK(strcmp(buf_cstr(&out),
		     "recording pid …x1b[inx)  12.3 s of 30.0 s  1,234 samples  0 lost") == 0);
	out.len = 0;
	progress_text(&out, &p, &now, 39);
	CHECK(strcmp(buf_cstr(&out), "12.3/30 s  1,234 samples  0 lost") == 0);
	for (unsigned columns = 1; columns < 100; columns++) {
		out.len = 0;
		progress_text(&out, &p, &now, columns);
		CHECK(text_columns(buf_view(&out)) <= columns);
	}
}

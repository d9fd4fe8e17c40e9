// SPDX-License-Identifier: Apache-2.0
#include "format/out.h"
#include "format/page.h"
#include "support.h"
#include "tests/test.h"

static char *escaped(void (*escape)(struct out *o, struct str s), struct str s)
{
	char *text = NULL;
	size_t size;
	FILE *stream = open_memstream(&text, &size);
	if (!stream)
		return NULL;
	struct out o;
	out_init(&o, stream);
	escape(&o, s);
	error_free(out_finish(&o));
	fclose(stream);
	return text;
}

static bool escapes_to(void (*escape)(struct out *o, struct str s), struct str s, const char *want)
{
	autofree char *text = escaped(escape, s);
	if (text && strcmp(text, want) != 0)
		printf("# written: %s\n", text);
	return text && strcmp(text, want) == 0;
}

TEST(json_escapes_what_could_leave_a_script_element)
{
	CHECK(escapes_to(out_json, STR("plain/name::<T>"), "\"plain/name::\\u003cT\\u003e\""));
	CHECK(escapes_to(out_json, STR("</script>"), "\"\\u003c/script\\u003e\""));
	CHECK(escapes_to(out_json, STR("\"\\&\n\t\x01\x7f"),
			 "\"\\u0022\\u005c\\u0026\\u000a\\u0009\\u0001\\u007f\""));
	CHECK(escapes_to(out_json, STR("\u00e9\u2028\u2029\U0001F525"),
			 "\"\u00e9\\u2028\\u2029\U0001F525\""));
	CHECK(escapes_to(out_json, STR("a\0b"), "\"a\\u0000b\""));
	CHECK(escapes_to(out_json, STR(""), "\"\""));
}

TEST(json_replaces_bytes_that_are_no_utf8)
{
	CHECK(escapes_to(out_json, STR("a\xff\xc3z"), "\"a\\ufffd\\ufffdz\""));
	// Overlong, a surrogate, beyond U+10FFFF, and a character cut off at the end.
	CHECK(escapes_to(out_json, STR("\xc0\xaf"), "\"\\ufffd\\ufffd\""));
	CHECK(escapes_to(out_json, STR("\xed\xa0\x80"), "\"\\ufffd\\ufffd\\ufffd\""));
	CHECK(escapes_to(out_json, STR("\xf4\x90\x80\x80"), "\"\\ufffd\\ufffd\\ufffd\\ufffd\""));
	CHECK(escapes_to(out_json, STR("\xe2\x82"), "\"\\ufffd\\ufffd\""));
	CHECK(escapes_to(out_json, STR("\xe2\x82\xac"), "\"\u20ac\""));
}

TEST(html_escapes_tags_quotes_and_controls)
{
	CHECK(escapes_to(out_html, STR("<a b=\"c\" d='e'>&\x01\x7f\xff\u00e9"),
			 "&#60;a b=&#34;c&#34; d=&#39;e&#39;&#62;&#38;  \uFFFD\u00e9"));
}

TEST(out_keeps_the_order_of_small_and_large_pieces)
{
	static char large[100000], text[300000];
	memset(large, 'x', sizeof(large));
	FILE *stream = fmemopen(text, sizeof(text), "w");
	CHECK(stream);
	struct out o;
	out_init(&o, stream);
	out_u64(&o, 18446744073709551615u);
	out_add(&o, large, sizeof(large));
	out_char(&o, '|');
	out_u64(&o, 0);
	struct error *err = out_finish(&o);
	fclose(stream);
	CHECK_OK(err);
	CHECK(strncmp(text, "18446744073709551615x", 21) == 0);
	CHECK(strcmp(text + 20 + sizeof(large), "|0") == 0);
}

// The text between two others, without them.
static struct str between(const char *text, const char *from, const char *to)
{
	const char *start = text ? strstr(text, from) : NULL;
	const char *end = start ? strstr(start + strlen(from), to) : NULL;
	if (!end)
		return STR("");
	start += strlen(from);
	return (struct str){ start, (size_t)(end - start) };
}

static size_t count_of(const char *text, const char *word)
{
	size_t count = 0;
	for (const char *at = text; (at = strstr(at, word)); at++)
		count++;
	return count;
}

TEST(the_page_has_the_tree_in_prefix_order_with_siblings_by_name)
{
	auto_(profile) p = NULL;
	CHECK_OK(profile_new(&p));
	uint32_t b = push(p, STACK_EMPTY, "b", FRAME_NATIVE);
	CHECK(add(p, push(p, push(p, b, "z", FRAME_KERNEL), "y", FRAME_NATIVE), 3));
	CHECK(add(p, push(p, b, "c", FRAME_NATIVE), 4));
	CHECK(add(p, push(p, STACK_EMPTY, "a", FRAME_NATIVE), 5));
	CHECK(add(p, STACK_EMPTY, 2));
	autofree char *page = written(&format_html, p);
	CHECK(page);
	// a, b, b;c, b;z, b;z;y; frames by name: a b c y z
	CHECK(str_eq(between(page, "\"up\":", ",\n"), STR("[0,1,0,1,0]")));
	CHECK(str_eq(between(page, "\"frame\":", ",\n"), STR("[0,1,2,4,3]")));
	CHECK(str_eq(between(page, "\"self\":", "}"), STR("[5,0,4,0,3]")));
	CHECK(str_eq(between(page, "\"noStack\":", ","), STR("2")));
}

TEST(the_page_loads_nothing_and_runs_only_its_own_script)
{
	auto_(profile) p = NULL;
	CHECK_OK(profile_new(&p));
	autofree char *page = written(&format_html, p);
	CHECK(page);
	struct str policy = between(page, "Content-Security-Policy\" content=\"", "\"");
	CHECK(str_starts(policy, STR("default-src 'none'; script-src 'sha256-")));
	CHECK(!memmem(policy.ptr, policy.len, "unsafe", 6));
	CHECK(count_of(page, "<script") == 2 && count_of(page, "</script") == 2);
	CHECK(count_of(page, " src=") == 0 && count_of(page, "@import") == 0);
	CHECK(count_of(page, "{{slot") == 0 && count_of(page, "{{hashes") == 0);
	CHECK(strstr(page, "No samples: the target used too little CPU time"));
}

TEST(hostile_names_stay_text_in_the_page)
{
	auto_(profile) p = NULL;
	CHECK_OK(profile_new(&p));
	CHECK(add(p, push(p, STACK_EMPTY, "</script><img src=x onerror=alert(1)>", FRAME_NATIVE),
		  1));
	p->info.target = strdup("</title><script>alert(2)</script>");
	p->info.engine_reason = strdup("<!--");
	p->info.event = "<i>";
	autofree char *page = written(&format_html, p);
	CHECK(page);
	CHECK(count_of(page, "<img") == 0 && count_of(page, "<i>") == 0);
	CHECK(count_of(page, "<!--") == 0);
	CHECK(count_of(page, "<script") == 2 && count_of(page, "</script") == 2);
	CHECK(count_of(page, "&#60;/script&#62;&#60;img") == 2);
	CHECK(count_of(page, "\\u003c/script\\u003e\\u003cimg") == 1);
}

TEST(the_page_has_a_table_for_when_scripts_are_off)
{
	auto_(profile) p = NULL;
	CHECK_OK(profile_new(&p));
	uint32_t main = push(p, STACK_EMPTY, "main", FRAME_NATIVE);
	CHECK(add(p, push(p, main, "hot", FRAME_NATIVE), 3));
	CHECK(add(p, main, 1));
	autofree char *page = written(&format_html, p);
	CHECK(page);
	struct str rows = between(page, "<tbody>\n", "    </tbody>");
	CHECK(str_eq(rows, STR("<tr><td>75.00%</td><td>75.00%</td>"
			       "<td title=\"hot\"><span>hot</span></td>"
			       "<td title=\"\"><span></span></td></tr>\n"
			       "<tr><td>25.00%</td><td>100.00%</td>"
			       "<td title=\"main\"><span>main</span></td>"
			       "<td title=\"\"><span></span></td></tr>\n")));
}

TEST(every_slot_of_the_page_is_one_that_the_writer_fills)
{
	static const char *const known[] = { "title", "title", "top", "data" };
	CHECK(page_piece_count == ARRAY_SIZE(known) + 1);
	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		CHECK(page_pieces[i].slot && strcmp(page_pieces[i].slot, known[i]) == 0);
	CHECK(!page_pieces[ARRAY_SIZE(known)].slot);
	for (size_t i = 0; i < page_piece_count; i++)
		CHECK(strlen(page_pieces[i].text) == page_pieces[i].len);
}

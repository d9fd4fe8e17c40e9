// SPDX-License-Identifier: Apache-2.0
#include "cli/elide.h"

#include <string.h>

#include "cli/text.h"
#include "tests/test.h"

static bool names(const char *name, size_t columns, const char *expected)
{
	auto_fini(buf) out = { 0 };
	elide_name(&out, str_from(name), columns);
	return strcmp(buf_cstr(&out), expected) == 0;
}

TEST(a_name_that_fits_stays_as_it_is)
{
	CHECK(names("std::map<int, char>::find", 25, "std::map<int, char>::find"));
	CHECK(names("", 5, ""));
}

TEST(template_arguments_go_first)
{
	CHECK(names("std::map<int, char>::find", 24, "std::map<…>::find"));
	CHECK(names("std::_Rb_tree<K, std::pair<K const, V> >::_M_erase<A<B>>", 40,
		    "std::_Rb_tree<…>::_M_erase<…>"));
	CHECK(names("<alloc::vec::Vec<T> as core::ops::Drop>::drop", 30, "<…>::drop"));
}

TEST(operators_are_no_brackets)
{
	CHECK(names("ns::operator<< <char, std::traits>", 25, "ns::operator<< <…>"));
	CHECK(names("std::shared_ptr<some::long_type>::operator->", 35,
		    "std::shared_ptr<…>::operator->"));
	CHECK(names("call<decltype(a->b)>::of_a_function", 30, "call<…>::of_a_function"));
}

TEST(what_is_still_too_long_loses_its_middle)
{
	CHECK(names("abcdefghijklmnopqrstuvwxyz", 10, "abc…uvwxyz"));
	CHECK(names("unmatched<abcdefghijklmnop", 10, "unm…klmnop"));
	CHECK(names("unmatched>abcdefghijklmnop", 10, "unm…klmnop"));
	CHECK(names("abc", 1, "…") && names("abc", 2, "…c") && names("abc", 0, ""));
}

TEST(a_command_keeps_its_program_and_its_last_words)
{
	static const struct {
		const char *command;
		size_t columns;
		const char *expected;
	} cases[] = {
		{ "/usr/bin/python3 a.py", 21, "/usr/bin/python3 a.py" },
		{ "/usr/bin/python3 a.py", 20, "python3 a.py" },
		{ "/usr/bin/python3 /a/very/long/path/job.py", 20, "python3 /a…th/job.py" },
		{ "/", 0, "" },
		{ "/abc/ x", 4, "/a…x" },
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		auto_fini(buf) out = { 0 };
		elide_command(&out, str_from(cases[i].command), cases[i].columns);
		CHECK(strcmp(buf_cstr(&out), cases[i].expected) == 0);
	}
}

TEST(elided_text_keeps_to_its_columns_and_its_characters)
{
	static const char text[] = "wide \xe6\xbc\xa2\xe6\xbc\xa2\xe6\xbc\xa2 and \x1b evil \xff";
	for (size_t columns = 0; columns < 40; columns++) {
		auto_fini(buf) out = { 0 }, again = { 0 };
		elide_middle(&out, str_from(text), columns);
		CHECK(out.len == 0 || text_columns(buf_view(&out)) <= columns);
		text_printable(&again, buf_view(&out));
		CHECK(strcmp(buf_cstr(&out), buf_cstr(&again)) == 0);
	}
}

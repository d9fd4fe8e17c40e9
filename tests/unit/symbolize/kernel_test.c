// SPDX-License-Identifier: Apache-2.0
#include "symbolize/kernel.h"

#include <stdlib.h>

#include "base/buf.h"
#include "base/file.h"
#include "tests/test.h"

static bool is(const struct kallsyms *k, uint64_t address, const char *name, const char *module,
	       uint64_t offset)
{
	struct kernel_symbol s;
	return kallsyms_find(k, address, &s) && str_eq(s.name, str_from(name)) &&
	       str_eq(s.module, str_from(module)) && s.offset == offset;
}

static bool is_unknown(const struct kallsyms *k, uint64_t address)
{
	struct kernel_symbol s;
	return !kallsyms_find(k, address, &s);
}

TEST(kernel_functions_and_those_of_modules_by_address)
{
	auto_(kallsyms) k = NULL;
	CHECK_OK(kallsyms_parse(STR("0000000000000000 A fixed_percpu_data\n"
				    "ffffffff81000000 T _stext\n"
				    "ffffffff81000000 T first\n"
				    "ffffffff81000100 t second\n"
				    "ffffffff81000200 W third\n"
				    "ffffffff81000300 T _etext\n"
				    "ffffffff81000400 D data\n"
				    "ffffffff81000500 R more\n"
				    "ffffffffc0002000 t b\t[module]\n"
				    "ffffffffc0001000 t a\t[module]\n"
				    "ffffffffc0001100 d a_table\t[module]"),
				&k));
	CHECK(is_unknown(k, 0) && is_unknown(k, 0xffffffff80ffffff));
	CHECK(is(k, 0xffffffff81000000, "first", "", 0));
	CHECK(is(k, 0xffffffff810000ff, "first", "", 0xff));
	CHECK(is(k, 0xffffffff81000100, "second", "", 0));
	CHECK(is(k, 0xffffffff810002ff, "third", "", 0xff));
	CHECK(is_unknown(k, 0xffffffff81000300)); // the end of code
	CHECK(is_unknown(k, 0xffffffff81000450) && is_unknown(k, 0xffffffff90000000));
	CHECK(is(k, 0xffffffffc00010ff, "a", "module", 0xff));
	CHECK(is_unknown(k, 0xffffffffc0001100));
	CHECK(is(k, 0xffffffffc0002000, "b", "module", 0));
	CHECK(is(k, 0xffffffffc01010ff, "b", "module", 0xff0ff));
	CHECK(is_unknown(k, 0xffffffffc0102000)); // no function is that long
	CHECK(is_unknown(k, UINT64_MAX));
}

TEST(of_several_names_the_one_people_know_is_chosen)
{
	auto_(kallsyms) k = NULL;
	CHECK_OK(kallsyms_parse(STR("1000 t __do_sys_getpid\n"
				    "1000 T __ia32_sys_getpid\n"
				    "1000 T __x64_sys_getpid\n"
				    "1ff0 t __pfx_local\n"
				    "2000 t .label\n"
				    "2000 t local\n"
				    "3000 t alias\n"
				    "3000 T global\n"
				    "4000 T __irqentry_text_start\n"
				    "4000 t irq_entries_start\n"
				    "5000 D data_here\n"
				    "5000 t code_here\n"
				    "6000 T _text\n"),
				&k));
	CHECK(is(k, 0x1000, "__x64_sys_getpid", "", 0));
	CHECK(is(k, 0x1ff8, "__x64_sys_getpid", "", 0xff8)); // padding is nobody's
	CHECK(is(k, 0x2000, "local", "", 0));
	CHECK(is(k, 0x3000, "global", "", 0));
	CHECK(is(k, 0x4000, "irq_entries_start", "", 0));
	CHECK(is(k, 0x5000, "code_here", "", 0));
	CHECK(is(k, 0x6000, "_text", "", 0)); // there is no other
}

TEST(hidden_addresses_are_explained)
{
	struct kallsyms *k = NULL;
	auto_(error) err = kallsyms_parse(STR("0000000000000000 T _stext\n"
					      "0000000000000000 t function\t[module]\n"),
					  &k);
	CHECK(err && err->code == ERROR_DENIED && err->hint && strstr(err->hint, "kptr_restrict"));
	CHECK_ERROR(ERROR_MALFORMED, kallsyms_parse(STR(""), &k));
	CHECK_ERROR(ERROR_MALFORMED, kallsyms_parse(STR("no symbols\nhere\n\n"), &k));
	CHECK_ERROR(ERROR_MALFORMED, kallsyms_parse(STR("1000 T __pfx_only\n"), &k));
	CHECK(!k);
}

TEST(broken_lines_are_passed_over)
{
	auto_(kallsyms) k = NULL;
	CHECK_OK(kallsyms_parse(STR("\n"
				    "xyz T bad\n"
				    "1000\n"
				    "1000 T\n"
				    "1000 T \n"
				    "10000000000000000 T overflow\n"
				    "1000 TT two_letters\n"
				    "2000 T good\t[\n"
				    "3000 T other\t]\t[x]\n"),
				&k));
	CHECK(is_unknown(k, 0x1000));
	CHECK(is(k, 0x2000, "good", "[", 0));
	CHECK(is(k, 0x3000, "other", "]\t[x]", 0));
}

struct line {
	uint64_t address;
	char type;
	struct str name;
};

static bool parse_line(struct str *rest, struct line *ret)
{
	if (rest->len == 0)
		return false;
	struct str line = str_split(rest, '\n'), address = str_split(&line, ' ');
	*ret = (struct line){ .type = line.ptr[0] };
	str_split(&line, ' ');
	ret->name = str_split(&line, '\t');
	return str_to_u64(address, 16, &ret->address);
}

// Every global function of the running kernel must be found at its own address, by its own name or
// by another one of the same address.
TEST(the_running_kernel_is_read_whole)
{
	auto_(kallsyms) k = NULL;
	auto_(error) denied = kallsyms_read(&k);
	if (denied && (denied->code == ERROR_DENIED || denied->code == ERROR_NOT_FOUND)) {
		test_skip("the kernel hides its symbols here");
		return;
	}
	CHECK(!denied);
	auto_fini(buf) text = { 0 };
	CHECK_OK(file_read("/proc/kallsyms", &text));
	struct str rest = buf_view(&text);
	struct line line;
	size_t functions = 0, by_name = 0, wrong = 0;
	while (parse_line(&rest, &line)) {
		struct kernel_symbol s;
		if (line.type != 'T' || str_starts(line.name, STR("__pfx_")) ||
		    str_starts(line.name, STR("__cfi_")) || str_ends(line.name, STR("text")))
			continue;
		functions++;
		if (!kallsyms_find(k, line.address, &s) || s.offset != 0)
			wrong++;
		else
			by_name += str_eq(s.name, line.name);
	}
	CHECK(functions > 1000 && wrong == 0);
	CHECK(by_name > functions * 9 / 10);
}

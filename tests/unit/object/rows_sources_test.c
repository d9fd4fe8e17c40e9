// SPDX-License-Identifier: Apache-2.0
// The same rows, wherever the tables are kept.
#include <elf.h>
#include <fcntl.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/file.h"
#include "object/object.h"
#include "object/rows.h"
#include "tests/test.h"
#include "tests/unit/object/object_fixture.h"

static struct error *open_path(const char *path, struct object **ret)
{
	return object_open_consume_fd(open(path, O_RDONLY | O_CLOEXEC),
				      &(struct object_opts){ .path = path, .root = "" }, ret);
}

struct same {
	size_t pages; // with anything in them
	size_t different;
};

static bool same_page(const struct row_page *a, const struct row_page *b)
{
	return a->rows.len == b->rows.len &&
	       memcmp(a->rows.at, b->rows.at, a->rows.len * sizeof(*a->rows.at)) == 0;
}

// Compares all pages of two objects; rule numbers are those of one table.
static struct error *compare_objects(struct object *a, struct object *b, size_t size,
				     struct same *ret)
{
	auto_fini(rules) rules = { 0 };
	struct error *err = rules_init(&rules);
	for (uint32_t page = 0; !err && page <= size >> TEXT_PAGE_SHIFT; page++) {
		auto_fini(row_page) of_a = { 0 }, of_b = { 0 };
		err = object_row_page(a, page, &rules, &of_a);
		if (!err)
			err = object_row_page(b, page, &rules, &of_b);
		if (err)
			return err;
		ret->pages += of_a.rows.len > 1;
		ret->different += !same_page(&of_a, &of_b);
	}
	return err;
}

TEST(rows_are_found_without_section_headers)
{
	auto_(object) whole = NULL;
	auto_(object) bare = NULL;
	auto_fini(buf) image = { 0 };
	CHECK_OK(open_path("/proc/self/exe", &whole));
	CHECK_OK(file_read("/proc/self/exe", &image));
	Elf64_Ehdr header;
	memcpy(&header, image.at, sizeof(header));
	header.e_shoff = 0;
	header.e_shnum = 0;
	memcpy(image.at, &header, sizeof(header));
	CHECK_OK(object_open_memory(buf_view(&image), "bare", &bare));
	struct same same = { 0 };
	CHECK_OK(compare_objects(whole, bare, image.len, &same));
	CHECK(same.pages > 0);
	CHECK(same.different == 0);
}

TEST(rows_are_found_in_a_separate_debug_file)
{
	auto_fini(fixture) f = { 0 };
	CHECK_OK(fixture_init(&f));
	if (!have_program("gcc") || !have_program("objcopy")) {
		test_skip("gcc or objcopy is missing");
		return;
	}
	// The program's own functions are described in .debug_frame only.
	CHECK(fixture_write(&f, "program.c",
			    "int puts(const char *);\n"
			    "int f(int a) { return a > 2 ? f(a - 1) + puts(\"x\") : a; }\n"
			    "int main(int c, char **v) { return f(c) + f(v[0][0]); }\n"));
	CHECK(fixture_run(&f, "gcc -O1 -g -fno-asynchronous-unwind-tables program.c -o whole"
			      " && objcopy --only-keep-debug whole split.debug"
			      " && objcopy --strip-debug whole split"
			      " && objcopy --strip-debug --add-gnu-debuglink=split.debug whole "
			      "linked"));
	auto_(object) whole = NULL;
	auto_(object) split = NULL;
	auto_(object) linked = NULL;
	CHECK_OK(fixture_open(&f, /* root= */ NULL, "whole", &whole));
	CHECK_OK(fixture_open(&f, /* root= */ NULL, "split", &split));
	CHECK_OK(fixture_open(&f, /* root= */ NULL, "linked", &linked));
	struct same same = { 0 };
	CHECK_OK(compare_objects(whole, linked, 1 << 16, &same));
	CHECK(same.pages > 0 && same.different == 0);
	CHECK_OK(compare_objects(whole, split, 1 << 16, &same));
	CHECK(same.different > 0); // without its debug file it has less to say
}

// Compares a program linked with unwind information for its linkage tables and without.
static void check_linkage_tables(const char *flags)
{
	auto_fini(fixture) f = { 0 };
	CHECK_OK(fixture_init(&f));
	CHECK(fixture_write(&f, "program.c",
			    "#include <stdio.h>\n"
			    "#include <stdlib.h>\n"
			    "int main(int c, char **v) { puts(v[0]); atexit(abort); abs(c);\n"
			    "	return printf(\"%d\", c) + (puts == (void *)v) + getchar(); }\n"));
	autofree char *command = NULL;
	CHECK(asprintf(&command,
		       "gcc -O1 %s program.c -o described && "
		       "gcc -O1 %s -Wl,--no-ld-generated-unwind-info program.c -o silent",
		       flags, flags) > 0);
	if (!have_program("gcc") || !fixture_run(&f, command)) {
		test_skip("no gcc, or not these flags");
		return;
	}
	auto_(object) described = NULL;
	auto_(object) silent = NULL;
	CHECK_OK(fixture_open(&f, /* root= */ NULL, "described", &described));
	CHECK_OK(fixture_open(&f, /* root= */ NULL, "silent", &silent));
	struct str a, b;
	uint64_t vaddr;
	CHECK(object_section(described, ".eh_frame", &a, &vaddr));
	CHECK(object_section(silent, ".eh_frame", &b, &vaddr) && b.len < a.len);
	struct same same = { 0 };
	CHECK_OK(compare_objects(described, silent, 1 << 16, &same));
	CHECK(same.pages > 0 && same.different == 0);
}

TEST(rows_of_linkage_tables_are_known_without_unwind_information)
{
	check_linkage_tables("-Wl,-z,lazy");
}

TEST(rows_of_linkage_tables_with_endbr64_are_known_without_unwind_information)
{
	check_linkage_tables("-Wl,-z,lazy -Wl,-z,ibtplt -fcf-protection=full");
}

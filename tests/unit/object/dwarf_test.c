// SPDX-License-Identifier: Apache-2.0
// Inlined functions and lines, against addr2line, and in every form that compilers write them.
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tests/test.h"
#include "tests/unit/object/object_fixture.h"

#define FRAMES_MAX 16

static const char program[] = "static inline __attribute__((always_inline)) int leaf(int x)\n"
			      "{\n"
			      "    return x * 3 + (x >> 2);\n"
			      "}\n"
			      "static inline __attribute__((always_inline)) int middle(int x)\n"
			      "{\n"
			      "    int a = leaf(x);\n"
			      "    return a ^ leaf(x + 2);\n"
			      "}\n"
			      "__attribute__((noinline)) int work(int n)\n"
			      "{\n"
			      "    int sum = 0;\n"
			      "    for (int i = 0; i < n; i++)\n"
			      "        sum += middle(i) + leaf(sum);\n"
			      "    return sum;\n"
			      "}\n"
			      "int main(int argc, char **argv)\n"
			      "{\n"
			      "    return work(argc) + (argv[0] != 0);\n"
			      "}\n";

// One line "function file:line" for each level at an address.
static void describe(struct object *obj, uint64_t vaddr, struct buf *ret)
{
	struct source_frame frames[FRAMES_MAX];
	uint64_t offset;
	size_t count = object_offset(obj, vaddr, &offset)
			       ? object_source_frames(obj, offset, true, frames, FRAMES_MAX)
			       : 0;
	for (size_t i = 0; i < count; i++)
		buf_printf(ret, "%s %s:%" PRIu32 "\n", frames[i].name,
			   frames[i].file ? frames[i].file : "?", frames[i].line);
}

struct range {
	uint64_t start, end;
};

static struct range function_range(const struct fixture *f, const char *file, const char *name)
{
	auto_fini(buf) text = { 0 };
	struct range range = { 0 };
	uint64_t size;
	struct error *err = fixture_output(
		f, &text, "nm -S %s | awk '$4 == \"%s\" { printf \"%%s %%s\", $1, $2 }'", file,
		name);
	struct str rest = buf_view(&text), start = str_split(&rest, ' ');
	if (!err && str_to_u64(start, 16, &range.start) && str_to_u64(rest, 16, &size))
		range.end = range.start + size;
	error_free(err);
	return range;
}

TEST(dwarf_levels_and_lines_are_those_of_addr2line)
{
	auto_fini(fixture) f = { 0 };
	CHECK_OK(fixture_init(&f));
	CHECK(fixture_write(&f, "program.c", program));
	CHECK(fixture_run(&f, "cc -O2 -g program.c -o program"));
	auto_(object) obj = NULL;
	CHECK_OK(fixture_open(&f, NULL, "program", &obj));
	struct range work = function_range(&f, "program", "work");
	CHECK(work.end > work.start);
	size_t deep = 0;
	for (uint64_t vaddr = work.start; vaddr < work.end; vaddr++) {
		auto_fini(buf) expected = { 0 };
		auto_fini(buf) found = { 0 };
		CHECK_OK(fixture_output(&f, &expected,
					"addr2line -i -f -e program %#" PRIx64
					" | sed 's/ (discriminator [0-9]*)//' | paste -d' ' - -",
					vaddr));
		describe(obj, vaddr, &found);
		if (strcmp(buf_cstr(&expected), buf_cstr(&found)) != 0)
			printf("# %s# is not\n# %s", buf_cstr(&found), buf_cstr(&expected));
		CHECK(strcmp(buf_cstr(&expected), buf_cstr(&found)) == 0);
		deep += strncmp(buf_cstr(&found), "leaf", 4) == 0 &&
			strstr(buf_cstr(&found), "\nmiddle ") &&
			strstr(buf_cstr(&found), "\nwork ");
	}
	CHECK(deep > 0);
}

// The code is the same whatever the form of its description.
static bool same_everywhere(const struct fixture *f, const char *a_name, const char *b_name)
{
	auto_(object) a = NULL;
	auto_(object) b = NULL;
	auto_(error) a_err = fixture_open(f, NULL, a_name, &a);
	auto_(error) b_err = fixture_open(f, NULL, b_name, &b);
	struct range a_work = function_range(f, a_name, "work");
	struct range b_work = function_range(f, b_name, "work");
	if (a_err || b_err || a_work.end - a_work.start != b_work.end - b_work.start)
		return false;
	for (uint64_t at = 0; at < a_work.end - a_work.start; at++) {
		auto_fini(buf) a_text = { 0 };
		auto_fini(buf) b_text = { 0 };
		describe(a, a_work.start + at, &a_text);
		describe(b, b_work.start + at, &b_text);
		if (a_text.len == 0 || strcmp(buf_cstr(&a_text), buf_cstr(&b_text)) != 0) {
			printf("# +%" PRIu64 ": %s# is not\n# %s", at, buf_cstr(&b_text),
			       buf_cstr(&a_text));
			return false;
		}
	}
	return true;
}

TEST(dwarf_of_every_form_says_the_same)
{
	static const char *const forms[] = {
		"-gdwarf-2",
		"-gdwarf-3",
		"-gdwarf-4",
		"-gz",
		"-gz=zlib-gnu",
		"-gsplit-dwarf",
		"-no-pie",
		"-static",
		"-gdwarf-4 -gsplit-dwarf",
		"-fdebug-types-section",
		"-ffunction-sections",
	};
	auto_fini(fixture) f = { 0 };
	CHECK_OK(fixture_init(&f));
	CHECK(fixture_write(&f, "program.c", program));
	CHECK(fixture_run(&f, "gcc -O2 -g program.c -o reference"));
	for (size_t i = 0; i < ARRAY_SIZE(forms); i++) {
		auto_fini(buf) command = { 0 };
		buf_printf(&command, "gcc -O2 -g %s program.c -o program", forms[i]);
		CHECK(fixture_run(&f, buf_cstr(&command)));
		printf("# %s\n", forms[i]);
		CHECK(same_everywhere(&f, "reference", "program"));
	}
}

TEST(dwarf_of_clang_says_the_same_in_every_form)
{
	static const char *const forms[] = { "-gdwarf-4", "-gsplit-dwarf", "-gz=zlib",
					     "-gdwarf-4 -gsplit-dwarf" };
	if (!have_program("clang")) {
		test_skip("no clang");
		return;
	}
	auto_fini(fixture) f = { 0 };
	CHECK_OK(fixture_init(&f));
	CHECK(fixture_write(&f, "program.c", program));
	CHECK(fixture_run(&f, "clang -O2 -fno-vectorize -gdwarf-5 program.c -o reference"));
	for (size_t i = 0; i < ARRAY_SIZE(forms); i++) {
		auto_fini(buf) command = { 0 };
		buf_printf(&command, "clang -O2 -fno-vectorize -g %s program.c -o program",
			   forms[i]);
		CHECK(fixture_run(&f, buf_cstr(&command)));
		CHECK(same_everywhere(&f, "reference", "program"));
	}
}

TEST(dwarf_split_without_its_file_says_nothing)
{
	auto_fini(fixture) f = { 0 };
	CHECK_OK(fixture_init(&f));
	CHECK(fixture_write(&f, "program.c", program));
	// A pipe in the place of the file must not make us wait.
	CHECK(fixture_run(&f,
			  "gcc -O2 -g -gsplit-dwarf -c program.c -o program.o"
			  " && gcc program.o -o program && rm program.dwo && mkfifo program.dwo"));
	auto_(object) obj = NULL;
	CHECK_OK(fixture_open(&f, NULL, "program", &obj));
	struct range work = function_range(&f, "program", "work");
	auto_fini(buf) text = { 0 };
	describe(obj, work.start + 4, &text);
	CHECK(text.len == 0);
}

// The name of the file means something else in there: what has it in our root is not to be
// believed.
TEST(dwarf_split_is_not_looked_for_in_another_root)
{
	auto_fini(fixture) f = { 0 };
	CHECK_OK(fixture_init(&f));
	CHECK(fixture_write(&f, "program.c", program));
	CHECK(fixture_run(&f, "gcc -O2 -g -gsplit-dwarf -c program.c -o program.o"
			      " && gcc program.o -o program && mkdir root && cp program root/"));
	struct range work = function_range(&f, "program", "work");
	auto_(object) ours = NULL;
	auto_(object) other = NULL;
	auto_fini(buf) text = { 0 };
	CHECK_OK(fixture_open(&f, "root", "/program", &other));
	describe(other, work.start + 4, &text);
	CHECK(text.len == 0);
	CHECK_OK(fixture_open(&f, NULL, "program", &ours));
	describe(ours, work.start + 4, &text);
	CHECK(strstr(buf_cstr(&text), "work "));
}

// dwz moves what two programs have in common into a third file.
TEST(dwarf_shared_between_programs_says_the_same)
{
	if (!have_program("dwz")) {
		test_skip("no dwz");
		return;
	}
	auto_fini(fixture) f = { 0 };
	CHECK_OK(fixture_init(&f));
	CHECK(fixture_write(&f, "program.c", program));
	CHECK(fixture_run(&f, "gcc -O2 -g program.c -o reference && cp reference program"
			      " && gcc -O2 -g -DOTHER program.c -o other"
			      " && dwz -L none -l none -m shared program other"
			      " && readelf -S program | grep -q gnu_debugaltlink"));
	CHECK(same_everywhere(&f, "reference", "program"));
}

TEST(dwarf_levels_beyond_the_limit_keep_the_function_proper)
{
	auto_fini(fixture) f = { 0 };
	CHECK_OK(fixture_init(&f));
	CHECK(fixture_write(&f, "program.c", program));
	CHECK(fixture_run(&f, "cc -O2 -g program.c -o program"));
	auto_(object) obj = NULL;
	CHECK_OK(fixture_open(&f, NULL, "program", &obj));
	struct range work = function_range(&f, "program", "work");
	struct source_frame all[FRAMES_MAX], two[2], one[1];
	bool seen = false;
	for (uint64_t vaddr = work.start; vaddr < work.end; vaddr++) {
		uint64_t offset;
		CHECK(object_offset(obj, vaddr, &offset));
		if (object_source_frames(obj, offset, false, all, FRAMES_MAX) != 3)
			continue;
		seen = true;
		CHECK(!all[0].file && all[0].line == 0);
		CHECK(object_source_frames(obj, offset, false, two, 2) == 2);
		CHECK(strcmp(two[0].name, "leaf") == 0 && strcmp(two[1].name, "work") == 0);
		CHECK(object_source_frames(obj, offset, false, one, 1) == 1);
		CHECK(strcmp(one[0].name, "work") == 0);
		CHECK(object_source_frames(obj, offset, false, one, 0) == 0);
	}
	CHECK(seen);
}

TEST(dwarf_without_debug_information_says_nothing)
{
	auto_fini(fixture) f = { 0 };
	CHECK_OK(fixture_init(&f));
	CHECK(fixture_write(&f, "program.c", program));
	CHECK(fixture_run(&f, "cc -O2 program.c -o program"));
	auto_(object) obj = NULL;
	CHECK_OK(fixture_open(&f, NULL, "program", &obj));
	auto_fini(buf) text = { 0 };
	describe(obj, function_range(&f, "program", "work").start, &text);
	CHECK(text.len == 0);
}

static const char cplus_program[] =
	"namespace outer { namespace {\n"
	"template <class T> struct box {\n"
	"    T value;\n"
	"    __attribute__((always_inline)) T twice() const { return value * 2 + (value >> 1); }\n"
	"};\n"
	"} template <class T> __attribute__((noinline)) T shared(T n) {\n"
	"    T sum = 0; for (T i = 0; i < n; i++) sum ^= box<T>{ i }.twice(); return sum; } }\n"
	"int main(int argc, char **argv) { (void)argv; return outer::shared<int>(argc); }\n";

TEST(dwarf_names_of_cplus_are_linkage_names_or_whole)
{
	if (!have_program("c++")) {
		test_skip("no C++ compiler");
		return;
	}
	auto_fini(fixture) f = { 0 };
	CHECK_OK(fixture_init(&f));
	CHECK(fixture_write(&f, "program.cc", cplus_program));
	CHECK(fixture_run(&f, "g++ -O2 -g program.cc -o program"));
	auto_(object) obj = NULL;
	CHECK_OK(fixture_open(&f, NULL, "program", &obj));
	struct range shared = function_range(&f, "program", "_ZN5outer6sharedIiEET_S1_");
	CHECK(shared.start != 0);
	bool seen = false;
	for (uint64_t vaddr = shared.start; vaddr < shared.end; vaddr++) {
		auto_fini(buf) text = { 0 };
		describe(obj, vaddr, &text);
		CHECK(strstr(buf_cstr(&text), "_ZN5outer6sharedIiEET_S1_ "));
		seen |= strncmp(buf_cstr(&text), "outer::(anonymous namespace)::box<int>::twice ",
				46) == 0;
	}
	CHECK(seen);
}

TEST(dwarf_of_rust_has_levels_with_linkage_names)
{
	if (!have_program("rustc")) {
		test_skip("no rustc");
		return;
	}
	auto_fini(fixture) f = { 0 };
	CHECK_OK(fixture_init(&f));
	CHECK(fixture_write(
		&f, "program.rs",
		"#[inline(always)] fn mix(a: u64, i: u64) -> u64 { a.rotate_left(5) ^ (i * a) }\n"
		"#[inline(never)] #[no_mangle]\n"
		"pub fn work(n: u64) -> u64 {\n"
		"    let mut a = 1;\n"
		"    for i in 0..n { a = mix(a, i); }\n"
		"    a\n"
		"}\n"
		"fn main() { println!(\"{}\", work(std::env::args().count() as u64)); }\n"));
	CHECK(fixture_run(&f, "rustc -O -g program.rs"));
	auto_(object) obj = NULL;
	CHECK_OK(fixture_open(&f, NULL, "program", &obj));
	struct range work = function_range(&f, "program", "work");
	bool seen = false;
	for (uint64_t vaddr = work.start; vaddr < work.end; vaddr++) {
		auto_fini(buf) text = { 0 };
		describe(obj, vaddr, &text);
		seen |= strstr(buf_cstr(&text), "3mix") &&
			strstr(buf_cstr(&text), "program.rs:5\n");
	}
	CHECK(seen);
}

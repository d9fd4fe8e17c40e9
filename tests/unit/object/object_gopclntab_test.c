// SPDX-License-Identifier: Apache-2.0
// Go's function table: written by hand in every version's layout, and of real Go programs.
#include "object/gopclntab.h"

#include <string.h>

#include "tests/test.h"
#include "tests/unit/object/object_fixture.h"

// Two functions of 16 and 8 bytes. PC is how an entry is written: an address, or from Go 1.18 on
// its distance from the start of the text.
static const char table_source[] =
	"        .text\n"
	"        .globl _start\n"
	"_start: .skip 64, 0x90\n"
	"go_text:\n"
	"first:  .skip 16, 0x90\n"
	"second: .skip 8, 0x90\n"
	"end:    ret\n"
	"#if VERSION >= 18\n"
	"#define PC(label) .long label - go_text\n"
	"#define OFFSET .long\n"
	"#else\n"
	"#define PC(label) .quad label\n"
	"#define OFFSET .quad\n"
	"#endif\n"
	"        .section SECTION\n"
	"table:  .long MAGIC\n"
	"        .byte 0, 0, 1, 8\n"
	"        .quad 2\n"
	"#if VERSION == 2\n"
	"#define BASE table\n"
	"#define NAMES table\n"
	"#define VALUES table\n"
	"#else\n"
	"#define BASE functab\n"
	"#define NAMES names\n"
	"#define VALUES values\n"
	"        .quad 0\n"
	"#if VERSION >= 18\n"
	"        .quad TEXT_START\n"
	"#endif\n"
	"        .quad names - table, 0, 0, values - table, functab - table\n"
	"#endif\n"
	"functab: PC(first)\n"
	"        OFFSET first_func - BASE\n"
	"        PC(second)\n"
	"        OFFSET second_func - BASE\n"
	"        PC(end)\n"
	"first_func: PC(first)\n"
	"        .long first_name - NAMES, 0, 0, first_values - VALUES\n"
	"second_func: PC(second)\n"
	"        .long second_name - NAMES, 0, 0, 0\n"
	"names:  .byte 0\n"
	"first_name: .asciz \"main.(*T).first\"\n"
	"second_name: .asciz \"main.second\"\n"
	"values: .byte 0\n"
	// 0 for 4 bytes, 200 for 8 bytes, 8 for more bytes than the function has.
	"first_values: .byte 2, 4, 0x90, 3, 8, 0xff, 2, 0x80, 1, 0\n"
	"        .section .go.buildinfo, \"a\"\n"
	"        .skip 32\n"
	"#if TEXT_START == 0 && VERSION >= 18\n"
	"        .section .go.module, \"aw\"\n"
	"        .quad table\n"
	"        .skip 19 * 8\n"
	"        .quad go_text, 0, go_text\n"
	"#endif\n";

struct variant {
	const char *version;
	const char *magic;
	const char *text_start; // what the header says
	const char *link;
};

static const struct variant variants[] = {
	{ "2", "0xfffffffb", "go_text", "-no-pie" },  { "2", "0xfffffffb", "go_text", "-pie" },
	{ "16", "0xfffffffa", "go_text", "-no-pie" }, { "16", "0xfffffffa", "go_text", "-pie" },
	{ "18", "0xfffffff0", "go_text", "-no-pie" }, { "18", "0xfffffff0", "go_text", "-pie" },
	{ "20", "0xfffffff1", "go_text", "-no-pie" }, { "20", "0xfffffff1", "go_text", "-pie" },
	{ "26", "0xfffffff1", "0", "-no-pie" },       { "26", "0xfffffff1", "0", "-pie" },
};

static bool make_table(const struct fixture *f, const struct variant *v)
{
	auto_fini(buf) command = { 0 };
	bool pie = strcmp(v->link, "-pie") == 0;
	buf_printf(&command,
		   "cc -nostdlib %s -DVERSION=%s -DMAGIC=%s -DTEXT_START=%s -DSECTION='%s' table.S"
		   " -o program && strip program -o stripped",
		   v->link, v->version, v->magic, v->text_start,
		   pie ? ".data.rel.ro.gopclntab, \"aw\"" : ".gopclntab, \"a\"");
	return fixture_write(f, "table.S", table_source) && fixture_run(f, buf_cstr(&command));
}

TEST(gopclntab_of_every_version_is_understood)
{
	auto_fini(fixture) f = { 0 };
	CHECK_OK(fixture_init(&f));
	for (size_t i = 0; i < ARRAY_SIZE(variants); i++) {
		CHECK(make_table(&f, &variants[i]));
		uint64_t start = fixture_address(&f, "program", "first");
		auto_(object) obj = NULL;
		CHECK_OK(fixture_open(&f, NULL, "stripped", &obj));
		const struct gopclntab *table = object_gopclntab(obj);
		struct go_func func;
		size_t index;
		CHECK(table && gopclntab_count(table) == 2);
		CHECK(gopclntab_func(table, 0, &func));
		CHECK(func.entry == start && func.end == start + 16);
		CHECK(str_eq(func.name, STR("main.(*T).first")) && func.pcsp != 0);
		CHECK(gopclntab_func(table, 1, &func) && func.end == start + 24 && func.pcsp == 0);
		CHECK(!gopclntab_func(table, 2, &func));
		CHECK(gopclntab_find(table, start + 15, &index) && index == 0);
		CHECK(gopclntab_find(table, start + 16, &index) && index == 1);
		CHECK(!gopclntab_find(table, start - 1, &index));
		CHECK(str_eq(symbol_at(obj, start + 3), STR("main.(*T).first")));
		CHECK(str_eq(symbol_at(obj, start + 23), STR("main.second")));
		CHECK(symbol_at(obj, start + 24).len == 0);
	}
}

TEST(gopclntab_values_are_decoded)
{
	static const struct go_span expected[] = { { 0, 4, 0 }, { 4, 12, 200 }, { 12, 16, 8 } };
	auto_fini(fixture) f = { 0 };
	CHECK_OK(fixture_init(&f));
	CHECK(make_table(&f, &variants[0]));
	auto_(object) obj = NULL;
	CHECK_OK(fixture_open(&f, NULL, "stripped", &obj));
	struct go_func func;
	CHECK(gopclntab_func(object_gopclntab(obj), 0, &func));
	struct go_spans spans = gopclntab_spans(object_gopclntab(obj), &func, func.pcsp);
	size_t count = 0;
	for (struct go_span span; go_spans_next(&spans, &span); count++) {
		CHECK(count < ARRAY_SIZE(expected));
		CHECK(span.start == func.entry + expected[count].start);
		CHECK(span.end == func.entry + expected[count].end);
		CHECK(span.value == expected[count].value);
	}
	CHECK(count == ARRAY_SIZE(expected));
	spans = gopclntab_spans(object_gopclntab(obj), &func, 0);
	struct go_span none;
	CHECK(!go_spans_next(&spans, &none));
}

static const char go_program[] = "package main\n"
				 "import \"fmt\"\n"
				 "type T struct{ a int }\n"
				 "//go:noinline\n"
				 "func (t *T) Work(n int) int {\n"
				 "	s := t.a\n"
				 "	for i := 0; i < n; i++ { s += i * s }\n"
				 "	return s\n"
				 "}\n"
				 "func main() { t := &T{3}; fmt.Println(t.Work(10)) }\n";

TEST(gopclntab_of_a_stripped_go_program_has_its_names)
{
	static const char *const modes[] = { "exe", "pie" };
	if (!have_program("go")) {
		test_skip("no go");
		return;
	}
	auto_fini(fixture) f = { 0 };
	CHECK_OK(fixture_init(&f));
	CHECK(fixture_write(&f, "main.go", go_program));
	for (size_t i = 0; i < ARRAY_SIZE(modes); i++) {
		auto_fini(buf) command = { 0 };
		buf_printf(
			&command,
			"GOFLAGS= GOCACHE=${GOCACHE:-$HOME/.cache/go-build} go build -buildmode=%s"
			" -o program main.go && strip program -o stripped",
			modes[i]);
		CHECK(fixture_run(&f, buf_cstr(&command)));
		uint64_t work = fixture_address(&f, "program", "main.(*T).Work");
		auto_(object) obj = NULL;
		CHECK_OK(fixture_open(&f, NULL, "stripped", &obj));
		CHECK(work != 0);
		CHECK(str_eq(symbol_at(obj, work), STR("main.(*T).Work")));
		CHECK(str_eq(symbol_at(obj, work + 4), STR("main.(*T).Work")));

		auto_(object) whole = NULL;
		CHECK_OK(fixture_open(&f, NULL, "program", &whole));
		struct source_frame frame;
		uint64_t offset;
		CHECK(object_offset(whole, work + 4, &offset));
		CHECK(object_source_frames(whole, offset, true, &frame, 1) == 1);
		CHECK(strcmp(frame.name, "main.(*T).Work") == 0 && frame.line >= 5);
		CHECK(str_ends(str_from(frame.file), STR("/main.go")));
	}
}

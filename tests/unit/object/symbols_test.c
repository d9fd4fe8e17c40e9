// SPDX-License-Identifier: Apache-2.0
// Symbols of files as compilers, linkers and strip make them, against what nm and objdump say.
#include <elf.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#include "object/gopclntab.h"
#include "object/object_parts.h"
#include "tests/test.h"
#include "tests/unit/object/object_fixture.h"

static const char program[] =
	"#include <stdio.h>\n"
	"#include <stdlib.h>\n"
	"#include <string.h>\n"
	"__attribute__((noinline)) static int hidden(int n) { return n * 3 + rand(); }\n"
	"__attribute__((noinline)) int exported(int n) { return hidden(n) + 1; }\n"
	"extern int also_exported(int) __attribute__((weak, alias(\"exported\")));\n"
	"__asm__(\".text\\nsized_by_next: nop; nop; nop; nop\\n\"\n"
	"        \".globl after_it\\n.type after_it, @function\\nafter_it: nop; ret\\n\"\n"
	"        \"inside_it: nop\\n.size after_it, .-after_it\\n\");\n"
	"int main(int argc, char **argv) {\n"
	"    printf(\"%zu %d\\n\", strlen(argv[0]), exported(argc));\n"
	"    return 0;\n"
	"}\n";

// Every function that nm knows is found at its first and last byte. How many were there?
static size_t check_with_nm(const struct fixture *f, const char *file, struct object *obj)
{
	auto_fini(buf) text = { 0 };
	struct error *err = fixture_output(f, &text, "nm -S --defined-only %s", file);
	if (err) {
		error_free(err);
		return 0;
	}
	size_t count = 0;
	for (struct str rest = buf_view(&text); rest.len != 0;) {
		struct str line = str_split(&rest, '\n');
		struct str start = str_split(&line, ' '), size = str_split(&line, ' ');
		struct str type = str_split(&line, ' ');
		uint64_t address, length, offset;
		struct symbol first, last;
		if (type.len != 1 || (*type.ptr != 'T' && *type.ptr != 't') ||
		    !str_to_u64(start, 16, &address) || !str_to_u64(size, 16, &length))
			continue;
		if (!object_offset(obj, address, &offset) || !object_symbol(obj, offset, &first) ||
		    !object_symbol(obj, offset + length - 1, &last) || first.offset != 0) {
			printf("# %s: %.*s not found\n", file, STR_ARG(line));
			return 0;
		}
		// Several symbols may share an address; then one of them serves all.
		if (!str_eq(first.name, last.name) || last.offset != length - 1) {
			printf("# %s: %.*s is %.*s at its end\n", file, STR_ARG(line),
			       STR_ARG(last.name));
			return 0;
		}
		count++;
	}
	return count;
}

TEST(symbols_of_programs_are_those_of_nm)
{
	static const char *const builds[] = { "-no-pie",
					      "-pie -fPIE",
					      "-static",
					      "-O2 -g",
					      "-Wl,-z,noseparate-code",
					      "-Wl,-z,lazy -fcf-protection" };
	auto_fini(fixture) f = { 0 };
	CHECK_OK(fixture_init(&f));
	CHECK(fixture_write(&f, "program.c", program));
	for (size_t i = 0; i < ARRAY_SIZE(builds); i++) {
		auto_fini(buf) command = { 0 };
		buf_printf(&command, "cc %s program.c -o program", builds[i]);
		CHECK(fixture_run(&f, buf_cstr(&command)));
		auto_(object) obj = NULL;
		CHECK_OK(fixture_open(&f, NULL, "program", &obj));
		CHECK(check_with_nm(&f, "program", obj) >= 4);
		CHECK(str_eq(symbol_at(obj, fixture_address(&f, "program", "hidden") + 2),
			     STR("hidden")));
	}
}

TEST(symbols_prefer_global_names_and_give_labels_their_size)
{
	auto_fini(fixture) f = { 0 };
	CHECK_OK(fixture_init(&f));
	CHECK(fixture_write(&f, "program.c", program));
	CHECK(fixture_run(&f, "cc program.c -o program"));
	auto_(object) obj = NULL;
	CHECK_OK(fixture_open(&f, NULL, "program", &obj));
	uint64_t exported = fixture_address(&f, "program", "also_exported");
	uint64_t label = fixture_address(&f, "program", "sized_by_next");
	uint64_t inside = fixture_address(&f, "program", "inside_it");
	CHECK(exported != 0 && label != 0 && inside != 0);
	CHECK(str_eq(symbol_at(obj, exported), STR("exported")));
	CHECK(str_eq(symbol_at(obj, label + 3), STR("sized_by_next")));
	CHECK(str_eq(symbol_at(obj, label + 4), STR("after_it")));
	CHECK(str_eq(symbol_at(obj, inside), STR("after_it")));
}

TEST(symbols_of_a_stripped_library_are_what_it_exports)
{
	auto_fini(fixture) f = { 0 };
	CHECK_OK(fixture_init(&f));
	CHECK(fixture_write(&f, "library.c", program));
	CHECK(fixture_run(&f, "cc -shared -fPIC library.c -o whole && strip whole -o stripped"));
	uint64_t exported = fixture_address(&f, "whole", "exported");
	uint64_t hidden = fixture_address(&f, "whole", "hidden");
	auto_(object) obj = NULL;
	CHECK_OK(fixture_open(&f, NULL, "stripped", &obj));
	CHECK(str_eq(symbol_at(obj, exported + 1), STR("exported")));
	CHECK(symbol_at(obj, hidden + 1).len == 0);
}

TEST(symbols_are_unpacked_from_gnu_debugdata)
{
	auto_fini(fixture) f = { 0 };
	CHECK_OK(fixture_init(&f));
	CHECK(fixture_write(&f, "program.c", program));
	CHECK(fixture_run(&f, "cc program.c -o whole && strip whole -o stripped"
			      " && objcopy -S --keep-symbol=hidden whole mini && xz mini"
			      " && objcopy --add-section .gnu_debugdata=mini.xz stripped packed"
			      " && printf '\\0\\0\\0' | dd of=mini.xz bs=1 seek=60 conv=notrunc"
			      " && objcopy --add-section .gnu_debugdata=mini.xz stripped broken"));
	uint64_t hidden = fixture_address(&f, "whole", "hidden");
	auto_(object) stripped = NULL;
	auto_(object) packed = NULL;
	auto_(object) broken = NULL;
	CHECK_OK(fixture_open(&f, NULL, "stripped", &stripped));
	CHECK_OK(fixture_open(&f, NULL, "packed", &packed));
	CHECK_OK(fixture_open(&f, NULL, "broken", &broken));
	CHECK(symbol_at(stripped, hidden + 1).len == 0);
	CHECK(str_eq(symbol_at(packed, hidden + 1), STR("hidden")));
	CHECK(symbol_at(broken, hidden + 1).len == 0);
}

// Each stub as objdump names it: "0000000000001030 <puts@plt>:".
static size_t check_with_objdump(const struct fixture *f, const char *file, struct object *obj)
{
	auto_fini(buf) text = { 0 };
	struct error *err = fixture_output(f, &text, "objdump -d %s | grep '^0.*@plt>:$'", file);
	error_free(err);
	size_t count = 0;
	for (struct str rest = buf_view(&text); rest.len != 0; count++) {
		struct str line = str_split(&rest, '\n'), start = str_split(&line, ' ');
		struct str name = { line.ptr + 1, line.len - 3 };
		uint64_t address;
		if (!str_to_u64(start, 16, &address))
			return 0;
		if (!str_eq(symbol_at(obj, address), name) ||
		    !str_eq(symbol_at(obj, address + 7), name)) {
			printf("# %s: %.*s not found\n", file, STR_ARG(name));
			return 0;
		}
	}
	return count;
}

TEST(symbols_of_stubs_are_those_of_objdump)
{
	static const char *const builds[] = { "-Wl,-z,lazy -fcf-protection=none",
					      "-Wl,-z,lazy -fcf-protection -Wl,-z,ibtplt",
					      "-Wl,-z,now -fcf-protection=none" };
	auto_fini(fixture) f = { 0 };
	CHECK_OK(fixture_init(&f));
	CHECK(fixture_write(&f, "program.c", program));
	for (size_t i = 0; i < ARRAY_SIZE(builds); i++) {
		auto_fini(buf) command = { 0 };
		buf_printf(&command, "cc %s program.c -o program", builds[i]);
		CHECK(fixture_run(&f, buf_cstr(&command)));
		auto_(object) obj = NULL;
		CHECK_OK(fixture_open(&f, NULL, "program", &obj));
		CHECK(check_with_objdump(&f, "program", obj) >= 3);
	}
}

// A static program calls the functions that it picks by processor through stubs, too.
TEST(symbols_of_stubs_in_a_static_program_name_the_indirect_function)
{
	auto_fini(fixture) f = { 0 };
	CHECK_OK(fixture_init(&f));
	CHECK(fixture_write(&f, "program.c", program));
	CHECK(fixture_run(&f, "cc -static program.c -o program"));
	auto_(object) obj = NULL;
	CHECK_OK(fixture_open(&f, NULL, "program", &obj));
	struct str code;
	uint64_t vaddr;
	bool found = false;
	CHECK(object_section(obj, ".plt", &code, &vaddr));
	for (size_t at = 0; at < code.len; at += 16)
		found |= str_eq(symbol_at(obj, vaddr + at), STR("strlen@plt"));
	CHECK(found);
}

TEST(symbols_of_libc_have_no_version)
{
	auto_(object) libc = NULL;
	auto_fini(fixture) f = { 0 };
	auto_fini(buf) text = { 0 };
	CHECK_OK(fixture_init(&f));
	CHECK_OK(fixture_output(&f, &text, "ldd /bin/sh | awk '/libc.so/ { printf \"%%s\", $3 }'"));
	CHECK(fixture_run(&f, "cp $(ldd /bin/sh | awk '/libc.so/ { print $3 }') libc"));
	CHECK_OK(fixture_open(&f, NULL, "libc", &libc));
	auto_fini(buf) address = { 0 };
	CHECK_OK(fixture_output(&f, &address, "nm -D libc | awk '$3 ~ /^qsort@/ { printf $1 }'"));
	uint64_t vaddr;
	CHECK(str_to_u64(buf_view(&address), 16, &vaddr));
	CHECK(str_eq(symbol_at(libc, vaddr + 1), STR("qsort")));
}

static size_t count_clock_gettime(struct str image)
{
	auto_(object) vdso = NULL;
	auto_(error) err = object_open_memory(image, "[vdso]", &vdso);
	size_t count = 0;
	for (uint64_t offset = 0; !err && offset < image.len; offset++) {
		struct symbol symbol;
		if (object_symbol(vdso, offset, &symbol) && symbol.offset == 0)
			count += str_ends(symbol.name, STR("clock_gettime"));
	}
	return count;
}

// The kernel's image has section headers behind its first page: both ways must find it.
TEST(symbols_of_the_vdso_with_and_without_section_headers)
{
	const char *base = (const char *)getauxval(AT_SYSINFO_EHDR);
	if (!base) {
		test_skip("no vDSO");
		return;
	}
	const Elf64_Ehdr *header = (const Elf64_Ehdr *)base;
	uint64_t size = header->e_shoff + (uint64_t)header->e_shnum * header->e_shentsize;
	CHECK(count_clock_gettime((struct str){ base, size }) == 1);
	CHECK(count_clock_gettime((struct str){ base, header->e_shoff }) == 1);
}

TEST(symbols_of_rust_are_there)
{
	if (!have_program("rustc")) {
		test_skip("no rustc");
		return;
	}
	auto_fini(fixture) f = { 0 };
	CHECK_OK(fixture_init(&f));
	CHECK(fixture_write(
		&f, "program.rs",
		"#[inline(never)] fn work(n: u64) -> u64 { (0..n).fold(1, |a, i| a ^ i * a) }\n"
		"fn main() { println!(\"{}\", work(std::env::args().count() as u64)); }\n"));
	CHECK(fixture_run(&f, "rustc -O program.rs"));
	auto_(object) obj = NULL;
	CHECK_OK(fixture_open(&f, NULL, "program", &obj));
	CHECK(check_with_nm(&f, "program", obj) > 100);
}

// Code and relocations of a large library are many times larger than its names.
TEST(symbols_keep_only_their_names_in_memory)
{
	auto_fini(fixture) f = { 0 };
	CHECK_OK(fixture_init(&f));
	CHECK(fixture_write(&f, "program.c",
			    "#include <stdio.h>\n"
			    "int main(int argc, char **argv) { return puts(argv[argc - 1]); }\n"));
	CHECK(fixture_run(&f, "cc -pie -fPIE program.c -o program && strip program"));
	auto_(object) obj = NULL;
	CHECK_OK(fixture_open(&f, NULL, "program", &obj));
	struct symbol symbol;
	uint64_t offset, code;
	CHECK(object_offset(obj, obj->elf.header.e_entry, &offset));
	object_symbol(obj, offset, &symbol);
	CHECK(object_read(obj, offset, &code, sizeof(code)));
	static const char *const names[] = { ".dynsym", ".rela.dyn", ".rela.plt", ".text" };
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		const struct elf_section *section = elf_section_find(&obj->elf, names[i]);
		CHECK(section && !section->bytes.owned);
	}
	CHECK(elf_section_find(&obj->elf, ".dynstr")->bytes.owned);
	for (size_t i = 0; i < obj->elf.segment_count; i++)
		CHECK(!obj->elf.segments[i].bytes.owned);
}

// SPDX-License-Identifier: Apache-2.0
// What stands in an ELF file, asked of files that are on every machine: ourselves and the vDSO.
#include <elf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/file.h"
#include "object/object.h"
#include "tests/test.h"
#include "tests/unit/object/object_fixture.h"

static struct error *open_self(struct object **ret)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	return object_open_consume_fd(
		fd, &(struct object_opts){ .path = "/proc/self/exe", .root = "" }, ret);
}

TEST(object_converts_offsets_of_its_own_code)
{
	auto_(object) self = NULL;
	CHECK_OK(open_self(&self));
	Elf64_Ehdr header;
	auto_fini(buf) content = { 0 };
	CHECK_OK(file_read("/proc/self/exe", &content));
	memcpy(&header, content.at, sizeof(header));

	uint64_t offset, vaddr;
	CHECK(object_offset(self, header.e_entry, &offset));
	CHECK(object_vaddr(self, offset, &vaddr));
	CHECK(vaddr == header.e_entry);

	char code[16];
	CHECK(object_read(self, offset, code, sizeof(code)));
	CHECK(memcmp(code, content.at + offset, sizeof(code)) == 0);
	CHECK(object_read(self, content.len - 16, code, sizeof(code)));
	CHECK(!object_read(self, content.len - 15, code, sizeof(code)));
	CHECK(!object_read(self, UINT64_MAX - 8, code, sizeof(code)));
	CHECK(!object_vaddr(self, content.len + 4096, &vaddr));
	CHECK(!object_offset(self, UINT64_MAX - 1, &offset));
}

TEST(object_section_gives_bytes_and_address)
{
	auto_(object) self = NULL;
	CHECK_OK(open_self(&self));
	struct str text;
	uint64_t vaddr, offset;
	CHECK(object_section(self, ".text", &text, &vaddr));
	CHECK(object_offset(self, vaddr, &offset));
	autofree char *direct = malloc(text.len);
	CHECK(text.len != 0 && direct && object_read(self, offset, direct, text.len));
	CHECK(memcmp(text.ptr, direct, text.len) == 0);
	CHECK(!object_section(self, ".bss", &text, &vaddr));
	CHECK(!object_section(self, ".no_such_section", &text, &vaddr));
}

// The program headers tell how large the image of the vDSO is.
static struct str vdso_image(void)
{
	const char *base = (const char *)getauxval(AT_SYSINFO_EHDR);
	if (!base)
		return STR("");
	const Elf64_Ehdr *header = (const Elf64_Ehdr *)base;
	uint64_t end = header->e_shoff + (uint64_t)header->e_shnum * header->e_shentsize;
	return (struct str){ base, (end + 4095) & ~4095ull };
}

TEST(object_reads_the_vdso_in_memory)
{
	struct str image = vdso_image();
	if (image.len == 0) {
		test_skip("no vDSO");
		return;
	}
	auto_(object) vdso = NULL;
	CHECK_OK(object_open_memory(image, "[vdso]", &vdso));
	CHECK(strcmp(object_path(vdso), "[vdso]") == 0);
	CHECK(object_build_id(vdso).len == 20);
	struct str names;
	uint64_t vaddr;
	CHECK(object_section(vdso, ".dynstr", &names, &vaddr));
	CHECK(memmem(names.ptr, names.len, "__vdso_clock_gettime", 20));
	CHECK(names.ptr == image.ptr + vaddr);
}

TEST(object_finds_eh_frame_hdr_without_section_headers)
{
	auto_fini(buf) content = { 0 };
	CHECK_OK(file_read("/proc/self/exe", &content));
	auto_(object) whole = NULL;
	auto_(object) stripped = NULL;
	CHECK_OK(object_open_memory(buf_view(&content), "whole", &whole));
	struct str expected, found;
	uint64_t expected_vaddr, vaddr;
	CHECK(object_section(whole, ".eh_frame_hdr", &expected, &expected_vaddr));

	((Elf64_Ehdr *)content.at)->e_shoff = 0;
	((Elf64_Ehdr *)content.at)->e_shnum = 0;
	CHECK_OK(object_open_memory(buf_view(&content), "stripped", &stripped));
	CHECK(!object_section(stripped, ".text", &found, &vaddr));
	CHECK(object_section(stripped, ".eh_frame_hdr", &found, &vaddr));
	CHECK(str_eq(found, expected) && vaddr == expected_vaddr);
}

TEST(object_refuses_what_is_not_x86_64_code)
{
	auto_fini(buf) content = { 0 };
	CHECK_OK(file_read("/proc/self/exe", &content));
	struct object *none;
	unsigned char *header = (unsigned char *)content.at;
	struct str image = buf_view(&content);

	header[EI_CLASS] = ELFCLASS32;
	CHECK_ERROR(ERROR_UNSUPPORTED, object_open_memory(image, "32 bits", &none));
	header[EI_CLASS] = ELFCLASS64;
	header[EI_DATA] = ELFDATA2MSB;
	CHECK_ERROR(ERROR_UNSUPPORTED, object_open_memory(image, "big endian", &none));
	header[EI_DATA] = ELFDATA2LSB;
	((Elf64_Ehdr *)content.at)->e_machine = EM_AARCH64;
	CHECK_ERROR(ERROR_UNSUPPORTED, object_open_memory(image, "arm64", &none));
	((Elf64_Ehdr *)content.at)->e_machine = EM_X86_64;
	((Elf64_Ehdr *)content.at)->e_phentsize = 3;
	CHECK_ERROR(ERROR_MALFORMED, object_open_memory(image, "bad headers", &none));
	CHECK_ERROR(ERROR_UNSUPPORTED, object_open_memory(STR("#!/bin/sh"), "script", &none));
	CHECK_ERROR(ERROR_UNSUPPORTED, object_open_memory(STR(""), "empty", &none));

	struct object_opts opts = { .path = "/", .root = "" };
	CHECK_ERROR(ERROR_UNSUPPORTED,
		    object_open_consume_fd(open("/", O_RDONLY | O_CLOEXEC), &opts, &none));
	CHECK_ERROR(ERROR_FAILED, object_open_consume_fd(-1, &opts, &none));
}

TEST(object_decompresses_sections)
{
	static const char *const ways[] = { "zlib", "zlib-gnu" };
	auto_fini(fixture) f = { 0 };
	CHECK_OK(fixture_init(&f));
	CHECK(fixture_write(&f, "program.c",
			    "#include <stdio.h>\nint main(void) { return puts(\"x\"); }\n"));
	CHECK(fixture_run(&f, "cc -g3 -gz=none program.c -o plain"));
	auto_(object) plain = NULL;
	CHECK_OK(fixture_open(&f, NULL, "plain", &plain));
	for (size_t i = 0; i < ARRAY_SIZE(ways); i++) {
		auto_fini(buf) command = { 0 };
		buf_printf(&command, "objcopy --compress-debug-sections=%s plain packed", ways[i]);
		CHECK(fixture_run(&f, buf_cstr(&command)));
		auto_(object) packed = NULL;
		CHECK_OK(fixture_open(&f, NULL, "packed", &packed));
		struct str expected, found;
		uint64_t vaddr;
		CHECK(object_section(plain, ".debug_macro", &expected, &vaddr));
		CHECK(object_section(packed, ".debug_macro", &found, &vaddr));
		CHECK(expected.len != 0 && str_eq(expected, found));
		CHECK(object_section(plain, ".debug_str", &expected, &vaddr));
		CHECK(object_section(packed, ".debug_str", &found, &vaddr));
		CHECK(str_eq(expected, found));
	}
}

TEST(object_build_id_is_that_of_readelf)
{
	static const char *const builds[] = { "sha1", "md5", "0x01020304", "none" };
	auto_fini(fixture) f = { 0 };
	CHECK_OK(fixture_init(&f));
	CHECK(fixture_write(&f, "program.c", "int main(void) { return 0; }\n"));
	for (size_t i = 0; i < ARRAY_SIZE(builds); i++) {
		auto_fini(buf) command = { 0 };
		auto_fini(buf) expected = { 0 };
		auto_fini(buf) found = { 0 };
		buf_printf(&command, "cc -Wl,--build-id=%s program.c -o program", builds[i]);
		CHECK(fixture_run(&f, buf_cstr(&command)));
		CHECK_OK(fixture_output(&f, &expected,
					"readelf -n program | sed -n 's/.*Build ID: //p'"));
		auto_(object) obj = NULL;
		CHECK_OK(fixture_open(&f, NULL, "program", &obj));
		struct str id = object_build_id(obj);
		for (size_t k = 0; k < id.len; k++)
			buf_printf(&found, "%02x", (unsigned char)id.ptr[k]);
		if (id.len != 0)
			buf_char(&found, '\n');
		CHECK(strcmp(buf_cstr(&expected), buf_cstr(&found)) == 0);
		CHECK(id.len != 0 || strcmp(builds[i], "none") == 0);
	}
}

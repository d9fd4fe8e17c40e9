// SPDX-License-Identifier: Apache-2.0
// Broken files through all questions: whatever the answer is, it must not read where it may not.
// (The sanitizers watch. Mutations at random are the fuzzer's part.)
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "tests/test.h"
#include "tests/unit/object/object_fixture.h"

static const char program[] =
	"static inline __attribute__((always_inline)) int leaf(int x) { return x * 3 + 1; }\n"
	"__attribute__((noinline)) int work(int n) { int s = 0; while (n--) s += leaf(n); return "
	"s; }\n"
	"void _start(void) { work(3); for (;;); }\n";

// In a block of exactly its size.
static void ask_everything(const char *bytes, size_t size)
{
	static const char *const names[] = { ".text", ".symtab", ".debug_info", ".eh_frame_hdr" };
	autofree char *copy = malloc(size ? size : 1);
	auto_(object) obj = NULL;
	if (!copy)
		return;
	memcpy(copy, bytes, size);
	auto_(error) err = object_open_memory((struct str){ copy, size }, "broken", &obj);
	if (err)
		return;
	struct str content;
	uint64_t vaddr;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		object_section(obj, names[i], &content, &vaddr);
	for (uint64_t offset = 0; offset < size; offset += 32) {
		struct symbol symbol;
		struct source_frame frames[4];
		object_symbol(obj, offset, &symbol);
		object_source_frames(obj, offset, true, frames, ARRAY_SIZE(frames));
		char code[8];
		object_read(obj, offset, code, sizeof(code));
	}
}

static bool make_image(const struct fixture *f, const char *options, struct buf *ret)
{
	auto_fini(buf) command = { 0 };
	auto_fini(buf) path = { 0 };
	buf_printf(&command,
		   "cc -O1 -g %s -nostdlib -static -Wl,-z,noseparate-code program.c -o program",
		   options);
	buf_printf(&path, "%s/program", f->directory);
	if (!fixture_write(f, "program.c", program) || !fixture_run(f, buf_cstr(&command)))
		return false;
	struct error *err = file_read(buf_cstr(&path), ret);
	error_free(err);
	return !err;
}

TEST(object_survives_truncation_anywhere)
{
	auto_fini(fixture) f = { 0 };
	CHECK_OK(fixture_init(&f));
	auto_fini(buf) image = { 0 };
	CHECK(make_image(&f, "", &image));
	for (size_t size = 0; size < image.len; size += 7)
		ask_everything(image.at, size);
}

TEST(object_survives_flipped_bits)
{
	static const char *const options[] = { "", "-gdwarf-4", "-gz" };
	auto_fini(fixture) f = { 0 };
	CHECK_OK(fixture_init(&f));
	for (size_t i = 0; i < ARRAY_SIZE(options); i++) {
		auto_fini(buf) image = { 0 };
		CHECK(make_image(&f, options[i], &image));
		// All bits of the headers, one of each other byte, or of some.
		for (size_t at = 0; at < image.len; at += at < 256 || i == 0 ? 1 : 3) {
			unsigned bits = at < 256 ? 8 : 1;
			for (unsigned bit = 0; bit < bits; bit++) {
				char mask = (char)(1 << (bits == 8 ? bit : at % 8));
				image.at[at] ^= mask;
				ask_everything(image.at, image.len);
				image.at[at] ^= mask;
			}
		}
	}
}

// A file that is being replaced by another while we have it open.
TEST(object_survives_a_file_that_shrinks)
{
	auto_fini(fixture) f = { 0 };
	CHECK_OK(fixture_init(&f));
	auto_fini(buf) image = { 0 };
	CHECK(make_image(&f, "", &image));
	auto_(object) obj = NULL;
	CHECK_OK(fixture_open(&f, NULL, "program", &obj));
	CHECK(fixture_run(&f, ": >program"));
	uint64_t vaddr;
	struct str content;
	struct symbol symbol;
	struct source_frame frame;
	CHECK(!object_section(obj, ".text", &content, &vaddr));
	for (uint64_t offset = 0; offset < image.len; offset += 16) {
		CHECK(!object_symbol(obj, offset, &symbol));
		CHECK(object_source_frames(obj, offset, true, &frame, 1) == 0);
		char code[8];
		CHECK(!object_read(obj, offset, code, sizeof(code)));
	}
}

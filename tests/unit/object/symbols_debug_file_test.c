// SPDX-License-Identifier: Apache-2.0
// Files whose symbols and debug information are somewhere else.
#include <string.h>

#include "base/clock.h"
#include "tests/test.h"
#include "tests/unit/object/object_fixture.h"

static const char program[] =
	"__attribute__((noinline)) static int hidden(int n) { return n * 3 + 1; }\n"
	"__attribute__((noinline)) int other(int n) { return hidden(n) + 1; }\n"
	"int main(int argc, char **argv) { (void)argv; return other(argc); }\n";

// Makes `program`, its `debug` file, and `stripped` with a link to program.debug.
static bool make_files(const struct fixture *f, const char *options)
{
	auto_fini(buf) command = { 0 };
	buf_printf(
		&command,
		"cc -g %s program.c -o program && objcopy --only-keep-debug program program.debug"
		" && strip program -o stripped"
		" && objcopy --add-gnu-debuglink=program.debug stripped"
		" && mv program.debug debug",
		options);
	return fixture_write(f, "program.c", program) && fixture_run(f, buf_cstr(&command));
}

static bool knows_hidden(const struct fixture *f, const char *root, const char *name)
{
	auto_(object) obj = NULL;
	auto_(error) err = fixture_open(f, root, name, &obj);
	uint64_t vaddr = fixture_address(f, "program", "hidden"), offset;
	struct source_frame frame;
	if (err || !object_offset(obj, vaddr + 1, &offset) ||
	    !str_eq(symbol_at(obj, vaddr + 1), STR("hidden")))
		return false;
	return object_debug_file(obj) && object_source_frames(obj, offset, true, &frame, 1) == 1 &&
	       strcmp(frame.name, "hidden") == 0 && frame.line == 1;
}

TEST(debug_file_is_found_by_build_id_in_the_process_root)
{
	auto_fini(fixture) f = { 0 };
	CHECK_OK(fixture_init(&f));
	CHECK(make_files(&f, "-Wl,--build-id"));
	CHECK(fixture_run(&f, "objcopy -R .gnu_debuglink stripped && mkdir -p root/bin"
			      " && cp stripped root/bin/program"));
	CHECK(!knows_hidden(&f, "root", "/bin/program"));
	CHECK(fixture_run(
		&f, "id=$(readelf -n program | sed -n 's/.*Build ID: //p')"
		    " && first=$(echo $id | cut -c1-2) && rest=$(echo $id | cut -c3-)"
		    " && mkdir -p root/usr/lib/debug/.build-id/$first root/store"
		    " && cp debug root/store/debug"
		    // An absolute link means the process's own root, not ours.
		    " && ln -s /store/debug root/usr/lib/debug/.build-id/$first/$rest.debug"));
	CHECK(knows_hidden(&f, "root", "/bin/program"));
}

TEST(debug_file_is_found_by_link)
{
	static const char *const places[] = { "root/bin", "root/bin/.debug",
					      "root/usr/lib/debug/bin" };
	auto_fini(fixture) f = { 0 };
	CHECK_OK(fixture_init(&f));
	// With a build id to compare, and without one the checksum decides.
	for (size_t i = 0; i < 2 * ARRAY_SIZE(places); i++) {
		auto_fini(buf) command = { 0 };
		buf_printf(&command,
			   "rm -rf root && mkdir -p root/bin %s && cp stripped root/bin/program"
			   " && cp debug %s/program.debug",
			   places[i / 2], places[i / 2]);
		CHECK(make_files(&f, i % 2 ? "-Wl,--build-id" : "-Wl,--build-id=none"));
		CHECK(fixture_run(&f, buf_cstr(&command)));
		CHECK(knows_hidden(&f, "root", "/bin/program"));
	}
}

TEST(debug_file_of_another_build_is_refused)
{
	auto_fini(fixture) f = { 0 };
	CHECK_OK(fixture_init(&f));
	CHECK(make_files(&f, "-Wl,--build-id=none"));
	CHECK(fixture_run(&f, "cp debug program.debug"));
	CHECK(knows_hidden(&f, NULL, "stripped"));
	CHECK(fixture_run(&f, "printf x >>program.debug"));
	CHECK(!knows_hidden(&f, NULL, "stripped"));

	CHECK(make_files(&f, "-Wl,--build-id"));
	CHECK(fixture_run(&f, "cp debug program.debug"));
	CHECK(knows_hidden(&f, NULL, "stripped"));
	CHECK(fixture_run(&f, "cc -g -O1 -Wl,--build-id program.c -o second"
			      " && objcopy --only-keep-debug second program.debug"));
	CHECK(!knows_hidden(&f, NULL, "stripped"));
}

TEST(debug_file_too_large_to_compute_its_checksum_is_refused)
{
	auto_fini(fixture) f = { 0 };
	CHECK_OK(fixture_init(&f));
	CHECK(make_files(&f, "-Wl,--build-id=none"));
	CHECK(fixture_run(&f, "cp debug program.debug && truncate -s 200G program.debug"));
	uint64_t start = clock_now();
	CHECK(!knows_hidden(&f, NULL, "stripped"));
	CHECK(clock_now() - start < 5 * NS_PER_SEC); // reading it would take minutes
	// With a build id to compare there is nothing to read.
	CHECK(make_files(&f, "-Wl,--build-id"));
	CHECK(fixture_run(&f, "cp debug program.debug && truncate -s 200G program.debug"));
	CHECK(knows_hidden(&f, NULL, "stripped"));
}

TEST(debug_file_that_is_no_file_is_ignored)
{
	auto_fini(fixture) f = { 0 };
	CHECK_OK(fixture_init(&f));
	CHECK(make_files(&f, "-Wl,--build-id"));
	CHECK(fixture_run(&f, "mkfifo program.debug")); // opening it must not wait for a writer
	CHECK(!knows_hidden(&f, NULL, "stripped"));
	CHECK(fixture_run(&f, "rm program.debug && ln -s stripped program.debug"));
	CHECK(!knows_hidden(&f, NULL, "stripped"));
	auto_(object) obj = NULL;
	CHECK_OK(fixture_open(&f, NULL, "stripped", &obj));
	CHECK(!object_debug_file(obj));
	CHECK(!object_debug_file(obj));
}

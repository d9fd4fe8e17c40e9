// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/file.h"
#include "base/map.h"
#include "base/str.h"
#include "base/vec.h"
#include "tests/test.h"

TEST(error_wrap_reads_as_one_sentence_and_keeps_the_hint)
{
	struct error *inner = error_hint(error_sys(EPERM, "open %s", "/x"), "be root");
	auto_(error) err = error_wrap(inner, "attach to pid %d", 42);
	CHECK(strcmp(err->message, "attach to pid 42: open /x: Operation not permitted") == 0);
	CHECK(err->code == ERROR_DENIED);
	CHECK(strcmp(err->hint, "be root") == 0);
}

TEST(str_split_walks_fields_and_ends_empty)
{
	struct str rest = STR("a b  c");
	CHECK(str_eq(str_split(&rest, ' '), STR("a")));
	CHECK(str_eq(str_split(&rest, ' '), STR("b")));
	CHECK(str_eq(str_split(&rest, ' '), STR("")));
	CHECK(str_eq(str_split(&rest, ' '), STR("c")));
	CHECK(rest.len == 0);
}

TEST(str_to_u64_refuses_what_is_not_wholly_a_number)
{
	uint64_t v = 7;
	CHECK(str_to_u64(STR("ffffffffffffffff"), 16, &v) && v == UINT64_MAX);
	CHECK(!str_to_u64(STR("10000000000000000"), 16, &v));
	CHECK(!str_to_u64(STR(""), 10, &v));
	CHECK(!str_to_u64(STR("12 "), 10, &v));
	CHECK(!str_to_u64(STR("-1"), 10, &v));
	CHECK(v == UINT64_MAX);
}

TEST(str_nearest_finds_a_typing_error_and_nothing_far_away)
{
	static const char *const words[] = { "folded", "html", "collapsed" };
	CHECK(str_nearest(STR("fodled"), words, 3) == words[0]);
	CHECK(str_nearest(STR("htm"), words, 3) == words[1]);
	CHECK(!str_nearest(STR("speedscope"), words, 3));
}

TEST(map_agrees_with_a_plain_array_under_random_puts_and_deletes)
{
	struct map m = { 0 };
	static uint64_t model[512];
	static bool present[512];
	unsigned seed = 1;
	bool same = true;
	for (int i = 0; i < 20000 && same; i++) {
		unsigned key = (unsigned)rand_r(&seed) % 512;
		if (rand_r(&seed) % 3 == 0) {
			same = map_delete(&m, key) == present[key];
			present[key] = false;
		} else {
			uint64_t *value = map_put(&m, key, NULL);
			*value = model[key] = (uint64_t)i + 1;
			present[key] = true;
		}
		unsigned probe = (unsigned)rand_r(&seed) % 512;
		uint64_t *got = map_get(&m, probe);
		same = same && (got ? present[probe] && *got == model[probe] : !present[probe]);
	}
	size_t seen = 0;
	for (struct map_slot *s = map_first(&m); s; s = map_next(&m, s))
		seen++;
	size_t count = m.count;
	map_fini(&m);
	CHECK(same);
	CHECK(seen == count);
}

TEST(vec_grows_and_sorts)
{
	VEC(int) v = { 0 };
	for (int i = 0; i < 100; i++)
		if (!vec_push(&v, i))
			break;
	size_t len = v.len;
	int last = *vec_last(&v);
	vec_fini(&v);
	CHECK(len == 100 && last == 99);
}

TEST(arena_hands_out_aligned_zeroed_memory_of_any_size)
{
	auto_fini(arena) a = { 0 };
	for (size_t size = 1; size < 300000; size = size * 3 + 1) {
		char *p = arena_alloc(&a, size);
		CHECK(p && (uintptr_t)p % 16 == 0 && p[0] == 0 && p[size - 1] == 0);
		memset(p, 0xff, size);
	}
	CHECK(strcmp(arena_copy(&a, STR("abc")), "abc") == 0);
	auto_fini(arena) empty = { 0 };
	CHECK(arena_alloc(&empty, 0));
}

TEST(buf_builds_text)
{
	auto_fini(buf) b = { 0 };
	buf_text(&b, "n=");
	buf_u64(&b, 18446744073709551615u);
	buf_printf(&b, " %s", "x");
	CHECK(strcmp(buf_cstr(&b), "n=18446744073709551615 x") == 0);
}

TEST(outfile_appears_only_when_committed_and_never_overwrites_unasked)
{
	char dir[] = "/tmp/wick-test-XXXXXX";
	CHECK(mkdtemp(dir));
	autofree char *path = NULL;
	CHECK(asprintf(&path, "%s/out", dir) > 0);
	struct outfile_opts opts = { .path = path };
	struct outfile *out = NULL;
	CHECK_OK(outfile_open(&opts, &out));
	fputs("one", outfile_stream(out));
	CHECK(access(path, F_OK) != 0);
	CHECK_OK(outfile_commit_consume(out));
	CHECK(access(path, F_OK) == 0);
	CHECK_ERROR(ERROR_EXISTS, outfile_open(&opts, &out));
	opts.overwrite = true;
	CHECK_OK(outfile_open(&opts, &out));
	fputs("two", outfile_stream(out));
	outfile_free(out); // abandoned
	auto_fini(buf) content = { 0 };
	CHECK_OK(file_read(path, &content));
	CHECK(str_eq(buf_view(&content), STR("one")));
	unlink(path);
	CHECK(rmdir(dir) == 0); // nothing else was left behind
}

TEST(outfile_says_when_the_disk_is_full)
{
	struct outfile *out = NULL;
	CHECK_OK(outfile_open(&(struct outfile_opts){ .path = "/dev/full", .overwrite = true },
			      &out));
	fputs("some text", outfile_stream(out));
	CHECK_ERROR(ERROR_FAILED, outfile_commit_consume(out));
}

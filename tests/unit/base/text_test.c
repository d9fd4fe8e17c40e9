// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/map.h"
#include "base/str.h"
#include "base/vec.h"
#include "tests/test.h"

TEST(str_views_are_cut_without_reading_outside)
{
	CHECK(str_eq(str_basename(STR("/usr/lib/libc.so.6")), STR("libc.so.6")));
	CHECK(str_eq(str_basename(STR("wick")), STR("wick")));
	CHECK(str_basename(STR("/")).len == 0);
	CHECK(str_eq(str_skip(STR("abc"), 9), STR("")));
	CHECK(str_eq(str_trim_start(STR(" \t a ")), STR("a ")));
	CHECK(str_starts(STR("abc"), STR("ab")) && !str_starts(STR("a"), STR("ab")));
	CHECK(str_ends(STR("abc"), STR("bc")) && !str_ends(STR("c"), STR("bc")));
	CHECK(str_from(NULL).len == 0);
}

TEST(str_split_of_text_without_the_separator_takes_all_of_it)
{
	struct str rest = STR("abc");
	CHECK(str_eq(str_split(&rest, ':'), STR("abc")));
	CHECK(rest.len == 0);
	CHECK(str_split(&rest, ':').len == 0);
}

TEST(str_to_u64_knows_its_base_and_its_limit)
{
	uint64_t v = 0;
	CHECK(str_to_u64(STR("18446744073709551615"), 10, &v) && v == UINT64_MAX);
	CHECK(!str_to_u64(STR("18446744073709551616"), 10, &v));
	CHECK(str_to_u64(STR("DeadBeef"), 16, &v) && v == 0xdeadbeef);
	CHECK(!str_to_u64(STR("8"), 8, &v));
	CHECK(!str_to_u64(STR("0x10"), 16, &v));
	CHECK(!str_to_u64(STR("a"), 10, &v));
}

TEST(str_nearest_has_nothing_for_an_empty_or_endless_word)
{
	static const char *const words[] = { "cpu", "folded" };
	CHECK(!str_nearest(STR(""), words, 2));
	CHECK(!str_nearest(STR("a word that is much longer than any of ours"), words, 2));
	CHECK(str_nearest(STR("cup"), words, 2) == NULL); // two letters off, of three
	CHECK(str_nearest(STR("cpuu"), words, 2) == words[0]);
}

TEST(buf_is_a_c_string_at_any_time)
{
	auto_fini(buf) b = { 0 };
	CHECK(strcmp(buf_cstr(&b), "") == 0);
	for (int i = 0; i < 1000; i++)
		buf_char(&b, 'x');
	CHECK(b.len == 1000 && strlen(buf_cstr(&b)) == 1000);
	buf_add(&b, NULL, 0);
	CHECK(b.len == 1000 && !b.failed);
	buf_u64(&b, 0);
	CHECK(str_ends(buf_view(&b), STR("x0")));
}

TEST(buf_remembers_that_it_could_not_grow)
{
	auto_fini(buf) b = { 0 };
	buf_text(&b, "before");
	b.failed = true;
	buf_text(&b, "after");
	CHECK(str_eq(buf_view(&b), STR("before")));
}

TEST(map_takes_any_key)
{
	struct map m = { 0 };
	bool fresh[3] = { 0 };
	CHECK(!map_get(&m, 0) && !map_delete(&m, 0) && !map_first(&m));
	uint64_t *zero = map_put(&m, 0, &fresh[0]);
	bool made = zero && *zero == 0;
	uint64_t *most = map_put(&m, UINT64_MAX, &fresh[1]);
	made = made && most && (*most = 7);
	uint64_t *again = map_put(&m, UINT64_MAX, &fresh[2]);
	bool same = again && *again == 7;
	map_clear(&m);
	bool cleared = m.count == 0 && !map_get(&m, 0) && !map_first(&m);
	map_fini(&m);
	CHECK(made && same && cleared);
	CHECK(fresh[0] && fresh[1] && !fresh[2]);
}

TEST(map_pair_keeps_both_halves)
{
	CHECK(map_pair(1, 2) == 0x100000002u);
	CHECK(map_pair(UINT32_MAX, UINT32_MAX) == UINT64_MAX);
}

static int descending(const void *a, const void *b)
{
	return *(const int *)b - *(const int *)a;
}

TEST(vec_sorts_and_walks_what_it_holds_and_nothing_when_empty)
{
	VEC(int) v = { 0 };
	vec_sort(&v, descending);
	int seen = 0, previous = 1000, ordered = 1;
	vec_each (item, &v)
		seen++;
	CHECK(seen == 0);
	for (int i = 0; i < 100; i++)
		if (!vec_push(&v, i * 37 % 101))
			break;
	vec_sort(&v, descending);
	vec_each (item, &v) {
		ordered = ordered && *item < previous;
		previous = *item;
		seen++;
	}
	vec_fini(&v);
	CHECK(seen == 100 && ordered);
	CHECK(!v.at && v.len == 0);
}

TEST(vec_refuses_a_size_that_overflows_and_stays_as_it_was)
{
	VEC(uint64_t) v = { 0 };
	CHECK(vec_push(&v, 5));
	bool grown = vec_reserve(&v, SIZE_MAX / 4) || vec_reserve(&v, SIZE_MAX);
	bool kept = v.len == 1 && v.at[0] == 5;
	vec_fini(&v);
	CHECK(!grown && kept);
}

TEST(arena_refuses_a_size_that_overflows)
{
	auto_fini(arena) a = { 0 };
	CHECK(!arena_alloc(&a, SIZE_MAX));
	CHECK(!arena_alloc(&a, SIZE_MAX - 16));
	char *text = arena_copy(&a, STR(""));
	CHECK(text && *text == '\0');
}

// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "base/clock.h"
#include "cli/record.h"
#include "cli/values.h"
#include "tests/test.h"

#define MS (NS_PER_SEC / 1000)

static uint64_t duration(const char *text)
{
	uint64_t ns = 0;
	error_free(parse_duration(text, &ns));
	return ns;
}

static uint64_t interval(const char *text)
{
	uint64_t ns = 0;
	error_free(parse_interval(text, &ns));
	return ns;
}

static uint64_t rate(const char *text)
{
	uint64_t nano_hz = 0;
	error_free(parse_rate(text, &nano_hz));
	return nano_hz;
}

TEST(durations_are_read_as_people_write_them)
{
	CHECK(duration("10") == 10 * NS_PER_SEC);
	CHECK(duration("10s") == 10 * NS_PER_SEC);
	CHECK(duration("1m30s") == 90 * NS_PER_SEC);
	CHECK(duration("2h") == 7200 * NS_PER_SEC);
	CHECK(duration("1h1m1s1ms") == 3661 * NS_PER_SEC + MS);
	CHECK(duration("500ms") == 500 * MS);
	CHECK(duration("0.5") == 500 * MS);
	CHECK(duration("1.5s") == 1500 * MS);
	CHECK(duration(".25m") == 15 * NS_PER_SEC);
	CHECK(duration("250us") == 250000);
	CHECK(duration("0.0000000001") == 0); // less than a nanosecond is nothing
}

TEST(durations_that_are_none_are_refused_and_leave_the_place_alone)
{
	static const char *const bad[] = {
		"",
		"0",
		"0s",
		"0m0s",
		"-1",
		"-1s",
		"s",
		"ten",
		"10x",
		"10 s",
		"1.2.3",
		".",
		"1s1m",
		"1s1s",
		"10s5",
		"5 ",
		" 5",
		"1e3",
		"0x10",
		"inf",
		"nan",
		"1h-1m",
		"18446744073709551616",
		"5124096h",
		"99999999999s",
	};
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		uint64_t ns = 7;
		struct error *err = parse_duration(bad[i], &ns);
		if (!err || err->code != ERROR_USAGE)
			test_fail(__FILE__, __LINE__, bad[i]);
		error_free(err);
		CHECK(ns == 7);
	}
}

TEST(intervals_need_a_unit)
{
	CHECK(interval("10ms") == 10 * MS);
	CHECK(interval("1s") == NS_PER_SEC);
	CHECK(interval("250us") == 250000);
	CHECK(interval("999ns") == 999);
	CHECK(interval("0.1ms") == 100000);
	CHECK(interval("10") == 0);
	CHECK(interval("0ms") == 0);
	CHECK(interval("-1ms") == 0);
	CHECK(interval("ms") == 0);
	CHECK(interval("2h") == 0);
}

TEST(rates_may_have_a_fraction_and_are_more_than_nothing)
{
	CHECK(rate("99") == 99 * NANO_HZ);
	CHECK(rate("0.5") == NANO_HZ / 2);
	CHECK(rate("1000000") == 1000000 * NANO_HZ);
	static const char *const bad[] = { "",
					   "0",
					   "0.0",
					   "-1",
					   "abc",
					   "99Hz",
					   "1k",
					   "1e3",
					   "99 ",
					   "+5",
					   "0x63",
					   "0.0000001",
					   "99999999999999999999" };
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		CHECK_ERROR(ERROR_USAGE, parse_rate(bad[i], &(uint64_t){ 0 }));
}

TEST(pids_come_in_lists_and_twice_is_once)
{
	pid_vec pids = { 0 };
	CHECK_OK(parse_pids("4711", &pids));
	CHECK_OK(parse_pids("4712,4711,4713", &pids));
	CHECK(pids.len == 3);
	CHECK(pids.at[0] == 4711 && pids.at[1] == 4712 && pids.at[2] == 4713);
	static const char *const bad[] = { "",
					   "0",
					   "-5",
					   "abc",
					   "1,",
					   ",1",
					   "1,,2",
					   "1 ",
					   "1.0",
					   "0x1",
					   "2147483648",
					   "18446744073709551617",
					   "99999999999999999999" };
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		CHECK_ERROR(ERROR_USAGE, parse_pids(bad[i], &pids));
	vec_fini(&pids);
}

TEST(a_count_may_be_nothing_but_not_text)
{
	struct count count = { 0 };
	CHECK_OK(parse_count("0", &count));
	CHECK(count.given && count.value == 0);
	CHECK_ERROR(ERROR_USAGE, parse_count("-1", &count));
	CHECK_ERROR(ERROR_USAGE, parse_count("x", &count));
	CHECK_ERROR(ERROR_USAGE, parse_count("4294967296", &count));
}

static const struct event sampled = { .name = "cpu", .default_period_ns = 10101010 };

static uint64_t period(struct record_options o, uint64_t max_rate)
{
	uint64_t ns = 0;
	struct error *err = record_period(&o, &sampled, max_rate, &ns);
	if (err && err->code != ERROR_USAGE)
		ns = 1;
	error_free(err);
	return ns;
}

TEST(the_period_follows_from_rate_or_interval_or_event)
{
	CHECK(period((struct record_options){ 0 }, 100000) == 10101010);
	CHECK(period((struct record_options){ .rate = 100 * NANO_HZ }, 100000) == 10 * MS);
	CHECK(period((struct record_options){ .rate = NANO_HZ / 2 }, 100000) == 2 * NS_PER_SEC);
	CHECK(period((struct record_options){ .interval_ns = 123456 }, 100000) == 123456);
}

TEST(a_rate_above_the_kernels_limit_is_refused_naming_the_sysctl)
{
	CHECK(period((struct record_options){ .rate = 30000 * NANO_HZ }, 30000) == 33333);
	CHECK(period((struct record_options){ .rate = 30000 * NANO_HZ + 1 }, 30000) == 0);
	CHECK(period((struct record_options){ .interval_ns = 10 * MS }, 100) == 10 * MS);
	CHECK(period((struct record_options){ .interval_ns = 10 * MS - 1 }, 100) == 0);
	CHECK(period((struct record_options){ .interval_ns = 33334 }, 30000) == 33334);
	CHECK(period((struct record_options){ .interval_ns = 33333 }, 30000) == 0);
	CHECK(period((struct record_options){ .rate = 5000 * NANO_HZ }, /* not known */ 0) ==
	      200000);
	struct record_options o = { .rate = 5000 * NANO_HZ };
	struct error *err = record_period(&o, &sampled, 1000, &(uint64_t){ 0 });
	CHECK(err);
	bool named = strstr(err->message, "kernel.perf_event_max_sample_rate") && err->hint &&
		     strstr(err->hint, "sysctl kernel.perf_event_max_sample_rate=5000");
	error_free(err);
	CHECK(named);
}

TEST(the_default_rate_gives_way_to_a_low_limit)
{
	CHECK(period((struct record_options){ 0 }, 50) == 20 * MS);
}

TEST(a_rate_and_an_interval_contradict_each_other)
{
	CHECK(period((struct record_options){ .rate = NANO_HZ, .interval_ns = NS_PER_SEC },
		     100000) == 0);
}

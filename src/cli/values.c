// SPDX-License-Identifier: Apache-2.0
#include "cli/values.h"

#include <limits.h>
#include <stdint.h>
#include <string.h>

#include "base/clock.h"
#include "base/str.h"
#include "target/proc.h"

#define LONGEST_PERIOD_NS (3600 * NS_PER_SEC)

// Takes a decimal number off *rest, in units of 1e-9. False if there is none or it overflows.
static bool take_decimal(struct str *rest, uint64_t *ret)
{
	uint64_t value = 0, scale = NS_PER_SEC;
	size_t digits = 0;
	bool fraction = false;
	for (; rest->len != 0; *rest = str_skip(*rest, 1)) {
		char c = *rest->ptr;
		if (c == '.' && !fraction) {
			fraction = true;
			continue;
		}
		if (c < '0' || c > '9')
			break;
		digits++;
		uint64_t digit = (uint64_t)(c - '0');
		if (!fraction) {
			if (__builtin_mul_overflow(value, 10, &value) ||
			    __builtin_add_overflow(value, digit * NS_PER_SEC, &value))
				return false;
		} else if (scale != 1) { // digits below 1e-9 do not matter
			scale /= 10;
			if (__builtin_add_overflow(value, digit * scale, &value))
				return false;
		}
	}
	*ret = value;
	return digits != 0;
}

struct unit {
	const char *name;
	uint64_t ns;
};

// Longest first: "1m30s" has to descend.
static const struct unit units[] = {
	{ "h", 3600 * NS_PER_SEC },  { "m", 60 * NS_PER_SEC }, { "s", NS_PER_SEC },
	{ "ms", NS_PER_SEC / 1000 }, { "us", 1000 },           { "ns", 1 },
};

static const struct unit *take_unit(struct str *rest)
{
	size_t len = 0;
	while (len < rest->len && rest->ptr[len] >= 'a' && rest->ptr[len] <= 'z')
		len++;
	for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
		if (!str_eq(str_from(units[i].name), (struct str){ rest->ptr, len }))
			continue;
		*rest = str_skip(*rest, len);
		return &units[i];
	}
	return NULL;
}

// A sum like 1m30s. A number without a unit is that many `bare` nanoseconds, if it stands alone;
// with `bare` 0 it must have a unit.
static bool parse_time(struct str text, uint64_t bare, uint64_t *ret)
{
	uint64_t sum = 0, shortest = UINT64_MAX;
	struct str rest = text;
	while (rest.len != 0) {
		uint64_t number, unit_ns;
		bool first = rest.ptr == text.ptr;
		if (!take_decimal(&rest, &number))
			return false;
		if (rest.len == 0 && first && bare != 0) {
			unit_ns = bare;
		} else {
			const struct unit *unit = take_unit(&rest);
			if (!unit || unit->ns >= shortest)
				return false;
			unit_ns = shortest = unit->ns;
		}
		unsigned __int128 ns = (unsigned __int128)number * unit_ns / NS_PER_SEC;
		if (ns > UINT64_MAX || __builtin_add_overflow(sum, (uint64_t)ns, &sum))
			return false;
	}
	*ret = sum;
	return text.len != 0;
}

static struct error *too_short(const char *what)
{
	return error_new(ERROR_USAGE, "%s must be more than 0", what);
}

struct error *parse_duration(const char *value, void *place)
{
	uint64_t ns;
	if (value[0] == '-')
		return too_short("a duration");
	if (!parse_time(str_from(value), NS_PER_SEC, &ns))
		return error_new(ERROR_USAGE, "not a duration; write it like 10, 10s, 1m30s, 500ms "
					      "or 2h");
	if (ns == 0)
		return too_short("a duration");
	*(uint64_t *)place = ns;
	return NULL;
}

struct error *parse_interval(const char *value, void *place)
{
	uint64_t ns;
	if (value[0] == '-')
		return too_short("an interval");
	if (!parse_time(str_from(value), /* bare= */ 0, &ns))
		return error_new(ERROR_USAGE, "not an interval; write a number and a unit (ns, us, "
					      "ms or s), like 10ms");
	if (ns == 0)
		return too_short("an interval");
	if (ns > LONGEST_PERIOD_NS)
		return error_new(ERROR_USAGE, "an interval is at most an hour");
	*(uint64_t *)place = ns;
	return NULL;
}

struct error *parse_rate(const char *value, void *place)
{
	struct str rest = str_from(value);
	uint64_t rate;
	if (value[0] == '-')
		return too_short("a rate");
	if (!take_decimal(&rest, &rate) || rest.len != 0)
		return error_new(ERROR_USAGE,
				 "not a rate; write samples a second as a number, like 99 or 0.5");
	if (rate == 0)
		return too_short("a rate");
	if (NS_PER_SEC * NANO_HZ / rate > LONGEST_PERIOD_NS)
		return error_new(ERROR_USAGE, "a rate is at least one sample an hour");
	*(uint64_t *)place = rate;
	return NULL;
}

static bool has_pid(const pid_vec *pids, pid_t pid)
{
	for (size_t i = 0; i < pids->len; i++)
		if (pids->at[i] == pid)
			return true;
	return false;
}

static struct error *parse_pid(struct str text, pid_t *ret)
{
	uint64_t number;
	if (text.len == 0 || strspn(text.ptr, "0123456789") < text.len)
		return error_new(
			ERROR_USAGE,
			"\"%.*s\" is not a process number; write it like 4711 or 4711,4712",
			STR_ARG(text));
	if (!str_to_u64(text, 10, &number) || number > INT_MAX)
		return error_new(ERROR_USAGE, "%.*s is too large for a process number",
				 STR_ARG(text));
	if (number == 0)
		return error_new(ERROR_USAGE, "there is no process 0");
	*ret = (pid_t)number;
	return NULL;
}

struct error *parse_pids(const char *value, void *place)
{
	pid_vec *pids = place;
	struct str rest = str_from(value);
	bool more = true;
	while (more) {
		more = rest.len != 0 && memchr(rest.ptr, ',', rest.len);
		pid_t pid;
		struct error *err = parse_pid(str_split(&rest, ','), &pid);
		if (err)
			return err;
		if (!has_pid(pids, pid) && !vec_push(pids, pid))
			return &error_no_memory;
	}
	return NULL;
}

struct error *parse_count(const char *value, void *place)
{
	uint64_t number;
	if (!str_to_u64(str_from(value), 10, &number) || number > 1000000)
		return error_new(ERROR_USAGE, "not a number from 0 to 1000000");
	*(struct count *)place = (struct count){ .given = true, .value = (unsigned)number };
	return NULL;
}

struct error *parse_text(const char *value, void *place)
{
	if (*value == '\0')
		return error_new(ERROR_USAGE, "the value is empty");
	const char **text = place;
	if (*text)
		return error_hint(error_new(ERROR_USAGE, "it was given before, as %s", *text),
				  "give it once");
	*text = value;
	return NULL;
}

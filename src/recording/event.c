// SPDX-License-Identifier: Apache-2.0
#include "recording/event.h"

#include "base/buf.h"

const struct event events[] = {
	{ .name = "cpu",
	  .unit = "samples",
	  .summary = "time on a CPU, in the kernel and outside",
	  .default_period_ns = 10101010 }, // 99 Hz: not in step with what runs every 10 ms
};
const size_t event_count = ARRAY_SIZE(events);

struct error *event_by_name(struct str name, const struct event **ret)
{
	const char *names[ARRAY_SIZE(events)];
	auto_fini(buf) known = { 0 };
	for (size_t i = 0; i < event_count; i++) {
		if (str_eq(name, str_from(events[i].name))) {
			*ret = &events[i];
			return NULL;
		}
		names[i] = events[i].name;
		buf_printf(&known, "%s%s", i ? ", " : "", names[i]);
	}
	const char *nearest = str_nearest(name, names, event_count);
	struct error *err = error_new(ERROR_USAGE, "there is no event '%.*s'", STR_ARG(name));
	return nearest ? error_hint(err, "did you mean %s?", nearest)
		       : error_hint(err, "known events: %s", buf_cstr(&known));
}

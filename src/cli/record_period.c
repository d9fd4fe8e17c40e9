// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"
#include "cli/record.h"

static struct error *above_limit(uint64_t hz, uint64_t max_rate)
{
	return error_hint(error_new(ERROR_USAGE,
				    "%llu samples a second is above this kernel's limit of %llu "
				    "(kernel.perf_event_max_sample_rate)",
				    (unsigned long long)hz, (unsigned long long)max_rate),
			  "sudo sysctl kernel.perf_event_max_sample_rate=%llu",
			  (unsigned long long)hz);
}

// Rounded up: what is asked of the kernel must cover it.
static uint64_t rounded_up(uint64_t part, uint64_t unit)
{
	return part / unit + (part % unit != 0);
}

struct error *record_period(const struct record_options *o, const struct event *event,
			    uint64_t max_rate, uint64_t *ret)
{
	uint64_t limit = max_rate != 0 && max_rate < NS_PER_SEC ? max_rate : NS_PER_SEC;
	uint64_t shortest_ns = rounded_up(NS_PER_SEC, limit);
	if (o->rate != 0 && o->interval_ns != 0)
		return error_hint(error_new(ERROR_USAGE, "-F and -i both say how often; use one"),
				  "-i 10ms is the same as -F 100");
	if (o->rate != 0) {
		uint64_t hz = rounded_up(o->rate, NANO_HZ);
		if (hz > limit)
			return above_limit(hz, limit);
		*ret = NS_PER_SEC * NANO_HZ / o->rate;
	} else if (o->interval_ns != 0) {
		uint64_t hz = rounded_up(NS_PER_SEC, o->interval_ns);
		if (o->interval_ns < shortest_ns)
			return above_limit(hz, limit);
		*ret = o->interval_ns;
	} else {
		*ret = event->default_period_ns;
		if (*ret < shortest_ns)
			*ret = shortest_ns;
	}
	return NULL;
}

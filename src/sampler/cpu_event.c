// SPDX-License-Identifier: Apache-2.0
#include "sampler/cpu_event.h"

#include "base/clock.h"

void cpu_event_attr(struct perf_event_attr *attr, uint64_t period_ns, bool hardware)
{
	attr->size = sizeof(*attr);
	attr->exclude_idle = 1;
	attr->exclude_hv = 1;
	attr->disabled = 1;
	if (hardware && period_ns <= NS_PER_SEC) {
		attr->type = PERF_TYPE_HARDWARE;
		attr->config = PERF_COUNT_HW_CPU_CYCLES;
		attr->freq = 1;
		attr->sample_freq = NS_PER_SEC / period_ns;
	} else {
		attr->type = PERF_TYPE_SOFTWARE;
		attr->config = PERF_COUNT_SW_CPU_CLOCK;
		attr->sample_period = period_ns;
	}
}

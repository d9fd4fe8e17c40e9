// SPDX-License-Identifier: Apache-2.0
// The event that ticks with CPU time: hardware cycles where there are any, else the CPU clock.
#pragma once

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>

// Fills in type, config and rate.
void cpu_event_attr(struct perf_event_attr *attr, uint64_t period_ns, bool hardware);

// SPDX-License-Identifier: Apache-2.0
// The sampling events of engine perf: one a CPU for the whole machine, or one a thread and CPU,
// which hand themselves down to the threads and processes born later. All of a CPU share a ring.
#pragma once

#include "base/map.h"
#include "base/vec.h"
#include "sampler/cpus.h"
#include "sampler/perf_ring.h"
#include "sampler/perf_sample.h"
#include "sampler/sampler.h"

struct perf_events {
	struct perf_sample_shape shape;
	VEC(struct perf_ring) rings; // one a CPU, of the first event there
	VEC(int) others; // descriptors of the other events, which write into those rings
	uint64_t lost;
	// While they are opened:
	bool opening;
	struct perf_event_attr attr;
	cpu_vec cpus;
	size_t ring_bytes;
	struct map covered; // threads that have events: opened, or born to one that had
};

// They tick at once. What processes do meanwhile goes into *side.
struct error *perf_events_open(const struct sampler_opts *opts, struct side_queue *side,
			       struct perf_events *ret) must_check;
void perf_events_fini(struct perf_events *e);
// Looks at the rings: what processes did goes into *side, samples stay where they are.
void perf_events_read_side(struct perf_events *e, struct side_queue *side);
// The same, but samples are given up.
void perf_events_forget_samples(struct perf_events *e, struct side_queue *side);
struct error *perf_events_stop(struct perf_events *e) must_check;

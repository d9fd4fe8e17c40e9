// SPDX-License-Identifier: Apache-2.0
// The ring buffer of a perf event, and the records in it.
#pragma once

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/vec.h"
#include "sampler/sampler.h"

struct perf_ring {
	int fd;                            // owned
	struct perf_event_mmap_page *meta; // owned mapping; the data follow
	size_t data_size;
	uint64_t head; // up to where the last look found records
	char *copy;    // of a record that wraps around the end
};

int perf_event_open(struct perf_event_attr *attr, pid_t pid, int cpu, int group,
		    unsigned long flags);

// Lets events tick, or stops them.
struct error *perf_events_switch(const int *fds, size_t count, bool on) must_check;

// Takes fd, also on failure. Halves the size as long as the kernel refuses it for want of
// lockable memory.
struct error *perf_ring_open_consume_fd(int fd, size_t data_size, struct perf_ring *ret) must_check;
void perf_ring_fini(struct perf_ring *r);

// Notes what there is now: perf_ring_each() goes over it, as often as one likes, and
// perf_ring_release() gives the space back.
void perf_ring_look(struct perf_ring *r);
void perf_ring_each(struct perf_ring *r,
		    void (*on_record)(void *ctx, const struct perf_event_header *record),
		    void *ctx);
void perf_ring_release(struct perf_ring *r);

// What a record says about a process. False for samples, for what is of no interest and for
// records that end early. Events must be opened with side_attr()'s sample_type and sample_id_all.
bool side_event_parse(const struct perf_event_header *record, uint64_t sample_type,
		      struct side_event *ret);
// Sets the fields of an event that ask for fork, exec, mmap and exit records.
void side_attr(struct perf_event_attr *attr);
#define SIDE_SAMPLE_TYPE (PERF_SAMPLE_TID | PERF_SAMPLE_TIME)

// Events of all CPUs, to be delivered in the order in which they happened. {0} is an empty one.
struct side_queue {
	VEC(struct side_event) events;
	struct arena texts;
};
void side_queue_fini(struct side_queue *q);
void side_queue_add(struct side_queue *q, const struct perf_event_header *record,
		    uint64_t sample_type);
void side_queue_deliver(struct side_queue *q, const struct sampler_hooks *hooks);

// SPDX-License-Identifier: Apache-2.0
#include "sampler/side.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>

#include "base/vec.h"
#include "sampler/cpus.h"

#define SIDE_RING_BYTES ((size_t)512 << 10)

struct side {
	VEC(struct perf_ring) rings;
	struct side_queue queue;
};

struct error *side_open(struct side **ret)
{
	auto_(side) s = calloc(1, sizeof(*s));
	cpu_vec cpus = { 0 };
	if (!s)
		return &error_no_memory;
	struct error *err = cpus_online(&cpus);
	vec_each (cpu, &cpus) {
		if (err)
			break;
		struct perf_event_attr attr = { .size = sizeof(attr),
						.type = PERF_TYPE_SOFTWARE,
						.config = PERF_COUNT_SW_DUMMY,
						.sample_type = SIDE_SAMPLE_TYPE,
						.exclude_kernel = 1,
						.watermark = 1,
						.wakeup_watermark = 1 };
		side_attr(&attr);
		int fd = perf_event_open(&attr, /* pid= */ -1, *cpu, /* group= */ -1, 0);
		struct perf_ring ring = { .fd = -1 };
		if (fd < 0 && errno == ENODEV)
			continue; // went offline meanwhile
		err = fd < 0 ? error_sys(errno, "open the events of processes")
			     : perf_ring_open_consume_fd(fd, SIDE_RING_BYTES, &ring);
		if (!err && !vec_push(&s->rings, ring)) {
			perf_ring_fini(&ring);
			err = &error_no_memory;
		}
	}
	vec_fini(&cpus);
	if (err)
		return err;
	*ret = take(s);
	return NULL;
}

void side_free(struct side *s)
{
	if (!s)
		return;
	vec_each (ring, &s->rings)
		perf_ring_fini(ring);
	vec_fini(&s->rings);
	side_queue_fini(&s->queue);
	free(s);
}

struct error *side_watch(struct side *s, int epoll_fd)
{
	vec_each (ring, &s->rings) {
		struct epoll_event event = { .events = EPOLLIN };
		if (epoll_ctl(epoll_fd, EPOLL_CTL_ADD, ring->fd, &event) != 0)
			return error_sys(errno, "watch the events of processes");
	}
	return NULL;
}

static void on_record(void *ctx, const struct perf_event_header *record)
{
	struct side *s = ctx;
	side_queue_add(&s->queue, record, SIDE_SAMPLE_TYPE);
}

void side_drain(struct side *s, const struct sampler_hooks *hooks)
{
	vec_each (ring, &s->rings) {
		perf_ring_look(ring);
		perf_ring_each(ring, on_record, s);
		perf_ring_release(ring);
	}
	side_queue_deliver(&s->queue, hooks);
}

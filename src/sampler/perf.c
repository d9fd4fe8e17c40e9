// SPDX-License-Identifier: Apache-2.0
// Engine perf: sampling events of the kernel alone, with the user's registers and a copy of the top
// of the stack in every sample; the walk happens in user space. Needs no BPF and, for processes of
// our own, no privilege.
#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>

#include "sampler/perf_events.h"
#include "sampler/perf_sample.h"
#include "sampler/sampler.h"

struct perf_sampler {
	struct sampler base;
	struct sampler_hooks hooks;
	struct perf_events events;
	struct side_queue side;
	int epoll_fd;
};

static struct perf_sampler *of(struct sampler *s)
{
	return (struct perf_sampler *)s;
}

static void perf_free(struct sampler *s)
{
	struct perf_sampler *p = of(s);
	perf_events_fini(&p->events);
	side_queue_fini(&p->side);
	if (p->epoll_fd >= 0)
		close(p->epoll_fd);
	free(p);
}

static struct error *perf_open(const struct sampler_opts *opts, struct sampler **ret)
{
	struct perf_sampler *p = calloc(1, sizeof(*p));
	if (!p)
		return &error_no_memory;
	p->base.ops = &sampler_perf;
	p->hooks = opts->hooks;
	p->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	auto_(sampler) guard = &p->base;
	if (p->epoll_fd < 0)
		return error_sys(errno, "epoll");
	struct error *err = perf_events_open(opts, &p->side, &p->events);
	if (err)
		return err;
	vec_each (ring, &p->events.rings) {
		struct epoll_event event = { .events = EPOLLIN, .data.fd = ring->fd };
		if (epoll_ctl(p->epoll_fd, EPOLL_CTL_ADD, ring->fd, &event) != 0)
			return error_sys(errno, "watch a perf event");
	}
	*ret = take(guard);
	return NULL;
}

static struct error *perf_start(struct sampler *s)
{
	// The events tick since they were opened; the samples of until now are of no interest.
	perf_events_forget_samples(&of(s)->events, &of(s)->side);
	return NULL;
}

static struct error *perf_stop(struct sampler *s)
{
	return perf_events_stop(&of(s)->events);
}

static void on_sample_record(void *ctx, const struct perf_event_header *record)
{
	struct perf_sampler *p = ctx;
	struct perf_sample sample;
	if (record->type == PERF_RECORD_SAMPLE &&
	    perf_sample_parse(record, &p->events.shape, &sample))
		p->hooks.on_sample(p->hooks.ctx, &sample.raw);
}

static struct error *perf_poll(struct sampler *s, int timeout_ms)
{
	struct perf_sampler *p = of(s);
	struct epoll_event event = { 0 };
	if (epoll_wait(p->epoll_fd, &event, 1, timeout_ms) < 0 && errno != EINTR)
		return error_sys(errno, "wait for samples");
	// The event of a task that is gone hangs up for ever. Its ring is still looked at.
	if (event.events & EPOLLHUP)
		epoll_ctl(p->epoll_fd, EPOLL_CTL_DEL, event.data.fd, NULL);
	perf_events_read_side(&p->events, &p->side);
	side_queue_deliver(&p->side, &p->hooks);
	vec_each (ring, &p->events.rings) {
		perf_ring_each(ring, on_sample_record, p);
		perf_ring_release(ring);
	}
	return NULL;
}

static uint64_t perf_lost(const struct sampler *s)
{
	return ((const struct perf_sampler *)s)->events.lost;
}

const struct sampler_ops sampler_perf = {
	.name = "perf",
	.open = perf_open,
	.start = perf_start,
	.stop = perf_stop,
	.poll = perf_poll,
	.lost = perf_lost,
	.free = perf_free,
};

// SPDX-License-Identifier: Apache-2.0
// Engine perf: sampling events of the kernel alone, with the user's registers and a copy of the top
// of the stack in every sample; the walk happens in user space. Needs no BPF and, for processes of
// our own, no privilege.
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>

#include "base/vec.h"
#include "sampler/cpu_event.h"
#include "sampler/cpus.h"
#include "sampler/perf_ring.h"
#include "sampler/perf_sample.h"
#include "sampler/probe.h"
#include "sampler/sampler.h"
#include "target/proc.h"

// Copied at every sample, so not more than most stacks need; a record may not exceed 64 KiB.
#define STACK_COPY_BYTES (32u << 10)
#define RING_BYTES_EACH ((size_t)4 << 20)
#define RING_BYTES_ALL ((size_t)64 << 20)

struct perf_sampler {
	struct sampler base;
	struct sampler_hooks hooks;
	struct perf_sample_shape shape;
	VEC(struct perf_ring) rings; // one a CPU, of the first event there
	VEC(int) events;             // all the others, which write into those rings
	struct side_queue side;
	uint64_t lost;
	int epoll_fd;
};

static struct perf_sampler *of(struct sampler *s)
{
	return (struct perf_sampler *)s;
}

static void set_attr(struct perf_event_attr *attr, const struct sampler_opts *opts,
		     struct perf_sample_shape *shape, bool hardware)
{
	cpu_event_attr(attr, opts->period_ns, hardware);
	side_attr(attr);
	// Without the right to, time in the kernel is not sampled at all; with it, leaving out the
	// kernel's frames leaves its time with the function that called it.
	attr->exclude_kernel = !probe_kernel_frames();
	attr->exclude_callchain_user = 1;
	attr->inherit = !opts->whole_machine;
	attr->inherit_thread = !opts->whole_machine && !opts->children;
	attr->watermark = 1;
	attr->wakeup_watermark = RING_BYTES_EACH / 4;
	shape->sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU |
			     PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER |
			     (opts->kernel ? PERF_SAMPLE_CALLCHAIN : 0);
	attr->sample_type = shape->sample_type;
	attr->sample_regs_user = ARCH_PERF_REGS_MASK;
	attr->sample_stack_user = STACK_COPY_BYTES;
}

// The first event of a CPU gets the ring, later ones write into it.
static struct error *add_event(struct perf_sampler *p, size_t slot, size_t ring_bytes, int consumed)
{
	autoclose int fd = consumed;
	if (slot >= p->rings.len) {
		struct perf_ring ring = { .fd = -1 };
		struct error *err = perf_ring_open_consume_fd(take_fd(fd), ring_bytes, &ring);
		if (!err && !vec_push(&p->rings, ring)) {
			perf_ring_fini(&ring);
			err = &error_no_memory;
		}
		return err;
	}
	if (ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, p->rings.at[slot].fd) != 0)
		return error_sys(errno, "share a ring buffer between perf events");
	if (!vec_push(&p->events, fd))
		return &error_no_memory;
	take_fd(fd);
	return NULL;
}

static struct error *open_failed(int errnum, pid_t tid)
{
	struct error *err = error_sys(errnum, "sample thread %d", tid);
	if (errnum == EACCES || errnum == EPERM)
		return error_hint(
			err, "it belongs to another user: run as root, or give wick CAP_PERFMON");
	if (errnum == EMFILE)
		return error_hint(err, "too many open files: raise the limit with ulimit -n");
	return err;
}

// One event a thread and CPU: only such events may hand themselves down to children and still share
// a ring buffer.
static struct error *open_task(struct perf_sampler *p, struct perf_event_attr *attr, pid_t tid,
			       const cpu_vec *cpus, size_t ring_bytes)
{
	size_t slot = 0;
	for (size_t i = 0; i < cpus->len; i++) {
		int cpu = cpus->at[i];
		int fd = perf_event_open(attr, tid, cpu, /* group= */ -1, 0);
		if (fd < 0 && errno == EINVAL && attr->inherit_thread) {
			// Before 5.13 it is children and all, or nothing.
			attr->inherit_thread = 0;
			attr->inherit = 0;
			fd = perf_event_open(attr, tid, cpu, /* group= */ -1, 0);
		}
		if (fd < 0 && errno == ENODEV)
			continue;
		if (fd < 0 && errno == ESRCH)
			return NULL; // this thread ended meanwhile
		if (fd < 0)
			return open_failed(errno, tid);
		struct error *err = add_event(p, slot++, ring_bytes, fd);
		if (err)
			return err;
	}
	return NULL;
}

static struct error *open_process(struct perf_sampler *p, struct perf_event_attr *attr, pid_t pid,
				  const cpu_vec *cpus, size_t ring_bytes)
{
	pid_vec threads = { 0 };
	struct error *err = proc_threads(pid, &threads);
	for (size_t i = 0; i < threads.len && !err; i++)
		err = open_task(p, attr, threads.at[i], cpus, ring_bytes);
	vec_fini(&threads);
	if (err && err->code == ERROR_GONE) {
		error_free(err);
		return NULL;
	}
	return err;
}

static struct error *open_events(struct perf_sampler *p, const struct sampler_opts *opts)
{
	struct perf_event_attr attr = { 0 };
	cpu_vec cpus = { 0 };
	set_attr(&attr, opts, &p->shape, probe_hardware_cycles());
	struct error *err = cpus_online(&cpus);
	if (err)
		return err;
	size_t ring_bytes = RING_BYTES_EACH;
	while (ring_bytes * cpus.len > RING_BYTES_ALL && ring_bytes > ((size_t)256 << 10))
		ring_bytes /= 2;
	attr.wakeup_watermark = (uint32_t)(ring_bytes / 4);
	if (opts->whole_machine) {
		size_t slot = 0;
		vec_each (cpu, &cpus) {
			int fd = perf_event_open(&attr, /* pid= */ -1, *cpu, /* group= */ -1, 0);
			if (fd < 0 && errno == ENODEV)
				continue;
			err = fd < 0 ? error_sys(errno, "sample CPU %d", *cpu)
				     : add_event(p, slot++, ring_bytes, fd);
			if (err)
				break;
		}
	}
	for (size_t i = 0; i < opts->pid_count && !err; i++)
		err = open_process(p, &attr, opts->pids[i], &cpus, ring_bytes);
	vec_fini(&cpus);
	if (!err && p->rings.len == 0)
		err = error_new(ERROR_GONE, "the process has exited");
	return err;
}

static void perf_free(struct sampler *s)
{
	struct perf_sampler *p = of(s);
	vec_each (fd, &p->events)
		close(*fd);
	vec_fini(&p->events);
	vec_each (ring, &p->rings)
		perf_ring_fini(ring);
	vec_fini(&p->rings);
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
	struct error *err = open_events(p, opts);
	if (err)
		return err;
	vec_each (ring, &p->rings) {
		struct epoll_event event = { .events = EPOLLIN, .data.fd = ring->fd };
		if (epoll_ctl(p->epoll_fd, EPOLL_CTL_ADD, ring->fd, &event) != 0)
			return error_sys(errno, "watch a perf event");
	}
	*ret = take(guard);
	return NULL;
}

static struct error *switch_all(struct perf_sampler *p, bool on)
{
	struct error *err = NULL;
	vec_each (ring, &p->rings)
		if (!err)
			err = perf_events_switch(&ring->fd, 1, on);
	return err ? err : perf_events_switch(p->events.at, p->events.len, on);
}

static struct error *perf_start(struct sampler *s)
{
	return switch_all(of(s), /* on= */ true);
}

static struct error *perf_stop(struct sampler *s)
{
	return switch_all(of(s), /* on= */ false);
}

static void on_side_record(void *ctx, const struct perf_event_header *record)
{
	struct perf_sampler *p = ctx;
	if (record->type != PERF_RECORD_SAMPLE)
		side_queue_add(&p->side, record, p->shape.sample_type);
	if (record->type == PERF_RECORD_LOST && record->size >= sizeof(*record) + 16) {
		uint64_t lost;
		memcpy(&lost, (const char *)record + sizeof(*record) + 8, sizeof(lost));
		p->lost += lost;
	}
}

static void on_sample_record(void *ctx, const struct perf_event_header *record)
{
	struct perf_sampler *p = ctx;
	struct perf_sample sample;
	if (record->type == PERF_RECORD_SAMPLE && perf_sample_parse(record, &p->shape, &sample))
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
	vec_each (ring, &p->rings) {
		perf_ring_look(ring);
		perf_ring_each(ring, on_side_record, p);
	}
	side_queue_deliver(&p->side, &p->hooks);
	vec_each (ring, &p->rings) {
		perf_ring_each(ring, on_sample_record, p);
		perf_ring_release(ring);
	}
	return NULL;
}

static uint64_t perf_lost(const struct sampler *s)
{
	return ((const struct perf_sampler *)s)->lost;
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

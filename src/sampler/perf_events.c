// SPDX-License-Identifier: Apache-2.0
#include "sampler/perf_events.h"

#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>

#include "sampler/cpu_event.h"
#include "sampler/family.h"
#include "sampler/probe.h"
#include "target/proc.h"

// Copied at every sample. The kernel takes off what does not fit into a record of 64 KiB.
#define STACK_COPY_BYTES 65528u
#define RING_BYTES_EACH ((size_t)8 << 20)
#define RING_BYTES_ALL ((size_t)64 << 20)
#define RING_BYTES_LEAST ((size_t)256 << 10)

static void set_attr(struct perf_events *e, const struct sampler_opts *opts)
{
	struct perf_event_attr *attr = &e->attr;
	cpu_event_attr(attr, opts->period_ns, probe_hardware_cycles());
	side_attr(attr);
	// Without the right to, time in the kernel is not sampled at all; with it, leaving out the
	// kernel's frames leaves its time with the function that called it.
	attr->exclude_kernel = !probe_kernel_frames();
	attr->exclude_callchain_user = 1;
	attr->inherit = !opts->whole_machine;
	attr->inherit_thread = !opts->whole_machine && !opts->children;
	e->ring_bytes = RING_BYTES_EACH;
	while (e->ring_bytes * e->cpus.len > RING_BYTES_ALL && e->ring_bytes > RING_BYTES_LEAST)
		e->ring_bytes /= 2;
	attr->watermark = 1;
	attr->wakeup_watermark = (uint32_t)(e->ring_bytes / 4);
	e->shape.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU |
			       PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER |
			       (opts->kernel ? PERF_SAMPLE_CALLCHAIN : 0);
	attr->sample_type = e->shape.sample_type;
	attr->sample_regs_user = ARCH_PERF_REGS_MASK;
	attr->sample_stack_user = STACK_COPY_BYTES;
}

// The first event of a CPU gets the ring, later ones write into it. Only then may it tick: what it
// tells before that would be lost.
static struct error *add_event(struct perf_events *e, size_t slot, int consumed)
{
	autoclose int fd = consumed;
	if (slot >= e->rings.len) {
		struct perf_ring ring = { .fd = -1 };
		struct error *err = perf_ring_open_consume_fd(take_fd(fd), e->ring_bytes, &ring);
		if (err)
			return err;
		if (!vec_push(&e->rings, ring)) {
			perf_ring_fini(&ring);
			return &error_no_memory;
		}
		return perf_events_switch(&ring.fd, 1, /* on= */ true);
	}
	if (ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, e->rings.at[slot].fd) != 0)
		return error_sys(errno, "share a ring buffer between perf events");
	struct error *err = perf_events_switch(&fd, 1, /* on= */ true);
	if (err)
		return err;
	if (!vec_push(&e->others, fd))
		return &error_no_memory;
	take_fd(fd);
	return NULL;
}

static struct error *open_failed(int errnum, pid_t tid)
{
	struct error *err = tid == -1 ? error_sys(errnum, "sample every CPU")
				      : error_sys(errnum, "sample thread %d", tid);
	if (errnum == EACCES || errnum == EPERM)
		return error_hint(
			err, "it belongs to another user: run as root, or give wick CAP_PERFMON");
	if (errnum == EMFILE)
		return error_hint(err, "too many open files: raise the limit with ulimit -n");
	return err;
}

// Events of a thread (-1: of all) on every CPU.
static struct error *open_task(struct perf_events *e, pid_t tid)
{
	size_t slot = 0;
	vec_each (cpu, &e->cpus) {
		int fd = perf_event_open(&e->attr, tid, *cpu, /* group= */ -1, 0);
		if (fd < 0 && errno == EINVAL && e->attr.inherit_thread) {
			// Before 5.13 it is children and all, or nothing.
			e->attr.inherit_thread = 0;
			e->attr.inherit = 0;
			fd = perf_event_open(&e->attr, tid, *cpu, /* group= */ -1, 0);
		}
		if (fd < 0 && errno == ENODEV)
			continue; // this CPU went offline meanwhile
		if (fd < 0 && errno == ESRCH)
			return NULL; // this thread ended meanwhile
		if (fd < 0)
			return open_failed(errno, tid);
		struct error *err = add_event(e, slot++, fd);
		if (err)
			return err;
	}
	return NULL;
}

struct opening {
	struct perf_events *events;
	struct side_queue *side;
};

static struct error *open_threads(struct opening *o, const pid_vec *threads, bool *ret_opened)
{
	struct perf_events *e = o->events;
	// Whoever was born to a covered thread before the list of threads was made is told of by
	// now.
	perf_events_forget_samples(e, o->side);
	for (size_t i = 0; i < threads->len; i++) {
		bool fresh;
		if (!map_put(&e->covered, (uint64_t)threads->at[i], &fresh))
			return &error_no_memory;
		struct error *err = fresh ? open_task(e, threads->at[i]) : NULL;
		if (err)
			return err;
		*ret_opened |= fresh;
	}
	return NULL;
}

// Until a look at its threads finds no new one.
static struct error *open_process(void *ctx, pid_t pid)
{
	for (bool opened = true; opened;) {
		pid_vec threads = { 0 };
		opened = false;
		struct error *err = proc_threads(pid, &threads);
		if (!err)
			err = open_threads(ctx, &threads, &opened);
		vec_fini(&threads);
		if (err && err->code == ERROR_GONE) {
			error_free(err);
			return NULL;
		}
		if (err)
			return err;
	}
	return NULL;
}

struct error *perf_events_open(const struct sampler_opts *opts, struct side_queue *side,
			       struct perf_events *e)
{
	struct opening opening = { e, side };
	struct error *err = cpus_online(&e->cpus);
	if (err)
		return err;
	set_attr(e, opts);
	e->opening = true;
	err = opts->whole_machine ? open_task(e, /* tid= */ -1)
				  : family_find(opts, open_process, &opening);
	e->opening = false;
	map_fini(&e->covered);
	if (!err && e->rings.len == 0)
		err = error_new(ERROR_GONE, "the process has exited");
	return err;
}

void perf_events_fini(struct perf_events *e)
{
	vec_each (fd, &e->others)
		close(*fd);
	vec_fini(&e->others);
	vec_each (ring, &e->rings)
		perf_ring_fini(ring);
	vec_fini(&e->rings);
	vec_fini(&e->cpus);
	map_fini(&e->covered);
}

static void on_record(void *ctx, const struct perf_event_header *record)
{
	struct opening *o = ctx;
	struct side_event event;
	if (record->type == PERF_RECORD_SAMPLE)
		return;
	side_queue_add(o->side, record, o->events->shape.sample_type);
	if (o->events->opening && side_event_parse(record, o->events->shape.sample_type, &event) &&
	    event.kind == SIDE_FORK)
		(void)map_put(&o->events->covered, (uint64_t)event.tid, NULL);
	if (record->type == PERF_RECORD_LOST && record->size >= sizeof(*record) + 16) {
		uint64_t lost;
		memcpy(&lost, (const char *)record + sizeof(*record) + 8, sizeof(lost));
		o->events->lost += lost;
	}
}

void perf_events_read_side(struct perf_events *e, struct side_queue *side)
{
	struct opening o = { e, side };
	vec_each (ring, &e->rings) {
		perf_ring_look(ring);
		perf_ring_each(ring, on_record, &o);
	}
}

void perf_events_forget_samples(struct perf_events *e, struct side_queue *side)
{
	perf_events_read_side(e, side);
	vec_each (ring, &e->rings)
		perf_ring_release(ring);
}

struct error *perf_events_stop(struct perf_events *e)
{
	struct error *err = NULL;
	vec_each (ring, &e->rings)
		if (!err)
			err = perf_events_switch(&ring->fd, 1, /* on= */ false);
	return err ? err : perf_events_switch(e->others.at, e->others.len, /* on= */ false);
}

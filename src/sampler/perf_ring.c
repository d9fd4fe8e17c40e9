// SPDX-License-Identifier: Apache-2.0
#include "sampler/perf_ring.h"

#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <time.h>

int perf_event_open(struct perf_event_attr *attr, pid_t pid, int cpu, int group,
		    unsigned long flags)
{
	return (int)syscall(SYS_perf_event_open, attr, pid, cpu, group,
			    flags | PERF_FLAG_FD_CLOEXEC);
}

struct error *perf_events_switch(const int *fds, size_t count, bool on)
{
	unsigned long request = on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE;
	for (size_t i = 0; i < count; i++)
		if (ioctl(fds[i], request, 0) != 0)
			return error_sys(errno, "%s sampling", on ? "start" : "stop");
	return NULL;
}

struct error *perf_ring_open_consume_fd(int consumed, size_t data_size, struct perf_ring *ret)
{
	autoclose int fd = consumed;
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	for (; data_size >= 8 * page; data_size /= 2) {
		void *base =
			mmap(NULL, page + data_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		if (base == MAP_FAILED && (errno == EPERM || errno == ENOMEM))
			continue;
		if (base == MAP_FAILED)
			return error_sys(errno, "map the ring buffer of a perf event");
		*ret = (struct perf_ring){ .fd = take_fd(fd),
					   .meta = base,
					   .data_size = data_size };
		ret->copy = malloc(UINT16_MAX + 1);
		if (!ret->copy) {
			perf_ring_fini(ret);
			return &error_no_memory;
		}
		return NULL;
	}
	return error_hint(
		error_new(ERROR_DENIED, "not enough lockable memory for a perf ring buffer"),
		"raise it with: sysctl kernel.perf_event_mlock_kb=2048");
}

void perf_ring_fini(struct perf_ring *r)
{
	if (!r->meta)
		return;
	munmap(r->meta, (size_t)sysconf(_SC_PAGESIZE) + r->data_size);
	close(r->fd);
	free(r->copy);
	*r = (struct perf_ring){ .fd = -1 };
}

void perf_ring_look(struct perf_ring *r)
{
	r->head = __atomic_load_n(&r->meta->data_head, __ATOMIC_ACQUIRE);
}

void perf_ring_each(struct perf_ring *r,
		    void (*on_record)(void *ctx, const struct perf_event_header *record), void *ctx)
{
	const char *data = (const char *)r->meta + sysconf(_SC_PAGESIZE);
	uint64_t mask = r->data_size - 1;
	for (uint64_t at = r->meta->data_tail; at < r->head;) {
		const struct perf_event_header *record = (const void *)(data + (at & mask));
		size_t size =
			record->size; // headers never wrap: records are multiples of eight bytes
		if (size < sizeof(*record))
			return;
		size_t first = r->data_size - (at & mask);
		if (size > first) {
			memcpy(r->copy, record, first);
			memcpy(r->copy + first, data, size - first);
			record = (const void *)r->copy;
		}
		on_record(ctx, record);
		at += size;
	}
}

void perf_ring_release(struct perf_ring *r)
{
	__atomic_store_n(&r->meta->data_tail, r->head, __ATOMIC_RELEASE);
}

void side_attr(struct perf_event_attr *attr)
{
	attr->mmap = 1; // of executable memory
	attr->mmap2 = 1;
	attr->comm = 1;
	attr->comm_exec = 1;
	attr->task = 1;
	attr->sample_id_all = 1;
	attr->use_clockid = 1;
	attr->clockid = CLOCK_MONOTONIC;
}

// The time at the end of every record that is not a sample (sample_id_all): fields are appended in
// a fixed order, of which we may ask for TID, TIME, ID, STREAM_ID, CPU.
static bool trailer_time(const struct perf_event_header *record, uint64_t sample_type,
			 uint64_t *ret)
{
	size_t after = 0;
	after += sample_type & PERF_SAMPLE_ID ? 8 : 0;
	after += sample_type & PERF_SAMPLE_STREAM_ID ? 8 : 0;
	after += sample_type & PERF_SAMPLE_CPU ? 8 : 0;
	after += sample_type & PERF_SAMPLE_IDENTIFIER ? 8 : 0;
	if (record->size < sizeof(*record) + after + 8)
		return false;
	memcpy(ret, (const char *)record + record->size - after - 8, 8);
	return true;
}

struct mmap2_record {
	struct perf_event_header header;
	uint32_t pid, tid;
	uint64_t addr, len, pgoff;
	uint32_t maj, min;
	uint64_t ino, ino_generation;
	uint32_t prot, flags;
	char filename[];
};

struct comm_record {
	struct perf_event_header header;
	uint32_t pid, tid;
	char comm[];
};

struct task_record {
	struct perf_event_header header;
	uint32_t pid, ppid, tid, ptid;
	uint64_t time;
};

static struct str text_at(const struct perf_event_header *record, size_t offset)
{
	const char *text = (const char *)record + offset;
	return (struct str){ text, strnlen(text, record->size - offset) };
}

bool side_event_parse(const struct perf_event_header *record, uint64_t sample_type,
		      struct side_event *ret)
{
	struct side_event e = { 0 };
	if (!trailer_time(record, sample_type, &e.time))
		return false;
	if (record->type == PERF_RECORD_MMAP2 && record->size > sizeof(struct mmap2_record)) {
		const struct mmap2_record *m = (const void *)record;
		e.kind = SIDE_MMAP;
		e.pid = (pid_t)m->pid;
		e.tid = (pid_t)m->tid;
		e.start = m->addr;
		e.end = m->addr + m->len;
		e.offset = m->pgoff;
		e.dev = makedev(m->maj, m->min);
		e.ino = m->ino;
		e.text = text_at(record, sizeof(*m));
	} else if (record->type == PERF_RECORD_COMM && record->size > sizeof(struct comm_record)) {
		const struct comm_record *c = (const void *)record;
		e.kind = record->misc & PERF_RECORD_MISC_COMM_EXEC ? SIDE_EXEC : SIDE_COMM;
		e.pid = (pid_t)c->pid;
		e.tid = (pid_t)c->tid;
		e.text = text_at(record, sizeof(*c));
	} else if ((record->type == PERF_RECORD_FORK || record->type == PERF_RECORD_EXIT) &&
		   record->size >= sizeof(struct task_record)) {
		const struct task_record *t = (const void *)record;
		e.kind = record->type == PERF_RECORD_FORK ? SIDE_FORK : SIDE_EXIT;
		e.pid = (pid_t)t->pid;
		e.tid = (pid_t)t->tid;
		e.parent = (pid_t)t->ppid;
	} else if (record->type == PERF_RECORD_LOST) {
		e.kind = SIDE_LOST;
	} else {
		return false;
	}
	*ret = e;
	return true;
}

void side_queue_fini(struct side_queue *q)
{
	vec_fini(&q->events);
	arena_fini(&q->texts);
}

void side_queue_add(struct side_queue *q, const struct perf_event_header *record,
		    uint64_t sample_type)
{
	struct side_event e;
	if (!side_event_parse(record, sample_type, &e))
		return;
	char *text = arena_copy(&q->texts, e.text);
	if (!text)
		return;
	e.text.ptr = text;
	if (!vec_push(&q->events, e))
		return; // as good as lost: a process's mappings are read again when they are missed
}

static int by_time(const void *a, const void *b)
{
	const struct side_event *x = a, *y = b;
	return x->time < y->time ? -1 : x->time > y->time;
}

void side_queue_deliver(struct side_queue *q, const struct sampler_hooks *hooks)
{
	vec_sort(&q->events, by_time);
	vec_each (event, &q->events)
		hooks->on_side(hooks->ctx, event);
	vec_clear(&q->events);
	arena_fini(&q->texts);
}

// SPDX-License-Identifier: Apache-2.0
// Two sources tell what a process has mapped: events, each with its time, and /proc, which shows
// how it is now. Events are read out of buffers and come late, so /proc may be ahead of them:
//
//   ──── event, event ────┤ /proc was read ├──── event, event ───→ time
//
// What an event tells of a time before the reading is in the reading already, or has been replaced
// since; it may add to the past but must not undo the present.
#include "target/process.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/map.h"
#include "target/mappings.h"
#include "target/names.h"
#include "target/proc.h"

#define REFRESH_NS (10 * NS_PER_SEC / 1000)
// An event's time can be taken a little before its effect shows in /proc.
#define EFFECT_NS (NS_PER_SEC / 1000)
// A sample's time can lie a little outside of its process's life: exiting takes time.
#define LIFE_SLACK_NS (NS_PER_SEC / 10)

struct record {
	struct process process; // first: process_refresh() is given this
	struct record *older;   // had the same pid before
	uint64_t read_at;       // when /proc/PID/maps was last read; 0 for never
	uint64_t tried_at;      // when that was last tried
	uint64_t exec_at;
};

struct processes {
	struct files *files;
	struct map by_pid; // → the newest struct record
};

struct error *processes_new(struct files *files, struct processes **ret)
{
	struct processes *ps = calloc(1, sizeof(*ps));
	if (!ps)
		return &error_no_memory;
	ps->files = files;
	*ret = ps;
	return NULL;
}

static void record_free(struct record *r)
{
	if (!r)
		return;
	vec_fini(&r->process.live);
	vec_fini(&r->process.past);
	vec_fini(&r->process.names);
	free(r);
}
GUARD_FREE(record)

static struct record *slot_record(const struct map_slot *slot)
{
	return (struct record *)(uintptr_t)slot->value;
}

void processes_free(struct processes *ps)
{
	if (!ps)
		return;
	for (struct map_slot *s = map_first(&ps->by_pid); s; s = map_next(&ps->by_pid, s)) {
		for (struct record *r = slot_record(s), *older; r; r = older) {
			older = r->older;
			record_free(r);
		}
	}
	map_fini(&ps->by_pid);
	free(ps);
}

static struct record *newest(const struct processes *ps, pid_t pid)
{
	const uint64_t *value = map_get(&ps->by_pid, (uint64_t)pid);
	return value ? (struct record *)(uintptr_t)*value : NULL;
}

// Makes it the newest of its pid; whoever had the pid before is dead by then.
static struct process *insert_consume(struct processes *ps, struct record *consumed)
{
	auto_(record) r = consumed;
	uint64_t *place = map_put(&ps->by_pid, (uint64_t)r->process.pid, /* ret_new= */ NULL);
	if (!place)
		return NULL;
	r->older = (struct record *)(uintptr_t)*place;
	if (r->older) {
		struct process *before = &r->older->process;
		if (before->died == MAPPING_ALIVE)
			before->died = r->process.born;
		r->process.born = MAX(r->process.born, before->died);
	}
	*place = (uintptr_t)r;
	return &take(r)->process;
}

static struct record *record_new(pid_t pid, uint64_t born)
{
	struct record *r = calloc(1, sizeof(*r));
	if (r) {
		r->process.pid = pid;
		r->process.born = born;
		r->process.died = MAPPING_ALIVE;
	}
	return r;
}

static struct error *parse_maps(struct files *files, pid_t pid, struct str text, mapping_vec *ret)
{
	struct maps_line line;
	while (maps_next(&text, &line)) {
		// A list that was read while it changed can show a place twice.
		if (!line.executable || (ret->len != 0 && line.start < vec_last(ret)->end))
			continue;
		struct mapping m = { .start = line.start,
				     .end = line.end,
				     .offset = line.offset,
				     .died = MAPPING_ALIVE };
		struct file_sighting seen = { .dev = line.dev,
					      .ino = line.ino,
					      .path = line.path,
					      .pid = pid,
					      .start = line.start,
					      .end = line.end };
		struct error *err = files_intern(files, &seen, &m.file);
		if (err)
			return err;
		if (!vec_push(ret, m))
			return &error_no_memory;
	}
	return NULL;
}

// When the main thread has ended, only the other threads still show what is mapped.
static struct error *read_maps_text(pid_t pid, struct buf *ret)
{
	char path[64];
	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	struct error *err = file_read(path, ret);
	if (err || ret->len != 0)
		return err;
	pid_vec threads = { 0 };
	err = proc_threads(pid, &threads);
	vec_each (tid, &threads) {
		if (err || ret->len != 0)
			break;
		buf_fini(ret);
		snprintf(path, sizeof(path), "/proc/%d/task/%d/maps", pid, *tid);
		err = file_read(path, ret);
	}
	vec_fini(&threads);
	return err;
}

// Makes what /proc shows now the present. An empty list changes nothing: that is how an exiting
// process looks.
static struct error *read_maps(struct processes *ps, struct record *r, bool *ret_changed)
{
	uint64_t now = clock_now();
	r->tried_at = now;
	auto_fini(buf) text = { 0 };
	struct error *err = read_maps_text(r->process.pid, &text);
	if (err)
		return err;
	mapping_vec list = { 0 };
	bool changed = false;
	err = parse_maps(ps->files, r->process.pid, buf_view(&text), &list);
	if (!err && list.len != 0) {
		uint64_t since = MAX(r->process.born, r->exec_at);
		err = mappings_replace(&r->process, &list, since, now, &changed);
		r->process.as_of = MAX(r->process.as_of, now);
		r->read_at = now;
	}
	vec_fini(&list);
	*ret_changed = changed;
	return err;
}

// A process that may not be looked into is known all the same, by its name.
static struct process *learn(struct processes *ps, pid_t pid)
{
	struct proc_status status;
	auto_(error) err = proc_status_read(pid, &status);
	if (err)
		return NULL;
	struct record *r = newest(ps, pid);
	// The main thread has ended, the others go on.
	if (r && status.state == 'Z' && status.threads > 1) {
		r->process.died = MAPPING_ALIVE;
		return &r->process;
	}
	auto_(record) fresh = record_new(pid, /* born= */ 0);
	if (!fresh)
		return NULL;
	fresh->process.parent = status.parent;
	// Whatever events tell of the time before this reading, this is its name now.
	process_rename(&fresh->process, str_from(status.comm), /* since= */ 0);
	process_rename(&fresh->process, str_from(status.comm), clock_now());
	bool changed;
	auto_(error) maps_err = read_maps(ps, fresh, &changed);
	if (maps_err && maps_err->code != ERROR_DENIED)
		return NULL;
	return insert_consume(ps, take(fresh));
}

// How far a time is from a process's life; 0 inside.
static uint64_t distance(const struct process *p, uint64_t time)
{
	if (time < p->born)
		return p->born - time;
	return time >= p->died ? time - p->died : 0;
}

struct process *processes_find(struct processes *ps, pid_t pid, uint64_t time)
{
	struct record *first = newest(ps, pid), *best = first;
	for (struct record *r = first; r; r = r->older)
		if (distance(&r->process, time) < distance(&best->process, time))
			best = r;
	if (best && distance(&best->process, time) <= LIFE_SLACK_NS)
		return &best->process;
	// What lived before or between those we know of is gone.
	if (first && time < first->process.died)
		return NULL;
	return learn(ps, pid);
}

bool process_refresh(struct processes *ps, struct process *p)
{
	struct record *r = (struct record *)p;
	if (p->died != MAPPING_ALIVE || clock_now() - r->tried_at < REFRESH_NS)
		return false;
	bool changed = false;
	auto_(error) err = read_maps(ps, r, &changed);
	if (err || !changed)
		return false;
	// An exec that was not told of gave it another name.
	struct proc_status status;
	auto_(error) status_err = proc_status_read(p->pid, &status);
	if (!status_err && strcmp(p->comm, status.comm) != 0)
		process_rename(p, str_from(status.comm), clock_now());
	return true;
}

// The process an event is about: found, or made of what the event tells because it is gone already.
static struct record *for_event(struct processes *ps, pid_t pid, uint64_t time)
{
	struct process *p = processes_find(ps, pid, time);
	if (!p) {
		struct record *r = record_new(pid, time);
		p = r ? insert_consume(ps, r) : NULL;
	}
	return (struct record *)p;
}

// /proc was read when the effect of an event of this time was visible.
static bool was_read_after(const struct record *r, uint64_t time)
{
	return r->read_at > time && r->read_at - time > EFFECT_NS;
}

// What a new process has from its parent.
static struct error *inherit(struct processes *ps, struct record *child, pid_t parent,
			     uint64_t time)
{
	child->process.parent = parent;
	const struct process *from = processes_find(ps, parent, time);
	if (!from)
		return NULL;
	process_rename(&child->process, str_from(process_comm(from, time)), time);
	child->process.as_of = time;
	return mappings_inherit(&child->process, from, time);
}

// A fork that is told of after what the child did next: what it inherited lies below that.
static struct error *inherit_late(struct processes *ps, struct record *child, pid_t parent,
				  uint64_t time)
{
	struct process *p = &child->process;
	auto_(record) before = record_new(p->pid, time);
	if (!before)
		return &error_no_memory;
	struct error *err = inherit(ps, before, parent, time);
	for (size_t i = 0; i < p->past.len && !err; i++)
		err = mappings_add_past(&before->process, &p->past.at[i]);
	for (size_t i = 0; i < p->live.len && !err; i++)
		err = mappings_add(&before->process, &p->live.at[i]);
	if (err)
		return err;
	// The old lists are freed with `before`.
	mapping_vec live = p->live, past = p->past;
	p->live = before->process.live;
	p->past = before->process.past;
	before->process.live = live;
	before->process.past = past;
	process_rename(p, str_from(before->process.comm), time);
	p->generation++;
	return NULL;
}

struct error *processes_on_fork(struct processes *ps, pid_t parent, pid_t child, uint64_t time)
{
	struct record *known = newest(ps, child);
	if (known && known->process.died == MAPPING_ALIVE) {
		struct process *p = &known->process;
		bool late = p->born > time && p->born - time <= LIFE_SLACK_NS;
		// After an exec, or a look at /proc, what it inherited does not matter any more.
		if (late && known->exec_at == 0 && known->read_at == 0) {
			struct error *err = inherit_late(ps, known, parent, time);
			if (err)
				return err;
		}
		if (late || p->born == time || known->read_at > time) {
			p->parent = parent;
			p->born = late ? time : MAX(p->born, time);
			return NULL;
		}
	}
	auto_(record) r = record_new(child, time);
	struct error *err = r ? inherit(ps, r, parent, time) : &error_no_memory;
	if (err)
		return err;
	return insert_consume(ps, take(r)) ? NULL : &error_no_memory;
}

struct error *processes_on_exec(struct processes *ps, pid_t pid, struct str comm, uint64_t time)
{
	struct record *r = for_event(ps, pid, time);
	if (!r)
		return &error_no_memory;
	r->exec_at = MAX(r->exec_at, time);
	process_rename(&r->process, comm, time);
	r->process.as_of = MAX(r->process.as_of, time);
	if (was_read_after(r, time)) {
		vec_each (m, &r->process.live)
			m->born = MAX(m->born, time);
		return NULL;
	}
	return mappings_end_all(&r->process, time);
}

void processes_on_comm(struct processes *ps, pid_t pid, struct str comm, uint64_t time)
{
	struct record *r = for_event(ps, pid, time);
	if (r)
		process_rename(&r->process, comm, time);
}

struct error *processes_on_mmap(struct processes *ps, pid_t pid, const struct mapping *m)
{
	struct record *r = for_event(ps, pid, m->born);
	if (!r)
		return &error_no_memory;
	struct process *p = &r->process;
	p->as_of = MAX(p->as_of, m->born);
	if (was_read_after(r, m->born) && mappings_overlap(p, m->start, m->end) &&
	    !mappings_know(p, m)) {
		struct mapping replaced = *m;
		replaced.died = r->read_at;
		return mappings_add_past(p, &replaced);
	}
	return mappings_add(p, m);
}

void processes_on_exit(struct processes *ps, pid_t pid, uint64_t time)
{
	for (struct record *r = newest(ps, pid); r; r = r->older) {
		if (r->process.died == MAPPING_ALIVE && r->process.born <= time)
			r->process.died = time;
	}
}

// Frees the dead of one pid; the newest that is left, or NULL.
static struct record *expire_chain(struct record *r, uint64_t before)
{
	struct record *kept = NULL, **last = &kept;
	for (struct record *older; r; r = older) {
		older = r->older;
		// Its exit was lost, or told before its fork.
		if (r->process.died == MAPPING_ALIVE && kill(r->process.pid, 0) != 0 &&
		    errno == ESRCH)
			r->process.died = clock_now();
		if (r->process.died < before) {
			record_free(r);
			continue;
		}
		mappings_expire(&r->process, before);
		names_expire(&r->process, before);
		r->older = NULL;
		*last = r;
		last = &r->older;
	}
	return kept;
}

void processes_expire(struct processes *ps, uint64_t before)
{
	VEC(uint64_t) gone = { 0 };
	for (struct map_slot *s = map_first(&ps->by_pid); s; s = map_next(&ps->by_pid, s)) {
		struct record *kept = expire_chain(slot_record(s), before);
		s->value = (uintptr_t)kept;
		// Without memory for the list the empty entry just stays.
		if (!kept && !vec_push(&gone, s->key))
			break;
	}
	vec_each (pid, &gone)
		map_delete(&ps->by_pid, *pid);
	vec_fini(&gone);
}

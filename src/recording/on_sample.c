// SPDX-License-Identifier: Apache-2.0
// The way of a sample: finish the walk if the kernel could not, turn addresses into locations, keep
// the stack.
#include <stdio.h>
#include <string.h>

#include "recording/session.h"
#include "target/proc.h"

static struct str comm_of(const char *comm)
{
	return (struct str){ comm, strnlen(comm, WIRE_COMM_SIZE) };
}

static uint32_t root_frame(struct session *s, enum frame_kind kind, struct str name)
{
	struct frame f = { .name = profile_string(s->profile, name), .kind = kind };
	uint32_t frame = f.name == PROFILE_NONE ? PROFILE_NONE : profile_frame(s->profile, &f);
	return frame == PROFILE_NONE ? 0 : collection_frame(&s->collection, frame);
}

// The name of a thread other than the first, of which engine perf does not tell: /proc does while
// it lives. A string of the profile.
static uint32_t other_thread_name(struct session *s, const struct raw_sample *raw,
				  const char *fallback)
{
	bool fresh;
	uint64_t key = map_pair((uint32_t)raw->pid, (uint32_t)raw->tid);
	uint64_t *slot = map_put(&s->threads, key, &fresh);
	if (slot && !fresh)
		return (uint32_t)*slot;
	struct proc_status status;
	auto_(error) err = proc_status_read(raw->tid, &status);
	uint32_t name = profile_string(s->profile, comm_of(err ? fallback : status.comm));
	if (slot)
		*slot = name;
	return name;
}

// Which thread of which process, by the names they had then; PROFILE_NONE when there is no memory.
static uint32_t find_thread(struct session *s, const struct raw_sample *raw,
			    const struct process *p)
{
	bool first = raw->pid == raw->tid;
	const char *process = p ? process_comm(p, raw->time) : "";
	// The first thread's name is the process's, and the sample tells it best.
	if (raw->comm && (first || !p))
		process = raw->comm;
	struct thread t = { .pid = (uint32_t)raw->pid,
			    .tid = (uint32_t)raw->tid,
			    .process = profile_string(s->profile, comm_of(process)) };
	if (first)
		t.name = t.process;
	else if (raw->comm)
		t.name = profile_string(s->profile, comm_of(raw->comm));
	else
		t.name = other_thread_name(s, raw, process);
	if (t.name == PROFILE_NONE || t.process == PROFILE_NONE)
		return PROFILE_NONE;
	return profile_thread(s->profile, &t);
}

static uint32_t user_location(struct session *s, const struct raw_sample *raw, struct process *p,
			      uint64_t address)
{
	const struct mapping *m = p ? process_mapping(p, address, raw->time) : NULL;
	if (!m)
		return collection_generated(&s->collection, raw->pid, address, /* base= */ 0);
	// Generated code lies in memory without a file, or in one that exists only for it.
	bool generated = m->file == FILE_ANONYMOUS ||
			 (str_starts(str_from(files_path(s->files, m->file)), STR("/memfd:")) &&
			  !session_object(s, m->file));
	if (generated)
		return collection_generated(&s->collection, raw->pid, address, m->start);
	return collection_file(&s->collection, m->file, address - m->start + m->offset);
}

// What the kernel could not walk. s->frames holds the finished stack afterwards.
static enum walk_end finish_walk(struct session *s, const struct raw_sample *raw, struct process *p,
				 size_t *count)
{
	if (raw->end < WALK_FINAL_COUNT)
		return raw->end;
	if (!p) {
		// Gone, and nothing was ever learnt of it: the address is all there is.
		s->frames[(*count)++] = raw->state->pc;
		return WALK_BAD_PC;
	}
	session_publish(s, p);
	struct unwind_input in = {
		.process = p, .time = raw->time, .state = raw->state, .stack = raw->stack
	};
	return unwinder_walk(s->unwinder, &in, s->frames, count, MAX_FRAMES);
}

// How many of the frames that the kernel walked can be believed. Where a library was replaced by
// another a moment ago, the kernel may have walked code by the rows of what was there before: what
// it took for such a frame's caller means nothing.
static size_t believable(const struct raw_sample *raw, const struct process *p, size_t count)
{
	for (size_t i = 0; p && i < count; i++) {
		const struct mapping *m = process_mapping(p, raw->user[i], raw->time);
		if (m && m->born > raw->as_of)
			return i + 1;
	}
	return count;
}

static uint32_t push(struct session *s, uint32_t stack, uint32_t location)
{
	if (stack == STACK_NONE || location == 0)
		return STACK_NONE;
	return stacks_push(&s->collection.stacks, stack, location);
}

static uint32_t push_roots(struct session *s, uint32_t thread, bool truncated)
{
	const struct profile *p = s->profile;
	const struct thread *t = &p->threads.at[thread];
	uint32_t stack =
		push(s, STACK_EMPTY, root_frame(s, FRAME_PROCESS, profile_text(p, t->process)));
	if (s->opts->threads) {
		char name[64];
		snprintf(name, sizeof(name), "%.*s (%u)", STR_ARG(profile_text(p, t->name)),
			 t->tid);
		stack = push(s, stack, root_frame(s, FRAME_THREAD, str_from(name)));
	}
	if (truncated)
		stack = push(s, stack, root_frame(s, FRAME_MARK, STR("[truncated]")));
	return stack;
}

void session_on_sample(void *ctx, const struct raw_sample *raw)
{
	struct session *s = ctx;
	struct process *p = processes_find(s->processes, raw->pid, raw->time);
	size_t count = MIN(raw->user_count, (size_t)MAX_FRAMES - 1);
	if (count != 0)
		memcpy(s->frames, raw->user, count * sizeof(*raw->user));
	size_t believed = believable(raw, p, count);
	bool truncated = believed < count;
	count = believed;
	if (!truncated && !raw->kernel_task)
		truncated = finish_walk(s, raw, p, &count) >= WALK_COMPLETE_COUNT;

	uint32_t thread = find_thread(s, raw, p);
	uint32_t stack = thread == PROFILE_NONE ? STACK_NONE : push_roots(s, thread, truncated);
	for (size_t i = count; i != 0; i--)
		stack = push(s, stack, user_location(s, raw, p, s->frames[i - 1]));
	for (size_t i = raw->kernel_count; i != 0; i--) {
		uint64_t address = raw->kernel[i - 1] - (i > 1 ? 1 : 0);
		stack = push(s, stack, collection_kernel(&s->collection, address));
	}
	struct collected_sample sample = { .stack = stack, .thread = thread, .time = raw->time };
	if (stack == STACK_NONE || !vec_push(&s->collection.samples, sample)) {
		s->undelivered++;
		return;
	}
	s->profile->info.truncated += truncated;
}

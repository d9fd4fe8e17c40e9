// SPDX-License-Identifier: Apache-2.0
// Where samples come from. An engine is a struct sampler_ops; both deliver the same two things
// through callbacks: samples, and what processes did meanwhile (fork, exec, mmap, exit). Of what
// one poll delivers, all that processes did comes first.
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "base/str.h"
#include "wire/sample.h"

// Borrowed until the callback returns.
struct raw_sample {
	uint64_t time; // CLOCK_MONOTONIC
	pid_t pid, tid;
	uint32_t cpu;
	const char *comm; // the thread's name, at most 15 letters; NULL if the engine does not tell
	bool kernel_task; // it has no user frames
	const wu64 *kernel; // innermost first; callers by their return addresses
	size_t kernel_count;
	uint64_t
		as_of; // mappings made later than this were not known to who walked the user frames
	const wu64 *user; // those walked already, innermost first; callers by the call's address
	size_t user_count;
	enum walk_end end; // why the walk stopped there; WALK_NEED_*: it is to be finished:
	const struct walk_state *state; // from this frame on
	struct str stack; // with this copy of the stack from its stack pointer upwards
};

enum side_kind {
	SIDE_FORK,
	SIDE_EXEC, // text: the new name
	SIDE_COMM, // text: the thread's new name
	SIDE_MMAP, // text: the file's path
	SIDE_EXIT, // of the thread
	SIDE_LOST, // some of these were lost
};

struct side_event {
	enum side_kind kind;
	uint64_t time;
	pid_t pid, tid;
	pid_t parent;                          // SIDE_FORK: pid of the parent process
	uint64_t start, end, offset, dev, ino; // SIDE_MMAP
	struct str text;
};

struct sampler_hooks {
	// While the sampler is opened: a process that will be sampled, the targets themselves and
	// (with `children`) every descendant they have by now. Later ones are told of as SIDE_FORK.
	void (*on_target)(void *ctx, pid_t pid);
	void (*on_sample)(void *ctx, const struct raw_sample *sample);
	void (*on_side)(void *ctx, const struct side_event *event);
	void *ctx;
};

struct sampler_opts {
	const pid_t *pids; // the targets themselves
	size_t pid_count;
	bool whole_machine;
	bool children; // and their descendants
	bool kernel;
	uint64_t period_ns;
	struct sampler_hooks hooks;
};

struct sampler;

// What an engine that walks in the kernel needs to know of a process.
struct published_process {
	pid_t pid;
	uint32_t generation; // the same generation has the same mappings
	uint64_t as_of;      // when this is how it was
	const struct wire_mapping *mappings;
	size_t count;
};

struct sampler_ops {
	const char *name;
	struct error *(*open)(const struct sampler_opts *opts, struct sampler **ret);
	struct error *(*start)(struct sampler *s);
	struct error *(*stop)(
		struct sampler *s); // no further samples; those taken can still be polled
	// Waits until there is something or the time is over; delivers what there is.
	struct error *(*poll)(struct sampler *s, int timeout_ms);
	uint64_t (*lost)(const struct sampler *s);
	void (*free)(struct sampler *s);
	// For an engine that walks in the kernel; NULL otherwise. Publishing the same again is
	// cheap.
	void (*publish_rules)(struct sampler *s, const struct wire_rule *rules, size_t count);
	void (*publish_page)(struct sampler *s, const struct wire_page_key *key,
			     const struct wire_row *rows, size_t count);
	void (*publish_process)(struct sampler *s, const struct published_process *p);
	// Is there something of this process that a change of its mappings would make wrong?
	bool (*has_process)(struct sampler *s, pid_t pid);
	// It has ended: its mappings are of no use any more.
	void (*forget_process)(struct sampler *s, pid_t pid);
	// It ended a while ago: nothing more of it is sampled.
	void (*unfollow)(struct sampler *s, pid_t pid);
};

extern const struct sampler_ops sampler_bpf;
extern const struct sampler_ops sampler_perf;

// The first member of every engine's own structure.
struct sampler {
	const struct sampler_ops *ops;
};

static inline void sampler_free(struct sampler *s)
{
	if (s)
		s->ops->free(s);
}
GUARD_FREE(sampler)

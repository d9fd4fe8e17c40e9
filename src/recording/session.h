// SPDX-License-Identifier: Apache-2.0
// The state of a recording while it runs: what is known of processes and files, and the stages a
// sample goes through. Inside recording/ only.
#pragma once

#include "recording/collect.h"
#include "recording/recording.h"
#include "sampler/sampler.h"
#include "target/files.h"
#include "target/process.h"
#include "unwind/unwinder.h"

// A process that was followed until it ended.
struct ended {
	pid_t pid;
	uint64_t time;
};

struct session {
	const struct recording_opts *opts;
	struct files *files;
	struct processes *processes;
	struct map followed;     // pids whose doings are of interest
	VEC(struct ended) ended; // lately; giving back its memory is still time of its own
	struct map objects;      // file → struct object *, 0 if it cannot be read
	struct map threads;      // (pid, tid) → string: its name, where the engine does not tell
	struct unwinder *unwinder;
	struct symbolizer *symbolizer;
	struct sampler *sampler;
	struct profile *profile;
	struct collection collection;
	uint64_t start;       // CLOCK_MONOTONIC
	uint64_t trimmed;     // when old processes were last forgotten
	uint64_t undelivered; // samples that could not be kept: no memory
	wu64 frames[MAX_FRAMES];
};

struct error *session_new(const struct recording_opts *opts, struct session **ret) must_check;
void session_free(struct session *s);
GUARD_FREE(session)

// What the sampler delivers.
struct sampler_hooks session_hooks(struct session *s);
void session_on_sample(void *ctx, const struct raw_sample *sample);
void session_on_side(void *ctx, const struct side_event *event);
// Makes the mappings of a process known to an engine that walks in the kernel.
void session_publish(struct session *s, const struct process *p);
// Of all processes that are followed, so that their first samples need not be finished later.
void session_publish_all(struct session *s);
void session_follow(struct session *s, pid_t pid);
// The opened file with this number; NULL if it cannot be read or is no code.
struct object *session_object(void *ctx, uint32_t file);
// Uses idle time to name what was sampled, and forgets what is gone.
void session_idle(struct session *s);
struct error *session_finish(struct session *s) must_check;

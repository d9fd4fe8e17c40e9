// SPDX-License-Identifier: Apache-2.0
// What a profile is: interned strings → frames → stacks → samples, with threads, processes and an
// account of how good it is. Pure data: no I/O, no clock. Indices instead of pointers.
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "base/map.h"
#include "base/str.h"
#include "base/vec.h"
#include "profile/stacks.h"

enum frame_kind {
	FRAME_NATIVE,
	FRAME_INLINED, // a native function inlined into its caller
	FRAME_KERNEL,
	FRAME_JIT,     // named by a perf map
	FRAME_PROCESS, // a root that names the process
	FRAME_THREAD,  // a root that names the thread
	FRAME_MARK,    // not code: [truncated], [kernel thread] ...
	FRAME_KIND_COUNT,
};
extern const char *const frame_kind_names[FRAME_KIND_COUNT];

struct frame {
	uint32_t name;   // string
	uint32_t module; // string: file of code, by base name; 0 is ""
	uint32_t file;   // string: source file; 0 is ""
	uint32_t line;   // 0 if unknown
	enum frame_kind kind;
};

struct sample {
	uint32_t stack;
	uint32_t thread; // index into threads
	uint64_t time;   // nanoseconds since the profile's start
	uint64_t value;  // in the profile's unit
};

struct thread {
	uint32_t pid, tid;
	uint32_t name;    // string: the thread's
	uint32_t process; // string: its process's
};

// How a profile was made, and how good it is.
struct profile_info {
	const char *event;      // "cpu"
	const char *unit;       // "samples", "nanoseconds", "bytes"
	const char *engine;     // "bpf", "perf"
	char *target;           // for people: "pid 42 (nginx)"; owned
	char *engine_reason;    // why not a better engine; NULL if it is the best; owned
	uint64_t start_unix_ns; // wall clock at the start
	uint64_t duration_ns;
	uint64_t period;         // of one sample, nanoseconds
	uint64_t lost;           // samples the kernel could not deliver
	uint64_t truncated;      // samples whose stack does not reach its root
	uint64_t unknown_frames; // distinct frames without a name of their own (module+offset)
	uint64_t unknown;        // samples whose innermost frame has no name of its own
};

struct profile {
	struct arena arena;
	VEC(struct str) strings; // zero-terminated in the arena; strings.at[0] is ""
	struct map string_index;
	VEC(struct frame) frames; // frames.at[0] is unused
	struct map frame_index;
	struct stacks stacks; // of frame numbers; outermost first
	VEC(struct thread) threads;
	struct map thread_index;
	VEC(struct sample) samples;
	struct profile_info info;
};

struct error *profile_new(struct profile **ret) must_check;
void profile_free(struct profile *p);
GUARD_FREE(profile)

#define PROFILE_NONE UINT32_MAX // no memory
// Each returns the number of an equal one that is there already, or of a new one.
uint32_t profile_string(struct profile *p, struct str s);
uint32_t profile_frame(struct profile *p, const struct frame *f);
uint32_t profile_thread(struct profile *p, const struct thread *t);
bool profile_add(struct profile *p, const struct sample *s);

static inline struct str profile_text(const struct profile *p, uint32_t string)
{
	return p->strings.at[string];
}

// Totals by function (name and module, inlined or not): for tables.
struct function_total {
	uint32_t frame; // one frame of the function
	uint64_t self;  // samples with it innermost
	uint64_t total; // samples with it anywhere, recursion counted once
};
typedef VEC(struct function_total) function_totals;
// Sorted by self, descending. Roots (PROCESS, THREAD) and marks are left out.
struct error *profile_functions(const struct profile *p, function_totals *ret) must_check;
uint64_t profile_total(const struct profile *p);

// SPDX-License-Identifier: Apache-2.0
// The only place that wires the stages together: from a target to a finished profile.
#pragma once

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "profile/profile.h"
#include "recording/event.h"

enum engine_choice {
	ENGINE_AUTO,
	ENGINE_BPF,
	ENGINE_PERF,
	ENGINE_COUNT,
};
extern const char *const engine_names[ENGINE_COUNT]; // "auto", "bpf", "perf"

struct recording_progress {
	uint64_t elapsed_ns;
	uint64_t samples;
	uint64_t lost;
};

// Exactly one of pids, command and whole_machine.
struct recording_opts {
	const pid_t *pids; // processes that run already
	size_t pid_count;
	char *const *command; // a program to start, NULL-terminated
	bool whole_machine;

	const struct event *event;
	uint64_t period_ns;
	uint64_t duration_ns; // 0: until *stop is set or the targets have exited
	enum engine_choice engine;

	bool no_children; // not the descendants of the targets
	bool no_kernel;   // no kernel frames
	bool no_inlines;  // no inlined functions
	bool lines;       // source lines of frames
	bool threads;     // a root frame for each thread

	const volatile sig_atomic_t *stop; // set by the caller's signal handler; ends the recording
	void (*on_progress)(void *ctx,
			    const struct recording_progress *progress); // a few times a second
	void *ctx;
};

struct recording_result {
	struct profile *profile;
	bool targets_exited;      // the recording ended because of that
	bool stopped;             // ... because *stop was set
	bool command_ended_by_us; // it was still running
	pid_t command_left; // a process of the command that did not end when asked to; 0 if none
	int command_status; // waitpid() status of the command, if it was one and it ended; else -1
};

// ERROR_GONE: no such process. ERROR_DENIED: the hint says what would help. ERROR_NOT_FOUND: the
// command cannot be started. A target that exits meanwhile is not an error: what was collected is
// returned. Nothing is started or touched before all of that is known.
struct error *recording_run(const struct recording_opts *opts,
			    struct recording_result *ret) must_check;

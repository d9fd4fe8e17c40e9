// SPDX-License-Identifier: Apache-2.0
// Processes and what they have mapped, with history: a sample is looked up as of its own time, so
// an exec, a dlopen or an exit that was learnt of first cannot rename it.
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "base/str.h"
#include "base/vec.h"
#include "target/files.h"

#define MAPPING_ALIVE UINT64_MAX

// An executable mapping.
struct mapping {
	uint64_t start;
	uint64_t end;
	uint64_t offset; // in the file, of start
	uint32_t file;   // files_*() id; FILE_ANONYMOUS for memory without a file (JIT code)
	uint64_t born;   // CLOCK_MONOTONIC; 0 for what was there before we looked
	uint64_t died;   // MAPPING_ALIVE while it lasts
};

typedef VEC(struct mapping) mapping_vec;

struct process_name {
	uint64_t since;
	char comm[16];
};

struct process {
	pid_t pid;
	pid_t parent;
	char comm[16];                  // as of the last event
	VEC(struct process_name) names; // and before, by time
	uint64_t born;                  // 0 if it was there before we looked
	uint64_t died;                  // MAPPING_ALIVE while it lasts
	uint32_t generation;            // grows with every change of its live mappings
	uint64_t as_of;                 // `live` is how it was at this time, or later
	mapping_vec live;               // as of the last event, by address, not overlapping
	mapping_vec past;               // what ended, in the order it ended
};

struct processes;

struct error *processes_new(struct files *files, struct processes **ret) must_check;
void processes_free(struct processes *ps);
GUARD_FREE(processes)

// The process with this pid at this time (pids are reused); learnt from /proc if it is new to us.
// NULL if it is unknown and gone. The pointer stays valid until processes_expire() drops it.
struct process *processes_find(struct processes *ps, pid_t pid, uint64_t time);
// Reads /proc/PID/maps again, because an address in no known mapping was seen. At most once in a
// few milliseconds a process. True if anything changed.
bool process_refresh(struct processes *ps, struct process *p);

// What the kernel told (times are the events' own):
struct error *processes_on_fork(struct processes *ps, pid_t parent, pid_t child,
				uint64_t time) must_check;
struct error *processes_on_exec(struct processes *ps, pid_t pid, struct str comm,
				uint64_t time) must_check;
struct error *processes_on_mmap(struct processes *ps, pid_t pid,
				const struct mapping *m) must_check;
// The main thread took another name.
void processes_on_comm(struct processes *ps, pid_t pid, struct str comm, uint64_t time);
// What it had mapped is kept for samples that come late.
void processes_on_exit(struct processes *ps, pid_t pid, uint64_t time);

// Forgets what ended before a time of which no more samples will come: mappings, and whole
// processes.
void processes_expire(struct processes *ps, uint64_t before);

// The mapping an address was in at a time; NULL if none. Valid until the process changes.
const struct mapping *process_mapping(const struct process *p, uint64_t address, uint64_t time);
// What the process was called at a time.
const char *process_comm(const struct process *p, uint64_t time);

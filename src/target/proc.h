// SPDX-License-Identifier: Apache-2.0
// Reading /proc. Parsers take text (and are fuzzed); the rest reads files.
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include "base/error.h"
#include "base/str.h"
#include "base/vec.h"

// One line of /proc/PID/maps.
struct maps_line {
	uint64_t start, end, offset;
	uint64_t dev; // makedev() form
	uint64_t ino;
	bool executable;
	struct str path; // may be empty; octal escapes (\012) still in it
};
// Takes the next line off *rest. False at the end; lines that do not parse are passed over.
bool maps_next(struct str *rest, struct maps_line *ret);

struct proc_status {
	char comm[16];
	char state; // R, S, D, T, t, I, Z, X; '?' if not told
	pid_t pid, parent;
	pid_t tgid;         // the process; differs from pid if that is the number of a thread
	uid_t uid;          // effective
	pid_t ns_pid;       // innermost number of NSpid: the pid as the process itself sees it
	unsigned ns_levels; // how many numbers NSpid has
	unsigned threads;
	bool kernel_thread; // no memory of its own
};
struct error *proc_status_parse(struct str text, struct proc_status *ret) must_check;
struct error *proc_status_read(pid_t pid, struct proc_status *ret) must_check;

typedef VEC(pid_t) pid_vec;
struct error *proc_pids(pid_vec *ret) must_check;               // all processes, ascending
struct error *proc_threads(pid_t pid, pid_vec *ret) must_check; // ERROR_GONE if there is none
// Command line with spaces between the words and '?' for control characters, "[comm]" for kernel
// threads and zombies, which have none. Caller frees.
struct error *proc_cmdline(pid_t pid, char **ret) must_check;
// Processes whose command name or command line matches an extended regular expression, without our
// own and our ancestors. ERROR_USAGE for a bad expression, ERROR_NOT_FOUND for none.
struct error *proc_find(const char *regex, pid_vec *ret) must_check;
// All descendants of the given processes, appended to the list.
struct error *proc_add_descendants(pid_vec *pids) must_check;
// When the process started, by CLOCK_REALTIME: what times of files can be compared with. As exact
// as the kernel tells, to about ten milliseconds.
struct error *proc_start_time(pid_t pid, struct timespec *ret) must_check;
// CPU time used so far by all threads of the process, in nanoseconds.
struct error *proc_cpu_time(pid_t pid, uint64_t *ret) must_check;

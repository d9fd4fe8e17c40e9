// SPDX-License-Identifier: Apache-2.0
// Facts about this machine and our place in it, for `wick doctor`. Only reads.
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/utsname.h>

#include "base/error.h"

struct machine {
	struct utsname kernel;
	unsigned release[2];   // the kernel's first two numbers
	uint64_t capabilities; // effective; bit CAP_X is capability X
	bool root;
	unsigned seccomp; // 0 none, 1 strict, 2 a filter
	bool no_new_privileges;
	bool own_pid_namespace; // not the one the machine started with
	struct error *bpf;      // what probe_bpf() said
	struct error *perf_own; // probe_perf(false)
	struct error *perf_all; // probe_perf(true)
};

void machine_init(struct machine *m);
void machine_fini(struct machine *m);

bool machine_can(const struct machine *m, int capability);
// The kernel is at least this one. Only for what cannot be tried out.
bool machine_kernel_is(const struct machine *m, unsigned major, unsigned minor);
// A whole number in a file of /proc/sys; false if there is none.
bool machine_sysctl(const char *path, int64_t *ret);
// /proc/kallsyms shows addresses to us.
bool machine_kernel_symbols(void);

// SPDX-License-Identifier: Apache-2.0
#include "cli/machine.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/file.h"
#include "cli/colon_file.h"
#include "sampler/probe.h"

// The inode of the first pid namespace is the same on every machine: PROC_PID_INIT_INO in the
// kernel's include/linux/proc_ns.h.
#define FIRST_PID_NAMESPACE "pid:[4026531836]"

static bool in_own_pid_namespace(void)
{
	char link[64];
	ssize_t len = readlink("/proc/self/ns/pid", link, sizeof(link));
	return len > 0 && !str_eq((struct str){ link, (size_t)len }, STR(FIRST_PID_NAMESPACE));
}

static void read_status(struct machine *m)
{
	auto_fini(buf) text = { 0 };
	struct error *err = file_read("/proc/self/status", &text);
	if (err) {
		error_free(err);
		return;
	}
	uint64_t number;
	if (colon_number(buf_view(&text), "CapEff", 16, &number))
		m->capabilities = number;
	if (colon_number(buf_view(&text), "Seccomp", 10, &number))
		m->seccomp = (unsigned)number;
	if (colon_number(buf_view(&text), "NoNewPrivs", 10, &number))
		m->no_new_privileges = number != 0;
}

static void read_release(struct machine *m)
{
	struct str rest = str_from(m->kernel.release);
	for (size_t i = 0; i < ARRAY_SIZE(m->release); i++) {
		struct str part = str_split(&rest, '.');
		uint64_t number;
		part.len = strspn(part.ptr, "0123456789");
		if (str_to_u64(part, 10, &number) && number < 1000)
			m->release[i] = (unsigned)number;
	}
}

void machine_init(struct machine *m)
{
	*m = (struct machine){ .root = geteuid() == 0 };
	uname(&m->kernel);
	read_release(m);
	read_status(m);
	m->own_pid_namespace = in_own_pid_namespace();
	m->bpf = probe_bpf();
	m->perf_own = probe_perf(/* whole_machine= */ false);
	m->perf_all = probe_perf(/* whole_machine= */ true);
}

void machine_fini(struct machine *m)
{
	error_free(m->bpf);
	error_free(m->perf_own);
	error_free(m->perf_all);
}

bool machine_can(const struct machine *m, int capability)
{
	uint64_t wanted = UINT64_C(1) << capability;
	// CAP_SYS_ADMIN was all of these before they had names of their own.
	if (capability == CAP_BPF || capability == CAP_PERFMON ||
	    capability == CAP_CHECKPOINT_RESTORE)
		wanted |= UINT64_C(1) << CAP_SYS_ADMIN;
	return (m->capabilities & wanted) != 0;
}

bool machine_kernel_is(const struct machine *m, unsigned major, unsigned minor)
{
	return m->release[0] > major || (m->release[0] == major && m->release[1] >= minor);
}

bool machine_sysctl(const char *path, int64_t *ret)
{
	auto_fini(buf) text = { 0 };
	struct error *err = file_read(path, &text);
	if (err) {
		error_free(err);
		return false;
	}
	struct str rest = buf_view(&text), line = str_split(&rest, '\n');
	bool negative = str_starts(line, STR("-"));
	uint64_t number;
	if (!str_to_u64(str_skip(line, negative), 10, &number) || number > INT64_MAX)
		return false;
	*ret = negative ? -(int64_t)number : (int64_t)number;
	return true;
}

bool machine_kernel_symbols(void)
{
	// The first lines may be symbols at address 0 by right; without permission all are 0.
	char text[4096];
	autoclose int fd = open("/proc/kallsyms", O_RDONLY | O_CLOEXEC);
	ssize_t len = fd >= 0 ? read(fd, text, sizeof(text)) : 0;
	struct str rest = { text, len > 0 ? (size_t)len : 0 };
	while (rest.len != 0) {
		struct str line = str_split(&rest, '\n'), digits = str_split(&line, ' ');
		uint64_t address;
		if (str_to_u64(digits, 16, &address) && address != 0)
			return true;
	}
	return false;
}

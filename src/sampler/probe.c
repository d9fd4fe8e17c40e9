// SPDX-License-Identifier: Apache-2.0
#include "sampler/probe.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/file.h"
#include "sampler/cpu_event.h"
#include "sampler/perf_ring.h"

static bool read_number(const char *path, long *ret)
{
	auto_fini(buf) text = { 0 };
	auto_(error) err = file_read(path, &text);
	return !err && sscanf(buf_cstr(&text), "%ld", ret) == 1;
}

uint64_t probe_max_rate(void)
{
	long rate;
	return read_number("/proc/sys/kernel/perf_event_max_sample_rate", &rate) && rate > 0
		       ? (uint64_t)rate
		       : 0;
}

static int try_event(pid_t pid, int cpu, bool kernel, bool hardware)
{
	struct perf_event_attr attr = { .exclude_kernel = !kernel };
	cpu_event_attr(&attr, 10000000, hardware);
	int fd = perf_event_open(&attr, pid, cpu, /* group= */ -1, 0);
	return fd < 0 ? -errno : fd;
}

static bool can_open(pid_t pid, int cpu, bool kernel, bool hardware)
{
	autoclose int fd = try_event(pid, cpu, kernel, hardware);
	return fd >= 0;
}

bool probe_hardware_cycles(void)
{
	return can_open(/* pid= */ 0, /* cpu= */ -1, /* kernel= */ false, /* hardware= */ true);
}

bool probe_kernel_frames(void)
{
	return can_open(/* pid= */ 0, /* cpu= */ -1, /* kernel= */ true, /* hardware= */ false);
}

struct error *probe_perf(bool whole_machine)
{
	int result = whole_machine ? try_event(-1, 0, /* kernel= */ true, /* hardware= */ false)
				   : try_event(0, -1, /* kernel= */ false, /* hardware= */ false);
	autoclose int fd = result;
	if (fd >= 0)
		return NULL;
	struct error *err = error_sys(-result, "perf_event_open");
	if (result == -EACCES || result == -EPERM) {
		long paranoid = 2;
		read_number("/proc/sys/kernel/perf_event_paranoid", &paranoid);
		return error_hint(err,
				  "run as root, give wick CAP_PERFMON, or: sysctl "
				  "kernel.perf_event_paranoid=%d (it is %ld)",
				  whole_machine ? 0 : 2, paranoid);
	}
	if (result == -ENOSYS)
		return error_hint(
			err, "this kernel or this container's seccomp profile has no perf events");
	return err;
}

// copy_from_user_nofault() could deadlock in an interrupt from the change that made it check its
// destination until d319f344561d ("mm: Fix copy_from_user_nofault()"); the fix went
// into 6.4, 6.3.10 and 6.1.36. A freeze of the machine is not something to probe for.
static bool kernel_may_freeze(void)
{
	struct utsname name;
	unsigned major = 0, minor = 0, patch = 0;
	if (uname(&name) != 0)
		return false;
	// Debian 12 calls all its kernels 6.1.0; which one it is stands in the version:
	// "#1 SMP PREEMPT_DYNAMIC Debian 6.1.190-1 (2026-10-16)".
	const char *debian = strstr(name.version, " Debian ");
	const char *version = debian ? debian + strlen(" Debian ") : name.release;
	if (sscanf(version, "%u.%u.%u", &major, &minor, &patch) < 2)
		return false;
	if (major == 5)
		return minor == 19;
	if (major != 6)
		return false;
	return minor == 0 || (minor == 1 && patch < 36) || minor == 2 || (minor == 3 && patch < 10);
}

static bool can_load_program(int *ret_errno)
{
	const struct bpf_insn nothing[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = 0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	autoclose int fd = bpf_prog_load(BPF_PROG_TYPE_PERF_EVENT, "wick_probe", "Dual BSD/GPL",
					 nothing, ARRAY_SIZE(nothing), /* opts= */ NULL);
	*ret_errno = fd < 0 ? errno : 0;
	return fd >= 0;
}

struct error *probe_bpf(void)
{
	int errnum;
	if (kernel_may_freeze())
		return error_hint(error_new(ERROR_UNSUPPORTED,
					    "this kernel can freeze when BPF reads a "
					    "program's memory in an interrupt"),
				  "update the kernel: 6.1.36, 6.3.10, 6.4 and later have the fix");
	libbpf_set_print(NULL);
	if (!can_load_program(&errnum)) {
		struct error *err = error_sys(errnum, "load a BPF program");
		if (errnum == EPERM || errnum == EACCES)
			return error_hint(err, "run as root, or give wick CAP_BPF and CAP_PERFMON");
		if (errnum == ENOSYS || errnum == EINVAL)
			return error_hint(error_recode(err, ERROR_UNSUPPORTED),
					  "this kernel has no BPF (CONFIG_BPF_SYSCALL)");
		return err;
	}
	if (access("/sys/kernel/btf/vmlinux", R_OK) != 0)
		return error_hint(error_new(ERROR_UNSUPPORTED,
					    "the kernel has no BTF (/sys/kernel/btf/vmlinux)"),
				  "it needs CONFIG_DEBUG_INFO_BTF");
	if (libbpf_probe_bpf_helper(BPF_PROG_TYPE_PERF_EVENT, BPF_FUNC_loop, NULL) != 1)
		return error_hint(
			error_new(ERROR_UNSUPPORTED, "the kernel's BPF has no bpf_loop()"),
			"kernels from 6.1 on have all that engine bpf needs");
	struct error *err = probe_perf(/* whole_machine= */ true);
	return err ? error_wrap(err, "sample every CPU") : NULL;
}

// SPDX-License-Identifier: Apache-2.0
#include <dirent.h>
#include <linux/capability.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "base/file.h"
#include "cli/doctor.h"
#include "sampler/probe.h"

#define SYSCTL "/proc/sys/kernel/"

void finding_fini(struct finding *f)
{
	buf_fini(&f->found);
	buf_fini(&f->cost);
	buf_fini(&f->change);
}

static void is_ok(struct finding *f, const char *fmt, ...) printf_like(2, 3);
static void is_ok(struct finding *f, const char *fmt, ...)
{
	char text[256];
	va_list args;
	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	f->state = FINDING_OK;
	buf_text(&f->found, text);
}

static void is_not(struct finding *f, enum finding_state state, const char *cost,
		   const char *change)
{
	f->state = state;
	buf_text(&f->cost, cost);
	buf_text(&f->change, change);
}

// What a probe said: the reason and what would help.
static void from_error(struct finding *f, const struct error *err, const char *cost)
{
	if (!err) {
		is_ok(f, "works");
		return;
	}
	buf_text(&f->found, err->message);
	is_not(f, FINDING_NO, cost, err->hint ? err->hint : "none known");
}

static void check_kernel(const struct machine *m, struct finding *f)
{
	buf_printf(&f->found, "%s %s", m->kernel.sysname, m->kernel.release);
	if (m->bpf && !machine_kernel_is(m, 6, 1))
		is_not(f, FINDING_LIMITED, "engine bpf needs Linux 6.1",
		       "install a newer kernel, for example from your distribution's backports");
}

static void check_architecture(const struct machine *m, struct finding *f)
{
	buf_text(&f->found, m->kernel.machine);
	if (strcmp(m->kernel.machine, "x86_64") != 0)
		is_not(f, FINDING_NO, "stacks can only be walked on x86_64",
		       "none: this wick knows no other processor");
}

// Values of perf_event_paranoid: kernel/events/core.c; from 3 on it is a distribution's own.
static void check_paranoid(const struct machine *m, struct finding *f)
{
	int64_t value;
	if (!machine_sysctl(SYSCTL "perf_event_paranoid", &value)) {
		buf_text(&f->found, "not there");
		is_not(f, FINDING_NO, "this kernel has no perf events, so nothing can be sampled",
		       "use a kernel built with CONFIG_PERF_EVENTS=y");
		return;
	}
	buf_printf(&f->found, "%lld", (long long)value);
	if (machine_can(m, CAP_PERFMON)) {
		buf_text(&f->found, " (does not bind you: CAP_PERFMON)");
		return;
	}
	if (value >= 3)
		is_not(f, FINDING_NO, "engine perf is refused altogether",
		       "sudo sysctl kernel.perf_event_paranoid=0");
	else if (value == 2)
		is_not(f, FINDING_LIMITED, "no kernel frames, no -a, only your own processes",
		       "sudo sysctl kernel.perf_event_paranoid=0");
	else if (value == 1)
		is_not(f, FINDING_LIMITED, "no -a, only your own processes",
		       "sudo sysctl kernel.perf_event_paranoid=0");
}

static void check_kernel_symbols(const struct machine *m, struct finding *f)
{
	int64_t restrict_value = -1, paranoid = 0;
	machine_sysctl(SYSCTL "kptr_restrict", &restrict_value);
	machine_sysctl(SYSCTL "perf_event_paranoid", &paranoid);
	bool readable = machine_kernel_symbols();
	buf_printf(&f->found, "%lld, /proc/kallsyms is %s", (long long)restrict_value,
		   readable ? "readable" : "hidden");
	if (readable)
		return;
	// kallsyms_show_value() in kernel/kallsyms.c: 0 shows them to all while paranoid is at most
	// 1, 0 and 1 show them to CAP_SYSLOG, 2 to nobody.
	bool syslog = machine_can(m, CAP_SYSLOG);
	is_not(f, FINDING_LIMITED, "kernel functions have no names",
	       restrict_value >= 2 && syslog    ? "sudo sysctl kernel.kptr_restrict=1"
	       : restrict_value == 0 && !syslog ? "sudo sysctl kernel.perf_event_paranoid=1"
	       : paranoid <= 1                  ? "sudo sysctl kernel.kptr_restrict=0"
						: "sudo sysctl kernel.kptr_restrict=0 "
						  "kernel.perf_event_paranoid=1");
}

static void check_rate(const struct machine *m, struct finding *f)
{
	(void)m;
	uint64_t rate = probe_max_rate();
	buf_printf(&f->found, "%llu samples a second", (unsigned long long)rate);
	if (rate < 1000)
		is_not(f, FINDING_LIMITED, "higher rates are refused",
		       "sudo sysctl kernel.perf_event_max_sample_rate=10000 "
		       "kernel.perf_cpu_time_max_percent=0");
}

static void check_mlock(const struct machine *m, struct finding *f)
{
	int64_t kb;
	if (!machine_sysctl(SYSCTL "perf_event_mlock_kb", &kb)) {
		is_ok(f, "not there");
		return;
	}
	buf_printf(&f->found, "%lld kB for each processor", (long long)kb);
	if (machine_can(m, CAP_IPC_LOCK))
		buf_text(&f->found, " (does not bind you: CAP_IPC_LOCK)");
	else if (kb < 516)
		is_not(f, FINDING_LIMITED, "engine perf gets small buffers and may lose samples",
		       "sudo sysctl kernel.perf_event_mlock_kb=516");
}

static void check_capabilities(const struct machine *m, struct finding *f)
{
	static const struct {
		int number;
		const char *name, *costs;
	} wanted[] = {
		{ CAP_BPF, "CAP_BPF", "engine bpf" },
		{ CAP_PERFMON, "CAP_PERFMON", "engine bpf, and what perf_event_paranoid forbids" },
		{ CAP_SYS_PTRACE, "CAP_SYS_PTRACE", "processes of other users" },
		// What opening /proc/PID/map_files asks for.
		{ CAP_CHECKPOINT_RESTORE, "CAP_CHECKPOINT_RESTORE",
		  "names in programs that were deleted or replaced while they run" },
	};
	buf_text(&f->found, machine_can(m, CAP_SYS_ADMIN) ? "CAP_SYS_ADMIN" : "");
	for (size_t i = 0; i < ARRAY_SIZE(wanted); i++) {
		if (machine_can(m, wanted[i].number)) {
			buf_printf(&f->found, "%s%s", f->found.len != 0 ? ", " : "",
				   wanted[i].name);
			continue;
		}
		f->state = FINDING_LIMITED;
		buf_printf(&f->cost, "%s%s (%s)", f->cost.len != 0 ? "; " : "", wanted[i].costs,
			   wanted[i].name);
	}
	if (f->found.len == 0)
		buf_text(&f->found, "none that matter");
	if (f->state != FINDING_OK)
		buf_text(&f->change,
			 "sudo setcap cap_bpf,cap_perfmon,cap_sys_ptrace,cap_checkpoint_restore+ep "
			 "\"$(command -v wick)\", or run wick with sudo");
}

static void check_bpf(const struct machine *m, struct finding *f)
{
	from_error(f, m->bpf,
		   "stacks are copied out and walked later (engine perf), which costs more "
		   "and cuts the deepest ones");
}

static void check_unprivileged_bpf(const struct machine *m, struct finding *f)
{
	int64_t value;
	(void)m;
	if (machine_sysctl(SYSCTL "unprivileged_bpf_disabled", &value))
		is_ok(f, "%lld (does not matter: engine bpf goes by CAP_BPF)", (long long)value);
	else
		is_ok(f, "not there");
}

static void check_btf(const struct machine *m, struct finding *f)
{
	(void)m;
	if (access("/sys/kernel/btf/vmlinux", R_OK) == 0) {
		is_ok(f, "/sys/kernel/btf/vmlinux");
		return;
	}
	buf_text(&f->found, "/sys/kernel/btf/vmlinux cannot be read");
	is_not(f, FINDING_LIMITED,
	       "engine bpf cannot learn the layout of this kernel, so it cannot be used",
	       "use a kernel built with CONFIG_DEBUG_INFO_BTF=y; in a container, mount /sys");
}

static void check_memlock(const struct machine *m, struct finding *f)
{
	struct rlimit limit;
	if (getrlimit(RLIMIT_MEMLOCK, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
		buf_text(&f->found, "unlimited");
	else
		buf_printf(&f->found, "%llu kB", (unsigned long long)limit.rlim_cur / 1024);
	// BPF memory is accounted to the cgroup instead since 5.11.
	if (machine_kernel_is(m, 5, 11))
		buf_text(&f->found, " (does not matter since Linux 5.11)");
	else if (limit.rlim_max != RLIM_INFINITY && !machine_can(m, CAP_SYS_RESOURCE))
		is_not(f, FINDING_LIMITED, "the tables of engine bpf may not fit",
		       "sudo prlimit --memlock=unlimited --pid $$");
}

static void check_hardware(const struct machine *m, struct finding *f)
{
	(void)m;
	if (probe_hardware_cycles()) {
		is_ok(f, "cycles are counted");
		return;
	}
	buf_text(&f->found, "none");
	is_not(f, FINDING_LIMITED,
	       "a timer takes the samples, so kernel code that runs with interrupts off is "
	       "counted where they come on again",
	       "in a virtual machine: give it a PMU, for example qemu -cpu host,pmu=on");
}

static void check_perf_own(const struct machine *m, struct finding *f)
{
	from_error(f, m->perf_own, "there is nothing to fall back to where engine bpf fails");
}

static void check_perf_all(const struct machine *m, struct finding *f)
{
	from_error(f, m->perf_all, "engine perf cannot record the whole machine (-a)");
}

static void check_kernel_frames(const struct machine *m, struct finding *f)
{
	if (!m->bpf || probe_kernel_frames()) {
		is_ok(f, "recorded");
		return;
	}
	buf_text(&f->found, "not permitted");
	is_not(f, FINDING_LIMITED, "stacks end where the kernel begins",
	       "sudo sysctl kernel.perf_event_paranoid=1");
}

static void check_container(const struct machine *m, struct finding *f)
{
	const char *kind = access("/.dockerenv", F_OK) == 0          ? "a docker container"
			   : access("/run/.containerenv", F_OK) == 0 ? "a podman container"
								     : NULL;
	if (!m->own_pid_namespace && !kind) {
		is_ok(f, "none");
		return;
	}
	buf_printf(&f->found, "%s%s", kind ? kind : "a pid namespace of its own",
		   kind && !m->own_pid_namespace ? " that sees all processes" : "");
	if (m->own_pid_namespace)
		is_not(f, FINDING_LIMITED, "only the processes in here can be seen and profiled",
		       "run wick outside, or start the container with --pid=host");
}

static void check_seccomp(const struct machine *m, struct finding *f)
{
	static const char *const modes[] = { "none", "strict", "a filter" };
	buf_text(&f->found, m->seccomp < ARRAY_SIZE(modes) ? modes[m->seccomp] : "unknown");
	if (m->seccomp == 0)
		return;
	if (!m->bpf && !m->perf_all) {
		buf_text(&f->found, " (lets both engines through)");
		return;
	}
	is_not(f, FINDING_LIMITED, "it may be what refuses bpf() or perf_event_open()",
	       "docker run --security-opt seccomp=unconfined --cap-add BPF --cap-add PERFMON "
	       "--cap-add SYS_PTRACE ...");
}

static void check_new_privileges(const struct machine *m, struct finding *f)
{
	if (!m->no_new_privileges) {
		is_ok(f, "not set");
		return;
	}
	buf_text(&f->found, "set");
	if (machine_can(m, CAP_BPF) && machine_can(m, CAP_PERFMON))
		return;
	is_not(f, FINDING_LIMITED, "sudo and setcap have no effect here",
	       "run wick in a session that was not started with no_new_privs");
}

static void check_ptrace_scope(const struct machine *m, struct finding *f)
{
	int64_t value;
	(void)m;
	if (machine_sysctl(SYSCTL "yama/ptrace_scope", &value))
		is_ok(f, "%lld (does not matter: wick stops nobody)", (long long)value);
	else
		is_ok(f, "not there");
}

// How a distribution installs debug symbols of the C library, by the ID in /etc/os-release.
static const char *symbols_command(void)
{
	static const struct {
		const char *id, *command;
	} commands_[] = {
		{ "debian", "sudo apt install libc6-dbg" },
		{ "ubuntu", "sudo apt install libc6-dbg" },
		{ "fedora", "sudo dnf debuginfo-install glibc" },
		{ "rhel", "sudo dnf debuginfo-install glibc" },
		{ "centos", "sudo dnf debuginfo-install glibc" },
		{ "opensuse-leap", "sudo zypper install glibc-debuginfo" },
		{ "opensuse-tumbleweed", "sudo zypper install glibc-debuginfo" },
	};
	auto_fini(buf) text = { 0 };
	struct error *err = file_read("/etc/os-release", &text);
	error_free(err);
	struct str rest = buf_view(&text);
	while (rest.len != 0) {
		struct str line = str_split(&rest, '\n');
		if (!str_starts(line, STR("ID=")))
			continue;
		struct str id = str_skip(line, 3);
		if (id.len > 1 && id.ptr[0] == '"')
			id = (struct str){ id.ptr + 1, id.len - 2 };
		for (size_t i = 0; i < ARRAY_SIZE(commands_); i++)
			if (str_eq(id, str_from(commands_[i].id)))
				return commands_[i].command;
	}
	return "install your distribution's debug symbol packages";
}

static void check_debug_symbols(const struct machine *m, struct finding *f)
{
	(void)m;
	static const char directory[] = "/usr/lib/debug";
	unsigned entries = 0;
	DIR *dir = opendir(directory);
	for (const struct dirent *e; dir && (e = readdir(dir));)
		entries += e->d_name[0] != '.' || strcmp(e->d_name, ".build-id") == 0;
	if (dir)
		closedir(dir);
	if (entries != 0) {
		is_ok(f, "%s", directory);
		return;
	}
	buf_printf(&f->found, "%s is %s", directory, dir ? "empty" : "missing");
	is_not(f, FINDING_LIMITED, "static and inlined functions of system libraries have no names",
	       symbols_command());
}

const struct check checks[] = {
	{ "kernel", check_kernel },
	{ "processor", check_architecture },
	{ "engine bpf", check_bpf },
	{ "engine perf", check_perf_own },
	{ "engine perf for -a", check_perf_all },
	{ "kernel frames", check_kernel_frames },
	{ "hardware counters", check_hardware },
	{ "perf_event_paranoid", check_paranoid },
	{ "kptr_restrict", check_kernel_symbols },
	{ "max_sample_rate", check_rate },
	{ "perf_event_mlock_kb", check_mlock },
	{ "capabilities", check_capabilities },
	{ "unprivileged BPF", check_unprivileged_bpf },
	{ "BTF", check_btf },
	{ "locked memory", check_memlock },
	{ "container", check_container },
	{ "seccomp", check_seccomp },
	{ "no_new_privs", check_new_privileges },
	{ "yama ptrace_scope", check_ptrace_scope },
	{ "debug symbols", check_debug_symbols },
};
const size_t check_count = ARRAY_SIZE(checks);

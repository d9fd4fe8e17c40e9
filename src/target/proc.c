// SPDX-License-Identifier: Apache-2.0
#include "target/proc.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/sysmacros.h>
#include <time.h>

#include "base/clock.h"
#include "base/file.h"

// Longer command lines are cut: a hostile one can be as long as its owner has memory.
#define CMDLINE_MAX ((size_t)1 << 20)

// "START-END rwxp OFFSET MAJOR:MINOR INODE      PATH", all in hex but the inode.
static bool parse_maps_line(struct str line, struct maps_line *ret)
{
	struct str start = str_split(&line, '-'), end = str_split(&line, ' ');
	struct str perms = str_split(&line, ' '), offset = str_split(&line, ' ');
	struct str major = str_split(&line, ':'), minor = str_split(&line, ' ');
	struct str inode = str_split(&line, ' ');
	struct maps_line m = { .path = str_trim_start(line) };
	uint64_t dev_major, dev_minor;
	if (perms.len < 4 || !str_to_u64(start, 16, &m.start) || !str_to_u64(end, 16, &m.end) ||
	    !str_to_u64(offset, 16, &m.offset) || !str_to_u64(major, 16, &dev_major) ||
	    !str_to_u64(minor, 16, &dev_minor) || !str_to_u64(inode, 10, &m.ino))
		return false;
	if (m.start >= m.end || dev_major > UINT_MAX || dev_minor > UINT_MAX)
		return false;
	m.dev = makedev((unsigned)dev_major, (unsigned)dev_minor);
	m.executable = perms.ptr[2] == 'x';
	*ret = m;
	return true;
}

bool maps_next(struct str *rest, struct maps_line *ret)
{
	while (rest->len != 0)
		if (parse_maps_line(str_split(rest, '\n'), ret))
			return true;
	return false;
}

static struct error *no_process(pid_t pid)
{
	return error_new(ERROR_GONE, "there is no process %d", pid);
}

// For a failed open or read below /proc/PID.
static struct error *proc_error(int errnum, pid_t pid, const char *what)
{
	if (errnum == ENOENT || errnum == ESRCH)
		return no_process(pid);
	return error_sys(errnum, "read /proc/%d/%s", pid, what);
}

static bool to_pid(struct str s, pid_t *ret)
{
	uint64_t value;
	if (!str_to_u64(s, 10, &value) || value > INT_MAX)
		return false;
	*ret = (pid_t)value;
	return true;
}

// The kernel writes newline and backslash in a name as \n and \\.
static void parse_comm(struct str value, struct proc_status *ret)
{
	size_t n = 0;
	for (size_t i = 0; i < value.len && n < sizeof(ret->comm) - 1; i++) {
		char c = value.ptr[i];
		if (c == '\\' && i + 1 < value.len) {
			c = value.ptr[++i];
			c = c == 'n' ? '\n' : c;
		}
		ret->comm[n++] = c;
	}
	ret->comm[n] = '\0';
}

static void parse_state(struct str value, struct proc_status *ret)
{
	if (value.len != 0)
		ret->state = value.ptr[0];
}

static void parse_tgid(struct str value, struct proc_status *ret)
{
	to_pid(value, &ret->tgid);
}

static void parse_pid(struct str value, struct proc_status *ret)
{
	to_pid(value, &ret->pid);
}

static void parse_parent(struct str value, struct proc_status *ret)
{
	to_pid(value, &ret->parent);
}

// Real, effective, saved, file system.
static void parse_uid(struct str value, struct proc_status *ret)
{
	uint64_t uid;
	str_split(&value, '\t');
	if (str_to_u64(str_split(&value, '\t'), 10, &uid) && uid <= UINT_MAX)
		ret->uid = (uid_t)uid;
}

static void parse_ns_pid(struct str value, struct proc_status *ret)
{
	while (value.len != 0 && to_pid(str_split(&value, '\t'), &ret->ns_pid))
		ret->ns_levels++;
}

static void parse_threads(struct str value, struct proc_status *ret)
{
	uint64_t threads;
	if (str_to_u64(value, 10, &threads) && threads <= UINT_MAX)
		ret->threads = (unsigned)threads;
}

// Newer kernels say so; for older ones what has no memory is one.
static void parse_kthread(struct str value, struct proc_status *ret)
{
	ret->kernel_thread = str_eq(value, STR("1"));
}

static void parse_vm_size(struct str value, struct proc_status *ret)
{
	(void)value;
	ret->kernel_thread = false;
}

static const struct status_field {
	struct str key;
	void (*parse)(struct str value, struct proc_status *ret);
} status_fields[] = {
	{ { "Name", 4 }, parse_comm },       { { "State", 5 }, parse_state },
	{ { "Tgid", 4 }, parse_tgid },       { { "Pid", 3 }, parse_pid },
	{ { "PPid", 4 }, parse_parent },     { { "Uid", 3 }, parse_uid },
	{ { "NSpid", 5 }, parse_ns_pid },    { { "Threads", 7 }, parse_threads },
	{ { "Kthread", 7 }, parse_kthread }, { { "VmSize", 6 }, parse_vm_size },
};

struct error *proc_status_parse(struct str text, struct proc_status *ret)
{
	struct proc_status status = { .state = '?', .kernel_thread = true };
	while (text.len != 0) {
		struct str value = str_split(&text, '\n');
		struct str key = str_split(&value, ':');
		for (size_t i = 0; i < ARRAY_SIZE(status_fields); i++)
			if (str_eq(key, status_fields[i].key))
				status_fields[i].parse(str_trim_start(value), &status);
	}
	if (status.pid <= 0)
		return error_new(ERROR_MALFORMED, "a process status without a pid");
	if (status.tgid <= 0)
		status.tgid = status.pid;
	if (status.ns_levels == 0) {
		status.ns_pid = status.pid;
		status.ns_levels = 1;
	}
	// What has ended has no memory either.
	if (status.state == 'Z' || status.state == 'X')
		status.kernel_thread = false;
	*ret = status;
	return NULL;
}

static struct error *read_proc_file(pid_t pid, const char *what, size_t max, struct buf *ret)
{
	char path[64];
	snprintf(path, sizeof(path), "/proc/%d/%s", pid, what);
	autoclose int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return proc_error(errno, pid, what);
	auto_fini(buf) content = { 0 };
	while (content.len < max) {
		char chunk[4096];
		ssize_t n = read(fd, chunk, MIN(sizeof(chunk), max - content.len));
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return proc_error(errno, pid, what);
		if (n == 0)
			break;
		buf_add(&content, chunk, (size_t)n);
	}
	if (content.failed)
		return &error_no_memory;
	*ret = content;
	content = (struct buf){ 0 };
	return NULL;
}

struct error *proc_status_read(pid_t pid, struct proc_status *ret)
{
	auto_fini(buf) text = { 0 };
	struct error *err = read_proc_file(pid, "status", 65536, &text);
	return err ? err : proc_status_parse(buf_view(&text), ret);
}

struct error *proc_cmdline(pid_t pid, char **ret)
{
	auto_fini(buf) text = { 0 };
	struct error *err = read_proc_file(pid, "cmdline", CMDLINE_MAX, &text);
	if (err)
		return err;
	while (text.len != 0 && (text.at[text.len - 1] == '\0' || text.at[text.len - 1] == ' '))
		text.len--;
	if (text.len == 0) {
		struct proc_status status;
		err = proc_status_read(pid, &status);
		if (err)
			return err;
		buf_printf(&text, "[%s]", status.comm);
	}
	for (size_t i = 0; i < text.len; i++) {
		unsigned char c = (unsigned char)text.at[i];
		if (c == '\0')
			text.at[i] = ' ';
		else if (c < ' ' || c == 0x7f)
			text.at[i] = '?';
	}
	buf_cstr(&text);
	if (text.failed)
		return &error_no_memory;
	*ret = take(text.at);
	return NULL;
}

static int compare_pids(const void *a, const void *b)
{
	const pid_t *x = a, *y = b;
	return (*x > *y) - (*x < *y);
}

static void closedir_guard(DIR **dir)
{
	if (*dir)
		closedir(*dir);
}

// The entries of a directory that are numbers, ascending.
static struct error *list_numbers(const char *path, pid_vec *ret)
{
	__attribute__((cleanup(closedir_guard))) DIR *dir = opendir(path);
	if (!dir)
		return error_sys(errno, "open %s", path);
	pid_vec numbers = { 0 };
	for (struct dirent *entry; (entry = readdir(dir));) {
		pid_t number;
		if (to_pid(str_from(entry->d_name), &number) && !vec_push(&numbers, number)) {
			vec_fini(&numbers);
			return &error_no_memory;
		}
	}
	vec_sort(&numbers, compare_pids);
	*ret = numbers;
	return NULL;
}

struct error *proc_pids(pid_vec *ret)
{
	return list_numbers("/proc", ret);
}

struct error *proc_threads(pid_t pid, pid_vec *ret)
{
	char path[64];
	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	pid_vec threads = { 0 };
	struct error *err = list_numbers(path, &threads);
	if (err && (err->code == ERROR_NOT_FOUND || err->code == ERROR_GONE)) {
		error_free(err);
		return no_process(pid);
	}
	if (err)
		return err;
	// It exited between opening the directory and reading it.
	if (threads.len == 0) {
		vec_fini(&threads);
		return no_process(pid);
	}
	*ret = threads;
	return NULL;
}

struct error *proc_cpu_time(pid_t pid, uint64_t *ret)
{
	// The clock has nanoseconds where /proc/PID/stat has hundredths of a second. A pid of 0
	// would be ourselves.
	clockid_t clock;
	struct timespec ts;
	if (pid <= 0 || clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &ts) != 0)
		return no_process(pid);
	*ret = (uint64_t)ts.tv_sec * NS_PER_SEC + (uint64_t)ts.tv_nsec;
	return NULL;
}

// Field 22 of /proc/PID/stat: clock ticks since boot. The second field, the name, may have anything
// in it, also parentheses.
static bool parse_start_ticks(struct str stat, uint64_t *ret)
{
	const char *end = memrchr(stat.ptr, ')', stat.len);
	if (!end)
		return false;
	struct str rest = str_skip(stat, (size_t)(end - stat.ptr) + 2);
	for (int field = 3; field < 22; field++)
		str_split(&rest, ' ');
	return str_to_u64(str_split(&rest, ' '), 10, ret);
}

struct error *proc_start_time(pid_t pid, struct timespec *ret)
{
	auto_fini(buf) text = { 0 };
	struct error *err = read_proc_file(pid, "stat", 4096, &text);
	if (err)
		return err;
	uint64_t ticks;
	long per_second = sysconf(_SC_CLK_TCK);
	if (per_second <= 0 || !parse_start_ticks(buf_view(&text), &ticks))
		return error_new(ERROR_MALFORMED, "/proc/%d/stat has no start time", pid);
	struct timespec now, up;
	clock_gettime(CLOCK_REALTIME, &now);
	clock_gettime(CLOCK_BOOTTIME, &up);
	uint64_t since_boot = (uint64_t)up.tv_sec * NS_PER_SEC + (uint64_t)up.tv_nsec;
	uint64_t started = ticks / (uint64_t)per_second * NS_PER_SEC +
			   ticks % (uint64_t)per_second * (NS_PER_SEC / (uint64_t)per_second);
	uint64_t age = since_boot > started ? since_boot - started : 0;
	ret->tv_sec = now.tv_sec - (time_t)(age / NS_PER_SEC);
	ret->tv_nsec = now.tv_nsec - (long)(age % NS_PER_SEC);
	if (ret->tv_nsec < 0) {
		ret->tv_sec--;
		ret->tv_nsec += (long)NS_PER_SEC;
	}
	return NULL;
}

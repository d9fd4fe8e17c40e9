// SPDX-License-Identifier: Apache-2.0
#include "target/proc.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/sysmacros.h>
#include <time.h>

#include "base/buf.h"
#include "base/file.h"
#include "tests/test.h"
#include "tests/unit/target/child.h"

#define NO_PID 5000001 // above the kernel's limit

TEST(maps_next_reads_every_kind_of_line)
{
	struct str text = STR(
		"55d0-55e0 r-xp 00002000 fe:01 247026                     /usr/bin/a name\n"
		"7fff1000-7fff2000 rw-p 00000000 00:00 0 \n"
		"7fff3000-7fff4000 r-xp 00000000 00:00 0                  [vdso]\n"
		"7fff5000-7fff6000 --xs 00000000 00:01 1026               /memfd:jit (deleted)\n"
		"ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0  [vsyscall]");
	struct maps_line m;
	CHECK(maps_next(&text, &m));
	CHECK(m.start == 0x55d0 && m.end == 0x55e0 && m.offset == 0x2000 && m.executable);
	CHECK(m.dev == makedev(0xfe, 1) && m.ino == 247026);
	CHECK(str_eq(m.path, STR("/usr/bin/a name")));
	CHECK(maps_next(&text, &m) && !m.executable && m.path.len == 0);
	CHECK(maps_next(&text, &m) && str_eq(m.path, STR("[vdso]")));
	CHECK(maps_next(&text, &m) && m.executable && m.ino == 1026);
	CHECK(str_eq(m.path, STR("/memfd:jit (deleted)")));
	CHECK(maps_next(&text, &m) && m.start == 0xffffffffff600000);
	CHECK(!maps_next(&text, &m));
}

TEST(maps_next_passes_over_what_is_not_a_line)
{
	struct str text = STR("\n"
			      "garbage\n"
			      "2000-1000 r-xp 0 0:0 0 /backwards\n"
			      "1000-1000 r-xp 0 0:0 0 /empty\n"
			      "1000-2000 r-x 0 0:0 0 /short perms\n"
			      "1000-2000 r-xp 0 0:0\n"
			      "1000-2000 r-xp 0 100000000:0 0 /big device\n"
			      "1000-10000000000000000 r-xp 0 0:0 0 /overflow\n"
			      "1000-2000 r-xp 0 0:0 x /inode\n"
			      "1000-2000 r-xp 3000 0:0 7 /good");
	struct maps_line m;
	CHECK(maps_next(&text, &m) && str_eq(m.path, STR("/good")) && m.offset == 0x3000);
	CHECK(!maps_next(&text, &m));
}

TEST(maps_next_finds_our_own_code)
{
	auto_fini(buf) maps = { 0 };
	CHECK_OK(file_read("/proc/self/maps", &maps));
	struct str rest = buf_view(&maps);
	struct maps_line m;
	char exe[4096];
	ssize_t len = readlink("/proc/self/exe", exe, sizeof(exe));
	uint64_t code = (uintptr_t)&maps_next;
	bool found = false;
	while (maps_next(&rest, &m))
		found |= m.executable && m.start <= code && code < m.end &&
			 str_eq(m.path, (struct str){ exe, (size_t)len });
	CHECK(found);
}

TEST(status_of_a_process_in_a_namespace)
{
	struct proc_status s;
	CHECK_OK(proc_status_parse(STR("Name:\ta\\nb\\\\c d\n"
				       "State:\tS (sleeping)\n"
				       "Tgid:\t4711\n"
				       "Ngid:\t0\n"
				       "Pid:\t4712\n"
				       "PPid:\t12\n"
				       "Uid:\t1\t2\t3\t4\n"
				       "NStgid:\t4711\t22\t1\n"
				       "NSpid:\t4712\t23\t2\n"
				       "VmSize:\t  100 kB\n"
				       "Threads:\t17\n"),
				   &s));
	CHECK(strcmp(s.comm, "a\nb\\c d") == 0);
	CHECK(s.pid == 4712 && s.tgid == 4711 && s.parent == 12 && s.uid == 2);
	CHECK(s.ns_pid == 2 && s.ns_levels == 3 && s.threads == 17);
	CHECK(!s.kernel_thread && s.state == 'S');
}

TEST(status_tells_kernel_threads_from_zombies)
{
	struct proc_status s;
	CHECK_OK(proc_status_parse(STR("Name:\tkthreadd\nState:\tS (sleeping)\nPid:\t2\n"), &s));
	CHECK(s.kernel_thread && s.tgid == 2 && s.ns_pid == 2 && s.ns_levels == 1);
	CHECK_OK(proc_status_parse(STR("State:\tR (running)\nPid:\t4\nKthread:\t0\n"), &s));
	CHECK(!s.kernel_thread); // exiting: its memory is gone already
	CHECK_OK(proc_status_parse(STR("State:\tI (idle)\nPid:\t5\nKthread:\t1\n"), &s));
	CHECK(s.kernel_thread);
	CHECK_OK(proc_status_parse(STR("Name:\tsh\nState:\tZ (zombie)\nPid:\t3\n"), &s));
	CHECK(!s.kernel_thread);
}

TEST(status_that_is_broken_is_refused_or_bounded)
{
	struct proc_status s;
	CHECK_ERROR(ERROR_MALFORMED, proc_status_parse(STR(""), &s));
	CHECK_ERROR(ERROR_MALFORMED, proc_status_parse(STR("Pid:\t99999999999\n"), &s));
	CHECK_OK(proc_status_parse(STR("Name:\t0123456789abcdefghij\nPid:\t1\nUid:\nNSpid:\tx"),
				   &s));
	CHECK(strcmp(s.comm, "0123456789abcde") == 0);
	CHECK(s.ns_pid == 1 && s.ns_levels == 1);
}

TEST(status_of_ourselves)
{
	struct proc_status s;
	CHECK_OK(proc_status_read(getpid(), &s));
	char comm[16];
	prctl(PR_GET_NAME, comm);
	CHECK(strcmp(s.comm, comm) == 0);
	CHECK(s.pid == getpid() && s.tgid == getpid() && s.parent == getppid());
	CHECK(s.uid == geteuid() && s.threads >= 1 && !s.kernel_thread);
}

TEST(a_process_that_is_not_there_is_named_in_a_sentence)
{
	struct proc_status s;
	auto_(error) err = proc_status_read(NO_PID, &s);
	CHECK(err && err->code == ERROR_GONE);
	CHECK(strcmp(err->message, "there is no process 5000001") == 0);
	pid_vec threads = { 0 };
	char *cmdline = NULL;
	uint64_t time;
	CHECK_ERROR(ERROR_GONE, proc_threads(NO_PID, &threads));
	CHECK_ERROR(ERROR_GONE, proc_cmdline(NO_PID, &cmdline));
	CHECK_ERROR(ERROR_GONE, proc_cpu_time(NO_PID, &time));
	CHECK_ERROR(ERROR_GONE, proc_cpu_time(0, &time));
	CHECK(!threads.at && !cmdline);
}

static bool has_pid(const pid_vec *list, pid_t pid)
{
	for (size_t i = 0; i < list->len; i++)
		if (list->at[i] == pid)
			return true;
	return false;
}

TEST(pids_are_ascending_and_have_us)
{
	pid_vec pids = { 0 };
	CHECK_OK(proc_pids(&pids));
	bool ascending = true, us = has_pid(&pids, getpid());
	for (size_t i = 1; i < pids.len; i++)
		ascending &= pids.at[i - 1] < pids.at[i];
	vec_fini(&pids);
	CHECK(ascending && us);
}

static void *say_tid(void *arg)
{
	*(pid_t *)arg = gettid();
	pause();
	return NULL;
}

static int start_three_threads(int round, void *arg)
{
	volatile pid_t tids[3] = { 0 };
	(void)round;
	(void)arg;
	for (int i = 0; i < 3; i++) {
		pthread_t thread;
		if (pthread_create(&thread, NULL, say_tid, (void *)(uintptr_t)&tids[i]) != 0)
			return -1;
		while (tids[i] == 0)
			usleep(100);
	}
	return tids[1];
}

TEST(threads_of_a_process_and_the_process_of_a_thread)
{
	__attribute__((cleanup(child_fini))) struct child c =
		child_start(start_three_threads, NULL);
	int tid = child_answer(&c);
	CHECK(tid > 0);
	pid_vec threads = { 0 };
	CHECK_OK(proc_threads(c.pid, &threads));
	bool right = threads.len == 4 && has_pid(&threads, c.pid) && has_pid(&threads, tid);
	vec_fini(&threads);
	CHECK(right);
	struct proc_status s;
	CHECK_OK(proc_status_read(tid, &s));
	CHECK(s.pid == tid && s.tgid == c.pid && s.threads == 4);
}

TEST(command_lines_are_safe_to_print)
{
	char *argv[] = { (char[]){ "wick test\x1b[31m" }, (char[]){ "100" }, NULL };
	__attribute__((cleanup(child_fini))) struct child c = child_exec("/bin/sleep", argv);
	CHECK(c.pid > 0);
	autofree char *cmdline = NULL;
	CHECK_OK(proc_cmdline(c.pid, &cmdline));
	CHECK(strcmp(cmdline, "wick test?[31m 100") == 0);
}

static bool is_zombie(void *arg)
{
	struct proc_status s;
	auto_(error) err = proc_status_read(*(pid_t *)arg, &s);
	return !err && s.state == 'Z';
}

static int exit_at_once(int round, void *arg)
{
	(void)round;
	(void)arg;
	_exit(0);
}

TEST(a_zombie_has_its_name_for_a_command_line)
{
	__attribute__((cleanup(child_fini))) struct child c = child_start(exit_at_once, NULL);
	CHECK(c.pid > 0 && wait_until(is_zombie, &c.pid));
	autofree char *cmdline = NULL;
	CHECK_OK(proc_cmdline(c.pid, &cmdline));
	char comm[16], want[32];
	prctl(PR_GET_NAME, comm);
	snprintf(want, sizeof(want), "[%s]", comm);
	CHECK(strcmp(cmdline, want) == 0);
}

TEST(find_by_command_line_and_by_name)
{
	char *argv[] = { (char[]){ "wick-needle-7Q" }, (char[]){ "4711" }, NULL };
	__attribute__((cleanup(child_fini))) struct child c = child_exec("/bin/sleep", argv);
	CHECK(c.pid > 0);
	pid_vec found = { 0 };
	CHECK_OK(proc_find("^wick-needle-[0-9]Q 47+11$", &found));
	bool one = found.len == 1 && found.at[0] == c.pid;
	vec_fini(&found);
	CHECK(one);
	CHECK_OK(proc_find("^sleep$", &found)); // its command line does not say so, its comm does
	bool among = has_pid(&found, c.pid);
	vec_fini(&found);
	CHECK(among);
}

TEST(find_never_finds_us_our_ancestors_or_kernel_threads)
{
	pid_vec found = { 0 };
	auto_(error) err = proc_find(".", &found);
	CHECK(!err || err->code == ERROR_NOT_FOUND);
	struct proc_status s;
	bool us = has_pid(&found, getpid()), parent = has_pid(&found, getppid()), kernel = false;
	vec_each (pid, &found) {
		auto_(error) gone = proc_status_read(*pid, &s);
		// On older kernels an exiting process looks like one for a moment.
		kernel |= !gone && s.kernel_thread && s.parent == 2;
	}
	vec_fini(&found);
	CHECK(!us && !parent && !kernel);
}

TEST(find_explains_a_bad_expression_and_an_empty_result)
{
	pid_vec found = { 0 };
	auto_(error) err = proc_find("a(b", &found);
	CHECK(err && err->code == ERROR_USAGE && strstr(err->message, "'a(b'"));
	CHECK_ERROR(ERROR_USAGE, proc_find("", &found));
	CHECK_ERROR(ERROR_NOT_FOUND, proc_find("^no process has [t]his name$", &found));
	CHECK(!found.at);
}

static int have_a_child(int round, void *arg)
{
	(void)round;
	(void)arg;
	pid_t pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	return pid;
}

TEST(descendants_are_added_once)
{
	__attribute__((cleanup(child_fini))) struct child c = child_start(have_a_child, NULL);
	int grandchild = child_answer(&c);
	CHECK(grandchild > 0);
	pid_vec pids = { 0 };
	bool pushed = vec_push(&pids, getpid()) && vec_push(&pids, c.pid);
	auto_(error) err = proc_add_descendants(&pids);
	bool found = has_pid(&pids, grandchild);
	size_t children = 0;
	vec_each (pid, &pids)
		children += *pid == c.pid;
	vec_fini(&pids);
	CHECK(pushed && !err && found && children == 1);
}

TEST(cpu_time_is_what_the_clock_says)
{
	uint64_t before, after;
	struct timespec start, now;
	CHECK_OK(proc_cpu_time(getpid(), &before));
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &start);
	do
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	while ((now.tv_sec - start.tv_sec) * 1000000000 + now.tv_nsec - start.tv_nsec < 20000000);
	CHECK_OK(proc_cpu_time(getpid(), &after));
	CHECK(after - before >= 20000000 && after - before < 200000000);
}

static int take_a_strange_name(int round, void *arg)
{
	(void)round;
	(void)arg;
	return prctl(PR_SET_NAME, "a) R 1 (b) 2");
}

TEST(start_time_is_when_the_process_was_started)
{
	struct timespec before, start, after;
	clock_gettime(CLOCK_REALTIME, &before);
	__attribute__((cleanup(child_fini))) struct child c =
		child_start(take_a_strange_name, NULL);
	CHECK(child_answer(&c) == 0);
	clock_gettime(CLOCK_REALTIME, &after);
	CHECK_OK(proc_start_time(c.pid, &start));
	CHECK(start.tv_sec >= before.tv_sec - 1 && start.tv_sec <= after.tv_sec + 1);
	CHECK_OK(proc_start_time(1, &start));
	CHECK(start.tv_sec <= before.tv_sec && start.tv_nsec >= 0 && start.tv_nsec < 1000000000);
	CHECK_ERROR(ERROR_GONE, proc_start_time(NO_PID, &start));
}

// SPDX-License-Identifier: Apache-2.0
#include "symbolize/perf_map.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "target/proc.h"
#include "tests/test.h"
#include "tests/unit/target/child.h"

static bool is(const struct perf_map *m, uint64_t address, const char *name)
{
	return str_eq(perf_map_find(m, address), str_from(name));
}

TEST(names_may_have_anything_in_them)
{
	auto_(perf_map) m = NULL;
	CHECK_OK(perf_map_parse(STR("7f0000001000 100 LazyCompile:~f a b.js:1\n"
				    "0x7f0000002000 0x10 void A<int>::operator()(int) const\r\n"
				    "7F0000003000 1 \xff\xfe\n"
				    "fffffffffffffff0 f the end"),
				&m));
	CHECK(is(m, 0x7f0000001000, "LazyCompile:~f a b.js:1"));
	CHECK(is(m, 0x7f00000010ff, "LazyCompile:~f a b.js:1"));
	CHECK(is(m, 0x7f0000001100, "") && is(m, 0x7f0000000fff, ""));
	CHECK(is(m, 0x7f000000200f, "void A<int>::operator()(int) const"));
	CHECK(is(m, 0x7f0000003000, "\xff\xfe") && is(m, 0x7f0000003001, ""));
	CHECK(is(m, 0xfffffffffffffffe, "the end") && is(m, UINT64_MAX, ""));
	CHECK(!perf_map_stale(m));
}

TEST(lines_that_are_none_are_passed_over)
{
	auto_(perf_map) m = NULL;
	CHECK_OK(perf_map_parse(STR("\n"
				    "1000\n"
				    "1000 10\n"
				    "1000 10 \n"
				    "1000 0 empty\n"
				    "xyz 10 start\n"
				    "1000 -1 size\n"
				    "ffffffffffffffff 2 overflow\n"
				    "1000  10 two spaces\n"
				    "2000 10 good\n"),
				&m));
	CHECK(is(m, 0x1000, "") && is(m, UINT64_MAX, "") && is(m, 0x2000, "good"));
	auto_(perf_map) none = NULL;
	CHECK_OK(perf_map_parse(STR(""), &none));
	CHECK(is(none, 0, ""));
}

TEST(a_later_line_takes_its_part_of_earlier_ones)
{
	auto_(perf_map) m = NULL;
	CHECK_OK(perf_map_parse(STR("1000 1000 old\n"
				    "1400 100 new\n"
				    "1480 200 newest\n"
				    "1f00 200 last\n"),
				&m));
	CHECK(is(m, 0x13ff, "old") && is(m, 0x1400, "new") && is(m, 0x147f, "new"));
	CHECK(is(m, 0x1480, "newest") && is(m, 0x167f, "newest") && is(m, 0x1680, "old"));
	CHECK(is(m, 0x1eff, "old") && is(m, 0x1f00, "last") && is(m, 0x20ff, "last"));
}

// Fills a map and a model of every address with random lines; later ones are simply written over.
static bool agrees_with_model(unsigned seed)
{
	int model[512] = { 0 };
	auto_fini(buf) text = { 0 };
	int lines = 1 + rand_r(&seed) % 200;
	for (int i = 1; i <= lines; i++) {
		int start = rand_r(&seed) % 500, size = 1 + rand_r(&seed) % (i % 7 ? 12 : 200);
		buf_printf(&text, "%x %x %d\n", (unsigned)start, (unsigned)size, i);
		for (int at = start; at < MIN(start + size, 512); at++)
			model[at] = i;
	}
	auto_(perf_map) m = NULL;
	auto_(error) err = perf_map_parse(buf_view(&text), &m);
	for (unsigned at = 0; !err && at < 512; at++) {
		uint64_t number = 0;
		str_to_u64(perf_map_find(m, at), 10, &number);
		if (number != (uint64_t)model[at])
			return false;
	}
	return !err;
}

TEST(overlapping_lines_agree_with_a_model_of_every_address)
{
	for (unsigned seed = 0; seed < 300; seed++)
		CHECK(agrees_with_model(seed));
}

TEST(a_map_beyond_all_measure_is_refused)
{
	auto_fini(buf) text = { 0 };
	for (int i = 0; i < (2 << 20) + 1; i++)
		buf_text(&text, "0 1 a\n");
	struct perf_map *m = NULL;
	CHECK_ERROR(ERROR_UNSUPPORTED, perf_map_parse(buf_view(&text), &m));
	// Its size alone tells.
	CHECK_ERROR(ERROR_UNSUPPORTED,
		    perf_map_parse((struct str){ text.at, ((size_t)100 << 20) + 1 }, &m));
	CHECK(!m);
}

// The map of the test program itself.
struct own_map {
	char path[64];
};

static void own_map_fini(struct own_map *o)
{
	unlink(o->path);
}

static struct own_map own_map(void)
{
	struct own_map o;
	snprintf(o.path, sizeof(o.path), "/tmp/perf-%d.map", getpid());
	unlink(o.path);
	return o;
}

static bool append_text(const char *path, const char *text)
{
	autoclose int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
	return fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
}

TEST(a_map_is_read_and_found_to_have_grown)
{
	__attribute__((cleanup(own_map_fini))) struct own_map o = own_map();
	CHECK(append_text(o.path, "1000 10 one\n2000 10 tw"));
	auto_(perf_map) m = NULL;
	CHECK_OK(perf_map_read(getpid(), &m));
	CHECK(is(m, 0x1000, "one"));
	CHECK(is(m, 0x2000, "")); // half written
	CHECK(!perf_map_stale(m));
	CHECK(append_text(o.path, "o\n"));
	CHECK(perf_map_stale(m));
	auto_(perf_map) newer = NULL;
	CHECK_OK(perf_map_read(getpid(), &newer));
	CHECK(is(newer, 0x1000, "one") && is(newer, 0x2000, "two") && !perf_map_stale(newer));
}

TEST(without_a_map_or_a_process_that_is_said)
{
	__attribute__((cleanup(own_map_fini))) struct own_map o = own_map();
	struct perf_map *m = NULL;
	CHECK_ERROR(ERROR_NOT_FOUND, perf_map_read(getpid(), &m));
	CHECK_ERROR(ERROR_GONE, perf_map_read(5000001, &m));
	CHECK(o.path[0] == '/' && !m);
}

TEST(a_map_from_before_the_process_started_is_not_its_own)
{
	__attribute__((cleanup(own_map_fini))) struct own_map o = own_map();
	struct timespec start;
	CHECK_OK(proc_start_time(getpid(), &start));
	CHECK(append_text(o.path, "1000 10 stale\n"));
	struct timespec times[2] = { start, start };
	times[1].tv_sec = start.tv_sec - 3;
	CHECK(utimensat(AT_FDCWD, o.path, times, 0) == 0);
	auto_(perf_map) m = NULL;
	CHECK_ERROR(ERROR_NOT_FOUND, perf_map_read(getpid(), &m));
	CHECK(!m);
	times[1].tv_sec = start.tv_sec - 1;
	CHECK(utimensat(AT_FDCWD, o.path, times, 0) == 0);
	CHECK_OK(perf_map_read(getpid(), &m));
}

TEST(what_is_planted_in_place_of_a_map_is_refused)
{
	__attribute__((cleanup(own_map_fini))) struct own_map o = own_map();
	struct perf_map *m = NULL;
	CHECK(mkfifo(o.path, 0666) == 0);
	CHECK_ERROR(ERROR_DENIED, perf_map_read(getpid(), &m)); // and does not wait for a writer
	CHECK(unlink(o.path) == 0 && symlink("/etc/passwd", o.path) == 0);
	CHECK_ERROR(ERROR_DENIED, perf_map_read(getpid(), &m));
	CHECK(unlink(o.path) == 0 && append_text(o.path, "1000 10 planted\n"));
	if (chown(o.path, 12345, (gid_t)-1) != 0) {
		test_skip("not permitted to give a file away");
		return;
	}
	CHECK_ERROR(ERROR_DENIED, perf_map_read(getpid(), &m));
	CHECK(!m);
}

TEST(a_map_that_is_too_large_is_not_read)
{
	__attribute__((cleanup(own_map_fini))) struct own_map o = own_map();
	struct perf_map *m = NULL;
	CHECK(append_text(o.path, "1000 10 one\n"));
	CHECK(truncate(o.path, ((off_t)100 << 20) + 1) == 0); // takes no space
	CHECK_ERROR(ERROR_UNSUPPORTED, perf_map_read(getpid(), &m));
	CHECK(!m);
}

// The first process of a pid namespace, with a root of its own.
static int enter_namespace(int round, void *arg)
{
	(void)round;
	if (unshare(CLONE_NEWPID) != 0 || chroot(arg) != 0)
		return -1;
	pid_t pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	return pid;
}

TEST(a_map_is_found_through_the_root_and_the_pid_namespace)
{
	__attribute__((cleanup(temp_dir_fini))) struct temp_dir dir = temp_dir_new();
	char path[128];
	snprintf(path, sizeof(path), "%s/tmp", dir.path);
	CHECK(mkdir(path, 0755) == 0);
	snprintf(path, sizeof(path), "%s/tmp/perf-1.map", dir.path);
	CHECK(append_text(path, "1000 10 inside\n"));
	__attribute__((cleanup(child_fini))) struct child c =
		child_start(enter_namespace, dir.path);
	int pid = child_answer(&c);
	if (pid <= 0) {
		test_skip("not permitted to make namespaces");
		return;
	}
	auto_(perf_map) m = NULL;
	CHECK_OK(perf_map_read(pid, &m));
	CHECK(is(m, 0x1000, "inside"));
}

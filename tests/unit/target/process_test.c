// SPDX-License-Identifier: Apache-2.0
#include "target/process.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/clock.h"
#include "target/proc.h"
#include "tests/test.h"
#include "tests/unit/target/child.h"

#define SECONDS(n) ((uint64_t)(n)*NS_PER_SEC)
// Pids above the kernel's limit: all that is known of them is what the test tells.
#define PARENT 5000001
#define CHILD 5000002

struct world {
	struct files *files;
	struct processes *processes;
};

static void world_fini(struct world *w)
{
	processes_free(w->processes);
	files_free(w->files);
}

static struct error *world_init(struct world *w)
{
	struct error *err = files_new(&w->files);
	return err ? err : processes_new(w->files, &w->processes);
}

#define WORLD(w) __attribute__((cleanup(world_fini))) struct world w = { 0 }

static struct mapping page(uint64_t start, uint64_t end, uint32_t file, uint64_t born)
{
	return (struct mapping){
		.start = start, .end = end, .offset = 0x100000, .file = file, .born = born
	};
}

// The file mapped at an address at a time: 0 for none.
static uint32_t file_at(struct world *w, pid_t pid, uint64_t address, uint64_t time)
{
	const struct process *p = processes_find(w->processes, pid, time);
	const struct mapping *m = p ? process_mapping(p, address, time) : NULL;
	return m ? m->file : 0;
}

TEST(a_process_has_the_name_of_the_time_that_is_asked_for)
{
	auto_(files) f = NULL;
	auto_(processes) ps = NULL;
	CHECK_OK(files_new(&f));
	CHECK_OK(processes_new(f, &ps));
	// A pid that nobody has: what is known of it are these events, told in any order.
	const pid_t pid = 0x7ffffff0;
	CHECK_OK(processes_on_exec(ps, pid, STR("third"), SECONDS(30)));
	processes_on_comm(ps, pid, STR("second"), SECONDS(30) - 2000);
	CHECK_OK(processes_on_exec(ps, pid, STR("first"), SECONDS(30) - 5000));
	const struct process *p = processes_find(ps, pid, SECONDS(30));
	CHECK(p);
	CHECK(strcmp(process_comm(p, SECONDS(30) - 9000), "first") == 0);
	CHECK(strcmp(process_comm(p, SECONDS(30) - 4000), "first") == 0);
	CHECK(strcmp(process_comm(p, SECONDS(30) - 2000), "second") == 0);
	CHECK(strcmp(process_comm(p, SECONDS(31)), "third") == 0);
	CHECK(strcmp(p->comm, "third") == 0);
}

TEST(a_sample_is_looked_up_as_of_its_own_time)
{
	WORLD(w);
	CHECK_OK(world_init(&w));
	struct processes *ps = w.processes;
	struct mapping program = page(0x1000, 0x5000, 10, SECONDS(1));
	struct mapping library = page(0x9000, 0xa000, 11, SECONDS(2));
	struct mapping over = page(0x2000, 0x3000, 12, SECONDS(3));
	struct mapping other = page(0x1000, 0x2000, 13, SECONDS(5));
	CHECK_OK(processes_on_mmap(ps, PARENT, &program));
	CHECK_OK(processes_on_mmap(ps, PARENT, &library));
	CHECK_OK(processes_on_mmap(ps, PARENT, &over));
	CHECK_OK(processes_on_exec(ps, PARENT, STR("other"), SECONDS(4)));
	CHECK_OK(processes_on_mmap(ps, PARENT, &other));
	processes_on_exit(ps, PARENT, SECONDS(6));

	CHECK(file_at(&w, PARENT, 0x1000, SECONDS(1)) == 10);
	CHECK(file_at(&w, PARENT, 0x9000, SECONDS(1)) == 0);
	CHECK(file_at(&w, PARENT, 0x9000, SECONDS(2)) == 11);
	CHECK(file_at(&w, PARENT, 0x2800, SECONDS(2)) == 10);
	CHECK(file_at(&w, PARENT, 0x2800, SECONDS(3)) == 12);
	CHECK(file_at(&w, PARENT, 0x1fff, SECONDS(3)) == 10);
	CHECK(file_at(&w, PARENT, 0x3000, SECONDS(3)) == 10);
	CHECK(file_at(&w, PARENT, 0x5000, SECONDS(3)) == 0);
	CHECK(file_at(&w, PARENT, 0x2800, SECONDS(4) - 1) == 12);
	CHECK(file_at(&w, PARENT, 0x2800, SECONDS(4)) == 0);
	CHECK(file_at(&w, PARENT, 0x1000, SECONDS(4)) == 0);
	CHECK(file_at(&w, PARENT, 0x1000, SECONDS(5)) == 13);
	CHECK(file_at(&w, PARENT, 0x1000, SECONDS(6)) == 13); // on its way out
	CHECK(file_at(&w, PARENT, 0x1000, SECONDS(7)) == 0);
}

TEST(a_mapping_cut_in_two_keeps_its_offsets)
{
	WORLD(w);
	CHECK_OK(world_init(&w));
	struct mapping whole = page(0x1000, 0x5000, 10, SECONDS(1));
	struct mapping middle = page(0x2000, 0x3000, 12, SECONDS(2));
	CHECK_OK(processes_on_mmap(w.processes, PARENT, &whole));
	CHECK_OK(processes_on_mmap(w.processes, PARENT, &middle));
	const struct process *p = processes_find(w.processes, PARENT, SECONDS(2));
	CHECK(p && p->live.len == 3);
	const struct mapping *m = process_mapping(p, 0x4000, SECONDS(2));
	CHECK(m && m->start == 0x3000 && m->offset == 0x102000 && m->born == SECONDS(1));
	m = process_mapping(p, 0x1800, SECONDS(2));
	CHECK(m && m->end == 0x2000 && m->offset == 0x100000);
}

TEST(what_is_known_already_changes_nothing)
{
	WORLD(w);
	CHECK_OK(world_init(&w));
	struct mapping m = page(0x1000, 0x5000, 10, SECONDS(1));
	CHECK_OK(processes_on_mmap(w.processes, PARENT, &m));
	const struct process *p = processes_find(w.processes, PARENT, SECONDS(1));
	uint32_t generation = p->generation;
	m.born = SECONDS(2);
	CHECK_OK(processes_on_mmap(w.processes, PARENT, &m));
	struct mapping part = {
		.start = 0x2000, .end = 0x3000, .offset = 0x101000, .file = 10, .born = SECONDS(2)
	};
	CHECK_OK(processes_on_mmap(w.processes, PARENT, &part));
	struct mapping empty = page(0x3000, 0x3000, 12, SECONDS(2));
	CHECK_OK(processes_on_mmap(w.processes, PARENT, &empty));
	CHECK(p->generation == generation && p->live.len == 1 && p->past.len == 0);
	CHECK(p->live.at[0].born == SECONDS(1));
	part.offset = 0;
	CHECK_OK(processes_on_mmap(w.processes, PARENT, &part));
	CHECK(p->generation != generation && p->live.len == 3);
}

TEST(a_child_has_what_its_parent_had_when_it_forked)
{
	WORLD(w);
	CHECK_OK(world_init(&w));
	struct processes *ps = w.processes;
	struct mapping first = page(0x1000, 0x2000, 10, SECONDS(1));
	struct mapping second = page(0x1000, 0x2000, 11, SECONDS(3));
	struct mapping childs = page(0x1000, 0x2000, 12, SECONDS(4));
	CHECK_OK(processes_on_exec(ps, PARENT, STR("shell"), SECONDS(1)));
	CHECK_OK(processes_on_mmap(ps, PARENT, &first));
	CHECK_OK(processes_on_mmap(ps, PARENT, &second));
	CHECK_OK(processes_on_fork(ps, PARENT, CHILD, SECONDS(2))); // learnt of late
	CHECK_OK(processes_on_mmap(ps, CHILD, &childs));
	const struct process *p = processes_find(ps, CHILD, SECONDS(2));
	CHECK(p && p->parent == PARENT && strcmp(p->comm, "shell") == 0 && p->born == SECONDS(2));
	CHECK(file_at(&w, CHILD, 0x1000, SECONDS(2)) == 10);
	CHECK(file_at(&w, CHILD, 0x1000, SECONDS(3)) == 10);
	CHECK(file_at(&w, CHILD, 0x1000, SECONDS(4)) == 12);
	CHECK(file_at(&w, PARENT, 0x1000, SECONDS(4)) == 11);
	CHECK(file_at(&w, CHILD, 0x1000, SECONDS(1)) == 0);
	uint32_t generation = p->generation;
	CHECK_OK(processes_on_fork(ps, PARENT, CHILD, SECONDS(2))); // told twice
	CHECK(processes_find(ps, CHILD, SECONDS(2)) == p && p->generation == generation);
}

TEST(a_fork_may_be_told_after_what_the_child_did_next)
{
	WORLD(w);
	CHECK_OK(world_init(&w));
	struct processes *ps = w.processes;
	uint64_t ms = NS_PER_SEC / 1000;
	struct mapping program = page(0x1000, 0x3000, 10, SECONDS(1));
	struct mapping jit = page(0x2000, 0x3000, 11, SECONDS(2) + 2 * ms);
	CHECK_OK(processes_on_exec(ps, PARENT, STR("shell"), SECONDS(1)));
	CHECK_OK(processes_on_mmap(ps, PARENT, &program));
	CHECK_OK(processes_on_mmap(ps, CHILD, &jit));
	const struct process *p = processes_find(ps, CHILD, SECONDS(2) + 2 * ms);
	CHECK(p && file_at(&w, CHILD, 0x1000, SECONDS(2) + 2 * ms) == 0);
	CHECK_OK(processes_on_fork(ps, PARENT, CHILD, SECONDS(2)));
	CHECK(processes_find(ps, CHILD, SECONDS(2)) == p);
	CHECK(p->born == SECONDS(2) && p->parent == PARENT && strcmp(p->comm, "shell") == 0);
	CHECK(file_at(&w, CHILD, 0x1000, SECONDS(2)) == 10);
	CHECK(file_at(&w, CHILD, 0x2000, SECONDS(2) + ms) == 10);
	CHECK(file_at(&w, CHILD, 0x2000, SECONDS(2) + 2 * ms) == 11);
	CHECK(file_at(&w, CHILD, 0x1000, SECONDS(3)) == 10);
	// After an exec it has nothing of its parent's any more.
	CHECK_OK(processes_on_exec(ps, CHILD + 1, STR("x"), SECONDS(2) + ms));
	CHECK_OK(processes_on_fork(ps, PARENT, CHILD + 1, SECONDS(2)));
	p = processes_find(ps, CHILD + 1, SECONDS(3));
	CHECK(p && p->born == SECONDS(2) && p->live.len == 0 && strcmp(p->comm, "x") == 0);
}

TEST(a_process_whose_exit_was_lost_is_forgotten_in_the_end)
{
	WORLD(w);
	CHECK_OK(world_init(&w));
	CHECK_OK(processes_on_exec(w.processes, PARENT, STR("x"), SECONDS(1)));
	CHECK(processes_find(w.processes, getpid(), clock_now()));
	uint64_t later = clock_now() + SECONDS(60);
	processes_expire(w.processes, SECONDS(1)); // notices
	CHECK(processes_find(w.processes, PARENT, SECONDS(1)));
	processes_expire(w.processes, later);
	CHECK(!processes_find(w.processes, PARENT, SECONDS(1)));
	struct process *us = processes_find(w.processes, getpid(), clock_now());
	CHECK(us && us->died == MAPPING_ALIVE);
}

TEST(a_pid_that_is_used_again_is_another_process)
{
	WORLD(w);
	CHECK_OK(world_init(&w));
	struct processes *ps = w.processes;
	for (uint32_t i = 0; i < 3; i++) {
		CHECK_OK(processes_on_fork(ps, PARENT, CHILD, SECONDS(10 * i + 1)));
		CHECK_OK(processes_on_exec(ps, CHILD, STR("x"), SECONDS(10 * i + 2)));
		struct mapping m = page(0x1000, 0x2000, 20 + i, SECONDS(10 * i + 2));
		CHECK_OK(processes_on_mmap(ps, CHILD, &m));
		if (i != 1) // this exit was lost
			processes_on_exit(ps, CHILD, SECONDS(10 * i + 5));
	}
	CHECK(file_at(&w, CHILD, 0x1000, SECONDS(0)) == 0);
	CHECK(file_at(&w, CHILD, 0x1000, SECONDS(3)) == 20);
	CHECK(file_at(&w, CHILD, 0x1000, SECONDS(8)) == 0);
	CHECK(file_at(&w, CHILD, 0x1000, SECONDS(13)) == 21);
	CHECK(file_at(&w, CHILD, 0x1000, SECONDS(20)) == 21);
	CHECK(file_at(&w, CHILD, 0x1000, SECONDS(23)) == 22);
	CHECK(!processes_find(ps, CHILD, SECONDS(40)));
}

TEST(what_ended_long_ago_is_forgotten_and_nothing_else)
{
	WORLD(w);
	CHECK_OK(world_init(&w));
	struct processes *ps = w.processes;
	struct mapping early = page(0x1000, 0x2000, 10, SECONDS(1));
	struct mapping middle = page(0x1000, 0x2000, 11, SECONDS(2));
	struct mapping last = page(0x1000, 0x2000, 12, SECONDS(6));
	CHECK_OK(processes_on_mmap(ps, PARENT, &early));
	CHECK_OK(processes_on_fork(ps, PARENT, CHILD, SECONDS(1)));
	processes_on_exit(ps, CHILD, SECONDS(3));
	CHECK_OK(processes_on_mmap(ps, PARENT, &middle));
	CHECK_OK(processes_on_mmap(ps, PARENT, &last));
	const struct process *p = processes_find(ps, PARENT, SECONDS(6));
	processes_expire(ps, SECONDS(5));
	CHECK(!processes_find(ps, CHILD, SECONDS(2)));
	CHECK(processes_find(ps, PARENT, SECONDS(6)) == p);
	CHECK(file_at(&w, PARENT, 0x1000, SECONDS(1)) == 0);
	CHECK(file_at(&w, PARENT, 0x1000, SECONDS(5)) == 11);
	CHECK(file_at(&w, PARENT, 0x1000, SECONDS(6)) == 12);
	CHECK_OK(processes_on_fork(ps, PARENT, CHILD, SECONDS(7)));
	CHECK(file_at(&w, CHILD, 0x1000, SECONDS(7)) == 12);
}

TEST(our_own_code_is_where_the_mapping_says)
{
	WORLD(w);
	CHECK_OK(world_init(&w));
	struct process *p = processes_find(w.processes, getpid(), clock_now());
	CHECK(p && p->pid == getpid() && p->parent == getppid() && p->born == 0);
	const void *code = (const void *)(uintptr_t)&process_mapping;
	uint64_t address = (uintptr_t)code;
	const struct mapping *m = process_mapping(p, address, clock_now());
	CHECK(m && m->file > FILE_VDSO);
	autoclose int fd = -1;
	CHECK_OK(files_open(w.files, m->file, &fd));
	char bytes[32];
	off_t offset = (off_t)(address - m->start + m->offset);
	CHECK(pread(fd, bytes, sizeof(bytes), offset) == sizeof(bytes));
	CHECK(memcmp(bytes, code, sizeof(bytes)) == 0);
	for (size_t i = 1; i < p->live.len; i++)
		CHECK(p->live.at[i - 1].end <= p->live.at[i].start);
}

TEST(a_process_that_is_not_there_is_not_found)
{
	WORLD(w);
	CHECK_OK(world_init(&w));
	CHECK(!processes_find(w.processes, PARENT, clock_now()));
	CHECK(!processes_find(w.processes, 0, clock_now()));
}

// Shared with children, to learn where they map something.
static void **shared_place(void)
{
	void *at = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	return at == MAP_FAILED ? NULL : at;
}

// At first nothing, then generated code, then the same grown, then a library.
static int map_more(int round, void *arg)
{
	void **place = arg;
	if (round == 1)
		*place = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			      0);
	if (round == 1 || round == 2)
		return mprotect(*place, (size_t)round * 4096, PROT_READ | PROT_EXEC);
	if (round == 3) {
		void *library = dlopen("libanl.so.1", RTLD_NOW);
		library = library ? library : dlopen("libnsl.so.1", RTLD_NOW);
		*place = library ? dlsym(library, "getaddrinfo_a") : NULL;
	}
	return 0;
}

TEST(a_refresh_finds_new_code_and_keeps_the_rest)
{
	WORLD(w);
	CHECK_OK(world_init(&w));
	void **place = shared_place();
	CHECK(place);
	__attribute__((cleanup(child_fini))) struct child c = child_start(map_more, place);
	CHECK(child_answer(&c) == 0);
	struct process *p = processes_find(w.processes, c.pid, clock_now());
	CHECK(p);
	uint32_t generation = p->generation;
	CHECK(!process_refresh(w.processes, p)); // too early
	usleep(11000);
	CHECK(!process_refresh(w.processes, p)); // nothing new
	CHECK(p->generation == generation);
	CHECK(child_command(&c) == 0);
	uint64_t sampled = clock_now(), address = (uintptr_t)*place;
	CHECK(!process_mapping(p, address, sampled));
	CHECK(!process_refresh(w.processes, p)); // too early
	usleep(11000);
	CHECK(process_refresh(w.processes, p) && p->generation != generation);
	const struct mapping *m = process_mapping(p, address, sampled);
	CHECK(m && m->file == FILE_ANONYMOUS && m->end - m->start == 4096);
	size_t count = p->live.len;
	CHECK(child_command(&c) == 0);
	sampled = clock_now();
	usleep(11000);
	CHECK(process_refresh(w.processes, p) && p->live.len == count);
	m = process_mapping(p, address + 4096, sampled);
	CHECK(m && m->end - m->start == 8192);
	munmap(place, 4096);
}

TEST(a_library_loaded_later_is_found)
{
	WORLD(w);
	CHECK_OK(world_init(&w));
	void **place = shared_place();
	CHECK(place);
	__attribute__((cleanup(child_fini))) struct child c = child_start(map_more, place);
	CHECK(child_answer(&c) == 0);
	struct process *p = processes_find(w.processes, c.pid, clock_now());
	CHECK(p);
	for (int i = 0; i < 3; i++)
		CHECK(child_command(&c) == 0);
	if (!*place) {
		test_skip("there is no libanl.so.1 to load");
		return;
	}
	uint64_t sampled = clock_now(), address = (uintptr_t)*place;
	usleep(11000);
	process_refresh(w.processes, p);
	const struct mapping *m = process_mapping(p, address, sampled);
	CHECK(m && m->file > FILE_VDSO);
	munmap(place, 4096);
}

static int exec_sleep_when_told(int round, void *arg)
{
	(void)arg;
	if (round == 1)
		execl("/bin/sleep", "sleep", "100", NULL);
	return 0;
}

static bool is_sleep(void *arg)
{
	struct proc_status status;
	auto_(error) err = proc_status_read(*(pid_t *)arg, &status);
	return !err && strcmp(status.comm, "sleep") == 0;
}

TEST(an_exec_ends_what_was_mapped_and_a_refresh_shows_the_new_program)
{
	WORLD(w);
	CHECK_OK(world_init(&w));
	__attribute__((cleanup(child_fini))) struct child c =
		child_start(exec_sleep_when_told, NULL);
	CHECK(child_answer(&c) == 0);
	struct process *p = processes_find(w.processes, c.pid, clock_now());
	CHECK(p);
	uint64_t address = (uintptr_t)&process_mapping, before = clock_now();
	const struct mapping *m = process_mapping(p, address, before);
	CHECK(m);
	uint32_t ours = m->file;
	CHECK(child_command(&c) == -1 && wait_until(is_sleep, &c.pid));
	uint64_t time = clock_now();
	CHECK_OK(processes_on_exec(w.processes, c.pid, STR("sleep"), time));
	CHECK(p->live.len == 0 && strcmp(p->comm, "sleep") == 0);
	m = process_mapping(p, address, before);
	CHECK(m && m->file == ours && m->died == time);
	usleep(11000);
	CHECK(process_refresh(w.processes, p));
	bool found = false;
	vec_each (live, &p->live)
		found |= str_ends(str_from(files_path(w.files, live->file)), STR("/sleep"));
	CHECK(found && !process_mapping(p, address, clock_now()));
}

TEST(events_from_before_the_reading_do_not_undo_it)
{
	WORLD(w);
	CHECK_OK(world_init(&w));
	uint64_t early = clock_now();
	usleep(3000);
	char *argv[] = { (char[]){ "sleep" }, (char[]){ "100" }, NULL };
	__attribute__((cleanup(child_fini))) struct child c = child_exec("/bin/sleep", argv);
	CHECK(c.pid > 0);
	usleep(3000);
	struct process *p = processes_find(w.processes, c.pid, clock_now());
	CHECK(p && p->live.len != 0);
	uint32_t generation = p->generation;
	size_t count = p->live.len;
	struct mapping program = p->live.at[0], replaced = program;
	CHECK_OK(processes_on_fork(w.processes, getpid(), c.pid, early));
	replaced.born = early + 1;
	replaced.file = 4711;
	CHECK_OK(processes_on_mmap(w.processes, c.pid, &replaced));
	CHECK_OK(processes_on_exec(w.processes, c.pid, STR("older"), early + 2));
	program.born = early + 3;
	CHECK_OK(processes_on_mmap(w.processes, c.pid, &program));
	CHECK(processes_find(w.processes, c.pid, clock_now()) == p);
	CHECK(p->generation == generation && p->live.len == count && p->born == early);
	CHECK(strcmp(p->comm, "sleep") == 0 && p->live.at[0].born == early + 2);
	const struct mapping *m = process_mapping(p, program.start, early + 1);
	CHECK(m && m->file == 4711);
}

static void *wait_forever(void *arg)
{
	for (;;)
		pause();
	return arg;
}

static int *main_thread_ended;

// The answer is given by the second thread, because the first one ends.
static void *answer_and_wait(void *arg)
{
	usleep(20000);
	*main_thread_ended = 1;
	return wait_forever(arg);
}

static int end_the_main_thread(int round, void *arg)
{
	pthread_t thread;
	(void)round;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (pthread_create(&thread, NULL, answer_and_wait, arg) == 0)
		pthread_exit(NULL);
	return -1;
}

static bool main_thread_is_zombie(void *arg)
{
	struct proc_status status;
	auto_(error) err = proc_status_read(*(pid_t *)arg, &status);
	return !err && status.state == 'Z' && status.threads > 1;
}

TEST(a_process_goes_on_when_only_its_main_thread_ends)
{
	WORLD(w);
	CHECK_OK(world_init(&w));
	main_thread_ended = (int *)shared_place();
	__attribute__((cleanup(child_fini))) struct child c =
		child_start(end_the_main_thread, NULL);
	CHECK(c.pid > 0 && wait_until(main_thread_is_zombie, &c.pid));
	struct process *p = processes_find(w.processes, c.pid, clock_now());
	CHECK(p && process_mapping(p, (uintptr_t)&process_mapping, clock_now()));
	processes_on_exit(w.processes, c.pid, clock_now());
	CHECK(processes_find(w.processes, c.pid, clock_now() + SECONDS(1)) == p);
	CHECK(p->died == MAPPING_ALIVE);
	munmap(main_thread_ended, 4096);
}

// SPDX-License-Identifier: Apache-2.0
#include "target/files.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/rooted.h"
#include "target/proc.h"
#include "target/process.h"
#include "tests/test.h"
#include "tests/unit/target/child.h"

static struct file_sighting sighting(const char *path, uint64_t ino)
{
	return (struct file_sighting){ .dev = 1, .ino = ino, .path = str_from(path), .pid = 1 };
}

static int open_in(const char *root, const char *path, struct stat *ret)
{
	return rooted_open(root, path, ROOTED_LAST_IS_FILE, ret);
}

TEST(memory_without_a_file_is_anonymous)
{
	static const char *const paths[] = { "",
					     "[heap]",
					     "[stack]",
					     "[anon:v8]",
					     "[vsyscall]",
					     "[uprobes]",
					     "//anon",
					     "/dev/zero",
					     "/dev/zero (deleted)",
					     "/SYSV00000000 (deleted)",
					     "/anon_hugepage (deleted)",
					     "anon_inode:[perf_event]" };
	auto_(files) f = NULL;
	CHECK_OK(files_new(&f));
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		struct file_sighting s = sighting(paths[i], 7);
		uint32_t file = 99;
		CHECK_OK(files_intern(f, &s, &file));
		CHECK(file == FILE_ANONYMOUS);
	}
	int fd;
	CHECK_ERROR(ERROR_NOT_FOUND, files_open(f, FILE_ANONYMOUS, &fd));
	CHECK_ERROR(ERROR_NOT_FOUND, files_open(f, 12345, &fd));
	CHECK(strcmp(files_path(f, FILE_ANONYMOUS), "") == 0);
}

TEST(a_file_is_known_by_device_inode_and_path)
{
	auto_(files) f = NULL;
	CHECK_OK(files_new(&f));
	struct file_sighting seen[] = { sighting("/lib/a.so", 7), sighting("/lib/a.so", 8),
					sighting("/lib/b.so", 7), sighting("/memfd:x (deleted)", 1),
					sighting("/memfd:x (deleted)", 2) };
	uint32_t first[ARRAY_SIZE(seen)], again;
	for (size_t i = 0; i < ARRAY_SIZE(seen); i++) {
		CHECK_OK(files_intern(f, &seen[i], &first[i]));
		CHECK(first[i] > FILE_VDSO);
		for (size_t k = 0; k < i; k++)
			CHECK(first[i] != first[k]);
	}
	for (size_t i = 0; i < ARRAY_SIZE(seen); i++) {
		seen[i].pid = 2;
		CHECK_OK(files_intern(f, &seen[i], &again));
		CHECK(again == first[i]);
	}
	struct file_sighting deleted = sighting("/lib/a.so (deleted)", 8);
	CHECK_OK(files_intern(f, &deleted, &again));
	CHECK(again == first[1]);
	CHECK(strcmp(files_path(f, first[1]), "/lib/a.so") == 0);
}

TEST(a_newline_in_a_name_is_written_as_in_maps)
{
	auto_(files) f = NULL;
	CHECK_OK(files_new(&f));
	struct file_sighting raw = sighting("/a\nb", 7), escaped = sighting("/a\\012b", 7);
	uint32_t first, second;
	CHECK_OK(files_intern(f, &raw, &first));
	CHECK_OK(files_intern(f, &escaped, &second));
	CHECK(first == second);
	CHECK(strcmp(files_path(f, first), "/a\\012b") == 0);
}

TEST(many_files_keep_their_numbers)
{
	auto_(files) f = NULL;
	CHECK_OK(files_new(&f));
	for (int round = 0; round < 2; round++) {
		for (uint32_t i = 0; i < 5000; i++) {
			char path[32];
			snprintf(path, sizeof(path), "/f%u", i / 2);
			struct file_sighting s = sighting(path, i);
			uint32_t file;
			CHECK_OK(files_intern(f, &s, &file));
			CHECK(file == i + 2 && strcmp(files_path(f, file), path) == 0);
		}
	}
}

TEST(the_vdso_is_an_elf_file)
{
	auto_(files) f = NULL;
	CHECK_OK(files_new(&f));
	struct file_sighting s = { .path = STR("[vdso]"), .pid = 1 };
	uint32_t file;
	CHECK_OK(files_intern(f, &s, &file));
	CHECK(file == FILE_VDSO && strcmp(files_path(f, file), "[vdso]") == 0);
	autoclose int fd = -1;
	CHECK_OK(files_open(f, file, &fd));
	char magic[4];
	CHECK(read(fd, magic, 4) == 4 && memcmp(magic, "\177ELF", 4) == 0);
}

// What a process has mapped, looked up by the end of its path.
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

static const struct mapping *mapping_of(struct world *w, pid_t pid, const char *path_end)
{
	struct process *p = processes_find(w->processes, pid, clock_now());
	for (size_t i = 0; p && i < p->live.len; i++)
		if (str_ends(str_from(files_path(w->files, p->live.at[i].file)),
			     str_from(path_end)))
			return &p->live.at[i];
	return NULL;
}

TEST(a_running_program_and_its_library_can_be_opened)
{
	__attribute__((cleanup(world_fini))) struct world w = { 0 };
	CHECK_OK(world_init(&w));
	char *argv[] = { (char[]){ "sleep" }, (char[]){ "100" }, NULL };
	__attribute__((cleanup(child_fini))) struct child c = child_exec("/bin/sleep", argv);
	const struct mapping *program = mapping_of(&w, c.pid, "/sleep");
	const struct mapping *library = mapping_of(&w, c.pid, "/libc.so.6");
	CHECK(program && library);
	autoclose int fd = -1, library_fd = -1;
	CHECK_OK(files_open(w.files, program->file, &fd));
	CHECK(same_bytes(fd, "/bin/sleep"));
	CHECK_OK(files_open(w.files, library->file, &library_fd));
	CHECK(same_bytes(library_fd, files_path(w.files, library->file)));
	CHECK(strcmp(files_root(w.files, program->file), "") == 0);
}

struct deletion {
	struct temp_dir dir;
	char path[96];
	struct child child;
};

static void deletion_fini(struct deletion *d)
{
	child_fini(&d->child);
	temp_dir_fini(&d->dir);
}

// A program that runs while its file is deleted and another takes its name.
static bool deletion_init(struct deletion *d)
{
	d->dir = temp_dir_new();
	snprintf(d->path, sizeof(d->path), "%s/program", d->dir.path);
	char *argv[] = { d->path, (char[]){ "100" }, NULL };
	return copy_file("/bin/sleep", d->path) && (d->child = child_exec(d->path, argv)).pid > 0 &&
	       unlink(d->path) == 0 && copy_file("/bin/true", d->path);
}

TEST(a_replaced_program_is_not_mistaken_for_the_one_that_runs)
{
	__attribute__((cleanup(deletion_fini))) struct deletion d = { 0 };
	__attribute__((cleanup(world_fini))) struct world w = { 0 };
	CHECK(deletion_init(&d));
	CHECK_OK(world_init(&w));
	const struct mapping *m = mapping_of(&w, d.child.pid, "/program");
	CHECK(m);
	autoclose int fd = -1;
	CHECK_OK(files_open(w.files, m->file, &fd));
	CHECK(same_bytes(fd, "/bin/sleep"));
}

TEST(a_replaced_program_that_has_exited_is_gone_unless_it_was_pinned)
{
	__attribute__((cleanup(deletion_fini))) struct deletion d = { 0 };
	__attribute__((cleanup(world_fini))) struct world pinned = { 0 }, late = { 0 };
	CHECK(deletion_init(&d));
	CHECK_OK(world_init(&pinned));
	CHECK_OK(world_init(&late));
	const struct mapping *m = mapping_of(&pinned, d.child.pid, "/program");
	const struct mapping *late_m = mapping_of(&late, d.child.pid, "/program");
	CHECK(m && late_m);
	files_pin(pinned.files, m->file);
	child_fini(&d.child);
	for (int i = 0; i < 2; i++) { // each with a position of its own
		autoclose int fd = -1;
		CHECK_OK(files_open(pinned.files, m->file, &fd));
		CHECK(same_bytes(fd, "/bin/sleep"));
	}
	int fd = -1;
	CHECK_ERROR(ERROR_NOT_FOUND, files_open(late.files, late_m->file, &fd));
	CHECK(fd == -1);
}

TEST(what_was_pinned_long_ago_is_let_go)
{
	__attribute__((cleanup(deletion_fini))) struct deletion d = { 0 };
	__attribute__((cleanup(world_fini))) struct world w = { 0 };
	CHECK(deletion_init(&d));
	CHECK_OK(world_init(&w));
	const struct mapping *m = mapping_of(&w, d.child.pid, "/program");
	CHECK(m);
	uint32_t file = m->file;
	uint64_t before = clock_now();
	files_pin(w.files, file);
	files_unpin_before(w.files, before); // not this one
	files_unpin_before(w.files, clock_now() + 1);
	autoclose int fd = -1;
	CHECK_OK(files_open(w.files, file, &fd)); // its process still maps it
	CHECK(same_bytes(fd, "/bin/sleep"));
	files_pin(w.files, file);
	uint64_t since = clock_now() + 1;
	files_unpin_before(w.files, before);
	child_fini(&d.child);
	autoclose int pinned = -1;
	CHECK_OK(files_open(w.files, file, &pinned));
	files_unpin_before(w.files, since);
	int gone = -1;
	CHECK_ERROR(ERROR_NOT_FOUND, files_open(w.files, file, &gone));
	CHECK(gone == -1);
}

static uint32_t intern_copy(struct files *f, const char *dir, int i)
{
	char path[128];
	snprintf(path, sizeof(path), "%s/%d", dir, i);
	struct stat st;
	uint32_t file = FILE_ANONYMOUS;
	if (!copy_file("/bin/true", path) || stat(path, &st) != 0)
		return file;
	struct file_sighting s = { st.st_dev, st.st_ino, str_from(path), getpid(), 0, 0 };
	auto_(error) err = files_intern(f, &s, &file);
	return file;
}

static size_t count_descriptors(void)
{
	size_t count = 0;
	for (int fd = 0; fd < 256; fd++)
		count += fcntl(fd, F_GETFD) >= 0;
	return count;
}

TEST(pins_take_half_of_the_descriptors_there_are_by_now)
{
	__attribute__((cleanup(temp_dir_fini))) struct temp_dir dir = temp_dir_new();
	struct rlimit old, low;
	CHECK(getrlimit(RLIMIT_NOFILE, &old) == 0);
	low = (struct rlimit){ .rlim_cur = 64, .rlim_max = old.rlim_max };
	CHECK(setrlimit(RLIMIT_NOFILE, &low) == 0);
	auto_(files) f = NULL;
	struct error *err = files_new(&f);
	uint32_t first = err ? FILE_ANONYMOUS : intern_copy(f, dir.path, 0);
	for (int i = 1; i < 40 && !err; i++)
		intern_copy(f, dir.path, i);
	size_t before = count_descriptors(), at_low = 0, at_high = 0;
	for (uint32_t i = 0; i < 40 && !err; i++)
		files_pin(f, first + i);
	at_low = count_descriptors() - before;
	setrlimit(RLIMIT_NOFILE, &old);
	for (uint32_t i = 0; i < 40 && !err; i++)
		files_pin(f, first + i);
	at_high = count_descriptors() - before;
	CHECK_OK(err);
	CHECK(at_low == 32 && at_high == 40);
	files_unpin_before(f, clock_now() + 1);
	CHECK(count_descriptors() == before);
}

TEST(a_file_can_be_opened_through_another_process_that_maps_it)
{
	__attribute__((cleanup(deletion_fini))) struct deletion d = { 0 };
	__attribute__((cleanup(world_fini))) struct world w = { 0 };
	d.dir = temp_dir_new();
	snprintf(d.path, sizeof(d.path), "%s/program", d.dir.path);
	char *argv[] = { d.path, (char[]){ "100" }, NULL };
	CHECK(copy_file("/bin/sleep", d.path));
	__attribute__((cleanup(child_fini))) struct child first = child_exec(d.path, argv);
	d.child = child_exec(d.path, argv);
	CHECK(first.pid > 0 && d.child.pid > 0 && unlink(d.path) == 0);
	CHECK_OK(world_init(&w));
	const struct mapping *a = mapping_of(&w, d.child.pid, "/program");
	const struct mapping *b = mapping_of(&w, first.pid, "/program");
	CHECK(a && b && a->file == b->file);
	child_fini(&first); // the one that was seen last
	autoclose int fd = -1;
	CHECK_OK(files_open(w.files, a->file, &fd));
	CHECK(same_bytes(fd, "/bin/sleep"));
}

TEST(names_with_newlines_and_a_false_deleted_can_be_opened)
{
	static const char *const names[] = { "new\nline", "back\\012slash", "not (deleted)" };
	__attribute__((cleanup(temp_dir_fini))) struct temp_dir dir = temp_dir_new();
	auto_(files) f = NULL;
	CHECK_OK(files_new(&f));
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		char path[128];
		snprintf(path, sizeof(path), "%s/%s", dir.path, names[i]);
		CHECK(copy_file("/bin/true", path));
		struct stat st;
		CHECK(stat(path, &st) == 0);
		struct file_sighting s = { st.st_dev, st.st_ino, str_from(path), getpid(), 0, 0 };
		uint32_t file;
		CHECK_OK(files_intern(f, &s, &file));
		autoclose int fd = -1;
		CHECK_OK(files_open(f, file, &fd));
		CHECK(same_bytes(fd, "/bin/true"));
	}
}

TEST(a_pipe_or_a_device_in_place_of_a_file_is_never_opened)
{
	__attribute__((cleanup(temp_dir_fini))) struct temp_dir dir = temp_dir_new();
	char path[128];
	snprintf(path, sizeof(path), "%s/pipe", dir.path);
	CHECK(mkfifo(path, 0600) == 0);
	struct stat st;
	CHECK(open_in("", path, &st) == -EINVAL);
	CHECK(open_in("", "/dev/null", &st) == -EINVAL);
	CHECK(open_in("", "relative", &st) == -EINVAL);
	CHECK(open_in("", "/no such file", &st) == -ENOENT);
}

static int map_memfd(int round, void *arg)
{
	(void)round;
	(void)arg;
	autoclose int fd = memfd_create("generated", MFD_CLOEXEC);
	if (fd < 0 || ftruncate(fd, 8192) != 0 || pwrite(fd, "CODE", 4, 4096) != 4)
		return -1;
	void *at = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_SHARED, fd, 4096);
	return at == MAP_FAILED ? -1 : 0;
}

TEST(a_memfd_can_be_opened)
{
	__attribute__((cleanup(world_fini))) struct world w = { 0 };
	CHECK_OK(world_init(&w));
	__attribute__((cleanup(child_fini))) struct child c = child_start(map_memfd, NULL);
	CHECK(child_answer(&c) == 0);
	const struct mapping *m = mapping_of(&w, c.pid, "/memfd:generated");
	CHECK(m && m->offset == 4096);
	autoclose int fd = -1;
	auto_(error) err = files_open(w.files, m->file, &fd);
	if (err && err->code == ERROR_DENIED) {
		test_skip("map_files needs CAP_CHECKPOINT_RESTORE");
		return;
	}
	char code[4];
	CHECK(!err && pread(fd, code, 4, 4096) == 4 && memcmp(code, "CODE", 4) == 0);
}

// Becomes the first process of a pid namespace, with a file system of its own in `dir` that nobody
// outside can see, and runs a program there.
static int run_in_namespace(int round, void *arg)
{
	const char *dir = arg;
	(void)round;
	if (unshare(CLONE_NEWNS | CLONE_NEWPID) != 0 ||
	    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
	    mount("wick-test", dir, "tmpfs", 0, NULL) != 0)
		return -1;
	char inside[128];
	snprintf(inside, sizeof(inside), "%s/inside", dir);
	if (!copy_file("/bin/sleep", inside))
		return -1;
	pid_t pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		execl(inside, inside, "100", NULL);
		_exit(1);
	}
	return pid;
}

static bool maps_the_inside(void *arg)
{
	char path[64];
	snprintf(path, sizeof(path), "/proc/%d/maps", *(int *)arg);
	auto_fini(buf) maps = { 0 };
	auto_(error) err = file_read(path, &maps);
	return !err && strstr(buf_cstr(&maps), "/inside");
}

TEST(a_program_in_a_mount_and_pid_namespace_can_be_opened)
{
	__attribute__((cleanup(temp_dir_fini))) struct temp_dir dir = temp_dir_new();
	__attribute__((cleanup(world_fini))) struct world w = { 0 };
	CHECK_OK(world_init(&w));
	__attribute__((cleanup(child_fini))) struct child c =
		child_start(run_in_namespace, dir.path);
	int pid = child_answer(&c);
	if (pid <= 0) {
		test_skip("not permitted to make namespaces");
		return;
	}
	CHECK(wait_until(maps_the_inside, &pid));
	struct proc_status status;
	CHECK_OK(proc_status_read(pid, &status));
	CHECK(status.ns_pid == 1 && status.ns_levels >= 2);
	const struct mapping *m = mapping_of(&w, pid, "/inside");
	CHECK(m);
	CHECK(access(files_path(w.files, m->file), F_OK) != 0); // not there for us
	char root[64];
	snprintf(root, sizeof(root), "/proc/%d/root", pid);
	CHECK(strcmp(files_root(w.files, m->file), root) == 0);
	autoclose int fd = -1;
	CHECK_OK(files_open(w.files, m->file, &fd));
	CHECK(same_bytes(fd, "/bin/sleep"));
	struct stat st;
	autoclose int through_root = open_in(root, files_path(w.files, m->file), &st);
	CHECK(through_root >= 0);
}

// A chroot with an absolute symbolic link in it.
static int enter_chroot(int round, void *arg)
{
	(void)round;
	return chroot(arg) == 0 && chdir("/") == 0 ? 0 : -1;
}

TEST(an_absolute_link_stays_inside_the_root_of_its_process)
{
	__attribute__((cleanup(temp_dir_fini))) struct temp_dir dir = temp_dir_new();
	char path[128];
	snprintf(path, sizeof(path), "%s/etc", dir.path);
	CHECK(mkdir(path, 0755) == 0);
	snprintf(path, sizeof(path), "%s/etc/passwd", dir.path);
	CHECK(copy_file("/bin/true", path));
	snprintf(path, sizeof(path), "%s/link", dir.path);
	CHECK(symlink("/etc", path) == 0);
	snprintf(path, sizeof(path), "%s/up", dir.path);
	CHECK(symlink("../../../../../../etc", path) == 0);
	snprintf(path, sizeof(path), "%s/file", dir.path);
	CHECK(symlink("/etc/passwd", path) == 0);
	snprintf(path, sizeof(path), "%s/etc/inside", dir.path);
	CHECK(copy_file("/bin/sleep", path));
	__attribute__((cleanup(child_fini))) struct child c = child_start(enter_chroot, dir.path);
	if (child_answer(&c) != 0) {
		test_skip("not permitted to chroot");
		return;
	}
	char root[64];
	snprintf(root, sizeof(root), "/proc/%d/root", c.pid);
	CHECK(!root_is_ours(root) && root_is_ours("/proc/self/root") && root_is_ours(""));
	static const char *const names[] = { "/link/passwd", "/up/passwd", "/etc/passwd",
					     "/../../etc/passwd" };
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		struct stat st;
		autoclose int fd = open_in(root, names[i], &st);
		CHECK(fd >= 0 && same_bytes(fd, "/bin/true"));
	}
	struct stat st;
	CHECK(open_in(root, "/file", &st) == -EINVAL);
	autoclose int linked = rooted_open(root, "/file", ROOTED_LAST_MAY_LINK, &st);
	CHECK(linked >= 0 && same_bytes(linked, "/bin/true"));
	// What is in the root of its process only, and not mapped, is found there all the same.
	CHECK(stat(path, &st) == 0);
	auto_(files) f = NULL;
	CHECK_OK(files_new(&f));
	struct file_sighting s = { st.st_dev, st.st_ino, STR("/etc/inside"), c.pid, 0, 0 };
	uint32_t file;
	CHECK_OK(files_intern(f, &s, &file));
	autoclose int fd = -1;
	CHECK_OK(files_open(f, file, &fd));
	CHECK(same_bytes(fd, "/bin/sleep"));
}

// As on a kernel before 5.6, or in a sandbox that does not know openat2().
static int forbid_openat2(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat2, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { ARRAY_SIZE(code), code };
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

enum { FALLBACK_RIGHT = 1, FALLBACK_WRONG, FALLBACK_UNTRIED };

static int open_without_openat2(int round, void *arg)
{
	const char *dir = arg;
	char path[128];
	struct stat st;
	(void)round;
	if (forbid_openat2() != 0)
		return FALLBACK_UNTRIED;
	snprintf(path, sizeof(path), "/%s/./plain", dir);
	autoclose int plain = open_in("/proc/self/root", path, &st);
	if (plain < 0 || !same_bytes(plain, "/bin/true"))
		return FALLBACK_WRONG;
	snprintf(path, sizeof(path), "%s/../%s/plain", dir, strrchr(dir, '/') + 1);
	if (open_in("", path, &st) >= 0)
		return FALLBACK_WRONG;
	static const char *const refused[] = { "link/plain", "plain/x", "none", "" };
	for (size_t i = 0; i < ARRAY_SIZE(refused); i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, refused[i]);
		if (open_in("", path, &st) >= 0)
			return FALLBACK_WRONG;
	}
	return FALLBACK_RIGHT;
}

TEST(without_openat2_names_are_resolved_without_any_links)
{
	__attribute__((cleanup(temp_dir_fini))) struct temp_dir dir = temp_dir_new();
	char path[128];
	snprintf(path, sizeof(path), "%s/plain", dir.path);
	CHECK(copy_file("/bin/true", path));
	snprintf(path, sizeof(path), "%s/link", dir.path);
	CHECK(symlink(dir.path, path) == 0);
	__attribute__((cleanup(child_fini))) struct child c =
		child_start(open_without_openat2, dir.path);
	int answer = child_answer(&c);
	if (answer == FALLBACK_UNTRIED) {
		test_skip("system calls cannot be filtered here");
		return;
	}
	CHECK(answer == FALLBACK_RIGHT);
}

// Runs a program from an overlay, where stat() tells another device than /proc/PID/maps.
static int run_in_overlay(int round, void *arg)
{
	const char *dir = arg;
	char options[512], path[128];
	(void)round;
	if (chdir(dir) != 0 || mkdir("lower", 0755) != 0 || mkdir("upper", 0755) != 0 ||
	    !copy_file("/bin/sleep", "lower/inside") || unshare(CLONE_NEWNS) != 0 ||
	    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
	    mount("wick-test", "upper", "tmpfs", 0, NULL) != 0 || mkdir("upper/up", 0755) != 0 ||
	    mkdir("upper/work", 0755) != 0 || mkdir("upper/merged", 0755) != 0)
		return -1;
	snprintf(options, sizeof(options),
		 "lowerdir=%s/lower,upperdir=%s/upper/up,workdir=%s/upper/work", dir, dir, dir);
	if (mount("overlay", "upper/merged", "overlay", 0, options) != 0)
		return -1;
	pid_t pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		snprintf(path, sizeof(path), "%s/upper/merged/inside", dir);
		execl(path, path, "100", NULL);
		_exit(1);
	}
	return pid;
}

TEST(a_program_in_an_overlay_can_be_opened_by_its_name)
{
	__attribute__((cleanup(temp_dir_fini))) struct temp_dir dir = temp_dir_new();
	__attribute__((cleanup(world_fini))) struct world w = { 0 };
	CHECK_OK(world_init(&w));
	__attribute__((cleanup(child_fini))) struct child c = child_start(run_in_overlay, dir.path);
	int pid = child_answer(&c);
	if (pid <= 0) {
		test_skip("not permitted to mount an overlay");
		return;
	}
	CHECK(wait_until(maps_the_inside, &pid));
	const struct mapping *m = mapping_of(&w, pid, "/inside");
	CHECK(m);
	autoclose int fd = -1;
	CHECK_OK(files_open(w.files, m->file, &fd));
	CHECK(same_bytes(fd, "/bin/sleep"));
}

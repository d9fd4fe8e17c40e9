// SPDX-License-Identifier: Apache-2.0
#include "target/files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/resource.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/map.h"
#include "base/rooted.h"
#include "base/vec.h"
#include "target/file.h"

#define DELETED STR(" (deleted)")
#define PINNED_MAX 8192u

struct files {
	struct arena arena;
	VEC(struct file *) list;
	struct map index; // hash → the newest with this hash; same_hash leads to older ones
	size_t pinned_count;
};

static struct file *new_file(struct files *f, struct str path)
{
	struct file *file = arena_new(&f->arena, struct file);
	if (!file || !(file->path = arena_copy(&f->arena, path)) || !vec_push(&f->list, file))
		return NULL;
	file->pinned = -1;
	return file;
}

struct error *files_new(struct files **ret)
{
	auto_(files) f = calloc(1, sizeof(*f));
	if (!f)
		return &error_no_memory;
	// In the order of FILE_ANONYMOUS and FILE_VDSO.
	if (!new_file(f, STR("")) || !new_file(f, STR("[vdso]")))
		return &error_no_memory;
	*ret = take(f);
	return NULL;
}

void files_free(struct files *f)
{
	if (!f)
		return;
	vec_each (file, &f->list)
		if ((*file)->pinned >= 0)
			close((*file)->pinned);
	vec_fini(&f->list);
	map_fini(&f->index);
	arena_fini(&f->arena);
	free(f);
}

// The vDSO is one of these too.
static bool is_anonymous(struct str path)
{
	static const struct str prefixes[] = { { "//", 2 }, { "/SYSV", 5 } };
	static const struct str names[] = { { "/dev/zero", 9 }, { "/anon_hugepage", 14 } };
	// "[heap]", "[anon:name]", "anon_inode:..." and so on
	if (path.len == 0 || path.ptr[0] != '/')
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++)
		if (str_starts(path, prefixes[i]))
			return true;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (str_eq(path, names[i]))
			return true;
	return false;
}

// /proc/PID/maps writes a newline as \012, an event as it is. Zeros would cut the name short.
static struct str escape_path(struct str path, struct buf *scratch)
{
	if (!memchr(path.ptr, '\n', path.len) && !memchr(path.ptr, '\0', path.len))
		return path;
	for (size_t i = 0; i < path.len && path.ptr[i] != '\0'; i++) {
		if (path.ptr[i] == '\n')
			buf_text(scratch, "\\012");
		else
			buf_char(scratch, path.ptr[i]);
	}
	return buf_view(scratch);
}

// A process that keeps mapping the same file must not push the others out.
static void remember_place(struct file *file, const struct file_sighting *s)
{
	size_t i = 0;
	while (i < file->place_count && file->places[i].pid != s->pid)
		i++;
	if (i == file->place_count) { // the oldest makes room
		file->place_count = MIN(file->place_count + 1, (size_t)FILE_PLACES);
		i = file->place_count - 1;
		file->pin_failed = false;
	}
	memmove(file->places + 1, file->places, i * sizeof(file->places[0]));
	file->places[0] = (struct file_place){ s->pid, s->start };
}

static uint64_t identity_hash(const struct file_sighting *s, struct str path)
{
	return map_mix(map_mix(s->dev ^ str_hash(path)) ^ s->ino);
}

static struct error *find_or_add(struct files *f, const struct file_sighting *s, struct str path,
				 uint32_t *ret)
{
	uint64_t hash = identity_hash(s, path);
	uint64_t *newest = map_get(&f->index, hash);
	uint32_t same_hash = newest ? (uint32_t)*newest : FILE_ANONYMOUS;
	for (uint32_t i = same_hash; i != FILE_ANONYMOUS; i = f->list.at[i]->same_hash) {
		const struct file *file = f->list.at[i];
		if (file->dev == s->dev && file->ino == s->ino &&
		    str_eq(str_from(file->path), path)) {
			*ret = i;
			return NULL;
		}
	}
	struct file *file = f->list.len < UINT32_MAX ? new_file(f, path) : NULL;
	newest = file ? map_put(&f->index, hash, /* ret_new= */ NULL) : NULL;
	if (!newest)
		return &error_no_memory;
	file->dev = s->dev;
	file->ino = s->ino;
	file->same_hash = same_hash;
	*newest = *ret = (uint32_t)(f->list.len - 1);
	return NULL;
}

struct error *files_intern(struct files *f, const struct file_sighting *s, uint32_t *ret)
{
	struct str path = s->path;
	bool deleted = str_ends(path, DELETED);
	if (deleted)
		path.len -= DELETED.len;
	if (is_anonymous(path)) {
		*ret = str_eq(path, STR("[vdso]")) ? FILE_VDSO : FILE_ANONYMOUS;
		return NULL;
	}
	auto_fini(buf) scratch = { 0 };
	path = escape_path(path, &scratch);
	if (scratch.failed)
		return &error_no_memory;
	struct error *err = find_or_add(f, s, path, ret);
	if (err)
		return err;
	f->list.at[*ret]->deleted = deleted;
	remember_place(f->list.at[*ret], s);
	return NULL;
}

static struct file *get(const struct files *f, uint32_t file)
{
	return f->list.at[file < f->list.len ? file : FILE_ANONYMOUS];
}

const char *files_path(const struct files *f, uint32_t file)
{
	return get(f, file)->path;
}

const char *files_root(const struct files *f, uint32_t number)
{
	struct file *file = get(f, number);
	for (size_t i = 0; i < file->place_count; i++) {
		snprintf(file->root, sizeof(file->root), "/proc/%d/root", file->places[i].pid);
		if (root_is_ours(file->root))
			return "";
		if (access(file->root, X_OK) == 0)
			return file->root;
	}
	return "";
}

// A descriptor of its own position; the pinned one's is shared by all its copies.
static int reopen(int fd)
{
	char self[64];
	snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
	int again = open(self, O_RDONLY | O_CLOEXEC);
	if (again < 0)
		again = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	return again >= 0 ? again : -errno;
}

static struct error *not_found(const struct file *file, int errnum)
{
	if (errnum == EACCES)
		return error_hint(error_new(ERROR_DENIED, "not permitted to open %s", file->path),
				  "files of other users' processes, and files that were deleted, "
				  "need CAP_SYS_PTRACE and CAP_CHECKPOINT_RESTORE, or root");
	if (errnum == ENOENT)
		return error_new(ERROR_NOT_FOUND, "the file that was mapped from %s is gone",
				 file->path);
	return error_sys(errnum, "open %s", file->path);
}

struct error *files_open(struct files *f, uint32_t number, int *ret_fd)
{
	const struct file *file = get(f, number);
	if (file == f->list.at[FILE_ANONYMOUS])
		return error_new(ERROR_NOT_FOUND, "anonymous memory has no file");
	int fd;
	if (number == FILE_VDSO)
		fd = vdso_open();
	else if (file->pinned >= 0)
		fd = reopen(file->pinned);
	else
		fd = file_find(file);
	if (fd < 0)
		return not_found(file, -fd);
	*ret_fd = fd;
	return NULL;
}

// Asked anew each time: the limit may be raised. The other half of the descriptors is for everybody
// else.
static size_t pinned_max(void)
{
	struct rlimit limit;
	return getrlimit(RLIMIT_NOFILE, &limit) == 0 ? MIN(limit.rlim_cur / 2, PINNED_MAX) : 256;
}

void files_pin(struct files *f, uint32_t number)
{
	struct file *file = get(f, number);
	if (number <= FILE_VDSO || file->pinned >= 0 || file->pin_failed ||
	    f->pinned_count >= pinned_max())
		return;
	file->pinned = file_find(file);
	file->pinned_at = clock_now();
	file->pin_failed = file->pinned < 0;
	f->pinned_count += file->pinned >= 0;
}

void files_unpin_before(struct files *f, uint64_t time)
{
	vec_each (slot, &f->list) {
		struct file *file = *slot;
		if (file->pinned < 0 || file->pinned_at >= time)
			continue;
		close(file->pinned);
		file->pinned = -1;
		f->pinned_count--;
	}
}

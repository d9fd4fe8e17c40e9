// SPDX-License-Identifier: Apache-2.0
// Finding the very file that a process has mapped. Its name is only a hint: it may have been
// deleted or replaced, and what is there now must not be mistaken for it.
#include "target/file.h"

#include <errno.h>
#include <stdio.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/rooted.h"
#include "target/proc.h"

// Reads /proc/PID/maps for the line that contains an address.
static bool line_at(pid_t pid, uint64_t address, struct buf *text, struct maps_line *ret)
{
	char path[32];
	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	auto_(error) err = file_read(path, text);
	struct str rest = buf_view(text);
	while (!err && maps_next(&rest, ret))
		if (ret->start <= address && address < ret->end)
			return true;
	return false;
}

// On btrfs and overlayfs the device that stat() tells is not the one in /proc/PID/maps. Mapping the
// file ourselves shows how the kernel would name it there.
static bool same_when_mapped(const struct file *file, int fd)
{
	size_t size = (size_t)sysconf(_SC_PAGESIZE);
	void *at = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (at == MAP_FAILED)
		return false;
	auto_fini(buf) text = { 0 };
	struct maps_line line;
	bool found = line_at(getpid(), (uintptr_t)at, &text, &line);
	munmap(at, size);
	return found && line.dev == file->dev && line.ino == file->ino;
}

static bool is_same(const struct file *file, int fd, const struct stat *st)
{
	// Without an inode number the name is all there is to go by.
	if (file->ino == 0)
		return !file->deleted;
	if (st->st_ino == file->ino && st->st_dev == file->dev)
		return true;
	return same_when_mapped(file, fd);
}

// Closes fd if it is another file. Passes errors through.
static int check_consume_fd(const struct file *file, int consumed, const struct stat *st)
{
	autoclose int fd = consumed;
	if (fd < 0)
		return fd;
	return is_same(file, fd, st) ? take_fd(fd) : -ENOENT;
}

static int open_checked(const struct file *file, const char *root, const char *path)
{
	struct stat st = { 0 };
	int fd = rooted_open(root, path, ROOTED_LAST_IS_FILE, &st);
	return check_consume_fd(file, fd, &st);
}

// A name that has \012 in it may have a newline there or just that.
static bool unescape(const char *path, struct buf *ret)
{
	bool any = false;
	while (*path != '\0') {
		bool newline = str_starts(str_from(path), STR("\\012"));
		buf_char(ret, newline ? '\n' : *path);
		path += newline ? 4 : 1;
		any |= newline;
	}
	return any;
}

static int by_name(const struct file *file, const char *root)
{
	int fd = open_checked(file, root, file->path);
	if (fd >= 0)
		return fd;
	auto_fini(buf) name = { 0 };
	if (unescape(file->path, &name))
		return open_checked(file, root, buf_cstr(&name));
	// It may have been named like that by its owner.
	if (file->deleted) {
		buf_text(&name, " (deleted)");
		return open_checked(file, root, buf_cstr(&name));
	}
	return fd;
}

static int by_root(const struct file *file, const struct file_place *place)
{
	char root[FILE_ROOT_MAX];
	snprintf(root, sizeof(root), "/proc/%d/root", place->pid);
	return by_name(file, root);
}

// The kernel's own reference to the mapped file, good even if it was deleted. The mapping may have
// been cut into pieces since it was seen, so any piece of the same file will do. Some kernels tell
// another inode in events than in maps (overlayfs): then place and name must do.
static bool find_piece(const struct file *file, const struct file_place *place, struct str maps,
		       struct maps_line *ret)
{
	struct str name = str_basename(str_from(file->path));
	bool found = false;
	struct maps_line line;
	while (maps_next(&maps, &line)) {
		if (file->ino != 0 && line.dev == file->dev && line.ino == file->ino) {
			*ret = line;
			return true;
		}
		struct str other = str_basename(line.path);
		if (line.start <= place->start && place->start < line.end && line.ino != 0 &&
		    str_starts(other, name) &&
		    (other.len == name.len ||
		     str_eq(str_skip(other, name.len), STR(" (deleted)")))) {
			*ret = line;
			found = true;
		}
	}
	return found;
}

static int by_map_files(const struct file *file, const struct file_place *place)
{
	char path[96];
	snprintf(path, sizeof(path), "/proc/%d/maps", place->pid);
	auto_fini(buf) text = { 0 };
	auto_(error) err = file_read(path, &text);
	struct maps_line line;
	if (err)
		return err->code == ERROR_DENIED ? -EACCES : -ENOENT;
	if (!find_piece(file, place, buf_view(&text), &line))
		return -ENOENT;
	snprintf(path, sizeof(path), "/proc/%d/map_files/%jx-%jx", place->pid,
		 (uintmax_t)line.start, (uintmax_t)line.end);
	struct stat st;
	return link_open(path, &st);
}

// Needs less privilege than map_files and finds a deleted program, though not its libraries.
static int by_exe(const struct file *file, const struct file_place *place)
{
	char path[32];
	snprintf(path, sizeof(path), "/proc/%d/exe", place->pid);
	if (file->ino == 0)
		return -ENOENT;
	struct stat st = { 0 };
	return check_consume_fd(file, link_open(path, &st), &st);
}

int file_find(const struct file *file)
{
	static int (*const ways[])(const struct file *, const struct file_place *) = {
		by_root,
		by_map_files,
		by_exe,
	};
	bool denied = false;
	for (size_t p = 0; p < file->place_count; p++) {
		for (size_t w = 0; w < ARRAY_SIZE(ways); w++) {
			int fd = ways[w](file, &file->places[p]);
			if (fd >= 0 || fd == -EMFILE || fd == -ENFILE)
				return fd;
			denied |= fd == -EACCES || fd == -EPERM;
		}
	}
	int fd = by_name(file, "");
	if (fd >= 0)
		return fd;
	return denied || fd == -EACCES ? -EACCES : -ENOENT;
}

int vdso_open(void)
{
	uint64_t start = getauxval(AT_SYSINFO_EHDR);
	auto_fini(buf) text = { 0 };
	struct maps_line line;
	if (start == 0 || !line_at(getpid(), start, &text, &line))
		return -ENOENT;
	autoclose int fd = memfd_create("vdso", MFD_CLOEXEC);
	if (fd < 0)
		return -errno;
	size_t size = line.end - start;
	if (write(fd, (const void *)(uintptr_t)start, size) != (ssize_t)size)
		return errno ? -errno : -EIO;
	if (lseek(fd, 0, SEEK_SET) != 0)
		return -errno;
	return take_fd(fd);
}

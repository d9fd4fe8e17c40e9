// SPDX-License-Identifier: Apache-2.0
// Files that are mapped by processes, each once: a small number stands for (device, inode, path).
// An inode number can be used again once its file is gone; as long as a file is pinned it is not.
#pragma once

#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "base/str.h"

#define FILE_ANONYMOUS 0 // memory without a file
#define FILE_VDSO 1      // the kernel's own page of code in every process

struct files;

struct error *files_new(struct files **ret) must_check;
void files_free(struct files *f);
GUARD_FREE(files)

// How a mapping described its file. `pid`, `start` and `end` are one place where it is mapped:
// that is where the file can be opened even when it was deleted or replaced since.
struct file_sighting {
	uint64_t dev;    // makedev() form; 0 if not known
	uint64_t ino;    // 0 if not known
	struct str path; // as /proc/PID/maps or an event has it, " (deleted)", "[vdso]" and all
	pid_t pid;
	uint64_t start, end;
};
// The file's number. Anonymous memory, "[stack]", "[heap]" and the like are FILE_ANONYMOUS.
struct error *files_intern(struct files *f, const struct file_sighting *s,
			   uint32_t *ret) must_check;

// As its process names it, without " (deleted)"; a newline in it is written \012, as in maps.
// "" for FILE_ANONYMOUS, "[vdso]" for FILE_VDSO.
const char *files_path(const struct files *f, uint32_t file);
// Where the "/" of a process that mapped it is: "/proc/PID/root", or "" once it is gone or if it is
// our own. Valid until the next call for the same file.
const char *files_root(const struct files *f, uint32_t file);
// Opens it for reading: through its process's root, through map_files, through our own root;
// checked against device and inode so that a replaced file is never mistaken for the one that runs.
// FILE_VDSO is a copy of our own. ERROR_NOT_FOUND if it cannot be had any more, ERROR_DENIED if a
// permission is missing.
struct error *files_open(struct files *f, uint32_t file, int *ret_fd) must_check;
// Opens it now if it is not open yet and keeps the descriptor, because its process may not live
// long.
void files_pin(struct files *f, uint32_t file);
// Closes what was pinned before this time (CLOCK_MONOTONIC), so that descriptors do not grow
// without end and file systems can be unmounted. The files stay known, and can be opened while a
// process maps them.
void files_unpin_before(struct files *f, uint64_t time);

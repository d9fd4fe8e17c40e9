// SPDX-License-Identifier: Apache-2.0
// Files that are mapped by processes, each once: a small number stands for (device, inode, path).
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
	uint64_t dev; // makedev() form; 0 if not known
	uint64_t ino; // 0 if not known
	struct str
		path; // as the process names it; " (deleted)" is understood; "[vdso]", "//anon" too
	pid_t pid;
	uint64_t start, end;
};
// The file's number. Anonymous memory, "[stack]", "[heap]" and the like are FILE_ANONYMOUS.
struct error *files_intern(struct files *f, const struct file_sighting *s,
			   uint32_t *ret) must_check;

const char *files_path(const struct files *f, uint32_t file);
// Where the "/" of a process that mapped it is: "/proc/PID/root", or "" once it is gone.
const char *files_root(const struct files *f, uint32_t file);
// Opens it for reading: through its process's root, through map_files, through our own root;
// checked against device and inode so that a replaced file is never mistaken for the one that runs.
struct error *files_open(struct files *f, uint32_t file, int *ret_fd) must_check;
// Opens it now if it is not open yet and keeps the descriptor, because its process may not live
// long.
void files_pin(struct files *f, uint32_t file);

// SPDX-License-Identifier: Apache-2.0
// A mapped file and where it was seen. Private to files.c and file.c.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define FILE_PLACES 4
#define FILE_ROOT_MAX 32 // "/proc/PID/root"

// Where a file was seen mapped.
struct file_place {
	pid_t pid;
	uint64_t start;
};

struct file {
	uint64_t dev, ino; // as /proc/PID/maps has them; 0 if not known
	const char *path;
	bool deleted;       // it was when last seen: what bears its name now is another file
	int pinned;         // descriptor or -1
	uint64_t pinned_at; // CLOCK_MONOTONIC
	bool pin_failed;    // and no other process mapped it since
	uint32_t same_hash;
	struct file_place places[FILE_PLACES]; // one a process, the latest first
	size_t place_count;
	char root[FILE_ROOT_MAX]; // what files_root() returned last
};

// A descriptor of this very file, or a negative errno: -EACCES if a permission may be all that is
// missing, -EMFILE without descriptors, else -ENOENT. Tries every place it was seen, then our root.
int file_find(const struct file *file);
// A memory file with our own vDSO, or a negative errno.
int vdso_open(void);

// SPDX-License-Identifier: Apache-2.0
// Opening files by the names a process gives them. Names and files are hostile: an absolute
// symbolic link in a container must not lead out of it, and opening must not block on a pipe or
// wake a device. So names are resolved inside the process's root, and only regular files are
// opened.
#pragma once

#include <stdbool.h>
#include <sys/stat.h>
#include <sys/types.h>

#define ROOT_OURS 0 // in place of a pid: our own root

// An O_RDONLY descriptor of the regular file with this absolute path in the process's root, or a
// negative errno (-EINVAL for anything but a regular file, and so for a symbolic link in its
// place).
int root_open(pid_t pid, const char *path, struct stat *ret);
// The same for a link below /proc that leads straight to a file: exe, map_files/..., fd/...
int link_open(const char *link, struct stat *ret);
// The process has the same "/" as we have, mounts included.
bool root_is_ours(pid_t pid);

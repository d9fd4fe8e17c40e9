// SPDX-License-Identifier: Apache-2.0
// Opening files by the names a process gives them. Names and files are hostile: an absolute
// symbolic link in a container must not lead out of it, and opening must not block on a pipe or
// wake a device. So names are resolved inside the process's root, and only regular files are
// opened. A root is where a process's "/" is for us: "/proc/42/root", or "" for our own.
#pragma once

#include <stdbool.h>
#include <sys/stat.h>

enum rooted_last {
	ROOTED_LAST_IS_FILE,  // a symbolic link in the place of the file is refused
	ROOTED_LAST_MAY_LINK, // and here it is followed, inside the root
};

// An O_RDONLY descriptor of the regular file with this absolute path in a root, or a negative errno
// (-EINVAL for anything but a regular file). On kernels before 5.6 names with symbolic links in
// them are refused.
int rooted_open(const char *root, const char *path, enum rooted_last last, struct stat *ret);
// The same for a link below /proc that leads straight to a file: exe, map_files/..., fd/...
int link_open(const char *link, struct stat *ret);
// The same "/" as we have, mounts included.
bool root_is_ours(const char *root);

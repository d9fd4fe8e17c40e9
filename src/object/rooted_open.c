// SPDX-License-Identifier: Apache-2.0
#include "object/rooted_open.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdint.h>
#include <sys/syscall.h>

#include "base/cleanup.h"

int rooted_open(const char *root, const char *path)
{
	const int flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
	if (!*root)
		return open(path, flags);
	autoclose int directory = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (directory < 0)
		return -1;
	struct open_how how = { .flags = (uint64_t)flags, .resolve = RESOLVE_IN_ROOT };
	int fd = (int)syscall(SYS_openat2, directory, path, &how, sizeof(how));
	if (fd >= 0 || (errno != ENOSYS && errno != EPERM))
		return fd;
	// Before Linux 5.6, or forbidden by a filter of system calls that does not know openat2.
	while (*path == '/')
		path++;
	return openat(directory, path, flags);
}

// SPDX-License-Identifier: Apache-2.0
#include "base/rooted.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/syscall.h>

#include "base/cleanup.h"
#include "base/str.h"

// An O_PATH descriptor cannot block or wake anything; this makes it readable if it is a plain file.
static int reopen_regular(int path_fd, struct stat *ret)
{
	struct stat st;
	if (fstat(path_fd, &st) != 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EINVAL;
	char self[64];
	snprintf(self, sizeof(self), "/proc/self/fd/%d", path_fd);
	int fd = open(self, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return -errno;
	*ret = st;
	return fd;
}

// Without openat2() (before Linux 5.6, or forbidden by a sandbox): one component at a time, no
// symbolic links at all. The names the kernel gives for mapped files have none.
static int walk_components(int root, struct str path)
{
	int at = fcntl(root, F_DUPFD_CLOEXEC, 0);
	while (at >= 0 && path.len != 0) {
		struct str part = str_split(&path, '/');
		if (part.len == 0 || str_eq(part, STR(".")))
			continue;
		autoclose int above = at;
		char name[256];
		if (part.len >= sizeof(name) || str_eq(part, STR("..")))
			return -ELOOP;
		memcpy(name, part.ptr, part.len);
		name[part.len] = '\0';
		at = openat(above, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
		if (at < 0)
			return -errno;
	}
	return at >= 0 ? at : -errno;
}

static int resolve_in(int root, const char *path, enum rooted_last last)
{
	while (*path == '/')
		path++;
	uint64_t follow = last == ROOTED_LAST_MAY_LINK ? 0 : O_NOFOLLOW;
	struct open_how how = { .flags = O_PATH | O_CLOEXEC | follow,
				.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS };
	int fd = (int)syscall(SYS_openat2, root, path, &how, sizeof(how));
	if (fd >= 0)
		return fd;
	if (errno == ENOSYS || errno == EPERM)
		return walk_components(root, str_from(path));
	return -errno;
}

static int open_root(const char *root)
{
	int fd = open(*root ? root : "/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	return fd >= 0 ? fd : -errno;
}

int rooted_open(const char *root_path, const char *path, enum rooted_last last, struct stat *ret)
{
	if (path[0] != '/')
		return -EINVAL;
	autoclose int root = open_root(root_path);
	if (root < 0)
		return root;
	autoclose int fd = resolve_in(root, path, last);
	return fd < 0 ? fd : reopen_regular(fd, ret);
}

int link_open(const char *link, struct stat *ret)
{
	autoclose int fd = open(link, O_PATH | O_CLOEXEC);
	return fd < 0 ? -errno : reopen_regular(fd, ret);
}

// The mount is part of the identity: a mount namespace of one's own starts with the same "/".
static bool root_identity(const char *root, struct statx *ret)
{
	autoclose int fd = open_root(root);
	return fd >= 0 && statx(fd, "", AT_EMPTY_PATH, STATX_INO | STATX_MNT_ID, ret) == 0;
}

bool root_is_ours(const char *root)
{
	struct statx ours, theirs;
	return root_identity("", &ours) && root_identity(root, &theirs) &&
	       ours.stx_ino == theirs.stx_ino && ours.stx_dev_major == theirs.stx_dev_major &&
	       ours.stx_dev_minor == theirs.stx_dev_minor &&
	       (ours.stx_mask & STATX_MNT_ID) == (theirs.stx_mask & STATX_MNT_ID) &&
	       (!(ours.stx_mask & STATX_MNT_ID) || ours.stx_mnt_id == theirs.stx_mnt_id);
}

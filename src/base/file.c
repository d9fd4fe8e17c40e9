// SPDX-License-Identifier: Apache-2.0
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "base/vec.h"

struct error *file_read_fd(int fd, const char *name, struct buf *ret)
{
	auto_fini(buf) content = { 0 };
	for (;;) {
		if (!vec_grow(&content.at, &content.cap, content.len, 16384, 1))
			return &error_no_memory;
		ssize_t n = read(fd, content.at + content.len, content.cap - content.len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return error_sys(errno, "read %s", name);
		if (n == 0)
			break;
		content.len += (size_t)n;
	}
	*ret = content;
	content = (struct buf){ 0 };
	return NULL;
}

struct error *file_read(const char *path, struct buf *ret)
{
	autoclose int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return error_sys(errno, "open %s", path);
	return file_read_fd(fd, path, ret);
}

struct outfile {
	char *path;      // of the file itself, behind all symbolic links
	char *temporary; // its name until it is complete; NULL if it has none
	FILE *stream;    // onto fd, through write_out()
	int fd;
	int errnum; // of the first write that failed
	bool overwrite;
	bool nameless; // it has no name at all until it is complete (O_TMPFILE)
	bool replaces; // a file with these permissions:
	uid_t uid;
	gid_t gid;
	mode_t mode;
};

// stdio forgets why a write failed in the middle; the reason is kept here for the message.
static ssize_t write_out(void *cookie, const char *bytes, size_t size)
{
	struct outfile *out = cookie;
	for (size_t done = 0; done < size;) {
		ssize_t n = write(out->fd, bytes + done, size - done);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			out->errnum = out->errnum ? out->errnum : errno;
			return 0;
		}
		done += (size_t)n;
	}
	return (ssize_t)size;
}

// How the file of a descriptor is called where it has no name of its own.
struct fd_path {
	char text[32];
};

static struct fd_path fd_path(int fd)
{
	struct fd_path path;
	snprintf(path.text, sizeof(path.text), "/proc/self/fd/%d", fd);
	return path;
}

// A file that vanishes with us, however we end. Not every file system has that.
static bool open_nameless(struct outfile *out)
{
	size_t len = strlen(out->path) - str_basename(str_from(out->path)).len;
	autofree char *directory = len != 0 ? strndup(out->path, len) : strdup(".");
	if (!directory)
		return false;
	mode_t mode = out->replaces ? 0600 : 0666;
	autoclose int fd = open(directory, O_TMPFILE | O_WRONLY | O_CLOEXEC, mode);
	// Without /proc it could not be given a name later.
	if (fd < 0 || access(fd_path(fd).text, F_OK) != 0)
		return false;
	out->fd = take_fd(fd);
	out->nameless = true;
	return true;
}

static struct error *open_named(struct outfile *out)
{
	if (asprintf(&out->temporary, "%s.XXXXXX", out->path) < 0) {
		out->temporary = NULL;
		return &error_no_memory;
	}
	out->fd = mkostemp(out->temporary, O_CLOEXEC);
	if (out->fd < 0) {
		struct error *err = error_sys(errno, "write %s", out->path);
		free(take(out->temporary));
		return err;
	}
	if (out->replaces) // nobody else's until it gets the other one's permissions
		return NULL;
	mode_t mask = umask(0);
	umask(mask);
	return fchmod(out->fd, 0666 & ~mask) == 0 ? NULL : error_sys(errno, "write %s", out->path);
}

static struct error *open_temporary(struct outfile *out)
{
	return open_nameless(out) ? NULL : open_named(out);
}

// The file that st is about will be replaced: not a symbolic link to it, and with its permissions.
static struct error *open_replacement(struct outfile *out, const struct stat *st)
{
	char *resolved = realpath(out->path, NULL);
	if (!resolved)
		return error_sys(errno, "write %s", out->path);
	free(out->path);
	out->path = resolved;
	out->replaces = true;
	out->uid = st->st_uid;
	out->gid = st->st_gid;
	out->mode = st->st_mode & 0777;
	return open_temporary(out);
}

static struct error *open_fd(struct outfile *out)
{
	struct stat st;
	if (strcmp(out->path, "-") == 0) {
		fflush(stdout); // what was printed before comes before
		out->fd = STDOUT_FILENO;
		return NULL;
	}
	if (stat(out->path, &st) != 0)
		return open_temporary(out);
	if (S_ISDIR(st.st_mode))
		return error_sys(EISDIR, "write %s", out->path);
	if (!out->overwrite)
		return error_hint(error_new(ERROR_EXISTS, "%s exists already", out->path),
				  "--force overwrites it");
	if (S_ISREG(st.st_mode))
		return open_replacement(out, &st);
	// A device or a pipe cannot be replaced by renaming: write straight into it.
	out->fd = open(out->path, O_WRONLY | O_CLOEXEC);
	return out->fd >= 0 ? NULL : error_sys(errno, "write %s", out->path);
}

struct error *outfile_open(const struct outfile_opts *opts, struct outfile **ret)
{
	auto_(outfile) out = calloc(1, sizeof(*out));
	if (!out)
		return &error_no_memory;
	out->fd = -1;
	out->overwrite = opts->overwrite;
	out->path = strdup(opts->path);
	if (!out->path)
		return &error_no_memory;
	struct error *err = open_fd(out);
	if (err)
		return err;
	out->stream = fopencookie(out, "w", (cookie_io_functions_t){ .write = write_out });
	if (!out->stream)
		return &error_no_memory;
	setvbuf(out->stream, NULL, _IOFBF, 64 << 10);
	*ret = take(out);
	return NULL;
}

FILE *outfile_stream(struct outfile *out)
{
	return out->stream;
}

const char *outfile_temporary(const struct outfile *out)
{
	return out->temporary;
}

// Some file systems tell only when a file is closed that a write failed.
static bool close_tells_no_error(const struct outfile *out)
{
	int other = dup(out->fd);
	return other >= 0 && close(other) == 0;
}

static int link_nameless(const struct outfile *out, const char *path)
{
	return linkat(AT_FDCWD, fd_path(out->fd).text, AT_FDCWD, path, AT_SYMLINK_FOLLOW);
}

// Gives a nameless file a name beside its final one.
static bool name_temporary(struct outfile *out)
{
	for (unsigned attempt = 0; attempt < 100; attempt++) {
		autofree char *name = NULL;
		if (asprintf(&name, "%s.%d-%u", out->path, getpid(), attempt) < 0) {
			name = NULL;
			errno = ENOMEM;
			return false;
		}
		if (link_nameless(out, name) == 0) {
			out->temporary = take(name);
			return true;
		}
		if (errno != EEXIST)
			return false;
	}
	return false;
}

// As far as we may: who writes into another one's file cannot give it away.
static void take_over_permissions(const struct outfile *out)
{
	if (!out->replaces)
		return;
	bool same_group = fchown(out->fd, out->uid, out->gid) == 0 ||
			  fchown(out->fd, (uid_t)-1, out->gid) == 0;
	// The rights of its group are not for ours.
	fchmod(out->fd, same_group ? out->mode : out->mode & ~070u);
}

// Replaces whatever has the final name.
static bool rename_over(struct outfile *out)
{
	if (out->nameless && !name_temporary(out))
		return false;
	take_over_permissions(out);
	if (rename(out->temporary, out->path) != 0)
		return false;
	free(take(out->temporary));
	return true;
}

// Takes the final name only if it is free.
static bool link_anew(struct outfile *out)
{
	if (out->nameless)
		return link_nameless(out, out->path) == 0;
	if (link(out->temporary, out->path) == 0)
		return true;
	// Some file systems have no hard links.
	if (errno == EEXIST || rename(out->temporary, out->path) != 0)
		return false;
	free(take(out->temporary));
	return true;
}

struct error *outfile_commit_consume(struct outfile *consumed)
{
	auto_(outfile) out = consumed;
	if (fflush(out->stream) != 0 || ferror(out->stream))
		return error_sys(out->errnum ? out->errnum : EIO, "write %s", out->path);
	if (!out->temporary && !out->nameless) // written into directly
		return NULL;
	if (!close_tells_no_error(out) || !(out->overwrite ? rename_over(out) : link_anew(out)))
		return error_sys(errno, "write %s", out->path);
	return NULL;
}

void outfile_free(struct outfile *out)
{
	if (!out)
		return;
	if (out->stream)
		fclose(out->stream);
	if (out->fd > STDERR_FILENO)
		close(out->fd);
	if (out->temporary)
		unlink(out->temporary);
	free(out->temporary);
	free(out->path);
	free(out);
}

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
	char *path;
	char *temporary; // NULL if the file itself is written: standard output, a device
	FILE *stream;    // onto fd, through write_out()
	int fd;
	int errnum; // of the first write that failed
	bool overwrite;
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

static struct error *open_temporary(struct outfile *out)
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
	mode_t mask = umask(0);
	umask(mask);
	return fchmod(out->fd, 0666 & ~mask) == 0 ? NULL : error_sys(errno, "write %s", out->path);
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
		return open_temporary(out);
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

struct error *outfile_commit_consume(struct outfile *consumed)
{
	auto_(outfile) out = consumed;
	if (fflush(out->stream) != 0 || ferror(out->stream))
		return error_sys(out->errnum ? out->errnum : EIO, "write %s", out->path);
	if (!out->temporary)
		return NULL;
	// Some file systems tell only now that a write failed.
	if (close(take_fd(out->fd)) != 0)
		return error_sys(errno, "write %s", out->path);
	// link() refuses to replace a file that appeared meanwhile; rename() would not.
	if (out->overwrite) {
		if (rename(out->temporary, out->path) != 0)
			return error_sys(errno, "write %s", out->path);
		free(take(out->temporary));
		return NULL;
	}
	if (link(out->temporary, out->path) != 0) {
		// Some file systems have no hard links.
		if (errno == EEXIST || rename(out->temporary, out->path) != 0)
			return error_sys(errno, "write %s", out->path);
		free(take(out->temporary));
	}
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

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
	char *temporary; // NULL for standard output
	FILE *stream;
	bool overwrite;
};

static struct error *open_temporary(struct outfile *out)
{
	struct stat st;
	if (stat(out->path, &st) == 0) {
		if (S_ISDIR(st.st_mode))
			return error_sys(EISDIR, "write %s", out->path);
		if (!out->overwrite)
			return error_hint(error_new(ERROR_EXISTS, "%s exists already", out->path),
					  "--force overwrites it");
		// A device or a pipe cannot be replaced by renaming: write straight into it.
		if (!S_ISREG(st.st_mode)) {
			out->stream = fopen(out->path, "we");
			return out->stream ? NULL : error_sys(errno, "write %s", out->path);
		}
	}
	if (asprintf(&out->temporary, "%s.XXXXXX", out->path) < 0) {
		out->temporary = NULL;
		return &error_no_memory;
	}
	int fd = mkostemp(out->temporary, O_CLOEXEC);
	if (fd < 0) {
		struct error *err = error_sys(errno, "write %s", out->path);
		free(take(out->temporary));
		return err;
	}
	mode_t mask = umask(0);
	umask(mask);
	if (fchmod(fd, 0666 & ~mask) != 0 || !(out->stream = fdopen(fd, "w"))) {
		struct error *err = error_sys(errno, "write %s", out->path);
		close(fd);
		return err;
	}
	return NULL;
}

struct error *outfile_open(const struct outfile_opts *opts, struct outfile **ret)
{
	auto_(outfile) out = calloc(1, sizeof(*out));
	if (!out || !(out->path = strdup(opts->path)))
		return &error_no_memory;
	out->overwrite = opts->overwrite;
	if (strcmp(opts->path, "-") == 0) {
		out->stream = stdout;
	} else {
		struct error *err = open_temporary(out);
		if (err)
			return err;
	}
	*ret = take(out);
	return NULL;
}

FILE *outfile_stream(struct outfile *out)
{
	return out->stream;
}

struct error *outfile_commit_consume(struct outfile *consumed)
{
	auto_(outfile) out = consumed;
	bool bad = ferror(out->stream) != 0;
	errno = bad ? EIO : 0;
	if (fflush(out->stream) != 0 || bad)
		return error_sys(errno ? errno : EIO, "write %s", out->path);
	if (!out->temporary)
		return NULL;
	FILE *stream = take(out->stream);
	if (fclose(stream) != 0)
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
	if (out->stream && out->stream != stdout)
		fclose(out->stream);
	if (out->temporary)
		unlink(out->temporary);
	free(out->temporary);
	free(out->path);
	free(out);
}

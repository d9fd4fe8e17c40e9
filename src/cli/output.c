// SPDX-License-Identifier: Apache-2.0
#include "cli/output.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/buf.h"
#include "base/str.h"
#include "cli/signals.h"

#define MOST_NUMBERS 1000

char *numbered_path(const char *path, unsigned number)
{
	struct str base = str_basename(str_from(path));
	const char *dot = strrchr(base.ptr, '.');
	size_t stem = dot && dot != base.ptr ? (size_t)(dot - path) : strlen(path);
	char *numbered = NULL;
	if (asprintf(&numbered, "%.*s-%u%s", (int)stem, path, number, path + stem) < 0)
		return NULL;
	return numbered;
}

static struct error *check_directory(const char *path)
{
	size_t len = strlen(path) - str_basename(str_from(path)).len;
	while (len > 1 && path[len - 1] == '/')
		len--;
	autofree char *directory = len != 0 ? strndup(path, len) : strdup(".");
	struct stat st;
	if (!directory)
		return &error_no_memory;
	if (stat(directory, &st) != 0 && errno == ENOENT)
		return error_hint(
			error_new(ERROR_NOT_FOUND, "the directory %s does not exist", directory),
			"mkdir -p %s", directory);
	if (stat(directory, &st) != 0)
		return error_sys(errno, "the directory %s", directory);
	if (!S_ISDIR(st.st_mode))
		return error_new(ERROR_NOT_FOUND, "%s is not a directory", directory);
	return NULL;
}

static struct error *open_file(struct output *out)
{
	struct error *err = check_directory(out->path);
	if (err)
		return error_wrap(err, "write %s", out->path);
	return outfile_open(&(struct outfile_opts){ .path = out->path, .overwrite = out->force },
			    &out->file);
}

// Opens the first of NAME, NAME-2, NAME-3 ... that is free, beginning with `number`.
static struct error *open_free_name(struct output *out, unsigned number)
{
	autofree char *wanted = take(out->path);
	struct error *err = NULL;
	for (; number < MOST_NUMBERS; number++) {
		out->path = number < 2 ? strdup(wanted) : numbered_path(wanted, number);
		if (!out->path)
			return &error_no_memory;
		err = open_file(out);
		if (!err || err->code != ERROR_EXISTS)
			return err;
		error_free(err);
		free(take(out->path));
	}
	return error_new(ERROR_EXISTS, "%s and %d more like it exist already", wanted,
			 MOST_NUMBERS);
}

static struct error *choose_name(const struct output_opts *opts, struct output *out)
{
	char when[32];
	struct tm local;
	time_t now = time(NULL);
	if (!localtime_r(&now, &local) ||
	    strftime(when, sizeof(when), "%Y%m%d-%H%M%S", &local) == 0)
		return error_new(ERROR_FAILED, "the clock cannot be read");
	auto_fini(buf) name = { 0 };
	buf_printf(&name, "wick-%s-%s-%s.%s", opts->slug, opts->event, when,
		   out->format->extensions[0]);
	out->path = strdup(buf_cstr(&name));
	return out->path && !name.failed ? NULL : &error_no_memory;
}

static bool is_stdout(const char *path)
{
	return path && strcmp(path, "-") == 0;
}

struct error *output_format(const char *path, const struct format *named, const struct format **ret)
{
	if (!named && path && !is_stdout(path))
		return format_by_path(path, ret);
	*ret = named ? named : is_stdout(path) ? &format_folded : &format_html;
	return NULL;
}

struct error *output_open(const struct output_opts *opts, struct output *ret)
{
	auto_fini(output) out = { .format = opts->format,
				  .is_stdout = is_stdout(opts->path),
				  .force = opts->force };
	struct error *err = NULL;
	if (!opts->path)
		err = choose_name(opts, &out);
	else if (!(out.path = strdup(opts->path)))
		err = &error_no_memory;
	if (!err)
		err = opts->path ? open_file(&out) : open_free_name(&out, /* number= */ 1);
	if (err)
		return err;
	signals_guard_temporary(outfile_temporary(out.file));
	*ret = out;
	out = (struct output){ 0 };
	return NULL;
}

static struct error *write_once(struct output *out, const struct profile *p)
{
	struct error *err = out->format->write(p, outfile_stream(out->file));
	if (err)
		return error_wrap(err, "write %s",
				  out->is_stdout ? "to standard output" : out->path);
	// What can take long comes first; its error is remembered by the stream.
	fflush(outfile_stream(out->file));
	// Giving it its name takes several steps, between which no Ctrl-C may end us.
	struct signals_held held = signals_hold();
	signals_guard_temporary(NULL);
	err = outfile_commit_consume(take(out->file));
	signals_release(&held);
	return err;
}

struct error *output_write(struct output *out, const struct profile *p)
{
	struct error *err = write_once(out, p);
	if (!err || err->code != ERROR_EXISTS)
		return err;
	error_free(err);
	err = open_free_name(out, /* number= */ 2);
	if (err)
		return err;
	signals_guard_temporary(outfile_temporary(out->file));
	return write_once(out, p);
}

void output_fini(struct output *out)
{
	if (out->file)
		signals_guard_temporary(NULL);
	outfile_free(out->file);
	free(out->path);
}

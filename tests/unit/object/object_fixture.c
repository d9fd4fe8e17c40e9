// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/object/object_fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/file.h"

struct error *fixture_init(struct fixture *f)
{
	const char *parent = getenv("TMPDIR");
	char *directory = NULL;
	if (asprintf(&directory, "%s/wick-object-XXXXXX", parent ? parent : "/tmp") < 0)
		return &error_no_memory;
	if (!mkdtemp(directory)) {
		struct error *err = error_sys(errno, "make %s", directory);
		free(directory);
		return err;
	}
	f->directory = directory;
	return NULL;
}

void fixture_fini(struct fixture *f)
{
	autofree char *command = NULL;
	if (f->directory && asprintf(&command, "rm -rf '%s'", f->directory) >= 0 &&
	    system(command) != 0)
		fprintf(stderr, "cannot remove %s\n", f->directory);
	free(take(f->directory));
}

bool fixture_write(const struct fixture *f, const char *name, const char *text)
{
	autofree char *path = NULL;
	if (asprintf(&path, "%s/%s", f->directory, name) < 0)
		return false;
	FILE *file = fopen(path, "we");
	if (!file)
		return false;
	bool ok = fputs(text, file) >= 0;
	return fclose(file) == 0 && ok;
}

bool fixture_run(const struct fixture *f, const char *command)
{
	autofree char *whole = NULL;
	if (asprintf(&whole, "cd '%s' && { %s; } >log 2>&1 || { cat log >&2; false; }",
		     f->directory, command) < 0)
		return false;
	int status = system(whole);
	return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

struct error *fixture_output(const struct fixture *f, struct buf *ret, const char *fmt, ...)
{
	autofree char *command = NULL, *whole = NULL;
	va_list args;
	va_start(args, fmt);
	int len = vasprintf(&command, fmt, args);
	va_end(args);
	if (len < 0 || asprintf(&whole, "cd '%s' && %s", f->directory, command) < 0)
		return &error_no_memory;
	FILE *pipe = popen(whole, "re");
	if (!pipe)
		return error_sys(errno, "run %s", command);
	struct error *err = file_read_fd(fileno(pipe), command, ret);
	pclose(pipe);
	return err;
}

struct error *fixture_open(const struct fixture *f, const char *root, const char *name,
			   struct object **ret)
{
	auto_fini(buf) whole_root = { 0 };
	auto_fini(buf) path = { 0 };
	if (root)
		buf_printf(&whole_root, "%s/%s", f->directory, root);
	buf_printf(&path, "%s/%s", root ? buf_cstr(&whole_root) : f->directory, name);
	int fd = open(buf_cstr(&path), O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return error_sys(errno, "open %s", buf_cstr(&path));
	struct object_opts opts = { .path = root ? name : buf_cstr(&path),
				    .root = buf_cstr(&whole_root) };
	return object_open_consume_fd(fd, &opts, ret);
}

bool have_program(const char *name)
{
	autofree char *command = NULL;
	return asprintf(&command, "command -v %s >/dev/null 2>&1", name) >= 0 &&
	       system(command) == 0;
}

uint64_t fixture_address(const struct fixture *f, const char *file, const char *symbol)
{
	auto_fini(buf) text = { 0 };
	struct error *err =
		fixture_output(f, &text, "nm %s | awk '$3 == \"%s\" { print $1 }'", file, symbol);
	uint64_t address = 0;
	struct str rest = buf_view(&text), first = str_split(&rest, '\n');
	if (!err && !str_to_u64(first, 16, &address))
		address = 0;
	error_free(err);
	return address;
}

struct str symbol_at(struct object *obj, uint64_t vaddr)
{
	struct symbol symbol;
	uint64_t offset;
	if (!object_offset(obj, vaddr, &offset) || !object_symbol(obj, offset, &symbol))
		return STR("");
	return symbol.name;
}

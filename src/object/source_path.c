// SPDX-License-Identifier: Apache-2.0
#include "object/source_path.h"

#include "base/buf.h"

// Removes the last part of the path; false if there is none, or it is "..".
static bool drop_last(struct buf *path)
{
	struct str last = str_basename(buf_view(path));
	if (last.len == 0 || str_eq(last, STR("..")))
		return false;
	path->len -= last.len;
	while (path->len > 1 && path->at[path->len - 1] == '/')
		path->len--;
	return true;
}

static void append(struct buf *path, struct str more)
{
	if (more.len != 0 && *more.ptr == '/' && path->len == 0)
		buf_char(path, '/');
	while (more.len != 0) {
		struct str part = str_split(&more, '/');
		if (part.len == 0 || str_eq(part, STR(".")))
			continue;
		if (str_eq(part, STR("..")) && drop_last(path))
			continue;
		if (path->len != 0 && path->at[path->len - 1] != '/')
			buf_char(path, '/');
		buf_str(path, part);
	}
}

const char *source_path(struct arena *arena, const char *directory, const char *file)
{
	auto_fini(buf) path = { 0 };
	if (*file != '/' && directory)
		append(&path, str_from(directory));
	append(&path, str_from(file));
	return path.failed ? NULL : arena_copy(arena, buf_view(&path));
}

// SPDX-License-Identifier: Apache-2.0
#include "base/error.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

struct error error_no_memory = { .code = ERROR_NO_MEMORY, .message = (char[]){ "out of memory" } };

printf_like(2, 0) static struct error *error_make(enum error_code code, const char *fmt,
						  va_list args, const char *tail)
{
	struct error *err = calloc(1, sizeof(*err));
	if (!err)
		return &error_no_memory;
	autofree char *text = NULL;
	if (vasprintf(&text, fmt, args) < 0) {
		text = NULL;
		free(err);
		return &error_no_memory;
	}
	if (tail && asprintf(&err->message, "%s: %s", text, tail) < 0) {
		free(err);
		return &error_no_memory;
	}
	if (!tail)
		err->message = take(text);
	err->code = code;
	return err;
}

struct error *error_new(enum error_code code, const char *fmt, ...)
{
	va_list args;
	va_start(args, fmt);
	struct error *err = error_make(code, fmt, args, /* tail= */ NULL);
	va_end(args);
	return err;
}

static enum error_code code_of_errno(int errnum)
{
	static const struct {
		int errnum;
		enum error_code code;
	} codes[] = {
		{ ESRCH, ERROR_GONE },         { EPERM, ERROR_DENIED },
		{ EACCES, ERROR_DENIED },      { ENOENT, ERROR_NOT_FOUND },
		{ ENOTDIR, ERROR_NOT_FOUND },  { EEXIST, ERROR_EXISTS },
		{ ENOMEM, ERROR_NO_MEMORY },   { EOPNOTSUPP, ERROR_UNSUPPORTED },
		{ ENOSYS, ERROR_UNSUPPORTED },
	};
	for (size_t i = 0; i < ARRAY_SIZE(codes); i++)
		if (codes[i].errnum == errnum)
			return codes[i].code;
	return ERROR_FAILED;
}

struct error *error_sys(int errnum, const char *fmt, ...)
{
	va_list args;
	va_start(args, fmt);
	struct error *err = error_make(code_of_errno(errnum), fmt, args, strerror(errnum));
	va_end(args);
	return err;
}

struct error *error_wrap(struct error *err, const char *fmt, ...)
{
	if (err == &error_no_memory)
		return err;
	va_list args;
	va_start(args, fmt);
	struct error *outer = error_make(err->code, fmt, args, err->message);
	va_end(args);
	if (outer != &error_no_memory)
		outer->hint = take(err->hint);
	error_free(err);
	return outer;
}

struct error *error_hint(struct error *err, const char *fmt, ...)
{
	if (err == &error_no_memory)
		return err;
	char *hint = NULL;
	va_list args;
	va_start(args, fmt);
	if (vasprintf(&hint, fmt, args) < 0)
		hint = NULL;
	va_end(args);
	free(err->hint);
	err->hint = hint;
	return err;
}

struct error *error_recode(struct error *err, enum error_code code)
{
	if (err != &error_no_memory)
		err->code = code;
	return err;
}

void error_free(struct error *err)
{
	if (!err || err == &error_no_memory)
		return;
	free(err->message);
	free(err->hint);
	free(err);
}

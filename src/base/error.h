// SPDX-License-Identifier: Apache-2.0
// Errors are sentences with a code; NULL is success. An error may carry a hint: what would help.
// Whoever decides not to pass an error on prints or frees it.
#pragma once

#include <stdarg.h>
#include <stdbool.h>

#include "base/cleanup.h"

enum error_code {
	ERROR_FAILED,      // anything else
	ERROR_USAGE,       // wrong input: exit code 2
	ERROR_GONE,        // the target exited; routine
	ERROR_DENIED,      // a permission is missing; the hint names it
	ERROR_NOT_FOUND,   // no such file, process, symbol
	ERROR_EXISTS,      // would overwrite
	ERROR_UNSUPPORTED, // this machine or this input cannot do it
	ERROR_MALFORMED,   // bytes that do not follow their format
	ERROR_NO_MEMORY,
	ERROR_CODE_COUNT,
};

struct error {
	enum error_code code;
	char *message;
	char *hint; // NULL or one sentence
};

// Needs no memory to be returned.
extern struct error error_no_memory;

struct error *error_new(enum error_code code, const char *fmt, ...)
	printf_like(2, 3) must_check never_null;
// The code follows from the errno: ESRCH is GONE, EPERM and EACCES DENIED, ENOENT NOT_FOUND, ...
struct error *error_sys(int errnum, const char *fmt, ...) printf_like(2, 3) must_check never_null;
// Puts "context: " in front; consumes and returns err.
struct error *error_wrap(struct error *err, const char *fmt, ...)
	printf_like(2, 3) must_check never_null;
// Sets the hint; consumes and returns err.
struct error *error_hint(struct error *err, const char *fmt, ...)
	printf_like(2, 3) must_check never_null;
// Changes the code; consumes and returns err.
struct error *error_recode(struct error *err, enum error_code code) must_check never_null;
void error_free(struct error *err);
GUARD_FREE(error)

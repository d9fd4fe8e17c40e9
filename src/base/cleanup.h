// SPDX-License-Identifier: Apache-2.0
// Scope guards: what a variable owns is released when it leaves scope, unless take() moved it out.
#pragma once

#include <stdlib.h>
#include <unistd.h>

#define must_check __attribute__((warn_unused_result))
#define never_null __attribute__((returns_nonnull))
#define printf_like(fmt, args) __attribute__((format(printf, fmt, args)))

// To be released is use enough: `unused` keeps clang from complaining.
// auto_(thing) t = thing_new();        calls thing_free(t) at the end of the scope
#define auto_(type) __attribute__((cleanup(type##_free_guard), unused)) struct type *
// auto_fini(thing) t = { 0 };          calls thing_fini(&t) at the end of the scope
#define auto_fini(type) __attribute__((cleanup(type##_fini))) struct type
// Below the declaration of thing_free(), makes auto_(thing) possible.
#define GUARD_FREE(type)                                                                           \
	static inline void type##_free_guard(struct type **p)                                      \
	{                                                                                          \
		type##_free(*p);                                                                   \
	}

static inline void free_guard(void *p)
{
	free(*(void **)p);
}

static inline void close_guard(const int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

#define autofree __attribute__((cleanup(free_guard)))
#define autoclose __attribute__((cleanup(close_guard)))

// Moves ownership out of a guarded variable.
#define take(p)                                                                                    \
	({                                                                                         \
		typeof(p) *_p = &(p);                                                              \
		typeof(p) _v = *_p;                                                                \
		*_p = NULL;                                                                        \
		_v;                                                                                \
	})

static inline int take_fd_(int *fd)
{
	int v = *fd;
	*fd = -1;
	return v;
}
#define take_fd(fd) take_fd_(&(fd))

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define MIN(a, b)                                                                                  \
	({                                                                                         \
		typeof(a) _a = (a);                                                                \
		typeof(b) _b = (b);                                                                \
		_a < _b ? _a : _b;                                                                 \
	})
#define MAX(a, b)                                                                                  \
	({                                                                                         \
		typeof(a) _a = (a);                                                                \
		typeof(b) _b = (b);                                                                \
		_a > _b ? _a : _b;                                                                 \
	})

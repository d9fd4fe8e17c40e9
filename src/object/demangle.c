// SPDX-License-Identifier: Apache-2.0
// libiberty does the work; this file decides which of its languages a name is asked for, and keeps
// hostile names from using up stack, memory or time.
#include "object/demangle.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdlib.h>

#include "base/buf.h"

// libiberty.h, which its demangle.h includes, has an ARRAY_SIZE of its own.
#undef ARRAY_SIZE
#include <libiberty/demangle.h>

// Longer names are left as they are: nobody reads them.
#define MANGLED_MAX (16u << 10)
// A few letters can stand for gigabytes of repeated template arguments.
#define DEMANGLED_MAX (256u << 10)
// libiberty refuses names with more letters than this, to be safe on a small stack, unless told
// not to.
#define SMALL_STACK_MAX (DEMANGLE_RECURSION_LIMIT / 2)
#define LARGE_STACK_SIZE (64u << 20)

struct job {
	const char *mangled;
	bool (*run)(struct job *job, int options);
	int options;
	struct buf text;
	jmp_buf too_long;
	bool done;
};

// libiberty's printers keep no memory of their own while they call this, so leaving them through
// longjmp() loses nothing.
static void append(const char *text, size_t len, void *ctx)
{
	struct job *job = ctx;
	if (job->text.len + len > DEMANGLED_MAX || job->text.failed)
		longjmp(job->too_long, 1);
	buf_add(&job->text, text, len);
}

static bool run_cplus(struct job *job, int options)
{
	return cplus_demangle_v3_callback(job->mangled, options, append, job) != 0;
}

static bool run_rust(struct job *job, int options)
{
	return rust_demangle_callback(job->mangled, options, append, job) != 0;
}

static void *run_guarded(void *ctx)
{
	struct job *job = ctx;
	job->done = setjmp(job->too_long) == 0 && job->run(job, job->options);
	return NULL;
}

// A name that is too long for libiberty's limits gets a stack on which it can do no harm.
static void run_on_large_stack(struct job *job)
{
	pthread_attr_t attributes;
	pthread_t thread;
	if (pthread_attr_init(&attributes) != 0)
		return;
	job->options |= DMGL_NO_RECURSE_LIMIT;
	if (pthread_attr_setstacksize(&attributes, LARGE_STACK_SIZE) == 0 &&
	    pthread_create(&thread, &attributes, run_guarded, job) == 0)
		pthread_join(thread, NULL);
	pthread_attr_destroy(&attributes);
}

static char *run(const char *mangled, bool (*language)(struct job *job, int options))
{
	struct job job = { .mangled = mangled, .run = language, .options = DMGL_ANSI };
	if (strlen(mangled) <= SMALL_STACK_MAX)
		run_guarded(&job);
	else
		run_on_large_stack(&job);
	if (!job.done || job.text.len == 0 || job.text.failed) {
		buf_fini(&job.text);
		return NULL;
	}
	buf_cstr(&job.text);
	return job.text.at;
}

static char *demangle_cplus(const char *mangled)
{
	// Older Rust looks like C++ that ends in a namespace named by a hash.
	char *rust = run(mangled, run_rust);
	return rust ? rust : run(mangled, run_cplus);
}

static char *demangle_rust(const char *mangled)
{
	return run(mangled, run_rust);
}

// Cuts "(int, char[])" at the end.
static void drop_parameters(char *name)
{
	size_t at = strlen(name);
	unsigned depth = 0;
	if (at == 0 || name[at - 1] != ')')
		return;
	while (at-- != 0) {
		depth += name[at] == ')';
		depth -= name[at] == '(';
		if (depth == 0)
			break;
	}
	if (depth == 0 && at != 0)
		name[at] = '\0';
}

static char *demangle_d(const char *mangled)
{
	if (strlen(mangled) > SMALL_STACK_MAX)
		return NULL;
	autofree char *full = dlang_demangle(mangled, DMGL_ANSI);
	if (!full || strcmp(full, mangled) == 0)
		return NULL;
	drop_parameters(full);
	return take(full);
}

static char *demangle_ada(const char *mangled)
{
	autofree char *full = ada_demangle(mangled, 0);
	// What is not Ada comes back in angle brackets.
	return full && *full != '<' && strcmp(full, mangled) != 0 ? take(full) : NULL;
}

struct language {
	const char *prefix;
	char *(*demangle)(const char *mangled);
};

// Ada's names are C's with double underscores in them. Only those of Ada's own library, and main
// programs, cannot be anything else.
static const struct language languages[] = {
	{ "_Z", demangle_cplus },  { "_R", demangle_rust },   { "_D", demangle_d },
	{ "_ada_", demangle_ada }, { "ada__", demangle_ada }, { "gnat__", demangle_ada },
};

char *demangle(struct str name)
{
	if (name.len < 3 || name.len > MANGLED_MAX || memchr(name.ptr, '\0', name.len))
		return NULL;
	for (size_t i = 0; i < ARRAY_SIZE(languages); i++) {
		if (!str_starts(name, str_from(languages[i].prefix)))
			continue;
		autofree char *mangled = strndup(name.ptr, name.len);
		return mangled ? languages[i].demangle(mangled) : NULL;
	}
	return NULL;
}

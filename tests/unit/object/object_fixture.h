// SPDX-License-Identifier: Apache-2.0
// Real ELF files for a test, made by the compiler and binutils in a directory of its own.
#pragma once

#include <stdbool.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "object/object.h"

struct fixture {
	char *directory; // removed with everything in it by fixture_fini()
};

struct error *fixture_init(struct fixture *f) must_check;
void fixture_fini(struct fixture *f);

// Writes a file of the directory.
bool fixture_write(const struct fixture *f, const char *name, const char *text);
// Runs a shell command in the directory; false if it fails.
bool fixture_run(const struct fixture *f, const char *command);
// What a shell command prints. Empty if it fails.
struct error *fixture_output(const struct fixture *f, struct buf *ret, const char *fmt, ...)
	printf_like(3, 4) must_check;
// Opens a file of the directory, as a process with the directory `root` of the directory as its
// root would see it if that is not NULL; then `name` is a path in there.
struct error *fixture_open(const struct fixture *f, const char *root, const char *name,
			   struct object **ret) must_check;

// Whether a program can be run here.
bool have_program(const char *name);

// A function's address as `nm` tells; 0 if it does not have it.
uint64_t fixture_address(const struct fixture *f, const char *file, const char *symbol);
// The symbol at a virtual address; empty if there is none.
struct str symbol_at(struct object *obj, uint64_t vaddr);

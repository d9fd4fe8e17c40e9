// SPDX-License-Identifier: Apache-2.0
// A file of code: an ELF file, opened once, asked many questions. All questions take a file offset
// (what a mapping gives); conversion to the file's own virtual addresses happens in here.
//
// An object is used by one thread. Everything in the file is hostile: a question about a broken
// file gets "don't know", never a crash.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/str.h"

struct object;

struct object_opts {
	const char *path; // where the file was mapped from, as its process names it
	const char *root; // where that process's "/" is for us: "/proc/42/root", or "" for our own
};

// Takes fd, also on failure.
struct error *object_open_consume_fd(int fd, const struct object_opts *opts,
				     struct object **ret) must_check;
// An image in our own memory, such as the vDSO. Borrowed for the object's lifetime.
struct error *object_open_memory(struct str image, const char *name,
				 struct object **ret) must_check;
void object_free(struct object *obj);
GUARD_FREE(object)

const char *object_path(const struct object *obj);
struct str object_build_id(const struct object *obj); // raw bytes; empty if there is none

// File offset ↔ virtual address, by the PT_LOAD segments. False outside of all of them.
bool object_vaddr(const struct object *obj, uint64_t offset, uint64_t *ret);
bool object_offset(const struct object *obj, uint64_t vaddr, uint64_t *ret);

// A section's bytes (decompressed), valid as long as the object. False if there is none, or it has
// no bytes in the file (SHT_NOBITS). Without section headers .eh_frame_hdr is found through
// PT_GNU_EH_FRAME. *ret_vaddr is its sh_addr.
bool object_section(struct object *obj, const char *name, struct str *ret, uint64_t *ret_vaddr);
// Copies the bytes at a file offset. False if the file does not have them all. Nothing is kept:
// code may be hundreds of megabytes long.
bool object_read(const struct object *obj, uint64_t offset, void *to, size_t size);
// The separate file with this object's .debug_* sections (build id, debuglink), or NULL. Owned by
// obj.
struct object *object_debug_file(struct object *obj);

struct symbol {
	struct str name; // as in the file, mangled; valid as long as the object
	uint64_t offset; // of the code from the symbol's start
};
// The function that contains a file offset: by .symtab, else by .dynsym, .gnu_debugdata and the
// debug file's .symtab together, else by Go's .gopclntab. A stub that jumps to a function of
// another file is "name@plt".
bool object_symbol(struct object *obj, uint64_t offset, struct symbol *ret);

// One level of inlining at a place in the code, innermost first; the last is the function proper.
struct source_frame {
	const char *
		name; // linkage name (mangled), else the plain one with its namespaces; may be NULL
	const char *file; // NULL if unknown
	uint32_t line;    // 0 if unknown: for the innermost the sampled line, else the call's
};
// How many levels DWARF knows of at this offset, at most max; 0 without debug information.
// Names and files stay valid as long as the object. Lines are only looked up if asked for.
size_t object_source_frames(struct object *obj, uint64_t offset, bool want_lines,
			    struct source_frame *ret, size_t max);

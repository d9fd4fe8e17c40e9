// SPDX-License-Identifier: Apache-2.0
// The skeleton of an ELF file: its headers, segments and sections, checked against the file's size
// and copied, and their bytes, read when first asked for.
//
// Bytes are copied with pread(), not mapped: a file that someone truncates or rewrites while we
// look at it must neither kill us nor change under a bounds check.
#pragma once

#include <elf.h>
#include <stdbool.h>

#include "base/error.h"
#include "base/str.h"

// Content that is fetched once; a failure is remembered, too.
struct elf_bytes {
	struct str view;
	char *owned; // NULL if the view is into the image
	enum { ELF_BYTES_UNREAD, ELF_BYTES_READ, ELF_BYTES_BAD } state;
};

struct elf_section {
	Elf64_Shdr header;
	const char *name;
	struct elf_bytes bytes;
};

struct elf_segment {
	Elf64_Phdr header;
	struct elf_bytes bytes;
};

struct elf_file {
	int fd;            // -1 if the file is in memory
	const char *image; // NULL if the file is behind fd; borrowed
	uint64_t size;
	Elf64_Ehdr header;
	struct elf_segment *segments;
	size_t segment_count;
	struct elf_section *sections;
	size_t section_count;
	size_t header_count;    // sections that have a header: what symbols count in
	struct elf_bytes names; // of the sections
};

// No single section or segment larger than this is read: a sparse file costs its author nothing.
#define ELF_BYTES_MAX (512u << 20)

// Takes fd, also on failure. `name` is for messages.
struct error *elf_file_init_consume_fd(struct elf_file *f, int fd, const char *name) must_check;
struct error *elf_file_init_memory(struct elf_file *f, struct str image,
				   const char *name) must_check;
void elf_file_fini(struct elf_file *f);

// Copies len bytes at offset; false if the file does not have them all.
bool elf_read(const struct elf_file *f, uint64_t offset, size_t len, void *ret);
// The bytes at an offset, as a view into the image or as a copy followed by a zero byte. Repeated
// calls are cheap. False if the file does not have them.
bool elf_fetch(const struct elf_file *f, uint64_t offset, uint64_t size, struct elf_bytes *bytes);
void elf_bytes_fini(struct elf_bytes *bytes);

// The first section of this name, or NULL. ".debug_x" also finds ".zdebug_x".
struct elf_section *elf_section_find(const struct elf_file *f, const char *name);
// Its bytes, decompressed. False if it has none in the file.
bool elf_section_content(const struct elf_file *f, struct elf_section *s, struct str *ret);
// The same for a caller that keeps the bytes elsewhere: how many there are, and a copy of them.
bool elf_section_size(const struct elf_file *f, const struct elf_section *s, uint64_t *ret);
bool elf_section_copy(const struct elf_file *f, const struct elf_section *s, char *ret,
		      size_t size);
// The string at an offset of a string table; an empty one if it is not inside or has no end.
struct str elf_string(struct str table, uint64_t offset);

// The PT_LOAD segment with this file offset or virtual address in its part that is in the file.
// Executable segments come first. NULL if there is none.
struct elf_segment *elf_segment_by_offset(const struct elf_file *f, uint64_t offset);
struct elf_segment *elf_segment_by_vaddr(const struct elf_file *f, uint64_t vaddr);

// The GNU build id, empty if there is none. Points into *bytes, which the caller keeps.
struct str elf_build_id(const struct elf_file *f, struct elf_bytes *bytes);

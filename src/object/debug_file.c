// SPDX-License-Identifier: Apache-2.0
// Debug information in a file of its own: found by build id, or by the name and checksum that
// .gnu_debuglink gives; first as the process sees the file system, then as we do.
#include "object/debug_file.h"

#include <lzma.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/rooted.h"
#include "object/object_parts.h"

#define DEBUG_DIRECTORY "/usr/lib/debug"
// A checksum takes reading the whole file, and a sparse one of any size costs its author nothing.
#define CRC_SIZE_MAX (512ull << 20)

struct search {
	const struct object *obj;
	struct str build_id;
	bool check_crc; // what the file must have if there is no build id to compare
	uint32_t crc;
};

static bool same_file(int a, int b)
{
	struct stat sa, sb;
	return a >= 0 && fstat(a, &sa) == 0 && fstat(b, &sb) == 0 && sa.st_dev == sb.st_dev &&
	       sa.st_ino == sb.st_ino;
}

static bool file_crc(const struct elf_file *elf, uint32_t *ret)
{
	enum { STEP = 64 << 10 };
	autofree uint8_t *bytes = malloc(STEP);
	uint32_t crc = 0;
	if (!bytes || elf->size > CRC_SIZE_MAX)
		return false;
	for (uint64_t at = 0; at < elf->size;) {
		size_t n = MIN((uint64_t)STEP, elf->size - at);
		if (!elf_read(elf, at, n, bytes))
			return false;
		crc = lzma_crc32(bytes, n, crc);
		at += n;
	}
	*ret = crc;
	return true;
}

// Whether a file that is where a debug file should be really belongs to the object.
static bool matches(const struct search *search, const struct object *found)
{
	uint32_t crc;
	if (search->build_id.len != 0 && found->build_id.len != 0)
		return str_eq(search->build_id, found->build_id);
	return search->check_crc && file_crc(&found->elf, &crc) && crc == search->crc;
}

static struct object *open_candidate(const struct search *search, const char *root,
				     const char *path)
{
	struct stat st;
	autoclose int fd = rooted_open(root, path, ROOTED_LAST_MAY_LINK, &st);
	if (fd < 0 || same_file(search->obj->elf.fd, fd))
		return NULL;
	auto_(object) found = NULL;
	struct object_opts opts = { .path = path, .root = root };
	auto_(error) err = object_open_consume_fd(take_fd(fd), &opts, &found);
	if (err || !matches(search, found))
		return NULL;
	// It is one itself: no search for another one.
	found->parts[OBJECT_PART_DEBUG_FILE].tried = true;
	return take(found);
}

static struct object *open_in_roots(const struct search *search, const char *path)
{
	struct object *found = open_candidate(search, search->obj->root, path);
	if (!found && *search->obj->root)
		found = open_candidate(search, "", path);
	return found;
}

static struct object *find_by_build_id(const struct search *search)
{
	auto_fini(buf) path = { 0 };
	if (search->build_id.len < 2)
		return NULL;
	buf_text(&path, DEBUG_DIRECTORY "/.build-id/");
	for (size_t i = 0; i < search->build_id.len; i++)
		buf_printf(&path, i == 1 ? "/%02x" : "%02x",
			   (unsigned char)search->build_id.ptr[i]);
	buf_text(&path, ".debug");
	const char *text = buf_cstr(&path);
	return path.failed ? NULL : open_in_roots(search, text);
}

static struct object *find_by_link(struct search *search)
{
	static const char *const places[][2] = { { "", "/" },
						 { "", "/.debug/" },
						 { DEBUG_DIRECTORY, "/" } };
	struct elf_section *section = elf_section_find(&search->obj->elf, ".gnu_debuglink");
	struct str link;
	if (!section || !elf_section_content(&search->obj->elf, section, &link))
		return NULL;
	struct str name = elf_string(link, 0);
	// The checksum is in the last four bytes, after padding.
	if (name.len == 0 || link.len < name.len + 1 + sizeof(search->crc) ||
	    memchr(name.ptr, '/', name.len))
		return NULL;
	memcpy(&search->crc, link.ptr + link.len - sizeof(search->crc), sizeof(search->crc));
	search->check_crc = true;

	struct str path = str_from(search->obj->path);
	struct str directory = { path.ptr, path.len - str_basename(path).len };
	if (directory.len != 0)
		directory.len--; // the slash
	struct object *found = NULL;
	for (size_t i = 0; i < ARRAY_SIZE(places) && !found; i++) {
		auto_fini(buf) candidate = { 0 };
		buf_text(&candidate, places[i][0]);
		buf_str(&candidate, directory);
		buf_text(&candidate, places[i][1]);
		buf_str(&candidate, name);
		const char *text = buf_cstr(&candidate);
		if (!candidate.failed)
			found = open_in_roots(search, text);
	}
	return found;
}

static void free_object(void *state)
{
	object_free(state);
}

struct object *object_debug_file(struct object *obj)
{
	struct object_slot *slot = &obj->parts[OBJECT_PART_DEBUG_FILE];
	if (!slot->tried) {
		struct search search = { .obj = obj, .build_id = obj->build_id };
		slot->tried = true;
		slot->free = free_object;
		slot->state = find_by_build_id(&search);
		if (!slot->state)
			slot->state = find_by_link(&search);
	}
	return slot->state;
}

struct object *debug_file_open_shared(struct object *debug)
{
	struct elf_section *section = elf_section_find(&debug->elf, ".gnu_debugaltlink");
	struct str link;
	if (!section || !elf_section_content(&debug->elf, section, &link))
		return NULL;
	// A path, relative to the file that names it, and the build id of what is there.
	struct str name = elf_string(link, 0);
	struct search search = { .obj = debug, .build_id = str_skip(link, name.len + 1) };
	if (name.len == 0 || search.build_id.len == 0)
		return NULL;
	auto_fini(buf) path = { 0 };
	if (*name.ptr != '/') {
		struct str own = str_from(debug->path);
		buf_str(&path, (struct str){ own.ptr, own.len - str_basename(own).len });
	}
	buf_str(&path, name);
	const char *text = buf_cstr(&path);
	struct object *found = path.failed ? NULL : open_in_roots(&search, text);
	return found ? found : find_by_build_id(&search);
}

// SPDX-License-Identifier: Apache-2.0
#include "object/object.h"

#include <stdlib.h>
#include <string.h>

#include "object/object_parts.h"

static struct object *object_new(const char *path, const char *root)
{
	auto_(object) obj = calloc(1, sizeof(*obj));
	if (!obj)
		return NULL;
	obj->elf.fd = -1;
	obj->path = strdup(path);
	obj->root = strdup(root);
	return obj->path && obj->root ? take(obj) : NULL;
}

struct error *object_open_consume_fd(int consumed, const struct object_opts *opts,
				     struct object **ret)
{
	autoclose int fd = consumed;
	auto_(object) obj = object_new(opts->path, opts->root ? opts->root : "");
	if (!obj)
		return &error_no_memory;
	struct error *err = elf_file_init_consume_fd(&obj->elf, take_fd(fd), obj->path);
	if (err)
		return err;
	obj->build_id = elf_build_id(&obj->elf, &obj->notes);
	*ret = take(obj);
	return NULL;
}

struct error *object_open_memory(struct str image, const char *name, struct object **ret)
{
	auto_(object) obj = object_new(name, "");
	if (!obj)
		return &error_no_memory;
	struct error *err = elf_file_init_memory(&obj->elf, image, obj->path);
	if (err)
		return err;
	obj->build_id = elf_build_id(&obj->elf, &obj->notes);
	*ret = take(obj);
	return NULL;
}

void object_free(struct object *obj)
{
	if (!obj)
		return;
	for (size_t i = 0; i < OBJECT_PART_COUNT; i++)
		if (obj->parts[i].state)
			obj->parts[i].free(obj->parts[i].state);
	elf_bytes_fini(&obj->notes);
	elf_file_fini(&obj->elf);
	free(obj->path);
	free(obj->root);
	free(obj);
}

const char *object_path(const struct object *obj)
{
	return obj->path;
}

struct str object_build_id(const struct object *obj)
{
	return obj->build_id;
}

bool object_vaddr(const struct object *obj, uint64_t offset, uint64_t *ret)
{
	const struct elf_segment *s = elf_segment_by_offset(&obj->elf, offset);
	return s && !__builtin_add_overflow(offset - s->header.p_offset, s->header.p_vaddr, ret);
}

bool object_offset(const struct object *obj, uint64_t vaddr, uint64_t *ret)
{
	const struct elf_segment *s = elf_segment_by_vaddr(&obj->elf, vaddr);
	return s && !__builtin_add_overflow(vaddr - s->header.p_vaddr, s->header.p_offset, ret);
}

bool object_section(struct object *obj, const char *name, struct str *ret, uint64_t *ret_vaddr)
{
	struct elf_section *s = elf_section_find(&obj->elf, name);
	if (!s || !elf_section_content(&obj->elf, s, ret))
		return false;
	*ret_vaddr = s->header.sh_addr;
	return true;
}

bool object_read(const struct object *obj, uint64_t offset, void *to, size_t size)
{
	return elf_read(&obj->elf, offset, size, to);
}

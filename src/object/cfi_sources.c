// SPDX-License-Identifier: Apache-2.0
#include "object/cfi_sources.h"

#include <stdlib.h>

#include "object/cfi_cursor.h"
#include "object/object_parts.h"

static void cfi_sources_free(void *state)
{
	struct cfi_sources *sources = state;
	for (size_t i = 0; i < CFI_SOURCE_COUNT; i++)
		cfi_index_fini(&sources->at[i].index);
	cfi_runner_fini(&sources->runner);
	free(sources);
}

struct error *object_cfi_sources(struct object *obj, struct cfi_sources **ret)
{
	struct object_slot *slot = &obj->parts[OBJECT_PART_ROWS];
	if (!slot->state) {
		struct cfi_sources *sources = calloc(1, sizeof(*sources));
		if (!sources)
			return &error_no_memory;
		sources->object = obj;
		*slot = (struct object_slot){ true, sources, cfi_sources_free };
	}
	*ret = slot->state;
	return NULL;
}

// From an address to the end of its segment in the file.
static bool rest_of_segment(struct object *obj, uint64_t vaddr, struct str *ret)
{
	struct elf_segment *s = elf_segment_by_vaddr(&obj->elf, vaddr);
	if (!s || !elf_fetch(&obj->elf, s->header.p_offset, s->header.p_filesz, &s->bytes))
		return false;
	*ret = str_skip(s->bytes.view, vaddr - s->header.p_vaddr);
	return true;
}

// Without section headers .eh_frame is found through its lookup table, which says where it starts
// but not how long it is.
static bool find_eh_frame_by_header(struct object *obj, struct cfi_section *s)
{
	struct cfi_section header = { 0 };
	if (!object_section(obj, ".eh_frame_hdr", &header.bytes, &header.vaddr))
		return false;
	header.data_base = header.vaddr;
	struct cursor c = cursor_over(header.bytes, 0, header.bytes.len);
	uint8_t version = cursor_u8(&c), encoding = cursor_u8(&c);
	cursor_skip(&c, 2); // the encodings of the table that follows
	s->ends_at_zero = true;
	return version == 1 && cfi_read_pointer(&header, &c, encoding, sizeof(void *), &s->vaddr) &&
	       rest_of_segment(obj, s->vaddr, &s->bytes);
}

static bool find_eh_frame(struct object *obj, struct cfi_section *s)
{
	const struct elf_section *got = elf_section_find(&obj->elf, ".got");
	s->data_base = got ? got->header.sh_addr : 0;
	return object_section(obj, ".eh_frame", &s->bytes, &s->vaddr) ||
	       find_eh_frame_by_header(obj, s);
}

static bool find_debug_frame(struct object *obj, struct cfi_section *s)
{
	s->debug_frame = true;
	return object_section(obj, ".debug_frame", &s->bytes, &s->vaddr);
}

static bool find_debug_file(struct object *obj, struct cfi_section *s)
{
	struct object *debug = object_debug_file(obj);
	return debug && find_debug_frame(debug, s);
}

static bool (*const finders[CFI_SOURCE_COUNT])(struct object *obj, struct cfi_section *s) = {
	[CFI_SOURCE_EH_FRAME] = find_eh_frame,
	[CFI_SOURCE_DEBUG_FRAME] = find_debug_frame,
	[CFI_SOURCE_DEBUG_FILE] = find_debug_file,
};

static bool place(void *ctx, uint64_t start, uint64_t end, uint64_t *ret)
{
	const struct object *obj = ctx;
	const struct elf_segment *segment = elf_segment_by_vaddr(&obj->elf, start);
	if (!segment)
		return false;
	const Elf64_Phdr *ph = &segment->header;
	uint64_t at = start - ph->p_vaddr;
	return end - start <= ph->p_filesz - at && !__builtin_add_overflow(ph->p_offset, at, ret);
}

struct error *cfi_sources_index(struct cfi_sources *sources, enum cfi_source source,
				const struct cfi_index **ret)
{
	struct cfi_section section = { 0 };
	struct cfi_index *index = &sources->at[source].index;
	*ret = index;
	if (sources->at[source].tried)
		return NULL;
	if (finders[source](sources->object, &section)) {
		struct cfi_places places = { place, sources->object };
		struct error *err = cfi_index_init(index, &section, &places);
		if (err)
			return err;
	}
	sources->at[source].tried = true;
	return NULL;
}

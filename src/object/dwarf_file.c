// SPDX-License-Identifier: Apache-2.0
#include "object/dwarf_file.h"

#include <stdlib.h>

#include "object/debug_file.h"
#include "object/object_parts.h"

// What functions, inlining and lines need. Left out: types' locations, macros, call frames.
static const char *const section_names[] = {
	".debug_info",  ".debug_abbrev", ".debug_str",  ".debug_line",     ".debug_line_str",
	".debug_types", ".debug_ranges", ".debug_addr", ".debug_rnglists", ".debug_str_offsets",
};
#define SECTION_COUNT ARRAY_SIZE(section_names)

// Zero bytes after each section, so that a number cut off at its end is not read from the next one.
#define PADDING 16

struct part {
	const struct elf_section *section;
	uint64_t size;   // decompressed; 0 if there is nothing to read
	uint64_t offset; // in the image
};

struct image {
	struct part parts[SECTION_COUNT];
	uint64_t size;
};

// The skeleton of the file that libdw sees: an unused section, the parts, and the section names.
struct skeleton {
	Elf64_Ehdr header;
	Elf64_Shdr sections[SECTION_COUNT + 2];
	char names[512];
};

static void place_parts(struct object *obj, struct image *image)
{
	image->size = sizeof(struct skeleton);
	for (size_t i = 0; i < SECTION_COUNT; i++) {
		struct part *part = &image->parts[i];
		part->section = elf_section_find(&obj->elf, section_names[i]);
		if (!part->section || !elf_section_size(&obj->elf, part->section, &part->size))
			part->size = 0;
		part->offset = image->size;
		image->size += (part->size + PADDING + 7) & ~7ull;
	}
}

static void fill_skeleton(const struct image *image, struct skeleton *ret)
{
	struct skeleton s = {
		.header = {
			.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
				     EV_CURRENT },
			.e_type = ET_DYN, // libdw would look for relocations in ET_REL
			.e_machine = EM_X86_64,
			.e_version = EV_CURRENT,
			.e_ehsize = sizeof(Elf64_Ehdr),
			.e_shoff = offsetof(struct skeleton, sections),
			.e_shentsize = sizeof(Elf64_Shdr),
			.e_shnum = SECTION_COUNT + 2,
			.e_shstrndx = SECTION_COUNT + 1,
		},
	};
	size_t name = 1;
	for (size_t i = 0; i < SECTION_COUNT; i++) {
		const struct part *part = &image->parts[i];
		s.sections[i + 1] = (Elf64_Shdr){
			.sh_name = (uint32_t)name,
			.sh_type = part->size != 0 ? SHT_PROGBITS : SHT_NOBITS,
			.sh_offset = part->offset,
			.sh_size = part->size,
			.sh_addralign = 1,
		};
		size_t len = strlen(section_names[i]) + 1;
		memcpy(s.names + name, section_names[i], len);
		name += len;
	}
	s.sections[SECTION_COUNT + 1] = (Elf64_Shdr){
		.sh_type = SHT_STRTAB,
		.sh_offset = offsetof(struct skeleton, names),
		.sh_size = sizeof(s.names),
		.sh_addralign = 1,
	};
	memcpy(ret, &s, sizeof(s));
}

static char *build_image(struct object *obj, uint64_t size_max, uint64_t *ret_size)
{
	struct image image = { 0 };
	place_parts(obj, &image);
	if (image.parts[0].size == 0 || image.size > size_max)
		return NULL;
	autofree char *bytes = calloc(1, image.size);
	if (!bytes)
		return NULL;
	for (size_t i = 0; i < SECTION_COUNT; i++) {
		struct part *part = &image.parts[i];
		if (part->size != 0 &&
		    !elf_section_copy(&obj->elf, part->section, bytes + part->offset, part->size))
			return NULL;
	}
	fill_skeleton(&image, (struct skeleton *)bytes);
	*ret_size = image.size;
	return take(bytes);
}

static struct dwarf_file *open_one(struct object *obj, uint64_t size_max)
{
	auto_(dwarf_file) f = calloc(1, sizeof(*f));
	uint64_t size;
	if (!f || !(f->image = build_image(obj, size_max, &size)) ||
	    elf_version(EV_CURRENT) == EV_NONE)
		return NULL;
	f->elf = elf_memory(f->image, size);
	f->dwarf = f->elf ? dwarf_begin_elf(f->elf, DWARF_C_READ, NULL) : NULL;
	return f->dwarf ? take(f) : NULL;
}

struct dwarf_file *dwarf_file_new(struct object *obj, uint64_t size_max)
{
	struct dwarf_file *f = open_one(obj, size_max);
	if (!f)
		return NULL;
	auto_(object) shared = debug_file_open_shared(obj);
	if (shared && (f->shared = open_one(shared, size_max)))
		dwarf_setalt(f->dwarf, f->shared->dwarf);
	return f;
}

void dwarf_file_free(struct dwarf_file *f)
{
	if (!f)
		return;
	if (f->dwarf)
		dwarf_end(f->dwarf);
	if (f->elf)
		elf_end(f->elf);
	dwarf_file_free(f->shared);
	free(f->image);
	free(f);
}

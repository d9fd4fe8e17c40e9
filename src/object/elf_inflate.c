// SPDX-License-Identifier: Apache-2.0
// Compressed sections, by libelf. It only decompresses a section of an ELF file, so the bytes are
// wrapped into a minimal file of ours: no header of the stranger's file reaches libelf.
#include "object/elf_inflate.h"

#include <endian.h>
#include <libelf.h>
#include <stdlib.h>

#include "base/cleanup.h"

// deflate cannot shrink anything by more than this.
#define DEFLATE_RATIO_MAX 1032

struct wrapper {
	Elf64_Ehdr header;
	Elf64_Shdr sections[2]; // 0 is never used, 1 is the compressed one
};

static char *wrap(const Elf64_Chdr *chdr, struct str stream, size_t *ret_size)
{
	size_t size = sizeof(struct wrapper) + sizeof(*chdr) + stream.len;
	char *image = calloc(1, size);
	if (!image)
		return NULL;
	struct wrapper w = {
		.header = {
			.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
				     EV_CURRENT },
			.e_type = ET_REL,
			.e_machine = EM_X86_64,
			.e_version = EV_CURRENT,
			.e_ehsize = sizeof(Elf64_Ehdr),
			.e_shoff = offsetof(struct wrapper, sections),
			.e_shentsize = sizeof(Elf64_Shdr),
			.e_shnum = 2,
		},
		.sections[1] = {
			.sh_type = SHT_PROGBITS,
			.sh_flags = SHF_COMPRESSED,
			.sh_offset = sizeof(struct wrapper),
			.sh_size = sizeof(*chdr) + stream.len,
			.sh_addralign = 8,
		},
	};
	memcpy(image, &w, sizeof(w));
	memcpy(image + sizeof(w), chdr, sizeof(*chdr));
	memcpy(image + sizeof(w) + sizeof(*chdr), stream.ptr, stream.len);
	*ret_size = size;
	return image;
}

static bool copy_content(Elf *elf, char *ret, size_t size)
{
	Elf_Scn *section = elf_getscn(elf, 1);
	if (!section || elf_compress(section, 0, 0) != 1)
		return false;
	Elf_Data *data = elf_getdata(section, NULL);
	if (!data || !data->d_buf || data->d_size != size)
		return false;
	memcpy(ret, data->d_buf, size);
	return true;
}

// What is in front of the compressed bytes, in the newer form; *ret_stream is what follows.
static bool read_header(enum elf_packing packing, struct str content, Elf64_Chdr *ret,
			struct str *ret_stream)
{
	uint64_t size;
	if (packing == ELF_PACKING_ELF) {
		if (content.len < sizeof(*ret))
			return false;
		memcpy(ret, content.ptr, sizeof(*ret));
		*ret_stream = str_skip(content, sizeof(*ret));
	} else {
		if (content.len < 4 + sizeof(size) || !str_starts(content, STR("ZLIB")))
			return false;
		memcpy(&size, content.ptr + 4, sizeof(size));
		*ret = (Elf64_Chdr){ .ch_type = ELFCOMPRESS_ZLIB, .ch_size = be64toh(size) };
		*ret_stream = str_skip(content, 4 + sizeof(size));
	}
	// libelf refuses an alignment that is no power of two; this one is good for all bytes.
	ret->ch_addralign = 1;
	return true;
}

bool elf_inflated_size(enum elf_packing packing, struct str head, uint64_t *ret)
{
	Elf64_Chdr chdr;
	struct str stream;
	if (!read_header(packing, head, &chdr, &stream))
		return false;
	*ret = chdr.ch_size;
	return true;
}

bool elf_inflate(enum elf_packing packing, struct str content, char *ret, size_t size)
{
	Elf64_Chdr chdr;
	struct str stream;
	if (!read_header(packing, content, &chdr, &stream) || chdr.ch_size != size || size == 0 ||
	    (chdr.ch_type == ELFCOMPRESS_ZLIB && size / DEFLATE_RATIO_MAX > stream.len))
		return false;
	size_t image_size;
	autofree char *image = wrap(&chdr, stream, &image_size);
	if (!image || elf_version(EV_CURRENT) == EV_NONE)
		return false;
	Elf *elf = elf_memory(image, image_size);
	if (!elf)
		return false;
	bool ok = copy_content(elf, ret, size);
	elf_end(elf);
	return ok;
}

// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/object/cfi_writer.h"

#include <elf.h>

#define BASIC_PROGRAM BYTES(0x0c, 7, 8, 0x90, 1)

const struct cfi_cie_text plain_cie = { .augmentation_data = { "", 1 } }; // DW_EH_PE_absptr

static void add_number(struct buf *b, uint64_t value, size_t size)
{
	buf_add(b, &value, size);
}

// The length field, whose value end_entry() writes.
static size_t begin_entry(struct buf *b, bool wide)
{
	size_t start = b->len;
	add_number(b, wide ? UINT32_MAX : 0, 4);
	if (wide)
		add_number(b, 0, 8);
	return start;
}

static void end_entry(struct buf *b, size_t start, bool wide)
{
	size_t size_at = start + (wide ? 4 : 0), size_size = wide ? 8 : 4;
	while (b->len % 8 != 0)
		buf_char(b, 0); // DW_CFA_nop
	uint64_t size = b->len - size_at - size_size;
	memcpy(b->at + size_at, &size, size_size);
}

size_t write_cie(struct buf *b, const struct cfi_cie_text *cie)
{
	const char *augmentation = cie->augmentation ? cie->augmentation : "zR";
	uint8_t version = cie->version ? cie->version : 1;
	size_t start = begin_entry(b, cie->wide);
	add_number(b, cie->debug_frame ? UINT64_MAX : 0, cie->debug_frame && cie->wide ? 8 : 4);
	buf_char(b, (char)version);
	buf_add(b, augmentation, strlen(augmentation) + 1);
	if (version == 4) {
		buf_char(b, (char)cie->address_size);
		buf_char(b, (char)cie->segment_size);
	}
	if (strcmp(augmentation, "eh") == 0)
		add_number(b, 0xdeadbeef, 8);
	buf_char(b, (char)(cie->code_align ? cie->code_align : 1));
	buf_char(b, 0x78); // -8
	buf_char(b, 16);
	if (augmentation[0] == 'z') {
		buf_char(b, (char)cie->augmentation_data.len);
		buf_str(b, cie->augmentation_data);
	}
	buf_str(b, cie->program.len != 0 ? cie->program : BASIC_PROGRAM);
	end_entry(b, start, cie->wide);
	return start;
}

size_t write_fde(struct buf *b, const struct cfi_cie_text *cie, size_t cie_offset,
		 struct str addresses, struct str rest)
{
	size_t start = begin_entry(b, cie->wide);
	uint64_t pointer = cie->debug_frame ? cie_offset : b->len - cie_offset;
	add_number(b, pointer, cie->debug_frame && cie->wide ? 8 : 4);
	buf_str(b, addresses);
	buf_str(b, rest);
	end_entry(b, start, cie->wide);
	return start;
}

size_t write_plain_fde(struct buf *b, size_t cie_offset, uint64_t start, uint64_t size,
		       struct str program)
{
	auto_fini(buf) rest = { 0 };
	uint64_t addresses[] = { start, size };
	buf_char(&rest, 0); // no augmentation data
	buf_str(&rest, program);
	return write_fde(b, &plain_cie, cie_offset,
			 (struct str){ (const char *)addresses, sizeof(addresses) },
			 buf_view(&rest));
}

static const char section_names[] = "\0.shstrtab\0.eh_frame\0.debug_frame";

static uint32_t name_at(const char *name)
{
	const char *at = memmem(section_names, sizeof(section_names), name, strlen(name) + 1);
	return (uint32_t)(at - section_names);
}

static Elf64_Shdr add_section(struct buf *b, const char *name, uint32_t type, struct str content)
{
	while (b->len % 8 != 0)
		buf_char(b, 0);
	Elf64_Shdr header = { .sh_name = name_at(name),
			      .sh_type = type,
			      .sh_addr = IMAGE_VADDR + b->len,
			      .sh_offset = b->len,
			      .sh_size = content.len };
	buf_str(b, content);
	return header;
}

void write_image(struct buf *b, const struct image_text *text)
{
	Elf64_Ehdr header = {
		.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
			     EV_CURRENT },
		.e_type = ET_EXEC,
		.e_machine = EM_X86_64,
		.e_version = EV_CURRENT,
		.e_phoff = sizeof(Elf64_Ehdr),
		.e_ehsize = sizeof(Elf64_Ehdr),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = 1,
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shstrndx = 1,
	};
	const Elf64_Phdr segment = { .p_type = PT_LOAD,
				     .p_flags = PF_R | PF_X,
				     .p_vaddr = IMAGE_VADDR,
				     .p_filesz = IMAGE_SIZE,
				     .p_memsz = IMAGE_SIZE };
	Elf64_Shdr sections[4] = { 0 };
	header.e_shnum = 2;
	buf_add(b, &header, sizeof(header));
	buf_add(b, &segment, sizeof(segment));
	while (b->len < IMAGE_EH_FRAME_OFFSET)
		buf_char(b, 0);
	if (text->eh_frame.len != 0)
		sections[header.e_shnum++] =
			add_section(b, ".eh_frame", SHT_PROGBITS, text->eh_frame);
	if (text->debug_frame.len != 0)
		sections[header.e_shnum++] =
			add_section(b, ".debug_frame", SHT_PROGBITS, text->debug_frame);
	sections[1] = add_section(b, ".shstrtab", SHT_STRTAB,
				  (struct str){ section_names, sizeof(section_names) });
	header.e_shoff = b->len;
	buf_add(b, sections, header.e_shnum * sizeof(*sections));
	memcpy(b->at, &header, sizeof(header));
}

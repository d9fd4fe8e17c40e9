// SPDX-License-Identifier: Apache-2.0
// Reads the entries of .eh_frame and .debug_frame. Formats: DWARF 5 section 6.4, and for .eh_frame
// the Linux Standard Base's "Exception Frames".
#include "object/cfi.h"

#include <dwarf.h>

#include "object/cfi_cursor.h"
#include "wire/arch.h"

#define ADDRESS_SIZE 8
// Nothing real comes near; without a limit many FDEs could each make us scan a long string.
#define AUGMENTATION_MAX 32

enum entry_state {
	ENTRY_READ,
	ENTRY_SKIP, // a terminator in between, or too short to be anything
	ENTRY_STOP, // nothing can be found behind it
};

static enum entry_state read_entry(const struct cfi_section *s, size_t pos, struct cfi_entry *ret)
{
	struct cursor c = cursor_over(s->bytes, pos, s->bytes.len);
	*ret = (struct cfi_entry){ .offset = pos };
	uint64_t length = cursor_fixed(&c, 4);
	ret->wide = length == UINT32_MAX;
	if (ret->wide)
		length = cursor_fixed(&c, 8);
	if (c.bad || (length == 0 && s->ends_at_zero) || length > c.end - c.pos)
		return ENTRY_STOP;
	ret->end = c.end = c.pos + length;
	// In .eh_frame the id has four bytes even if the length has eight.
	size_t id_at = c.pos, id_size = ret->wide && s->debug_frame ? 8 : 4;
	uint64_t id = cursor_fixed(&c, id_size);
	if (c.bad)
		return ENTRY_SKIP;
	uint64_t cie_id = !s->debug_frame ? 0 : id_size == 8 ? UINT64_MAX : UINT32_MAX;
	ret->is_cie = id == cie_id;
	ret->body = c.pos;
	ret->cie = s->debug_frame ? id : id_at - id; // may wrap: checked when it is read
	return ENTRY_READ;
}

bool cfi_next(const struct cfi_section *s, size_t *pos, struct cfi_entry *ret)
{
	for (;;) {
		enum entry_state state = read_entry(s, *pos, ret);
		if (state == ENTRY_STOP)
			return false;
		*pos = ret->end;
		if (state == ENTRY_READ)
			return true;
	}
}

static bool read_pointer_value(struct cursor *c, uint8_t format, uint8_t address_size,
			       uint64_t *ret)
{
	switch (format) {
	case DW_EH_PE_absptr:
		*ret = cursor_fixed(c, address_size);
		break;
	case DW_EH_PE_uleb128:
		*ret = cursor_uleb(c);
		break;
	case DW_EH_PE_sleb128:
		*ret = (uint64_t)cursor_sleb(c);
		break;
	case DW_EH_PE_udata2:
	case DW_EH_PE_udata4:
	case DW_EH_PE_udata8:
		*ret = cursor_fixed(c, (size_t)1 << (format - DW_EH_PE_udata2 + 1));
		break;
	case DW_EH_PE_signed:
		*ret = (uint64_t)sign_extend(cursor_fixed(c, address_size), address_size);
		break;
	case DW_EH_PE_sdata2:
	case DW_EH_PE_sdata4:
	case DW_EH_PE_sdata8: {
		size_t size = (size_t)1 << (format - DW_EH_PE_sdata2 + 1);
		*ret = (uint64_t)sign_extend(cursor_fixed(c, size), size);
		break;
	}
	default:
		return false;
	}
	return !c->bad;
}

bool cfi_read_pointer(const struct cfi_section *s, struct cursor *c, uint8_t encoding,
		      uint8_t address_size, uint64_t *ret)
{
	uint64_t base = 0;
	switch (encoding & 0x70) {
	case DW_EH_PE_absptr:
	case DW_EH_PE_textrel: // the text's base is 0 in the file's own addresses
		break;
	case DW_EH_PE_pcrel:
		base = s->vaddr + c->pos;
		break;
	case DW_EH_PE_datarel:
		if (s->data_base == 0)
			return false;
		base = s->data_base;
		break;
	case DW_EH_PE_aligned:
		cursor_skip(c, -(s->vaddr + c->pos) & (address_size - 1u));
		encoding = DW_EH_PE_absptr;
		break;
	default:
		return false; // relative to a function: there is none yet
	}
	uint64_t value;
	if (encoding == DW_EH_PE_omit ||
	    !read_pointer_value(c, encoding & 0x0f, address_size, &value))
		return false;
	*ret = base + value;
	return true;
}

// What the letters after 'z' put into the augmentation block. An unknown letter ends it: the
// block's length tells where to go on.
static bool read_augmentation(const struct cfi_section *s, struct str letters, struct cursor c,
			      struct cfi_cie *cie)
{
	for (size_t i = 0; i < letters.len; i++) {
		uint8_t encoding;
		uint64_t ignored;
		switch (letters.ptr[i]) {
		case 'R':
			cie->pointer_encoding = cursor_u8(&c);
			break;
		case 'L':
			cursor_u8(&c);
			break;
		case 'P':
			encoding = cursor_u8(&c) & 0x7f; // whether indirect or not: skipped
			if (!cfi_read_pointer(s, &c, encoding, cie->address_size, &ignored))
				return false;
			break;
		case 'S':
			cie->signal = true;
			break;
		case 'B': // signed return addresses (arm64)
		case 'G': // tagged stacks (arm64)
			break;
		default:
			return !c.bad;
		}
	}
	return !c.bad;
}

static struct str read_letters(struct cursor *c)
{
	struct str letters = { (const char *)c->bytes + c->pos, 0 };
	while (cursor_u8(c) != 0 && !c->bad)
		if (++letters.len > AUGMENTATION_MAX)
			c->bad = true;
	return letters;
}

// The fields between the version and the initial instructions.
static bool read_cie_fields(const struct cfi_section *s, struct cursor *c, struct cfi_cie *cie)
{
	uint8_t version = cursor_u8(c);
	if (version != 1 && version != 3 && version != 4)
		return false;
	struct str letters = read_letters(c);
	cie->address_size = ADDRESS_SIZE;
	if (version == 4) {
		cie->address_size = cursor_u8(c);
		cie->segment_size = cursor_u8(c);
	}
	if (cie->address_size != ADDRESS_SIZE && cie->address_size != 4)
		return false;
	if (str_eq(letters, STR("eh"))) { // gcc 2: a pointer to its exception table
		cursor_skip(c, cie->address_size);
		letters.len = 0;
	}
	cie->code_align = cursor_uleb(c);
	cie->data_align = cursor_sleb(c);
	uint64_t column = version == 1 ? cursor_u8(c) : cursor_uleb(c);
	if (c->bad || column > ARCH_REG_RA)
		return false;
	cie->return_column = (uint8_t)column;
	if (letters.len == 0)
		return true;
	if (letters.ptr[0] != 'z')
		return false; // no way to know where the instructions start
	cie->sized_augmentation = true;
	uint64_t size = cursor_uleb(c);
	struct cursor block = *c;
	cursor_skip(c, size);
	block.end = c->pos;
	return !c->bad && read_augmentation(s, str_skip(letters, 1), block, cie);
}

static void read_cie(const struct cfi_section *s, size_t offset, struct cfi_cie *ret)
{
	*ret = (struct cfi_cie){ .offset = offset };
	struct cfi_entry e;
	if (read_entry(s, offset, &e) != ENTRY_READ || !e.is_cie)
		return;
	struct cursor c = cursor_over(s->bytes, e.body, e.end);
	ret->usable = read_cie_fields(s, &c, ret);
	ret->program = c.pos;
	ret->program_end = e.end;
}

bool cfi_read_fde(const struct cfi_section *s, const struct cfi_entry *entry, struct cfi_fde *fde)
{
	// An offset of 0 is a real one, so a zeroed CIE is told by its missing program.
	if (fde->cie.offset != entry->cie || fde->cie.program_end == 0)
		read_cie(s, entry->cie, &fde->cie);
	const struct cfi_cie *cie = &fde->cie;
	// An indirect address is only known to the running program.
	if (entry->is_cie || !cie->usable || cie->pointer_encoding & DW_EH_PE_indirect)
		return false;
	struct cursor c = cursor_over(s->bytes, entry->body, entry->end);
	cursor_skip(&c, cie->segment_size);
	uint64_t start, size;
	if (!cfi_read_pointer(s, &c, cie->pointer_encoding, cie->address_size, &start) ||
	    !read_pointer_value(&c, cie->pointer_encoding & 0x0f, cie->address_size, &size))
		return false;
	if (cie->sized_augmentation)
		cursor_skip(&c, cursor_uleb(&c));
	if (c.bad || size == 0 || start + size < start)
		return false;
	fde->start = start;
	fde->end = start + size;
	fde->program = c.pos;
	fde->program_end = entry->end;
	return true;
}

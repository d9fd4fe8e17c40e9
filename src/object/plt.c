// SPDX-License-Identifier: Apache-2.0
// Stubs of the procedure linkage table have no symbols. Each jumps through a slot of the global
// offset table, and the relocation of that slot names the function:
//
//   .plt.sec   endbr64; jmp *slot(%rip)    ff 25 disp32
//   .rela.plt  slot  R_X86_64_JUMP_SLOT  puts
//
// Reading the jump works for every linker's order and shape of stubs.
#include "object/plt.h"

#include "object/object_parts.h"

struct slot {
	uint64_t address;
	uint64_t resolver; // of an indirect function in this file, or 0
	struct str name;   // of a function of another file, or empty
};

struct slots {
	VEC(struct slot) list;
};

// What the numbers of symbols in relocations stand for.
struct names {
	struct elf_bytes symbols; // only needed for a while: not kept with the section
	struct str strings;
};

static void read_names(const struct elf_file *elf, uint32_t section, struct names *ret)
{
	if (section >= elf->section_count)
		return;
	const Elf64_Shdr *h = &elf->sections[section].header;
	if (h->sh_type == SHT_NOBITS || h->sh_link >= elf->section_count ||
	    !elf_section_content(elf, &elf->sections[h->sh_link], &ret->strings))
		return;
	elf_fetch(elf, h->sh_offset, h->sh_size, &ret->symbols);
}

static bool add_slot(struct slots *slots, const Elf64_Rela *r, const struct names *names)
{
	struct slot slot = { .address = r->r_offset, .name = STR("") };
	uint64_t type = ELF64_R_TYPE(r->r_info), index = ELF64_R_SYM(r->r_info);
	Elf64_Sym symbol;
	if (type == R_X86_64_IRELATIVE) {
		slot.resolver = (uint64_t)r->r_addend;
	} else if (type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT) {
		struct str symbols = names->symbols.view;
		if (index >= symbols.len / sizeof(symbol))
			return true;
		memcpy(&symbol, symbols.ptr + index * sizeof(symbol), sizeof(symbol));
		slot.name = elf_string(names->strings, symbol.st_name);
	} else {
		return true;
	}
	return vec_push(&slots->list, slot);
}

// Piece by piece: the relocations of a large library are larger than all its names.
static bool add_slots(const struct elf_file *elf, const char *name, struct slots *slots)
{
	const struct elf_section *section = elf_section_find(elf, name);
	if (!section || section->header.sh_type == SHT_NOBITS ||
	    section->header.sh_size > ELF_BYTES_MAX)
		return true;
	struct names names = { 0 };
	read_names(elf, section->header.sh_link, &names);
	Elf64_Rela piece[256];
	uint64_t count = section->header.sh_size / sizeof(*piece);
	bool ok = true;
	for (uint64_t at = 0; at < count && ok; at += ARRAY_SIZE(piece)) {
		size_t len = MIN(count - at, (uint64_t)ARRAY_SIZE(piece));
		if (!elf_read(elf, section->header.sh_offset + at * sizeof(*piece),
			      len * sizeof(*piece), piece))
			break;
		for (size_t i = 0; i < len && ok; i++)
			ok = add_slot(slots, &piece[i], &names);
	}
	elf_bytes_fini(&names.symbols);
	return ok;
}

static int compare_slots(const void *a_ptr, const void *b_ptr)
{
	const struct slot *a = a_ptr, *b = b_ptr;
	return a->address < b->address ? -1 : a->address > b->address;
}

// The slot that the code of a stub jumps through.
static const struct slot *slot_of_stub(const struct slots *slots, const unsigned char *code,
				       size_t len, uint64_t vaddr)
{
	int32_t displacement;
	for (size_t i = 0; i + 6 <= len; i++) {
		if (code[i] != 0xff || code[i + 1] != 0x25)
			continue;
		memcpy(&displacement, code + i + 2, sizeof(displacement));
		struct slot key = { .address = vaddr + i + 6 + (uint64_t)(int64_t)displacement };
		return slots->list.len == 0 ? NULL
					    : bsearch(&key, slots->list.at, slots->list.len,
						      sizeof(key), compare_slots);
	}
	return NULL;
}

static struct str slot_name(const struct slot *slot, const struct symbol_table *functions)
{
	if (slot->resolver == 0)
		return slot->name;
	const struct symbol_entry *e = symbol_table_find(functions, slot->resolver);
	return e ? symbol_table_name(functions, e) : STR("");
}

static bool add_stubs(struct object *obj, const char *section, const struct slots *slots,
		      const struct symbol_table *functions, struct symbol_table *stubs,
		      struct buf *names)
{
	struct elf_section *s = elf_section_find(&obj->elf, section);
	struct str code;
	if (!s || !elf_section_content(&obj->elf, s, &code))
		return true;
	size_t size = s->header.sh_entsize == 8 ? 8 : 16;
	for (size_t at = 0; at + size <= code.len; at += size) {
		uint64_t start = s->header.sh_addr + at;
		const struct slot *slot =
			slot_of_stub(slots, (const unsigned char *)code.ptr + at, size, start);
		struct str name = slot ? slot_name(slot, functions) : STR("");
		if (name.len == 0)
			continue;
		struct symbol_source source = { .start = start,
						.size = size,
						.limit = start + size,
						.name = (uint32_t)names->len };
		buf_str(names, name);
		buf_add(names, "@plt", sizeof("@plt"));
		if (names->failed || names->len > ELF_BYTES_MAX ||
		    !symbol_table_add(stubs, &source))
			return false;
	}
	return true;
}

bool plt_add_symbols(struct object *obj, const struct symbol_table *functions,
		     struct symbol_table *stubs, struct buf *names)
{
	static const char *const relocations[] = { ".rela.plt", ".rela.dyn" };
	static const char *const sections[] = { ".plt", ".plt.sec", ".plt.got", ".iplt" };
	struct slots slots = { 0 };
	bool ok = true;
	for (size_t i = 0; i < ARRAY_SIZE(relocations) && ok; i++)
		ok = add_slots(&obj->elf, relocations[i], &slots);
	vec_sort(&slots.list, compare_slots);
	for (size_t i = 0; i < ARRAY_SIZE(sections) && ok; i++)
		ok = add_stubs(obj, sections[i], &slots, functions, stubs, names);
	vec_fini(&slots.list);
	return ok;
}

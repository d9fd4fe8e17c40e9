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

static bool add_slots(const struct elf_file *elf, const char *name, struct slots *slots)
{
	struct elf_section *section = elf_section_find(elf, name);
	struct str relocations, symbols = STR(""), strings = STR("");
	if (!section || !elf_section_content(elf, section, &relocations))
		return true;
	if (section->header.sh_link < elf->section_count) {
		struct elf_section *linked = &elf->sections[section->header.sh_link];
		uint32_t names = linked->header.sh_link;
		if (!elf_section_content(elf, linked, &symbols) || names >= elf->section_count ||
		    !elf_section_content(elf, &elf->sections[names], &strings))
			symbols = STR("");
	}
	for (; relocations.len >= sizeof(Elf64_Rela);
	     relocations = str_skip(relocations, sizeof(Elf64_Rela))) {
		Elf64_Rela r;
		Elf64_Sym symbol;
		memcpy(&r, relocations.ptr, sizeof(r));
		struct slot slot = { .address = r.r_offset, .name = STR("") };
		uint64_t type = ELF64_R_TYPE(r.r_info), index = ELF64_R_SYM(r.r_info);
		if (type == R_X86_64_IRELATIVE) {
			slot.resolver = (uint64_t)r.r_addend;
		} else if (type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT) {
			if (index >= symbols.len / sizeof(symbol))
				continue;
			memcpy(&symbol, symbols.ptr + index * sizeof(symbol), sizeof(symbol));
			slot.name = elf_string(strings, symbol.st_name);
		} else {
			continue;
		}
		if (!vec_push(&slots->list, slot))
			return false;
	}
	return true;
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

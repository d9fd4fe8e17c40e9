// SPDX-License-Identifier: Apache-2.0
// The layouts are those of runtime.pcHeader and runtime._func in Go's sources (runtime/symtab.go,
// runtime/runtime2.go, debug/gosym/pclntab.go):
//
//   header  magic, 0, 0, quantum, pointer size; then words: number of functions, …
//   functab {entry, offset of _func} for each function, and the end of the last one
//   _func   entry, name, args, deferreturn, pcsp, …
#include "object/gopclntab.h"

#include <stdlib.h>

#include "base/cleanup.h"
#include "object/object_parts.h"

#define WORD 8 // size of a pointer on the machines we know
#define HEADER_SIZE 8
// How many places that look like a table are looked into.
#define CANDIDATES_MAX 16

struct layout {
	uint32_t magic;
	uint8_t entry_size; // of an entry or offset in functab, and of _func.entry
	// Which word of the header holds it; 0 if the version has no such word.
	uint8_t text_start;
	uint8_t names;
	uint8_t pc_values;
	uint8_t functab;
	uint8_t flags; // where they are in a _func; 0 if it has none
};

static const struct layout layouts[] = {
	{ .magic = 0xfffffffb, .entry_size = 8 },                                    // 1.2
	{ 0xfffffffa, 8, .names = 2, .pc_values = 5, .functab = 6, .flags = 41 },    // 1.16
	{ 0xfffffff0, 4, 2, .names = 3, .pc_values = 6, .functab = 7, .flags = 37 }, // 1.18
	{ 0xfffffff1, 4, 2, .names = 3, .pc_values = 6, .functab = 7, .flags = 41 }, // 1.20
};

struct gopclntab {
	const struct layout *layout;
	struct str functab; // _func offsets count from its start, in Go 1.2 from the table's
	struct str records;
	struct str names;
	struct str pc_values;
	uint64_t text_start;
	size_t count;
	uint32_t quantum;
	char *relocated; // a copy with relocations applied, or NULL
};

static void gopclntab_free(void *state)
{
	struct gopclntab *t = state;
	free(t->relocated);
	free(t);
}

// A little-endian number of 4 or 8 bytes; false beyond the end.
static bool read_number(struct str bytes, uint64_t offset, size_t size, uint64_t *ret)
{
	uint64_t value = 0;
	if (offset > bytes.len || size > bytes.len - offset)
		return false;
	memcpy(&value, bytes.ptr + offset, size);
	*ret = value;
	return true;
}

static bool header_word(struct str table, unsigned index, uint64_t *ret)
{
	return read_number(table, HEADER_SIZE + (uint64_t)index * WORD, WORD, ret);
}

// The part of the table that a word of the header points to; the whole table for word 0.
static bool header_part(struct str table, unsigned index, struct str *ret)
{
	uint64_t offset = 0;
	if (index != 0 && (!header_word(table, index, &offset) || offset > table.len))
		return false;
	*ret = str_skip(table, offset);
	return true;
}

// In a position-independent program an address in the file may be only a relocation.
static bool relocate(struct object *obj, const char *section, uint64_t vaddr, char *bytes,
		     size_t len)
{
	struct str relocations;
	uint64_t unused;
	bool any = false;
	if (!object_section(obj, section, &relocations, &unused))
		return false;
	for (; relocations.len >= sizeof(Elf64_Rela);
	     relocations = str_skip(relocations, sizeof(Elf64_Rela))) {
		Elf64_Rela r;
		memcpy(&r, relocations.ptr, sizeof(r));
		if (ELF64_R_TYPE(r.r_info) != R_X86_64_RELATIVE || r.r_offset < vaddr ||
		    len < WORD || r.r_offset - vaddr > len - WORD)
			continue;
		memcpy(bytes + (r.r_offset - vaddr), &r.r_addend, WORD);
		any = true;
	}
	return any;
}

static bool relocate_all(struct object *obj, uint64_t vaddr, char *bytes, size_t len)
{
	// Go's own linker names the section differently than the others.
	bool any = relocate(obj, ".rela.dyn", vaddr, bytes, len);
	return relocate(obj, ".rela", vaddr, bytes, len) || any;
}

// From Go 1.26 on, only runtime.moduledata tells where the text starts.
static bool module_text_start(struct object *obj, uint64_t table_vaddr, uint64_t first_entry,
			      uint64_t *ret)
{
	enum { PC_HEADER = 0, MIN_PC = 20, TEXT = 22, WORDS };
	uint64_t module[WORDS], vaddr;
	struct str content;
	if (!object_section(obj, ".go.module", &content, &vaddr) || content.len < sizeof(module))
		return false;
	memcpy(module, content.ptr, sizeof(module));
	relocate_all(obj, vaddr, (char *)module, sizeof(module));
	if (module[PC_HEADER] != table_vaddr || module[MIN_PC] != module[TEXT] + first_entry)
		return false;
	*ret = module[TEXT];
	return true;
}

static uint64_t section_start(struct object *obj, const char *name)
{
	const struct elf_section *s = elf_section_find(&obj->elf, name);
	return s ? s->header.sh_addr : 0;
}

// Where entries count from.
static uint64_t find_text_start(struct object *obj, const struct gopclntab *t, struct str table,
				uint64_t vaddr)
{
	unsigned index = t->layout->text_start;
	uint64_t start = 0, first_entry = 0;
	if (header_word(table, index, &start) && start != 0)
		return start;
	relocate_all(obj, vaddr + HEADER_SIZE + (uint64_t)index * WORD, (char *)&start, WORD);
	if (start != 0)
		return start;
	read_number(t->functab, 0, t->layout->entry_size, &first_entry);
	if (module_text_start(obj, vaddr, first_entry, &start))
		return start;
	return section_start(obj, ".text");
}

static const struct layout *find_layout(struct str table)
{
	uint64_t magic;
	if (table.len < HEADER_SIZE || !read_number(table, 0, 4, &magic) || table.ptr[4] != 0 ||
	    table.ptr[5] != 0 || table.ptr[7] != WORD)
		return NULL;
	if (table.ptr[6] != 1 && table.ptr[6] != 2 && table.ptr[6] != 4)
		return NULL;
	for (size_t i = 0; i < ARRAY_SIZE(layouts); i++)
		if (layouts[i].magic == magic)
			return &layouts[i];
	return NULL;
}

static bool parse_header(struct gopclntab *t, struct str table)
{
	const struct layout *l = t->layout;
	uint64_t count;
	if (!header_word(table, 0, &count) || !header_part(table, l->names, &t->names) ||
	    !header_part(table, l->pc_values, &t->pc_values) ||
	    !header_part(table, l->functab, &t->records))
		return false;
	t->functab = l->functab != 0 ? t->records : str_skip(table, HEADER_SIZE + WORD);
	if (t->functab.len < l->entry_size ||
	    count > (t->functab.len - l->entry_size) / (2 * l->entry_size))
		return false;
	t->count = count;
	t->quantum = (unsigned char)table.ptr[6];
	return true;
}

static struct gopclntab *gopclntab_new(struct object *obj, struct str table, uint64_t vaddr)
{
	const struct layout *layout = find_layout(table);
	autofree struct gopclntab *t = layout ? calloc(1, sizeof(*t)) : NULL;
	if (!t)
		return NULL;
	t->layout = layout;
	if (layout->text_start != 0) {
		if (!parse_header(t, table))
			return NULL;
		t->text_start = find_text_start(obj, t, table, vaddr);
		return take(t);
	}
	// Whole addresses in functab: each of them may be a relocation.
	autofree char *copy = malloc(table.len);
	if (!copy)
		return NULL;
	memcpy(copy, table.ptr, table.len);
	if (relocate_all(obj, vaddr, copy, table.len))
		table.ptr = copy;
	if (!parse_header(t, table))
		return NULL;
	t->relocated = table.ptr == copy ? take(copy) : NULL;
	return take(t);
}

static struct gopclntab *find_named(struct object *obj)
{
	static const char *const names[] = { ".gopclntab", ".data.rel.ro.gopclntab" };
	struct gopclntab *found = NULL;
	for (size_t i = 0; i < ARRAY_SIZE(names) && !found; i++) {
		struct str table;
		uint64_t vaddr;
		if (object_section(obj, names[i], &table, &vaddr))
			found = gopclntab_new(obj, table, vaddr);
	}
	return found;
}

// Linkers put the table of a position-independent program among other data.
static struct gopclntab *find_hidden(struct object *obj)
{
	struct str data;
	uint64_t vaddr;
	if (!elf_section_find(&obj->elf, ".go.buildinfo") ||
	    !object_section(obj, ".data.rel.ro", &data, &vaddr))
		return NULL;
	for (; data.len >= HEADER_SIZE; data = str_skip(data, WORD), vaddr += WORD) {
		struct gopclntab *found =
			find_layout(data) ? gopclntab_new(obj, data, vaddr) : NULL;
		struct go_func first;
		if (found && gopclntab_func(found, 0, &first) && first.name.len != 0)
			return found;
		if (found)
			gopclntab_free(found);
	}
	return NULL;
}

const struct gopclntab *object_gopclntab(struct object *obj)
{
	struct object_slot *slot = &obj->parts[OBJECT_PART_GOPCLNTAB];
	if (!slot->tried) {
		slot->tried = true;
		slot->free = gopclntab_free;
		slot->state = find_named(obj);
		if (!slot->state)
			slot->state = find_hidden(obj);
	}
	return slot->state;
}

size_t gopclntab_count(const struct gopclntab *t)
{
	return t->count;
}

// functab[2 * index] is an entry, functab[2 * index + 1] the offset of its _func.
static uint64_t functab_at(const struct gopclntab *t, size_t index)
{
	uint64_t value = 0;
	read_number(t->functab, index * t->layout->entry_size, t->layout->entry_size, &value);
	return value;
}

static uint64_t entry_at(const struct gopclntab *t, size_t index)
{
	return t->text_start + functab_at(t, 2 * index);
}

bool gopclntab_func(const struct gopclntab *t, size_t index, struct go_func *ret)
{
	if (index >= t->count)
		return false;
	struct go_func f = { .entry = entry_at(t, index), .end = entry_at(t, index + 1) };
	uint64_t record = functab_at(t, 2 * index + 1);
	uint64_t name, pcsp;
	if (f.end <= f.entry || record > t->records.len)
		return false;
	f.record = str_skip(t->records, record);
	size_t fields = t->layout->entry_size;
	if (!read_number(f.record, fields, 4, &name) ||
	    !read_number(f.record, fields + 12, 4, &pcsp))
		return false;
	f.name = elf_string(t->names, name);
	f.pcsp = (uint32_t)pcsp;
	if (t->layout->flags != 0 && t->layout->flags < f.record.len)
		f.flags = (uint8_t)f.record.ptr[t->layout->flags];
	*ret = f;
	return true;
}

bool gopclntab_find(const struct gopclntab *t, uint64_t vaddr, size_t *ret_index)
{
	size_t low = 0, high = t->count; // the answer + 1 is in (low, high]
	if (t->count == 0 || vaddr < entry_at(t, 0))
		return false;
	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;
		if (entry_at(t, middle) <= vaddr)
			low = middle;
		else
			high = middle;
	}
	*ret_index = low;
	return true;
}

struct go_spans gopclntab_spans(const struct gopclntab *t, const struct go_func *func,
				uint32_t offset)
{
	return (struct go_spans){
		.rest = offset != 0 ? str_skip(t->pc_values, offset) : STR(""),
		.pc = func->entry,
		.end = func->end,
		.value = -1,
		.quantum = t->quantum,
	};
}

static bool read_varint(struct str *rest, uint32_t *ret)
{
	uint32_t value = 0;
	for (unsigned shift = 0; shift < 32 && rest->len != 0; shift += 7) {
		unsigned char byte = (unsigned char)*rest->ptr;
		*rest = str_skip(*rest, 1);
		value |= (uint32_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80)) {
			*ret = value;
			return true;
		}
	}
	return false;
}

bool go_spans_next(struct go_spans *s, struct go_span *ret)
{
	uint32_t value_step, pc_step;
	// A step of 0 ends the table, except as the first one.
	if (s->pc >= s->end || !read_varint(&s->rest, &value_step) ||
	    (value_step == 0 && s->started) || !read_varint(&s->rest, &pc_step))
		return false;
	// Zigzag; unsigned, because a hostile table may make it wrap.
	uint32_t delta = value_step & 1 ? ~(value_step >> 1) : value_step >> 1;
	s->value = (int32_t)((uint32_t)s->value + delta);
	s->started = true;
	uint64_t start = s->pc, step = (uint64_t)pc_step * s->quantum;
	s->pc = step < s->end - start ? start + step : s->end;
	*ret = (struct go_span){ start, s->pc, s->value };
	return true;
}

// SPDX-License-Identifier: Apache-2.0
// The name of the function at an address. Several tables may know it; a stripped file has the
// functions it exports, what was packed into .gnu_debugdata and what its debug file has.
#include <stdlib.h>

#include "base/buf.h"
#include "object/gopclntab.h"
#include "object/minidebug.h"
#include "object/object_parts.h"
#include "object/plt.h"
#include "object/symbol_table.h"

// In a table that knows every function, one without a size goes on to the next one. In a table
// that does not, that would give it other functions' code.
#define GAP_MAX_WHOLE UINT64_MAX
#define GAP_MAX_PARTIAL 1024

struct symbols {
	struct symbol_table functions;
	bool whole; // knows every function
	struct symbol_table stubs;
	struct buf stub_names;
	struct buf minidebug_image;
	struct elf_file minidebug;
};

static void symbols_free(void *state)
{
	struct symbols *s = state;
	symbol_table_fini(&s->functions);
	symbol_table_fini(&s->stubs);
	elf_file_fini(&s->minidebug);
	buf_fini(&s->minidebug_image);
	buf_fini(&s->stub_names);
	free(s);
}

static uint8_t rank(const Elf64_Sym *symbol)
{
	static const uint8_t by_binding[16] = {
		[STB_LOCAL] = SYMBOL_LOCAL,
		[STB_WEAK] = SYMBOL_WEAK,
	};
	return by_binding[ELF64_ST_BIND(symbol->st_info)] |
	       (ELF64_ST_TYPE(symbol->st_info) == STT_NOTYPE ? SYMBOL_LABEL : 0) |
	       (symbol->st_size == 0 ? SYMBOL_UNSIZED : 0);
}

// Where the code that a symbol lies in ends: its section or, without sections, its segment.
static bool code_limit(const struct elf_file *elf, const Elf64_Sym *symbol, uint64_t *ret)
{
	if (symbol->st_shndx < elf->header_count) {
		const Elf64_Shdr *section = &elf->sections[symbol->st_shndx].header;
		return (section->sh_flags & SHF_EXECINSTR) &&
		       !__builtin_add_overflow(section->sh_addr, section->sh_size, ret);
	}
	const struct elf_segment *segment = elf_segment_by_vaddr(elf, symbol->st_value);
	return segment && (segment->header.p_flags & PF_X) &&
	       !__builtin_add_overflow(segment->header.p_vaddr, segment->header.p_filesz, ret);
}

// Whether a symbol stands for code, and if so where its section ends.
static bool is_function(const struct elf_file *elf, const Elf64_Sym *symbol, struct str strings,
			uint64_t *ret_limit)
{
	unsigned type = ELF64_ST_TYPE(symbol->st_info);
	if (type != STT_FUNC && type != STT_GNU_IFUNC && type != STT_NOTYPE)
		return false;
	if (symbol->st_shndx == SHN_UNDEF || symbol->st_shndx == SHN_ABS ||
	    !code_limit(elf, symbol, ret_limit))
		return false;
	return elf_string(strings, symbol->st_name).len != 0;
}

// Adds the functions of .symtab or .dynsym. False if there is no such table; running out of memory
// counts as that, because a file whose names we cannot hold is a file without names.
static bool add_functions(struct symbol_table *t, const struct elf_file *elf, const char *name)
{
	const struct elf_section *section = elf_section_find(elf, name);
	__attribute__((cleanup(elf_bytes_fini))) struct elf_bytes symbols = { 0 };
	struct symbol_source source = { 0 };
	struct str strings;
	if (!section || section->header.sh_link >= elf->section_count ||
	    section->header.sh_type == SHT_NOBITS ||
	    !elf_section_content(elf, &elf->sections[section->header.sh_link], &strings) ||
	    // Only needed once: not kept with the section.
	    !elf_fetch(elf, section->header.sh_offset, section->header.sh_size, &symbols) ||
	    !symbol_table_add_strings(t, strings, &source.strings))
		return false;
	for (struct str rest = symbols.view; rest.len >= sizeof(Elf64_Sym);
	     rest = str_skip(rest, sizeof(Elf64_Sym))) {
		Elf64_Sym symbol;
		memcpy(&symbol, rest.ptr, sizeof(symbol));
		if (!is_function(elf, &symbol, strings, &source.limit))
			continue;
		source.start = symbol.st_value;
		source.size = symbol.st_size;
		source.name = symbol.st_name;
		source.rank = rank(&symbol);
		if (!symbol_table_add(t, &source))
			return false;
	}
	return true;
}

static bool add_minidebug(struct symbols *s, struct object *obj)
{
	const struct elf_section *section = elf_section_find(&obj->elf, ".gnu_debugdata");
	__attribute__((cleanup(elf_bytes_fini))) struct elf_bytes packed = { 0 };
	if (!section || section->header.sh_type == SHT_NOBITS ||
	    !elf_fetch(&obj->elf, section->header.sh_offset, section->header.sh_size, &packed) ||
	    !minidebug_unpack(packed.view, &s->minidebug_image))
		return false;
	struct error *err = elf_file_init_memory(&s->minidebug, buf_view(&s->minidebug_image),
						 ".gnu_debugdata");
	if (err) {
		error_free(err);
		return false;
	}
	return add_functions(&s->functions, &s->minidebug, ".symtab");
}

static struct symbols *symbols_new(struct object *obj)
{
	struct symbols *s = calloc(1, sizeof(*s));
	if (!s)
		return NULL;
	s->minidebug.fd = -1;
	s->whole = add_functions(&s->functions, &obj->elf, ".symtab");
	if (!s->whole) {
		add_functions(&s->functions, &obj->elf, ".dynsym");
		s->whole = add_minidebug(s, obj);
		struct object *debug = object_debug_file(obj);
		if (debug && add_functions(&s->functions, &debug->elf, ".symtab"))
			s->whole = true;
	}
	uint8_t unused;
	if (!symbol_table_finish(&s->functions, s->whole ? GAP_MAX_WHOLE : GAP_MAX_PARTIAL) ||
	    !plt_add_symbols(obj, &s->functions, &s->stubs, &s->stub_names) ||
	    !symbol_table_add_strings(&s->stubs, buf_view(&s->stub_names), &unused) ||
	    !symbol_table_finish(&s->stubs, 0)) {
		symbols_free(s);
		return NULL;
	}
	return s;
}

static bool find_in_table(const struct symbol_table *t, uint64_t vaddr, struct symbol *ret)
{
	const struct symbol_entry *e = symbol_table_find(t, vaddr);
	if (!e)
		return false;
	*ret = (struct symbol){ symbol_table_name(t, e), vaddr - e->start };
	return true;
}

static bool find_in_go(struct object *obj, uint64_t vaddr, struct symbol *ret)
{
	const struct gopclntab *table = object_gopclntab(obj);
	size_t index;
	struct go_func func;
	if (!table || !gopclntab_find(table, vaddr, &index) ||
	    !gopclntab_func(table, index, &func) || vaddr >= func.end || func.name.len == 0)
		return false;
	*ret = (struct symbol){ func.name, vaddr - func.entry };
	return true;
}

bool object_symbol(struct object *obj, uint64_t offset, struct symbol *ret)
{
	struct object_slot *slot = &obj->parts[OBJECT_PART_SYMBOLS];
	uint64_t vaddr;
	if (!object_vaddr(obj, offset, &vaddr))
		return false;
	if (!slot->tried) {
		slot->tried = true;
		slot->free = symbols_free;
		slot->state = symbols_new(obj);
	}
	const struct symbols *s = slot->state;
	if (s && (find_in_table(&s->functions, vaddr, ret) || find_in_table(&s->stubs, vaddr, ret)))
		return true;
	return (!s || !s->whole) && find_in_go(obj, vaddr, ret);
}

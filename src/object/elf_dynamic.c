// SPDX-License-Identifier: Apache-2.0
#include "object/elf_dynamic.h"

#include "base/cleanup.h"

#define DYNAMIC_SIZE_MAX (64u << 10)
#define SYMBOLS_MAX (4u << 20)

// What of the dynamic section is of interest; 0 if it is not there.
struct dynamic {
	uint64_t symbols, strings, strings_size, hash, gnu_hash;
};

static void set_value(struct dynamic *d, const Elf64_Dyn *entry)
{
	switch (entry->d_tag) {
	case DT_SYMTAB:
		d->symbols = entry->d_un.d_ptr;
		break;
	case DT_STRTAB:
		d->strings = entry->d_un.d_ptr;
		break;
	case DT_STRSZ:
		d->strings_size = entry->d_un.d_val;
		break;
	case DT_HASH:
		d->hash = entry->d_un.d_ptr;
		break;
	case DT_GNU_HASH:
		d->gnu_hash = entry->d_un.d_ptr;
		break;
	default:
		break;
	}
}

static bool read_dynamic(const struct elf_file *f, struct dynamic *ret)
{
	const Elf64_Phdr *ph = NULL;
	for (size_t i = 0; i < f->segment_count; i++)
		if (f->segments[i].header.p_type == PT_DYNAMIC)
			ph = &f->segments[i].header;
	if (!ph)
		return false;
	uint64_t size = MIN(ph->p_filesz, (uint64_t)DYNAMIC_SIZE_MAX);
	for (uint64_t at = 0; at + sizeof(Elf64_Dyn) <= size; at += sizeof(Elf64_Dyn)) {
		Elf64_Dyn entry;
		if (!elf_read(f, ph->p_offset + at, sizeof(entry), &entry))
			return false;
		if (entry.d_tag == DT_NULL)
			break;
		set_value(ret, &entry);
	}
	return true;
}

static bool to_offset(const struct elf_file *f, uint64_t vaddr, uint64_t *ret)
{
	const struct elf_segment *s = elf_segment_by_vaddr(f, vaddr);
	if (!s)
		return false;
	*ret = vaddr - s->header.p_vaddr + s->header.p_offset;
	return true;
}

// Nothing says how many symbols there are, but the hash table has a place for each.
static uint64_t count_by_hash(const struct elf_file *f, uint64_t vaddr)
{
	uint32_t header[2]; // number of buckets, number of symbols
	uint64_t offset;
	return to_offset(f, vaddr, &offset) && elf_read(f, offset, sizeof(header), header)
		       ? header[1]
		       : 0;
}

static uint64_t count_by_gnu_hash(const struct elf_file *f, uint64_t vaddr)
{
	uint32_t header[4]; // number of buckets, first symbol, words of the Bloom filter, shift
	uint64_t offset;
	uint32_t last = 0, value;
	if (!to_offset(f, vaddr, &offset) || !elf_read(f, offset, sizeof(header), header))
		return 0;
	uint64_t buckets = offset + sizeof(header) + 8 * (uint64_t)header[2];
	for (uint64_t i = 0; i < header[0] && i < SYMBOLS_MAX; i++) {
		if (!elf_read(f, buckets + 4 * i, sizeof(value), &value))
			return 0;
		last = MAX(last, value);
	}
	if (last < header[1])
		return header[1];
	// The last chain ends with an odd value.
	uint64_t chains = buckets + 4 * (uint64_t)header[0];
	for (; last < SYMBOLS_MAX; last++) {
		uint64_t index = last - header[1];
		if (!elf_read(f, chains + 4 * index, sizeof(value), &value))
			return 0;
		if (value & 1)
			return (uint64_t)last + 1;
	}
	return 0;
}

bool elf_find_dynamic_symbols(const struct elf_file *f, Elf64_Shdr *ret_symbols,
			      Elf64_Shdr *ret_strings)
{
	struct dynamic d = { 0 };
	if (!read_dynamic(f, &d))
		return false;
	uint64_t count = d.hash != 0 ? count_by_hash(f, d.hash) : count_by_gnu_hash(f, d.gnu_hash);
	Elf64_Shdr symbols = {
		.sh_type = SHT_DYNSYM,
		.sh_addr = d.symbols,
		.sh_size = MIN(count, (uint64_t)SYMBOLS_MAX) * sizeof(Elf64_Sym),
	};
	Elf64_Shdr strings = {
		.sh_type = SHT_STRTAB,
		.sh_addr = d.strings,
		.sh_size = d.strings_size,
	};
	if (!to_offset(f, d.symbols, &symbols.sh_offset) ||
	    !to_offset(f, d.strings, &strings.sh_offset))
		return false;
	*ret_symbols = symbols;
	*ret_strings = strings;
	return true;
}

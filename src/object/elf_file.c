// SPDX-License-Identifier: Apache-2.0
#include "object/elf_file.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "object/elf_dynamic.h"
#include "object/elf_inflate.h"

// More than any program has; a section header costs us twice its size in the file.
#define SECTION_COUNT_MAX 65536
#define SEGMENT_COUNT_MAX 4096
#define NOTES_SIZE_MAX (64u << 10)
#define BUILD_ID_SIZE_MAX 64

bool elf_read(const struct elf_file *f, uint64_t offset, size_t len, void *ret)
{
	if (offset > f->size || len > f->size - offset)
		return false;
	if (f->image) {
		memcpy(ret, f->image + offset, len);
		return true;
	}
	for (size_t done = 0; done < len;) {
		ssize_t n = pread(f->fd, (char *)ret + done, len - done, (off_t)(offset + done));
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		done += (size_t)n;
	}
	return true;
}

static bool fetch(const struct elf_file *f, uint64_t offset, uint64_t size, struct elf_bytes *bytes)
{
	if (size > ELF_BYTES_MAX || offset > f->size || size > f->size - offset)
		return false;
	if (f->image) {
		bytes->view = (struct str){ f->image + offset, size };
		return true;
	}
	autofree char *copy = malloc(size + 1);
	if (!copy || !elf_read(f, offset, size, copy))
		return false;
	copy[size] = '\0';
	bytes->view = (struct str){ copy, size };
	bytes->owned = take(copy);
	return true;
}

bool elf_fetch(const struct elf_file *f, uint64_t offset, uint64_t size, struct elf_bytes *bytes)
{
	if (bytes->state == ELF_BYTES_UNREAD)
		bytes->state = fetch(f, offset, size, bytes) ? ELF_BYTES_READ : ELF_BYTES_BAD;
	return bytes->state == ELF_BYTES_READ;
}

void elf_bytes_fini(struct elf_bytes *bytes)
{
	free(bytes->owned);
	*bytes = (struct elf_bytes){ 0 };
}

struct str elf_string(struct str table, uint64_t offset)
{
	struct str rest = offset < table.len ? str_skip(table, offset) : STR("");
	const char *end = rest.len != 0 ? memchr(rest.ptr, '\0', rest.len) : NULL;
	return end ? (struct str){ rest.ptr, (size_t)(end - rest.ptr) } : STR("");
}

// --- sections ---

struct elf_section *elf_section_find(const struct elf_file *f, const char *name)
{
	bool debug = strncmp(name, ".debug_", 7) == 0;
	for (size_t i = 0; i < f->section_count; i++) {
		struct elf_section *s = &f->sections[i];
		if (strcmp(s->name, name) == 0)
			return s;
		if (debug && strncmp(s->name, ".z", 2) == 0 && strcmp(s->name + 2, name + 1) == 0)
			return s;
	}
	return NULL;
}

static enum elf_packing section_packing(const struct elf_section *s)
{
	if (s->header.sh_flags & SHF_COMPRESSED)
		return ELF_PACKING_ELF;
	return strncmp(s->name, ".zdebug_", 8) == 0 ? ELF_PACKING_GNU : ELF_PACKING_NONE;
}

bool elf_section_size(const struct elf_file *f, const struct elf_section *s, uint64_t *ret)
{
	char head[ELF_PACKING_HEADER_MAX];
	enum elf_packing packing = section_packing(s);
	uint64_t size = s->header.sh_size;
	if (s->header.sh_type == SHT_NOBITS || s->header.sh_type == SHT_NULL)
		return false;
	if (packing != ELF_PACKING_NONE) {
		struct str view = { head, MIN(sizeof(head), size) };
		if (!elf_read(f, s->header.sh_offset, view.len, head) ||
		    !elf_inflated_size(packing, view, &size))
			return false;
	}
	if (size > ELF_BYTES_MAX)
		return false;
	*ret = size;
	return true;
}

bool elf_section_copy(const struct elf_file *f, const struct elf_section *s, char *ret, size_t size)
{
	enum elf_packing packing = section_packing(s);
	if (packing == ELF_PACKING_NONE)
		return elf_read(f, s->header.sh_offset, size, ret);
	struct elf_bytes packed = { 0 };
	bool ok = elf_fetch(f, s->header.sh_offset, s->header.sh_size, &packed) &&
		  elf_inflate(packing, packed.view, ret, size);
	elf_bytes_fini(&packed);
	return ok;
}

static bool fetch_packed_section(const struct elf_file *f, struct elf_section *s)
{
	uint64_t size;
	if (!elf_section_size(f, s, &size))
		return false;
	autofree char *copy = malloc(size + 1);
	if (!copy || !elf_section_copy(f, s, copy, size))
		return false;
	copy[size] = '\0';
	s->bytes.view = (struct str){ copy, size };
	s->bytes.owned = take(copy);
	return true;
}

bool elf_section_content(const struct elf_file *f, struct elf_section *s, struct str *ret)
{
	if (s->header.sh_type == SHT_NOBITS || s->header.sh_type == SHT_NULL)
		return false;
	if (section_packing(s) == ELF_PACKING_NONE)
		elf_fetch(f, s->header.sh_offset, s->header.sh_size, &s->bytes);
	else if (s->bytes.state == ELF_BYTES_UNREAD)
		s->bytes.state = fetch_packed_section(f, s) ? ELF_BYTES_READ : ELF_BYTES_BAD;
	if (s->bytes.state != ELF_BYTES_READ)
		return false;
	*ret = s->bytes.view;
	return true;
}

static void add_section(struct elf_file *f, const char *name, const Elf64_Shdr *header)
{
	f->sections[f->section_count++] = (struct elf_section){ .name = name, .header = *header };
}

// Without section headers, what unwinding and naming cannot do without is found as the program
// itself finds it.
static void add_missing_sections(struct elf_file *f)
{
	Elf64_Shdr symbols, strings;
	for (size_t i = 0; i < f->segment_count && !elf_section_find(f, ".eh_frame_hdr"); i++) {
		const Elf64_Phdr *ph = &f->segments[i].header;
		if (ph->p_type == PT_GNU_EH_FRAME)
			add_section(f, ".eh_frame_hdr",
				    &(Elf64_Shdr){ .sh_type = SHT_PROGBITS,
						   .sh_addr = ph->p_vaddr,
						   .sh_offset = ph->p_offset,
						   .sh_size = ph->p_filesz });
	}
	if (!elf_section_find(f, ".dynsym") && !elf_section_find(f, ".dynstr") &&
	    elf_find_dynamic_symbols(f, &symbols, &strings)) {
		add_section(f, ".dynstr", &strings);
		symbols.sh_link = (uint32_t)f->section_count - 1;
		add_section(f, ".dynsym", &symbols);
	}
}
#define MISSING_SECTIONS_MAX 3

static size_t count_sections(const struct elf_file *f)
{
	const Elf64_Ehdr *h = &f->header;
	Elf64_Shdr first;
	if (h->e_shentsize != sizeof(first) || h->e_shoff == 0 ||
	    !elf_read(f, h->e_shoff, sizeof(first), &first))
		return 0;
	// Too many for e_shnum: the first section's size counts them.
	uint64_t count = h->e_shnum != 0 ? h->e_shnum : first.sh_size;
	if (count > SECTION_COUNT_MAX || count > (f->size - h->e_shoff) / sizeof(first))
		return 0;
	return count;
}

static bool read_section_names(struct elf_file *f)
{
	uint32_t index = f->header.e_shstrndx;
	if (index == SHN_XINDEX && f->section_count != 0)
		index = f->sections[0].header.sh_link;
	if (index >= f->section_count)
		return false;
	const Elf64_Shdr *h = &f->sections[index].header;
	return h->sh_type == SHT_STRTAB && elf_fetch(f, h->sh_offset, h->sh_size, &f->names);
}

// A file without (good) section headers is still a program: it just has no sections then.
static struct error *read_sections(struct elf_file *f)
{
	size_t count = count_sections(f);
	f->sections = calloc(count + MISSING_SECTIONS_MAX, sizeof(*f->sections));
	if (!f->sections)
		return &error_no_memory;
	for (size_t i = 0; i < count; i++) {
		struct elf_section *s = &f->sections[i];
		if (!elf_read(f, f->header.e_shoff + i * sizeof(s->header), sizeof(s->header),
			      &s->header))
			break;
		f->section_count++;
	}
	bool named = read_section_names(f);
	for (size_t i = 0; i < f->section_count; i++)
		f->sections[i].name =
			named ? elf_string(f->names.view, f->sections[i].header.sh_name).ptr : "";
	f->header_count = f->section_count;
	add_missing_sections(f);
	return NULL;
}

// --- segments ---

struct elf_segment *elf_segment_by_offset(const struct elf_file *f, uint64_t offset)
{
	struct elf_segment *found = NULL;
	for (size_t i = 0; i < f->segment_count; i++) {
		const Elf64_Phdr *ph = &f->segments[i].header;
		if (ph->p_type != PT_LOAD || offset < ph->p_offset ||
		    offset - ph->p_offset >= ph->p_filesz)
			continue;
		if (ph->p_flags & PF_X)
			return &f->segments[i];
		if (!found)
			found = &f->segments[i];
	}
	return found;
}

struct elf_segment *elf_segment_by_vaddr(const struct elf_file *f, uint64_t vaddr)
{
	struct elf_segment *found = NULL;
	for (size_t i = 0; i < f->segment_count; i++) {
		const Elf64_Phdr *ph = &f->segments[i].header;
		if (ph->p_type != PT_LOAD || vaddr < ph->p_vaddr ||
		    vaddr - ph->p_vaddr >= ph->p_filesz)
			continue;
		if (ph->p_flags & PF_X)
			return &f->segments[i];
		if (!found)
			found = &f->segments[i];
	}
	return found;
}

static struct error *read_segments(struct elf_file *f, const char *name)
{
	const Elf64_Ehdr *h = &f->header;
	Elf64_Shdr first;
	uint64_t count = h->e_phnum;
	if (count == PN_XNUM)
		count = elf_read(f, h->e_shoff, sizeof(first), &first) ? first.sh_info : 0;
	if (count == 0)
		return NULL;
	if (h->e_phentsize != sizeof(Elf64_Phdr) || count > SEGMENT_COUNT_MAX)
		return error_new(ERROR_MALFORMED, "%s: bad program headers", name);
	f->segments = calloc(count, sizeof(*f->segments));
	if (!f->segments)
		return &error_no_memory;
	for (; f->segment_count < count; f->segment_count++) {
		Elf64_Phdr *ph = &f->segments[f->segment_count].header;
		uint64_t at = h->e_phoff + f->segment_count * sizeof(*ph);
		if (at < h->e_phoff || !elf_read(f, at, sizeof(*ph), ph))
			return error_new(ERROR_MALFORMED, "%s: bad program headers", name);
	}
	return NULL;
}

// --- the whole file ---

static struct error *check_header(const Elf64_Ehdr *h, const char *name)
{
	if (memcmp(h->e_ident, ELFMAG, SELFMAG) != 0)
		return error_new(ERROR_UNSUPPORTED, "%s is not an ELF file", name);
	if (h->e_ident[EI_CLASS] != ELFCLASS64 || h->e_ident[EI_DATA] != ELFDATA2LSB ||
	    h->e_machine != EM_X86_64)
		return error_new(ERROR_UNSUPPORTED, "%s is not code for x86-64", name);
	// Files of shared debug information are relocatable; core files hold no code of their own.
	if (h->e_type != ET_EXEC && h->e_type != ET_DYN && h->e_type != ET_REL)
		return error_new(ERROR_UNSUPPORTED, "%s is neither a program nor a library", name);
	if (h->e_ident[EI_VERSION] != EV_CURRENT || h->e_version != EV_CURRENT)
		return error_new(ERROR_MALFORMED, "%s: unknown ELF version", name);
	return NULL;
}

static struct error *read_all(struct elf_file *f, const char *name)
{
	if (!elf_read(f, 0, sizeof(f->header), &f->header))
		return error_new(ERROR_UNSUPPORTED, "%s is not an ELF file", name);
	struct error *err = check_header(&f->header, name);
	if (!err)
		err = read_segments(f, name);
	if (!err)
		err = read_sections(f);
	return err;
}

struct error *elf_file_init_memory(struct elf_file *f, struct str image, const char *name)
{
	struct elf_file file = { .fd = -1, .image = image.ptr, .size = image.len };
	struct error *err = read_all(&file, name);
	if (err) {
		elf_file_fini(&file);
		return err;
	}
	*f = file;
	return NULL;
}

struct error *elf_file_init_consume_fd(struct elf_file *f, int consumed, const char *name)
{
	autoclose int fd = consumed;
	struct stat st;
	if (fstat(fd, &st) != 0)
		return error_sys(errno, "stat %s", name);
	if (!S_ISREG(st.st_mode))
		return error_new(ERROR_UNSUPPORTED, "%s is not a regular file", name);
	struct elf_file file = { .fd = take_fd(fd), .size = (uint64_t)st.st_size };
	struct error *err = read_all(&file, name);
	if (err) {
		elf_file_fini(&file);
		return err;
	}
	*f = file;
	return NULL;
}

void elf_file_fini(struct elf_file *f)
{
	for (size_t i = 0; i < f->section_count; i++)
		elf_bytes_fini(&f->sections[i].bytes);
	for (size_t i = 0; i < f->segment_count; i++)
		elf_bytes_fini(&f->segments[i].bytes);
	elf_bytes_fini(&f->names);
	free(f->sections);
	free(f->segments);
	if (f->fd >= 0)
		close(f->fd);
	*f = (struct elf_file){ .fd = -1 };
}

// --- build id ---

static struct str find_build_id(struct str notes, size_t align)
{
	Elf64_Nhdr note;
	while (notes.len >= sizeof(note)) {
		memcpy(&note, notes.ptr, sizeof(note));
		uint64_t desc = (sizeof(note) + (uint64_t)note.n_namesz + align - 1) & -align;
		uint64_t next = (desc + note.n_descsz + align - 1) & -align;
		if (desc + note.n_descsz > notes.len)
			break;
		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == sizeof(ELF_NOTE_GNU) &&
		    memcmp(notes.ptr + sizeof(note), ELF_NOTE_GNU, sizeof(ELF_NOTE_GNU)) == 0 &&
		    note.n_descsz != 0 && note.n_descsz <= BUILD_ID_SIZE_MAX)
			return (struct str){ notes.ptr + desc, note.n_descsz };
		notes = str_skip(notes, next);
	}
	return STR("");
}

static struct str read_build_id(const struct elf_file *f, struct elf_bytes *bytes, uint64_t offset,
				uint64_t size, uint64_t align)
{
	elf_bytes_fini(bytes);
	if (size > NOTES_SIZE_MAX || !elf_fetch(f, offset, size, bytes))
		return STR("");
	return find_build_id(bytes->view, align == 8 ? 8 : 4);
}

struct str elf_build_id(const struct elf_file *f, struct elf_bytes *bytes)
{
	struct str id = STR("");
	for (size_t i = 0; i < f->segment_count && id.len == 0; i++) {
		const Elf64_Phdr *ph = &f->segments[i].header;
		if (ph->p_type == PT_NOTE)
			id = read_build_id(f, bytes, ph->p_offset, ph->p_filesz, ph->p_align);
	}
	// In a separate debug file the segments may no longer say where their bytes are.
	for (size_t i = 0; i < f->section_count && id.len == 0; i++) {
		const Elf64_Shdr *sh = &f->sections[i].header;
		if (sh->sh_type == SHT_NOTE)
			id = read_build_id(f, bytes, sh->sh_offset, sh->sh_size, sh->sh_addralign);
	}
	return id;
}

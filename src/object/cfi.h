// SPDX-License-Identifier: Apache-2.0
// Call frame information as compilers write it: .eh_frame and .debug_frame.
//
// A section is a chain of entries. A CIE holds what many functions share, an FDE describes one
// range of code and names its CIE. Nothing in here trusts a byte: an entry that cannot be read is
// left out, the others stay.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/str.h"
#include "base/vec.h"

struct cfi_section {
	struct str bytes;
	uint64_t vaddr;     // of the first byte, for pointers relative to their own place
	uint64_t data_base; // for pointers relative to the data; 0 if unknown
	bool debug_frame;   // else .eh_frame
	bool ends_at_zero;  // its size is not known: a zero length ends it
};

// One link of the chain.
struct cfi_entry {
	size_t offset; // of the length field
	size_t body;   // after the CIE id or pointer
	size_t end;
	size_t cie; // FDE: the offset of its CIE
	bool is_cie;
	bool wide; // 64-bit DWARF
};

struct cfi_cie {
	size_t offset;
	bool usable; // false: it was read and makes no sense
	uint64_t code_align;
	int64_t data_align;
	uint8_t return_column; // a register number
	uint8_t address_size;
	uint8_t segment_size;
	uint8_t pointer_encoding; // DW_EH_PE_* of the addresses in its FDEs
	bool sized_augmentation;  // FDEs carry an augmentation block to skip
	bool signal;              // the frames below it were interrupted, not calling
	size_t program;           // initial instructions: [program, program_end)
	size_t program_end;
};

struct cfi_fde {
	struct cfi_cie cie;
	uint64_t start; // virtual addresses [start, end)
	uint64_t end;
	size_t program;
	size_t program_end;
};

// The entry at *pos; *pos moves behind it. False at the end of what can be followed.
bool cfi_next(const struct cfi_section *s, size_t *pos, struct cfi_entry *ret);
// Reads the FDE of an entry. *fde may hold an FDE read before: its CIE is kept if it is the same.
bool cfi_read_fde(const struct cfi_section *s, const struct cfi_entry *entry, struct cfi_fde *fde);
// A DW_EH_PE_* pointer at c, which runs over s->bytes.
struct cursor;
bool cfi_read_pointer(const struct cfi_section *s, struct cursor *c, uint8_t encoding,
		      uint8_t address_size, uint64_t *ret);

// Where a range of virtual addresses lies in its file; false if it is not all in one segment.
struct cfi_places {
	bool (*offset)(void *ctx, uint64_t start, uint64_t end, uint64_t *ret);
	void *ctx;
};

// One FDE by the file offset of its code.
struct cfi_span {
	uint64_t start;
	uint32_t size;
	uint32_t entry; // offset in the section
};

// All FDEs of a section, by file offset, not overlapping: of two that do, the one that starts later
// has the addresses from there on; of two that start together, the first in the section has them.
struct cfi_index {
	struct cfi_section section;
	VEC(struct cfi_span) spans;
};
struct error *cfi_index_init(struct cfi_index *index, const struct cfi_section *section,
			     const struct cfi_places *places) must_check;
void cfi_index_fini(struct cfi_index *index);
// The first span that ends after a file offset, or NULL.
const struct cfi_span *cfi_index_find(const struct cfi_index *index, uint64_t offset);
static inline const struct cfi_span *cfi_index_next(const struct cfi_index *index,
						    const struct cfi_span *span)
{
	return span != vec_last(&index->spans) ? span + 1 : NULL;
}
bool cfi_index_read(const struct cfi_index *index, const struct cfi_span *span,
		    struct cfi_fde *fde);

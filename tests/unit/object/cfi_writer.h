// SPDX-License-Identifier: Apache-2.0
// Writes call frame tables, good and bad ones, a byte at a time, and an ELF file around them.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

// Bytes as a str: BYTES(0x0c, 7, 8)
#define BYTES(...)                                                                                 \
	((struct str){ (const char *)(const uint8_t[]){ __VA_ARGS__ },                             \
		       sizeof((const uint8_t[]){ __VA_ARGS__ }) })

struct cfi_cie_text {
	bool debug_frame;
	bool wide;                // 64-bit lengths
	uint8_t version;          // 0 is 1
	const char *augmentation; // NULL is "zR"
	struct str augmentation_data;
	uint8_t code_align; // 0 is 1
	uint8_t address_size;
	uint8_t segment_size;
	struct str program; // empty: CFA = rsp + 8, return address at CFA - 8
};
// Appends a CIE; its offset.
size_t write_cie(struct buf *b, const struct cfi_cie_text *cie);

// Appends an FDE of a CIE: its addresses as they are to stand there, then the augmentation and the
// program.
size_t write_fde(struct buf *b, const struct cfi_cie_text *cie, size_t cie_offset,
		 struct str addresses, struct str rest);
// The usual kind: .eh_frame with 8-byte absolute addresses.
extern const struct cfi_cie_text plain_cie;
size_t write_plain_fde(struct buf *b, size_t cie_offset, uint64_t start, uint64_t size,
		       struct str program);

// An ELF file with one executable segment, IMAGE_SIZE bytes of file from offset 0 at IMAGE_VADDR
// (not all of them are there), and these sections; an empty one is left out.
#define IMAGE_VADDR 0x400000u
#define IMAGE_SIZE 0x40000u
struct image_text {
	struct str eh_frame;
	struct str debug_frame;
};
#define IMAGE_EH_FRAME_OFFSET 0x200u
void write_image(struct buf *b, const struct image_text *text);

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <elf.h>
#include <stdbool.h>

#include "base/str.h"

// How a section is compressed.
enum elf_packing {
	ELF_PACKING_NONE,
	ELF_PACKING_ELF, // SHF_COMPRESSED: an Elf64_Chdr in front
	ELF_PACKING_GNU, // the older way, sections named .zdebug_*: "ZLIB" and the size in front
};

// Bytes in front of the compressed ones.
#define ELF_PACKING_HEADER_MAX sizeof(Elf64_Chdr)

// How large a section is when it is decompressed, by its first bytes. False if they are broken.
bool elf_inflated_size(enum elf_packing packing, struct str head, uint64_t *ret);
// Decompresses into `size` bytes. False if it is broken, of another size, or compressed in a way
// that we do not know.
bool elf_inflate(enum elf_packing packing, struct str content, char *ret, size_t size);

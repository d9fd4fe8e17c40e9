// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "object/elf_file.h"

// For a file without section headers: where the dynamic linker would find .dynsym and .dynstr.
// False if it would not.
bool elf_find_dynamic_symbols(const struct elf_file *f, Elf64_Shdr *ret_symbols,
			      Elf64_Shdr *ret_strings);

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <elf.h>
#include <stdbool.h>

#include "base/str.h"

// A decompressed section, followed by a zero byte.
struct inflated {
	char *at; // the caller frees it
	size_t len;
};

// What a section with SHF_COMPRESSED holds. False if it is broken or in a way we do not know.
bool elf_inflate(struct str content, struct inflated *ret);
// The older way: a section named .zdebug_* with "ZLIB" and its size in front.
bool elf_inflate_gnu(struct str content, struct inflated *ret);

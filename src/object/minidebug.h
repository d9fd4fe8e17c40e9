// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdbool.h>

#include "base/buf.h"
#include "base/str.h"

// Unpacks .gnu_debugdata: an ELF file with the symbols that stripping took away, packed with xz.
// False if it is broken or unreasonably large.
bool minidebug_unpack(struct str packed, struct buf *ret);

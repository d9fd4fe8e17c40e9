// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/arena.h"
#include "base/str.h"

// The whole path of a source file that was compiled in a directory (NULL if unknown), without "."
// and ".." where they can be left out. NULL when there is no memory.
const char *source_path(struct arena *arena, const char *directory, const char *file);

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/str.h"

// C++, Rust (legacy and v0, without the hash), D and Ada names for people: no parameter list,
// template arguments whole. NULL if the name is not mangled. The caller frees it.
char *demangle(struct str name);

// SPDX-License-Identifier: Apache-2.0
// Long text in few columns, shortened where it says least: both ends of a name tell more than its
// middle. All of these make text printable, as text_printable() does.
#pragma once

#include "base/buf.h"
#include "base/str.h"

// At most `columns` of s, with "…" for what is left out between its beginning and its end.
void elide_middle(struct buf *out, struct str s, size_t columns);
// The same for a command line: the directory of the program goes first.
void elide_command(struct buf *out, struct str command, size_t columns);
// The same for a function's name: template arguments go first, "map<int, std::string>::find" as
// "map<…>::find".
void elide_name(struct buf *out, struct str name, size_t columns);

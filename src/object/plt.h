// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/buf.h"
#include "object/object.h"
#include "object/symbol_table.h"

// Adds a symbol "name@plt" for each stub that jumps to a function of another file. The names are
// put into *names; the caller registers them as the table's only string table.
// False when there is no memory.
bool plt_add_symbols(struct object *obj, const struct symbol_table *functions,
		     struct symbol_table *stubs, struct buf *names);

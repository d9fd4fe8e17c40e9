// SPDX-License-Identifier: Apache-2.0
// DWARF expressions as they occur in call frame information: arithmetic on a stack of 64-bit
// values, registers and memory.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"
#include "object/rows.h"

struct dwarf_expr {
	struct str code;
	const struct walk_state *state; // registers and, as register ARCH_REG_RA, the pc
	const struct memory_reader *memory;
	uint64_t bias; // what to add to an address of the file's own
	bool has_cfa;  // a register's rule: the CFA is on the stack at the start
	uint64_t cfa;
};

// The value the expression leaves. False if it is malformed, runs too long, or needs what is not
// known.
bool dwarf_expr_run(const struct dwarf_expr *expr, uint64_t *ret);

// A register plus an offset, or what memory holds there plus another: most expressions are.
struct dwarf_place {
	uint8_t reg;
	bool deref;
	int64_t offset; // added to the register
	int64_t add;    // added to what was read; 0 without deref
};
bool dwarf_expr_place(struct str code, struct dwarf_place *ret);

// SPDX-License-Identifier: Apache-2.0
// From a full row of call frame information to the small rule that the walker understands.
#pragma once

#include "object/cfi_run.h"
#include "wire/unwind.h"

// What cannot be said in a rule becomes CFA_EXPR; what says nothing becomes CFA_NONE.
void cfi_rule_make(const struct cfi_row *row, const struct cfi_cie *cie, struct wire_rule *ret,
		   int32_t *ret_cfa_offset);

// A procedure linkage table's CFA in binutils' words: the stack pointer + 8, and 8 more from byte
// *ret_push_done of each entry on.
bool cfi_rule_is_plt(const struct cfi_rule *cfa, unsigned *ret_push_done);

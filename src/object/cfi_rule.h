// SPDX-License-Identifier: Apache-2.0
// From a full row of call frame information to the small rule that the walker understands.
#pragma once

#include "object/cfi_run.h"
#include "wire/unwind.h"

// What cannot be said in a rule becomes CFA_EXPR; what says nothing becomes CFA_NONE.
void cfi_rule_make(const struct cfi_row *row, const struct cfi_cie *cie, struct wire_rule *ret,
		   int32_t *ret_cfa_offset);

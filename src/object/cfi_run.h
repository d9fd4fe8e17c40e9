// SPDX-License-Identifier: Apache-2.0
// Executes the program of an FDE: for every address of the function, where the caller's frame and
// registers are.
#pragma once

#include "object/cfi.h"
#include "wire/arch.h"

#define CFI_REG_COUNT (ARCH_REG_RA + 1)

enum cfi_how {
	CFI_UNSPECIFIED,
	CFI_UNDEFINED,  // lost
	CFI_SAME,       // not changed
	CFI_OFFSET,     // at CFA + value
	CFI_VAL_OFFSET, // is CFA + value
	CFI_REGISTER,   // in register number `value`
	CFI_EXPRESSION, // at the address the expression gives
	CFI_VAL_EXPRESSION,
	CFI_CFA, // of the CFA only: register number `reg` + value
};

struct cfi_rule {
	uint8_t how; // enum cfi_how
	uint8_t reg; // CFI_CFA
	uint32_t size;
	union {
		int64_t value;
		const char *bytes; // CFI_*EXPRESSION: `size` bytes in the section
	};
};

static inline struct str cfi_rule_expression(const struct cfi_rule *rule)
{
	return (struct str){ rule->bytes, rule->size };
}

struct cfi_row {
	uint64_t start; // virtual addresses [start, end)
	uint64_t end;
	struct cfi_rule cfa; // CFI_UNSPECIFIED, CFI_CFA or CFI_EXPRESSION (whose value it is)
	struct cfi_rule regs[CFI_REG_COUNT];
};

// Memory that runs share.
struct cfi_runner {
	VEC(struct cfi_row) remembered;
};
void cfi_runner_fini(struct cfi_runner *runner);

enum cfi_end {
	CFI_DONE,
	CFI_MALFORMED, // rows may have been given already: forget them
	CFI_NO_MEMORY,
};
// Calls `row` for each range of the function, ascending, without holes; it returns false to stop.
struct cfi_rows {
	bool (*row)(void *ctx, const struct cfi_row *row);
	void *ctx;
};
enum cfi_end cfi_run(struct cfi_runner *runner, const struct cfi_section *section,
		     const struct cfi_fde *fde, const struct cfi_rows *rows);

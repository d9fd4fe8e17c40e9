// SPDX-License-Identifier: Apache-2.0
// Kernel addresses by /proc/kallsyms.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/str.h"

struct kallsyms;

// Parses the text of /proc/kallsyms. Only code symbols are kept. ERROR_DENIED if all addresses are
// zero (kptr_restrict), with the command that changes it in the hint.
struct error *kallsyms_parse(struct str text, struct kallsyms **ret) must_check;
struct error *kallsyms_read(struct kallsyms **ret) must_check;
void kallsyms_free(struct kallsyms *k);
GUARD_FREE(kallsyms)

struct kernel_symbol {
	struct str name;
	struct str module; // "" for the kernel proper
	uint64_t offset;
};
bool kallsyms_find(const struct kallsyms *k, uint64_t address, struct kernel_symbol *ret);

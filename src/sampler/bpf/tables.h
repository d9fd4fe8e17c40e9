// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) OR Apache-2.0
// Sizes of the tables that user space fills for the program in the kernel. Powers of two, because
// the verifier is content with a masked index.
#pragma once

#define TABLE_ROWS (1u << 20)      // 8 bytes each; 64 KiB of text has hundreds to thousands
#define TABLE_RULES (1u << 15)     // equals RULES_MAX
#define TABLE_MAPPINGS (1u << 16)  // 32 bytes each
#define TABLE_PAGES (1u << 14)     // 64 KiB of text each
#define TABLE_PROCESSES (1u << 14) // with published mappings
#define TABLE_FOLLOWED (1u << 16)  // targets and their descendants
#define RULE_CACHE (1u << 10)      // places in code whose rule is remembered, a CPU
#define RING_BYTES (4u << 20)

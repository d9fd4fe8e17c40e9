// SPDX-License-Identifier: Apache-2.0
// A child process that is executed an instruction at a time.
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/cleanup.h"

struct traced_child {
	pid_t pid;
	int memory;
	bool ended;
};

// Starts a child that runs `body` (or, if that is NULL, the program argv) and stops before it.
// NULL where tracing is not allowed or there is no such program.
struct traced_child *traced_child_new(void (*body)(void), char *const *argv);
void traced_child_free(struct traced_child *c); // kills it
GUARD_FREE(traced_child)

// One instruction, or the delivery of a signal. False when the child has ended.
bool traced_child_step(struct traced_child *c);

#define TRACED_REGS 17 // by DWARF number, the program counter last
bool traced_child_regs(const struct traced_child *c, uint64_t ret[TRACED_REGS]);

// SPDX-License-Identifier: Apache-2.0
// Walks stacks in user space: from a sample's registers and its copy of the stack, or on from where
// the kernel had to leave off. The walk itself is walk.h, the same as in the kernel.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/str.h"
#include "object/rows.h"
#include "target/process.h"
#include "wire/unwind.h"

struct unwinder;

// What the unwinder asks its owner for.
struct unwinder_hooks {
	// The opened file with this number; NULL if it cannot be read.
	struct object *(*object)(void *ctx, uint32_t file);
	// An address was in no mapping: look again at what the process has mapped. True if that
	// changed.
	bool (*refresh)(void *ctx, struct process *process);
	// A page of rows was used here: an engine that walks in the kernel may want it.
	void (*on_page)(void *ctx, const struct wire_page_key *key, const struct row_page *page);
	void *ctx;
};

struct error *unwinder_new(const struct unwinder_hooks *hooks, struct unwinder **ret) must_check;
void unwinder_free(struct unwinder *u);
GUARD_FREE(unwinder)

// The rules that the pages handed to on_page refer to.
const struct rules *unwinder_rules(const struct unwinder *u);

struct unwind_input {
	struct process *process;
	uint64_t time;
	const struct walk_state *state; // the first frame to walk
	struct str stack;               // copy of the stack from state's stack pointer upwards
};

// Appends frames (addresses of the calls, innermost first) to frames[*count..max).
enum walk_end unwinder_walk(struct unwinder *u, const struct unwind_input *in, wu64 *frames,
			    size_t *count, size_t max);

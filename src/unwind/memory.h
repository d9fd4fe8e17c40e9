// SPDX-License-Identifier: Apache-2.0
// The memory a walk reads: the copy of the stack that came with the sample, and beyond its end the
// process's memory as it is now, if it can be shown to be still the same stack. Another stack (a
// signal handler's own stack lies elsewhere than the one it interrupted) is read as it is now, too,
// and `unproven` set: whoever believes it must have other reasons to.
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/str.h"

#define LIVE_BLOCK 4096u

struct stack_memory {
	pid_t pid;
	uint64_t start; // address of copy
	struct str copy;
	enum { LIVE_UNTRIED, LIVE_TRUSTED, LIVE_REFUSED } live;
	uint64_t block_at; // block[] is live memory from this address; 0 if it is nothing yet
	unsigned char *block;
	uint64_t far_end; // the last OVERLAP bytes of the copy begin here
	unsigned returns; // return addresses that were read there
	bool unproven;    // something was read that nothing shows to be unchanged
};

void stack_memory_init(struct stack_memory *m, pid_t pid, uint64_t start, struct str copy);
void stack_memory_fini(struct stack_memory *m);
// The walker read a return address here.
void stack_memory_note_return(struct stack_memory *m, uint64_t address);
// Eight bytes. False if they are not to be had, or not to be trusted.
bool stack_memory_read(struct stack_memory *m, uint64_t address, uint64_t *ret);

// Memory of a process as it is now.
bool process_memory_read(pid_t pid, uint64_t address, void *to, size_t size);

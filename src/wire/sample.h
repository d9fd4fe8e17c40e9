// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) OR Apache-2.0
// A sample as the BPF program sends it through the ring buffer.
//
//   struct wire_sample | kernel addresses, innermost first | user addresses, innermost first
//                      | if `end` is WALK_NEED_*: struct walk_state, then stack_size bytes of stack
//                        from the state's stack pointer upwards
//
// A user frame's address is the call's; a kernel frame's is the return address, as the kernel has
// it.
#pragma once

#include "wire/unwind.h"

#define WIRE_COMM_SIZE 16
#define MAX_KERNEL_FRAMES 127
#define STACK_COPY_MAX (64u << 10)

struct wire_sample {
	wu64 time;  // CLOCK_MONOTONIC, nanoseconds
	wu64 as_of; // of the table of mappings that the user's frames were walked with
	wu32 pid;   // as the profiler's own pid namespace numbers them
	wu32 tid;
	wu32 cpu;
	wu16 kernel_frames;
	wu16 user_frames;
	wu32 stack_size;
	wu8 end;         // enum walk_end
	wu8 kernel_task; // a kernel thread: no user frames to be had
	wu8 pad[2];
	char comm[WIRE_COMM_SIZE];
};

#ifndef __bpf__
_Static_assert(sizeof(struct wire_sample) == 56, "shared with BPF");
#endif

// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) OR Apache-2.0
// Unwind tables in the form the walker reads them, in the kernel and in user space alike.
//
// Code is addressed by its place in its file: (file id, file offset), never by where it happens to
// be mapped. A file's rows come in pages of 64 KiB of text, made when that text is first sampled:
//
//   pc ── mapping ──→ (file, offset) ── page of offset>>16 ──→ rows[first .. first+count)
//                                        last row with low16 ≤ offset&0xffff ──→ rule
//
// A page's first row always has low16 == 0: what holds at the start of the page.
#pragma once

#include "wire/arch.h"
#include "wire/types.h"

#define TEXT_PAGE_SHIFT 16
#define TEXT_PAGE_SIZE (1u << TEXT_PAGE_SHIFT)

// How the caller's stack pointer at the call (the CFA) is found.
enum wire_cfa {
	CFA_NONE,   // no unwind information here: the frame pointer may help
	CFA_REG,    // cfa_reg + row.cfa_offset
	CFA_DEREF,  // *(cfa_reg + row.cfa_offset) + cfa_add
	CFA_PLT,    // sp + 8, and 8 more from byte cfa_add of each entry on, see ARCH_PLT_*
	CFA_SIGNAL, // a signal frame: all registers lie on the stack in the kernel's layout
	CFA_END,    // the outermost frame: it has no caller
	CFA_EXPR,   // anything else: only the file's own table tells (user space)
	CFA_FRAME,  // the frame pointer's frame, be it on another stack: there the caller's frame
		    // pointer is saved and, above it, the return address
	CFA_KIND_COUNT,
};

#define RULE_RA_IN_REG 1 // flags: the return address is in register number `ra`

#define SAVED_SAME 0           // saved[]: the caller's value is still in the register
#define SAVED_UNKNOWN (-32768) // saved[]: the caller's value is lost
#define RULE_NONE 0            // rule number 0 is always { .cfa = CFA_NONE }

// Realigned stacks save registers at fixed distances from the frame pointer, and the frame pointer
// itself where it points to. As if the CFA were where it is in an ordinary frame: so none is 0.
#define FP_BASE(fp) ((fp) + 16)

// What rows have in common; a few thousand distinct ones serve a whole machine.
struct wire_rule {
	wu8 cfa;      // enum wire_cfa
	wu8 cfa_reg;  // DWARF register number
	wu8 fp_based; // bit i: saved[i] counts from FP_BASE, not from the CFA
	wu8 flags;    // RULE_*
	ws16 cfa_add; // CFA_DEREF, CFA_PLT
	ws16 ra;      // the return address is at CFA + 8 * ra
	// ARCH_SAVED_REGS[i] is at CFA + 8 * saved[i].
	ws16 saved[ARCH_SAVED_COUNT];
};

struct wire_row {
	wu16 low16; // file offset & 0xffff
	wu16 rule;
	ws32 cfa_offset;
};

// Where a text page's rows are in the pool.
struct wire_page {
	wu32 first;
	wu32 count;
};

struct wire_page_key {
	wu32 file;
	wu32 page; // file offset >> TEXT_PAGE_SHIFT
};

// An executable mapping of a process. Sorted by start, not overlapping.
struct wire_mapping {
	wu64 start;
	wu64 end;
	wu64 delta; // pc + delta (mod 2^64) is the file offset
	wu32 file;  // 0: anonymous memory, where only frame pointers help
	wu32 pad;
};

// Where a process's mappings are in the pool.
struct wire_process {
	wu32 first;
	wu32 count;
	wu64 as_of; // when this is how it was
};

// Why a walk ended. Everything up to WALK_COMPLETE_COUNT is final and good.
enum walk_end {
	WALK_ROOT, // reached the outermost frame
	WALK_COMPLETE_COUNT,
	WALK_NO_ROW = WALK_COMPLETE_COUNT, // no unwind information and no usable frame pointer
	WALK_BAD_READ,                     // stack memory that could not be read
	WALK_BAD_CFA,                      // the tables led to an impossible stack pointer
	WALK_BAD_PC,                       // the return address is in no executable mapping
	WALK_TOO_DEEP,                     // more than MAX_FRAMES
	WALK_FOREIGN,                      // a 32-bit task: not walked
	WALK_FINAL_COUNT,
	// The walker in the kernel lacks something that user space has: it hands over.
	WALK_NEED_MAPPING = WALK_FINAL_COUNT,
	WALK_NEED_PAGE,
	WALK_NEED_EXPR,
	WALK_NEED_MEMORY,
	WALK_END_COUNT,
};

#define MAX_FRAMES 2048 // user frames of one sample

// The registers of the frame that is to be walked next.
struct walk_state {
	wu64 pc;
	wu64 regs[ARCH_REG_COUNT];
	wu32 known; // bit i: regs[i] holds this frame's value
	wu8 exact;  // pc is the interrupted instruction, not a return address
	wu8 leaf;   // nothing was walked before this frame
	wu8 pad[2];
};

#ifndef __bpf__
_Static_assert(sizeof(struct wire_rule) == 20, "shared with BPF");
_Static_assert(sizeof(struct wire_row) == 8, "shared with BPF");
_Static_assert(sizeof(struct wire_mapping) == 32, "shared with BPF");
_Static_assert(sizeof(struct walk_state) == 144, "shared with BPF");
#endif

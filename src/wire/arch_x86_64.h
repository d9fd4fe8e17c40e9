// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) OR Apache-2.0
// x86-64: registers by their DWARF numbers, which registers survive a call, what the kernel pushes
// for a signal, and the bytes by which code without unwind tables is recognised.
#pragma once

#define ARCH_NAME "x86-64"

// DWARF register numbers (System V ABI, figure 3.36).
enum arch_reg {
	REG_RAX,
	REG_RDX,
	REG_RCX,
	REG_RBX,
	REG_RSI,
	REG_RDI,
	REG_RBP,
	REG_RSP,
	REG_R8,
	REG_R9,
	REG_R10,
	REG_R11,
	REG_R12,
	REG_R13,
	REG_R14,
	REG_R15,
	ARCH_REG_COUNT,
	ARCH_REG_RA = 16, // the return address column
	ARCH_REG_SP = REG_RSP,
	ARCH_REG_FP = REG_RBP,
};

// Registers a function must preserve: the only ones known in frames below the interrupted one.
// A rule's saved[] is indexed by the place in this list.
#define ARCH_SAVED_COUNT 6
#define ARCH_SAVED_REGS                                                                            \
	{                                                                                          \
		REG_RBX, REG_RBP, REG_R12, REG_R13, REG_R14, REG_R15                               \
	}
#define ARCH_SAVED_FP 1 // REG_RBP's place in the list
#define ARCH_SAVED_MASK                                                                            \
	(1u << REG_RBX | 1u << REG_RBP | 1u << REG_R12 | 1u << REG_R13 | 1u << REG_R14 |           \
	 1u << REG_R15)

// A signal frame: at the return from a handler the stack pointer is at a struct ucontext, whose
// uc_mcontext.gregs starts 40 bytes in: r8..r15, rdi, rsi, rbp, rbx, rdx, rax, rcx, rsp, rip.
#define ARCH_SIGNAL_REGS_OFFSET 40
#define ARCH_SIGNAL_REGS                                                                           \
	{                                                                                          \
		REG_R8, REG_R9, REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15, REG_RDI,     \
			REG_RSI, REG_RBP, REG_RBX, REG_RDX, REG_RAX, REG_RCX, REG_RSP              \
	}
#define ARCH_SIGNAL_REGS_COUNT 16 // then the program counter follows

// mov $15,%rax; syscall: the first eight bytes of every rt_sigreturn trampoline.
#define ARCH_SIGRETURN_CODE 0x0f0000000fc0c748ull

// A procedure linkage table entry of 16 bytes, as binutils describes it: CFA = rsp + 8, and 8 more
// when its `push` has run, which is at byte 11, or 9 in entries that start with endbr64.
#define ARCH_PLT_ENTRY_MASK 15u

// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) OR Apache-2.0
// x86-64: registers by their DWARF numbers, which registers survive a call, what the kernel pushes
// for a signal, and the bytes by which code without unwind tables is recognised.
#pragma once

#define ARCH_NAME "x86-64"

// DWARF register numbers (System V ABI, figure 3.36).
enum arch_reg {
	X86_RAX,
	X86_RDX,
	X86_RCX,
	X86_RBX,
	X86_RSI,
	X86_RDI,
	X86_RBP,
	X86_RSP,
	X86_R8,
	X86_R9,
	X86_R10,
	X86_R11,
	X86_R12,
	X86_R13,
	X86_R14,
	X86_R15,
	ARCH_REG_COUNT,
	ARCH_REG_RA = 16, // the return address column
	ARCH_REG_SP = X86_RSP,
	ARCH_REG_FP = X86_RBP,
};

// Registers a function must preserve: the only ones known in frames below the interrupted one.
// A rule's saved[] is indexed by the place in this list.
#define ARCH_SAVED_COUNT 6
#define ARCH_SAVED_REGS                                                                            \
	{                                                                                          \
		X86_RBX, X86_RBP, X86_R12, X86_R13, X86_R14, X86_R15                               \
	}
#define ARCH_SAVED_FP 1 // X86_RBP's place in the list
#define ARCH_SAVED_MASK                                                                            \
	(1u << X86_RBX | 1u << X86_RBP | 1u << X86_R12 | 1u << X86_R13 | 1u << X86_R14 |           \
	 1u << X86_R15)

// Where the kernel's struct pt_regs (as user space may see it) keeps each register.
#define ARCH_PT_REGS(X)                                                                            \
	X(X86_RAX, rax)                                                                            \
	X(X86_RDX, rdx)                                                                            \
	X(X86_RCX, rcx)                                                                            \
	X(X86_RBX, rbx)                                                                            \
	X(X86_RSI, rsi)                                                                            \
	X(X86_RDI, rdi)                                                                            \
	X(X86_RBP, rbp)                                                                            \
	X(X86_RSP, rsp)                                                                            \
	X(X86_R8, r8)                                                                              \
	X(X86_R9, r9)                                                                              \
	X(X86_R10, r10)                                                                            \
	X(X86_R11, r11)                                                                            \
	X(X86_R12, r12)                                                                            \
	X(X86_R13, r13)                                                                            \
	X(X86_R14, r14)                                                                            \
	X(X86_R15, r15)
#define ARCH_PT_REGS_PC(regs) ((regs)->rip)
#define ARCH_PT_REGS_USER_MODE(regs) (((regs)->cs & 3) == 3)
#define ARCH_PT_REGS_64BIT(regs) ((regs)->cs == 0x33)

// The registers of a perf sample: PERF_REG_X86_* numbers in ascending order, and what each one is.
// 0 AX, 1 BX, 2 CX, 3 DX, 4 SI, 5 DI, 6 BP, 7 SP, 8 IP, 16..23 R8..R15.
#define ARCH_PERF_REGS_MASK 0xff01ffull
#define ARCH_PERF_REGS                                                                             \
	{                                                                                          \
		X86_RAX, X86_RBX, X86_RCX, X86_RDX, X86_RSI, X86_RDI, X86_RBP, X86_RSP,            \
			ARCH_REG_RA, X86_R8, X86_R9, X86_R10, X86_R11, X86_R12, X86_R13, X86_R14,  \
			X86_R15                                                                    \
	}

// A signal frame: at the return from a handler the stack pointer is at a struct ucontext, whose
// uc_mcontext.gregs starts 40 bytes in: r8..r15, rdi, rsi, rbp, rbx, rdx, rax, rcx, rsp, rip.
#define ARCH_SIGNAL_REGS_OFFSET 40
#define ARCH_SIGNAL_REGS                                                                           \
	{                                                                                          \
		X86_R8, X86_R9, X86_R10, X86_R11, X86_R12, X86_R13, X86_R14, X86_R15, X86_RDI,     \
			X86_RSI, X86_RBP, X86_RBX, X86_RDX, X86_RAX, X86_RCX, X86_RSP              \
	}
#define ARCH_SIGNAL_REGS_COUNT 16 // then the program counter follows

// Code without unwind tables is read: the eight bytes at the program counter tell where in a
// function's life it is. "ret", "push %rbp" and "endbr64" stand where there is no frame; before
// "mov %rsp,%rbp" the caller's frame pointer has just been pushed; "mov $15,%rax; syscall" is how
// every rt_sigreturn trampoline begins.
enum arch_code {
	CODE_OTHER,
	CODE_NO_FRAME,
	CODE_FRAME_PUSHED,
	CODE_SIGRETURN,
};

static inline __attribute__((always_inline)) enum arch_code arch_code_at(unsigned long long bytes)
{
	if (bytes == 0x0f0000000fc0c748ull)
		return CODE_SIGRETURN;
	if ((bytes & 0xff) == 0xc3 || (bytes & 0xff) == 0x55 || (bytes & 0xffffffff) == 0xfa1e0ff3)
		return CODE_NO_FRAME;
	if ((bytes & 0xffffff) == 0xe58948 || (bytes & 0xffffff) == 0xec8b48)
		return CODE_FRAME_PUSHED;
	return CODE_OTHER;
}

// A procedure linkage table entry of 16 bytes, as binutils describes it: CFA = rsp + 8, and 8 more
// when its `push` has run, which is at byte 11, or 9 in entries that start with endbr64.
#define ARCH_PLT_ENTRY_MASK 15u

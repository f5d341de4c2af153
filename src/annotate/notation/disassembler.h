/* SPDX-License-Identifier: MIT */
/*
 * What a foreign library is asked for: one instruction after another, as text. Spelling it as others do is done here
 * (notation.h).
 */
#ifndef PD_ANNOTATE_DISASSEMBLER_H
#define PD_ANNOTATE_DISASSEMBLER_H

#include "base/error.h"

/** Kinds of code that a disassembler may know. */
enum pd_isa {
	PD_ISA_UNKNOWN,
	PD_ISA_X86_64,
	PD_ISA_X86_32,
	PD_ISA_ARM64,
	PD_ISA_ARM,
	PD_ISA_THUMB,
	PD_ISA_PPC64,
	PD_ISA_PPC32,
	PD_ISA_S390X,
	PD_ISA_RISCV64,
	PD_ISA_RISCV32,
	PD_ISA_MIPS64,
	PD_ISA_MIPS32,
	PD_ISA_LOONGARCH64,
	PD_ISA_BPF
};

/** Code to be taken apart. */
struct pd_code_kind {
	enum pd_isa isa;
	bool big;   // byte order of instructions
	bool intel; // of x86: Intel's syntax, not AT&T's
};

enum {
	PD_OPERANDS_SIZE = 256
};

/** An instruction as the library writes it. */
struct pd_raw_instruction {
	unsigned size; // of its code; 0: it is none
	char mnemonic[40];
	char operands[PD_OPERANDS_SIZE];
};

/** A library. start is NULL if none is built in. One handle for each thread. */
struct pd_disassembler {
	const char *name;
	const char *(*version)(void);
	// NULL if the library lacks this kind of code, or without memory
	void *(*start)(const struct pd_code_kind *kind);
	void (*close)(void *handle);
	// The instruction at the beginning of size bytes, which stand at addr when they run.
	void (*next)(void *handle, const uint8_t *code, size_t size, uint64_t addr,
		     struct pd_raw_instruction *instruction_out);
};

extern const struct pd_disassembler pd_disassembler_capstone;
extern const struct pd_disassembler pd_disassembler_llvm;

#endif

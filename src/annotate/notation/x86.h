/* SPDX-License-Identifier: MIT */
/* What both syntaxes of x86 have in common: what the bytes say that the text of a disassembler does not, and the order of the parts. */
#ifndef PD_ANNOTATE_NOTATION_X86_H
#define PD_ANNOTATE_NOTATION_X86_H

#include "annotate/notation/notation.h"

struct pd_x86_bytes {
	bool has_displacement; // of 0, too
	bool wide;             // REX.W
	unsigned data16;       // prefixes 66
	bool code_segment;     // prefix 2e
	bool no_base;          // of the memory operand: its displacement is always there
	uint8_t prefix;        // f2 or f3, the last one
	uint8_t modrm, sib;
	bool has_sib;
	const uint8_t *opcode;
	uint8_t map; // 1: 0f, 2: 0f 38, 3: 0f 3a; 4 and more: VEX
};

struct pd_x86 {
	const struct pd_code_kind *kind;
	struct pd_x86_bytes bytes;
	char prefixes[48];
	char mnemonic[48];
	struct pd_operand operands[PD_OPERANDS];
	size_t count;
	unsigned width; // of numbers, in bits
	struct pd_notation_writer *writer;
	bool shift_by_one; // which no operand says
	bool has_reference;
	uint64_t reference; // relative to the instruction
};

/** The width of a general register in bits; 0: it is another one. */
unsigned pd_x86_register_width(const char *name, size_t size);
/** Takes the text apart, and reads the bytes. */
void pd_x86_read(struct pd_x86 *a, struct pd_notation_writer *s);
/** Instructions that do nothing say all their prefixes. */
void pd_x86_adjust_padding(struct pd_x86 *a);
/** Writes prefixes, mnemonic and the blanks in front of operands. */
void pd_x86_put_mnemonic(struct pd_x86 *a);
/** Writes where a jump or call goes; false: the operand is not that. */
bool pd_x86_put_target(struct pd_x86 *a);
/** Writes the address of an operand that is relative to the instruction. */
void pd_x86_put_reference(struct pd_x86 *a);

#endif

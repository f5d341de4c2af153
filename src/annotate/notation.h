/* SPDX-License-Identifier: MIT */
/*
 * Instructions as binutils spells them, which is what people and programs know from perf annotate. Targets are hex digits
 * without 0x; names of addresses are for the caller to add.
 */
#ifndef PD_ANNOTATE_NOTATION_H
#define PD_ANNOTATE_NOTATION_H

#include <perfdata/annotate.h>

#include "annotate/disassembler.h"

struct pd_notation {
	unsigned size; // of the code; never 0
	enum pd_flow flow;
	bool has_target;    // target is where a jump or call goes
	bool has_reference; // reference is an address that is computed from that of the instruction
	uint64_t target, reference;
	char text[PD_OPERANDS_SIZE + 64];
};

/** Spells the instruction that a disassembler found at the beginning of size bytes of code, which are at least 1. */
void pd_notate(const struct pd_code_kind *kind, const uint8_t *code, size_t size, uint64_t addr,
	       struct pd_raw_instruction *raw, struct pd_notation *notation_out);

// ---- inside ----

/** One for each family, of an instruction that is valid. */
void pd_notate_att(const struct pd_code_kind *kind, const uint8_t *code, uint64_t addr,
		   const struct pd_raw_instruction *raw, struct pd_notation *notation_out);

/** Text of limited length that is built up. */
struct pd_notation_text {
	char *data;
	size_t size, capacity;
};
void pd_notation_put(struct pd_notation_text *text, const char *string, size_t length);
void pd_notation_printf(struct pd_notation_text *text, const char *format, ...) PD_PRINTF(2, 3);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Instructions as binutils writes them, which is what people and programs know from perf annotate. Addresses are hex digits
 * without 0x; their names are for the caller to add.
 */
#ifndef PD_ANNOTATE_NOTATION_H
#define PD_ANNOTATE_NOTATION_H

#include <perfdata/annotate.h>

#include "annotate/notation/disassembler.h"

struct pd_notation {
	unsigned size; // of the code; never 0
	enum pd_flow flow;
	bool has_target; // target is where a jump or call goes
	bool has_name;   // named is an address that the text says, from name_start up to name_end
	uint64_t target, named;
	size_t name_start, name_end;
	char text[PD_OPERANDS_SIZE + 64];
};

/** What is known from instructions before: the upper parts of addresses that registers hold (RISC-V). Zero at first. */
struct pd_notation_state {
	uint64_t upper[32];
	uint32_t known; // by register
};

/** Writes the instruction that a disassembler found at the beginning of size bytes of code, which are at least 1. */
void pd_notate(const struct pd_code_kind *kind, struct pd_notation_state *state, const uint8_t *code, size_t size,
	       uint64_t addr, struct pd_raw_instruction *raw, struct pd_notation *notation_out);
/** Bytes that are data among code, at most a word of them. */
void pd_notate_data(const struct pd_code_kind *kind, const uint8_t *code, size_t size, uint64_t addr,
		    struct pd_notation *notation_out);

// ---- inside ----

/** Text of limited length that is built up. */
struct pd_notation_text {
	char *data;
	size_t size, capacity;
};
void pd_notation_put(struct pd_notation_text *text, const char *string, size_t length);
void pd_notation_printf(struct pd_notation_text *text, const char *format, ...) PD_PRINTF(2, 3);

/** An instruction that is written. */
struct pd_notation_writer {
	const struct pd_code_kind *kind;
	struct pd_notation_state *state;
	const uint8_t *code;
	uint64_t addr;
	const struct pd_raw_instruction *raw;
	struct pd_notation *notation;
	struct pd_notation_text out;
};

/** One for each family, of an instruction that is valid. */
void pd_notate_att(struct pd_notation_writer *s);
void pd_notate_intel(struct pd_notation_writer *s);
void pd_notate_arm64(struct pd_notation_writer *s);
void pd_notate_arm(struct pd_notation_writer *s);
void pd_notate_ppc(struct pd_notation_writer *s);
void pd_notate_s390(struct pd_notation_writer *s);
void pd_notate_riscv(struct pd_notation_writer *s);
void pd_notate_mips(struct pd_notation_writer *s);
void pd_notate_loongarch(struct pd_notation_writer *s);
/** Comparisons whose result is not the first one, which capstone 5 does not know. False: it is something else. */
bool pd_notate_odd_mips(const uint8_t *code, bool big, char *text, size_t size);

/** What is between two commas. */
struct pd_operand {
	const char *text;
	size_t size;
};

enum {
	PD_OPERANDS = 16
};

/** Parts at the commas that are in no brackets of any kind. Returns how many there are. */
size_t pd_operands_split(const char *text, struct pd_operand *operands_out);
bool pd_operand_is(const struct pd_operand *operand, const char *text);
/** Reads a number as capstone prints it: 5, -5, 0x5, -0x5. */
bool pd_operand_number(const char *text, size_t size, uint64_t *number_out, size_t *length_out);
/** Whether a word is in a list of words with one blank after each. */
bool pd_word_is_in(const char *list, const char *word, size_t length);

/** An address in the text, which gets its name there. */
void pd_notation_put_addr(struct pd_notation_writer *s, uint64_t addr);
/** Blanks up to the next column that is a multiple of 8, which is what a tab is here. */
void pd_notation_put_tab(struct pd_notation_writer *s);

#endif

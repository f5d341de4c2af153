/* SPDX-License-Identifier: MIT */
/*
 * Call frame information (DWARF 5, 6.4; the LSB for .eh_frame): its entries are run once, and what holds from each address on
 * becomes a row. All of it may be hostile: reads are bounded, work and memory are linear in the size of the section.
 */
#ifndef PD_UNWIND_RULES_CFI_H
#define PD_UNWIND_RULES_CFI_H

#include "base/cursor.h"

#include "unwind/rules/arch.h"
#include "unwind/rules/table.h"

struct pd_code;

struct pd_cfi_section {
	struct pd_bytes bytes;
	uint64_t addr;      // of the first byte, for what is relative to its own place
	uint64_t data_addr; // what is relative to data begins here
	bool is_debug;      // .debug_frame
	bool big;
	uint8_t word;                  // bytes of an address
	uint64_t code_start, code_end; // functions begin here; others were thrown away by the linker
	const struct pd_code *code;    // see ends.h; NULL: rules are all that is known
};

// Adds rows to a table; of .debug_frame those of functions that the table, once sorted, does not have. What cannot be read is left
// out. False if there is no memory.
bool pd_cfi_compile(const struct pd_cfi_section *section, const struct pd_unwind_arch *arch,
		    struct pd_unwind_table *table);

// ---- inside of the compiler ----

struct pd_cfi_register {
	uint8_t kind; // enum pd_saved_kind
	int32_t value;
};

// What holds at an address.
struct pd_cfi_state {
	uint8_t kind; // enum pd_cfa_kind
	uint8_t cfa_register;
	int64_t cfa;
	uint64_t set; // registers that have a rule
	struct pd_cfi_register registers[PD_UNWIND_REGISTERS];
};

// A common information entry.
struct pd_cfi_common {
	uint64_t offset; // in the section
	uint64_t code_align;
	int64_t data_align;
	uint64_t ra;
	uint8_t encoding; // of addresses
	bool has_augmentation;
	bool is_signal;
	bool is_good;
	struct pd_cfi_state initial;
};

enum {
	PD_CFI_COMMON_SLOTS = 64,
	PD_CFI_REMEMBERED_MOST = 16
};

struct pd_cfi_compiler {
	const struct pd_cfi_section *section;
	const struct pd_unwind_arch *arch;
	struct pd_unwind_table *table;
	struct pd_cfi_common *commons; // by a hash of the offset; a newer one takes the place
	uint64_t work_left;            // bytes of common entries that may be read again
	uint64_t words_most;           // of rules: what only hostile sections have more of
	uint64_t code_left;            // bytes that may be looked at
	bool out_of_memory;
};

// A run of instructions.
struct pd_cfi_run {
	struct pd_cfi_compiler *compiler;
	const struct pd_cfi_common *common;
	struct pd_cfi_state state;
	struct pd_cfi_state remembered[PD_CFI_REMEMBERED_MOST];
	size_t remembered_count;
	uint64_t at, end; // addresses
	bool is_common;   // there are no addresses
	bool changed;     // the state, since the last row
	bool stopped;     // something is not known: rows before it are good
};

// Runs the instructions of an entry.
void pd_cfi_execute(struct pd_cfi_run *run, struct pd_cursor *c);
// The number of the rule for a state; 0 if there is none, or no memory.
uint32_t pd_cfi_rule(struct pd_cfi_run *run, const struct pd_cfi_state *state);
// Words of rules that a table may have after a section of such a size.
uint64_t pd_cfi_words_most(const struct pd_unwind_table *table, uint64_t size, const struct pd_code *code);
// An address of 4 or 8 bytes.
uint64_t pd_cfi_word(struct pd_cursor *c, unsigned size);
// A number in an encoding of .eh_frame, without what it is relative to. False if it is not known.
bool pd_cfi_encoded(struct pd_cursor *c, uint8_t encoding, uint8_t word, uint64_t *value_out);
// An address in an encoding of .eh_frame. False if it is not known.
bool pd_cfi_address(const struct pd_cfi_section *section, struct pd_cursor *c, uint8_t encoding, uint64_t *addr_out);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * The unwind rules of an object, compiled once: sorted rows that say from which address on which rule holds. Rules are few and
 * shared by rows; one says where the frame of the caller is (the CFA), and where the registers of the caller are. What cannot
 * be said so is an expression of DWARF, kept as bytes.
 */
#ifndef PD_UNWIND_RULES_TABLE_H
#define PD_UNWIND_RULES_TABLE_H

#include "base/lookup/hash.h"
#include "base/memory.h"

enum pd_cfa_kind {
	PD_CFA_NONE, // no rule
	PD_CFA_REGISTER,
	PD_CFA_EXPRESSION
};

enum pd_saved_kind {
	PD_SAVED_UNDEFINED, // as a return address: there is no caller
	PD_SAVED_AT_CFA,    // in memory at CFA + value
	PD_SAVED_CFA,       // it is CFA + value
	PD_SAVED_REGISTER,
	PD_SAVED_AT_EXPRESSION,
	PD_SAVED_EXPRESSION
};

enum {
	PD_UNDEFINED_MAYBE = 1 // value of PD_SAVED_UNDEFINED: there may be a caller, which no rule leads to
};

// Where a register of the caller is. What no rule names has the same value.
struct pd_saved {
	uint8_t number;
	uint8_t kind;
	uint16_t reach; // of the first one of a plain rule: bytes below the CFA that have all of them
	int32_t value;  // offset, number of a register, or an expression
};

struct pd_unwind_rule {
	int32_t cfa; // offset, or an expression
	uint8_t kind : 7;
	uint8_t is_plain : 1; // see pd_unwind_table_mark
	uint8_t cfa_register;
	uint8_t ra;            // the register that has the return address
	uint8_t count : 7;     // of registers that follow
	uint8_t is_signal : 1; // a signal interrupted the caller, at an instruction of any kind
	struct pd_saved saved[];
};
_Static_assert(sizeof(struct pd_unwind_rule) == sizeof(uint64_t), "rules are made of words");
_Static_assert(sizeof(struct pd_saved) == sizeof(uint64_t), "rules are made of words");

struct pd_unwind_row {
	uint32_t addr; // less the base
	uint32_t rule; // 0: none
};

struct pd_unwind_table {
	uint64_t base;
	struct pd_unwind_row *rows;
	size_t row_count, row_capacity;
	uint32_t *pages; // by the upper bits of an address: the first row that is not below the page
	size_t page_count;
	unsigned page_shift;
	uint64_t *rules; // struct pd_unwind_rule; the first one says that there is none
	size_t rule_count, rule_capacity;
	uint8_t *expressions; // each after its size in 4 bytes
	size_t expression_count, expression_capacity;
	// of a table from the index: what all of these stand in, and a bit for each word where a rule begins, as rows were not checked
	void *block;
	uint8_t *begins;
	// while it is made
	struct pd_index rule_index, expression_index;
	uint32_t last_rule;
	size_t sorted_count; // of rows
};

// base: no code is below. False if there is no memory.
bool pd_unwind_table_init(struct pd_unwind_table *table, uint64_t base);
void pd_unwind_table_fini(struct pd_unwind_table *table);

// The number of a rule of so many words, which may be new. 0 if there is no memory for more.
uint32_t pd_unwind_table_rule(struct pd_unwind_table *table, const uint64_t *words, size_t count);
// The number of an expression, which may be new. False if there is no memory for more.
bool pd_unwind_table_expression(struct pd_unwind_table *table, const uint8_t *data, size_t size, int32_t *number_out);
// From an address on a rule holds; addresses that rows cannot have are left out. False if there is no memory.
bool pd_unwind_table_add(struct pd_unwind_table *table, uint64_t addr, uint32_t rule);
// Sorts what was added. More may be added after it, and sorted again. False if there is no memory.
bool pd_unwind_table_sort(struct pd_unwind_table *table);
// Marks rules that nearly all code has: the CFA is a register and an offset, and all registers, the return address among them, but not the
// stack pointer, are in memory below it. After what is kept in the index was written.
void pd_unwind_table_mark(struct pd_unwind_table *table, unsigned word, unsigned sp);
// Drops what only making needs.
void pd_unwind_table_finish(struct pd_unwind_table *table);

// The rule of a row.
static inline uint32_t pd_unwind_table_rule_of(const struct pd_unwind_table *table, size_t row)
{
	uint32_t rule = table->rows[row].rule;

	if (table->begins && (rule >= table->rule_count || !(table->begins[rule / 8] >> rule % 8 & 1)))
		return 0;
	return rule;
}

// The number of the rule at an address of a table that is sorted; 0: none.
static inline uint32_t pd_unwind_table_find(const struct pd_unwind_table *table, uint64_t addr)
{
	uint64_t rel = addr - table->base, page = rel >> table->page_shift;
	size_t low, high;

	if (page + 1 >= table->page_count)
		return 0;
	low = table->pages[page];
	high = table->pages[page + 1];
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (table->rows[middle].addr <= rel)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? pd_unwind_table_rule_of(table, low - 1) : 0;
}

static inline const struct pd_unwind_rule *pd_unwind_table_at(const struct pd_unwind_table *table, uint32_t rule)
{
	return (const struct pd_unwind_rule *)(const void *)(table->rules + rule);
}

#endif

/* SPDX-License-Identifier: MIT */
/*
 * What targets for unwind rules share: tables made of hostile bytes. The first byte of an input says the byte order, the second the
 * architecture.
 */
#ifndef PD_TEST_RULES_H
#define PD_TEST_RULES_H

#include <string.h>

#include "unwind/expression.h"
#include "unwind/rules/arch.h"
#include "unwind/rules/table.h"
#include "walk.h"

enum {
	RULES_HEAD = 2,
	RULES_ADDR = 0x10000,
	RULES_CODE_END = 0x4000000
};

static inline const struct pd_unwind_arch *rules_arch(const uint8_t *data)
{
	const struct pd_unwind_arch *arch =
		pd_unwind_arch_of((enum pd_arch)(PD_ARCH_X86 + data[1] % (PD_ARCH_CSKY - PD_ARCH_X86 + 1)),
				  data[0] & 8 ? PD_REGS_ABI_32 : PD_REGS_ABI_64);

	REQUIRE(arch);
	return arch;
}

static inline bool rules_big(const uint8_t *data)
{
	return data[0] & 4;
}

static inline struct pd_bytes rules_bytes(const uint8_t *data, size_t size)
{
	return (struct pd_bytes){ data + RULES_HEAD, size - RULES_HEAD };
}

// Of registers and memory of which the input is a part.
static inline void rules_evaluate(const struct pd_unwind_arch *arch, bool big, bool has_cfa, struct pd_bytes expression,
				  struct pd_bytes stack)
{
	struct pd_unwind_memory memory = {
		.data = stack.data, .start = 0x1000, .size = stack.size, .word = arch->word, .swap = big != PD_HOST_BIG
	};
	struct pd_unwind_registers registers = { .known = UINT64_MAX };
	const struct pd_evaluation evaluation = {
		.registers = &registers, .memory = &memory, .big = big, .has_cfa = has_cfa, .cfa = 0x1010
	};
	uint64_t value = 0;

	for (size_t i = 0; i < 64; i++)
		registers.values[i] = 0x1000 + 8 * i;
	if (pd_unwind_evaluate(&evaluation, expression, &value) && arch->word == 4)
		REQUIRE(value == (uint32_t)value);
}

static inline void rules_check_expression(const struct pd_unwind_table *table, const struct pd_unwind_arch *arch,
					  bool big, int32_t number, struct pd_bytes stack)
{
	uint32_t size;

	REQUIRE(number >= 0 && (size_t)number + sizeof(size) <= table->expression_count);
	memcpy(&size, table->expressions + number, sizeof(size));
	REQUIRE(size <= table->expression_count - sizeof(size) - (size_t)number);
	rules_evaluate(arch, big, true, (struct pd_bytes){ table->expressions + number + sizeof(size), size }, stack);
}

static inline void rules_check_rule(const struct pd_unwind_table *table, const struct pd_unwind_arch *arch, bool big,
				    uint32_t number, struct pd_bytes stack)
{
	const struct pd_unwind_rule *rule = pd_unwind_table_at(table, number);

	REQUIRE(rule->count <= table->rule_count - number - 1);
	if (rule->kind == PD_CFA_EXPRESSION)
		rules_check_expression(table, arch, big, rule->cfa, stack);
	else
		REQUIRE(rule->kind == PD_CFA_REGISTER && rule->cfa_register < PD_UNWIND_REGISTERS);
	for (size_t i = 0; i < rule->count; i++) {
		REQUIRE(rule->saved[i].number < PD_UNWIND_REGISTERS && rule->saved[i].kind <= PD_SAVED_EXPRESSION);
		if (rule->saved[i].kind >= PD_SAVED_AT_EXPRESSION)
			rules_check_expression(table, arch, big, rule->saved[i].value, stack);
	}
}

// A table of size bytes of rules. Rows are linear in the size; of those that are repeated there are more.
static inline void rules_check(struct pd_unwind_table *table, const struct pd_unwind_arch *arch, bool big,
			       struct pd_bytes bytes)
{
	REQUIRE(table->row_count <= 64 * bytes.size + 64);
	REQUIRE(pd_unwind_table_sort(table));
	for (size_t i = 0; i < table->row_count; i++) {
		REQUIRE(table->rows[i].rule < table->rule_count);
		REQUIRE(!i || table->rows[i - 1].addr < table->rows[i].addr);
		REQUIRE(pd_unwind_table_find(table, table->base + table->rows[i].addr) == table->rows[i].rule);
		if (table->rows[i].rule)
			rules_check_rule(table, arch, big, table->rows[i].rule, bytes);
	}
	pd_unwind_table_mark(table, arch->word, arch->sp);
}

#endif

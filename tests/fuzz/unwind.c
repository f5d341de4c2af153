/* SPDX-License-Identifier: MIT */
/* Unwind rules of objects, also as their own debug files, for each architecture; tables of the index; and expressions. */
#include "unwind/rules/compile.h"
#include "unwind/expression.h"
#include "unwind/rules/saved.h"
#include "walk.h"

enum {
	ADDRESSES = 4096
};

static void check_expression(const struct pd_unwind_table *table, int32_t number, const uint8_t *data, size_t size)
{
	struct pd_unwind_memory memory = { .data = data, .start = 0x1000, .size = size, .word = 8 };
	struct pd_unwind_registers registers = { .known = UINT64_MAX };
	const struct pd_evaluation evaluation = {
		.registers = &registers, .memory = &memory, .has_cfa = true, .cfa = 0x1010
	};
	uint32_t length;
	uint64_t value;

	REQUIRE(number >= 0 && (size_t)number + sizeof(length) <= table->expression_count);
	memcpy(&length, table->expressions + number, sizeof(length));
	REQUIRE(length <= table->expression_count - sizeof(length) - (size_t)number);
	for (size_t i = 0; i < 64; i++)
		registers.values[i] = 0x1000 + 8 * i;
	pd_unwind_evaluate(&evaluation, (struct pd_bytes){ table->expressions + number + sizeof(length), length },
			   &value);
}

static void check_rule(const struct pd_unwind_table *table, uint32_t number, const uint8_t *data, size_t size)
{
	const struct pd_unwind_rule *rule = pd_unwind_table_at(table, number);

	REQUIRE(number < table->rule_count && rule->count < table->rule_count - number);
	REQUIRE(rule->kind == PD_CFA_REGISTER || rule->kind == PD_CFA_EXPRESSION);
	if (rule->kind == PD_CFA_EXPRESSION)
		check_expression(table, rule->cfa, data, size);
	else
		REQUIRE(rule->cfa_register < PD_UNWIND_REGISTERS);
	for (size_t i = 0; i < rule->count; i++) {
		REQUIRE(rule->saved[i].number < PD_UNWIND_REGISTERS);
		if (rule->saved[i].kind >= PD_SAVED_AT_EXPRESSION)
			check_expression(table, rule->saved[i].value, data, size);
	}
}

static void check_table(const struct pd_unwind_table *table, const uint8_t *data, size_t size)
{
	uint64_t step = 1;

	// memory is of the size of the input
	REQUIRE(table->row_count <= 2 * size + 1 && table->page_count <= table->row_count + 8);
	for (size_t i = 0; i < table->row_count; i++) {
		REQUIRE(!i || table->rows[i - 1].addr < table->rows[i].addr);
		if (table->rows[i].rule)
			check_rule(table, table->rows[i].rule, data, size);
		REQUIRE(pd_unwind_table_find(table, table->base + table->rows[i].addr) == table->rows[i].rule);
	}
	for (size_t i = 0; i < ADDRESSES; i++, step += step / 64 + 1)
		REQUIRE(pd_unwind_table_find(table, table->base + step) < table->rule_count);
	pd_unwind_table_find(table, UINT64_MAX);
	pd_unwind_table_find(table, 0);
}

static void compile(struct pd_elf *elf, struct pd_elf *debug, const uint8_t *data, size_t size)
{
	for (unsigned machine = PD_ARCH_X86; machine <= PD_ARCH_CSKY; machine++) {
		for (uint64_t abi = PD_REGS_ABI_32; abi <= PD_REGS_ABI_64; abi++) {
			struct pd_unwind_table table;

			REQUIRE(pd_unwind_compile(elf, debug, pd_unwind_arch_of((enum pd_arch)machine, abi), 16 << 20,
						  &table));
			check_table(&table, data, size);
			pd_unwind_table_fini(&table);
		}
	}
}

// As the index has them: rows may be anything, but what is found of them is a rule.
static void check_packed(const uint8_t *data, size_t size)
{
	uint8_t *block = pd_realloc(NULL, size + 1);
	struct pd_unwind_table table;

	REQUIRE(block);
	memcpy(block, data, size);
	if (!pd_unwind_unpack(&table, block, block, size)) {
		pd_free(block);
		return;
	}
	for (size_t i = 0; i < table.row_count; i++) {
		uint32_t rule = pd_unwind_table_find(&table, table.base + table.rows[i].addr);

		if (rule)
			check_rule(&table, rule, data, size);
	}
	pd_unwind_table_fini(&table);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct pd_elf *elf = NULL;
	struct pd_image image;

	check_packed(data, size);
	pd_image_open_memory(&image, data, size);
	if (pd_elf_open_image(&elf, &image, "input", 4 << 20, NULL))
		return 0;
	compile(elf, NULL, data, size);
	compile(NULL, elf, data, size);
	pd_elf_close(elf);
	return 0;
}

/* SPDX-License-Identifier: MIT */
/* What a table of unwinding rules says of an address. */
#ifndef PD_TESTS_UNIT_UNWIND_RULES_H
#define PD_TESTS_UNIT_UNWIND_RULES_H

#include "unwind/rules/table.h"

static inline const struct pd_unwind_rule *rule_at(const struct pd_unwind_table *table, uint64_t addr)
{
	uint32_t rule = pd_unwind_table_find(table, addr);

	return rule ? pd_unwind_table_at(table, rule) : NULL;
}

static inline bool has_cfa(const struct pd_unwind_table *table, uint64_t addr, unsigned number, int32_t offset)
{
	const struct pd_unwind_rule *rule = rule_at(table, addr);

	return rule && rule->kind == PD_CFA_REGISTER && rule->cfa_register == number && rule->cfa == offset;
}

static inline bool has_saved(const struct pd_unwind_table *table, uint64_t addr, unsigned number, unsigned kind,
			     int32_t value)
{
	const struct pd_unwind_rule *rule = rule_at(table, addr);

	for (size_t i = 0; rule && i < rule->count; i++)
		if (rule->saved[i].number == number)
			return rule->saved[i].kind == kind && rule->saved[i].value == value;
	return false;
}

#endif

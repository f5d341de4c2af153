/* SPDX-License-Identifier: MIT */
/* Instructions of LoongArch as LLVM spells them, but for addresses, which are absolute and get names as those of others. */
#include "annotate/notation/notation.h"

#include <string.h>

static enum pd_flow flow_of(const struct pd_raw_instruction *raw)
{
	static const struct {
		const char *mnemonic, *operands; // how operands begin
		enum pd_flow flow;
	} flows[] = {
		{ "b", "", PD_FLOW_JUMP },      { "bl", "", PD_FLOW_CALL },      { "ret", "", PD_FLOW_RETURN },
		{ "jr", "", PD_FLOW_JUMP },     { "jirl", "$ra", PD_FLOW_CALL }, { "jirl", "", PD_FLOW_JUMP },
		{ "beq", "", PD_FLOW_BRANCH },  { "bne", "", PD_FLOW_BRANCH },   { "blt", "", PD_FLOW_BRANCH },
		{ "bge", "", PD_FLOW_BRANCH },  { "bltu", "", PD_FLOW_BRANCH },  { "bgeu", "", PD_FLOW_BRANCH },
		{ "beqz", "", PD_FLOW_BRANCH }, { "bnez", "", PD_FLOW_BRANCH },  { "bltz", "", PD_FLOW_BRANCH },
		{ "bgez", "", PD_FLOW_BRANCH }, { "blez", "", PD_FLOW_BRANCH },  { "bgtz", "", PD_FLOW_BRANCH },
		{ "bgt", "", PD_FLOW_BRANCH },  { "ble", "", PD_FLOW_BRANCH },   { "bgtu", "", PD_FLOW_BRANCH },
		{ "bleu", "", PD_FLOW_BRANCH }, { "bceqz", "", PD_FLOW_BRANCH }, { "bcnez", "", PD_FLOW_BRANCH },
	};

	for (size_t i = 0; i < sizeof(flows) / sizeof(flows[0]); i++)
		if (strcmp(raw->mnemonic, flows[i].mnemonic) == 0 &&
		    strncmp(raw->operands, flows[i].operands, strlen(flows[i].operands)) == 0)
			return flows[i].flow;
	return PD_FLOW_NEXT;
}

// Where the last operand begins, if it is how far a jump goes; jumps to registers have none.
static bool find_distance(const struct pd_raw_instruction *raw, size_t *at_out, uint64_t *distance_out)
{
	const char *comma = strrchr(raw->operands, ','), *last = comma ? comma + 1 : raw->operands;
	size_t length;

	last += strspn(last, " ");
	*at_out = (size_t)(last - raw->operands);
	return strcmp(raw->mnemonic, "jirl") != 0 && pd_operand_number(last, strlen(last), distance_out, &length) &&
	       !last[length];
}

void pd_notate_loongarch(struct pd_notation_writer *s)
{
	const struct pd_raw_instruction *raw = s->raw;
	uint64_t distance;
	size_t at;

	s->notation->flow = flow_of(raw);
	pd_notation_put(&s->out, raw->mnemonic, strlen(raw->mnemonic));
	if (!raw->operands[0])
		return;
	pd_notation_put_tab(s);
	if (s->notation->flow == PD_FLOW_NEXT || !find_distance(raw, &at, &distance)) {
		pd_notation_put(&s->out, raw->operands, strlen(raw->operands));
		return;
	}
	pd_notation_put(&s->out, raw->operands, at);
	pd_notation_put_addr(s, s->addr + distance);
	s->notation->has_target = true;
	s->notation->target = s->addr + distance;
}

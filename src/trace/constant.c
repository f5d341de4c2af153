/* SPDX-License-Identifier: MIT */
/* Operators with two numbers, and what is computed once of an expression: formats write masks of states as long sums. */
#include "trace/trace.h"

uint64_t pd_trace_value_of_two(unsigned op, uint64_t a, uint64_t b)
{
	switch (op) {
	case '|':
		return a | b;
	case '|' | PD_OP_TWICE:
		return a || b;
	case '&':
		return a & b;
	case '&' | PD_OP_TWICE:
		return a && b;
	case '^':
		return a ^ b;
	case '<':
		return a < b;
	case '<' | PD_OP_EQUAL:
		return a <= b;
	case '<' | PD_OP_TWICE:
		return a << (b & 63);
	case '>':
		return a > b;
	case '>' | PD_OP_EQUAL:
		return a >= b;
	case '>' | PD_OP_TWICE:
		return a >> (b & 63);
	case '=' | PD_OP_EQUAL:
		return a == b;
	case '!' | PD_OP_EQUAL:
		return a != b;
	case '!':
		return !b;
	case '~':
		return ~b;
	case '+':
		return a + b;
	case '-':
		return a - b;
	case '*':
		return a * b;
	case '/':
		return b ? a / b : 0;
	case '%':
		return b ? a % b : 0;
	}
	return 0;
}

// The missing side of an operator is 0.
static uint64_t number_of(const struct pd_node *node)
{
	return node->constant ? node->number : 0;
}

static bool has_number(const struct pd_node *node)
{
	return node->constant || node->kind == PD_NODE_NONE;
}

// Expressions have a greatest size.
void pd_trace_find_constants(struct pd_node *node)
{
	struct pd_node *sides[] = { node->a, node->b, node->c };

	for (size_t i = 0; i < sizeof(sides) / sizeof(sides[0]); i++)
		if (sides[i])
			pd_trace_find_constants(sides[i]);
	if (node->kind == PD_NODE_ATOM)
		node->constant = true;
	if (node->kind != PD_NODE_OP || node->op == '[' || node->op == '?' || !node->a || !node->b ||
	    !has_number(node->a) || !has_number(node->b))
		return;
	node->number = pd_trace_value_of_two(node->op, number_of(node->a), number_of(node->b));
	node->constant = true;
}

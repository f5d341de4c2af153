/* SPDX-License-Identifier: MIT */
/*
 * The grammar:
 *
 *	any     = all { "||" all }
 *	all     = single { "&&" single }
 *	single  = "!" single | value [ operator value | "in" "(" constant { "," constant } ")" ]
 *	value   = primary [ "&" bits ]          binds closer than comparisons, unlike in C
 *	bits    = primary { "|" primary }       constants
 *	primary = "(" any ")" | name | ["-"] number | text
 *
 * Conditions become a tree of nodes first, then the tests in it are linked: each gets the test that is next if it holds
 * and if it does not.
 */
#include <string.h>

#include "base/error.h"
#include "filter/filter.h"

enum node_kind {
	NODE_TEST,
	NODE_NOT,
	NODE_AND,
	NODE_OR
};

struct node {
	enum node_kind kind;
	uint16_t test; // of NODE_TEST
	uint16_t left, right;
};

// What a part of the text is: a condition, or a value.
struct piece {
	bool is_value;
	uint16_t index; // of the node or the operand
	size_t at;
};

struct parser {
	struct pd_filter *filter;
	struct node *nodes;
	size_t node_count, node_capacity;
	size_t at;                             // in the text
	struct pd_token token;                 // the next one
	const struct pd_filter_operand *other; // whose values may be named, or NULL
	unsigned depth;
	struct pd_error *error;
};

static enum pd_status parse_any(struct parser *p, struct piece *out);

static enum pd_status advance(struct parser *p)
{
	return pd_filter_lex(p->filter, &p->at, &p->token, p->error);
}

static bool is_sign(const struct parser *p, const char *sign)
{
	return p->token.kind == PD_TOKEN_SIGN && !strcmp(p->token.sign, sign);
}

static enum pd_status expect_token(struct parser *p, const char *sign)
{
	if (!is_sign(p, sign))
		return pd_filter_fail(p->error, p->token.at, "expected '%s'", sign);
	return advance(p);
}

// ---- what is made ----

static enum pd_status add_node(struct parser *p, struct node node, struct piece *out, size_t at)
{
	if (p->node_count >= PD_FILTER_MOST)
		return pd_filter_fail(p->error, at, "the condition is too long");
	if (!PD_GROW(p->nodes, p->node_capacity, p->node_count + 1))
		return pd_fail_memory(p->error);
	p->nodes[p->node_count] = node;
	*out = (struct piece){ .index = (uint16_t)p->node_count++, .at = at };
	return PD_OK;
}

static enum pd_status add_test(struct parser *p, struct pd_filter_test test, struct piece *out, size_t at)
{
	struct pd_filter *filter = p->filter;

	if (filter->test_count >= PD_FILTER_MOST)
		return pd_filter_fail(p->error, at, "the condition is too long");
	if (!PD_GROW(filter->tests, filter->test_capacity, filter->test_count + 1))
		return pd_fail_memory(p->error);
	filter->tests[filter->test_count] = test;
	return add_node(p, (struct node){ .kind = NODE_TEST, .test = (uint16_t)filter->test_count++ }, out, at);
}

static enum pd_status add_operand(struct parser *p, const struct pd_filter_operand *operand, struct piece *out)
{
	struct pd_filter *filter = p->filter;

	if (filter->operand_count >= PD_FILTER_MOST)
		return pd_filter_fail(p->error, operand->at, "the condition is too long");
	if (!PD_GROW(filter->operands, filter->operand_capacity, filter->operand_count + 1))
		return pd_fail_memory(p->error);
	filter->operands[filter->operand_count] = *operand;
	*out = (struct piece){ .is_value = true, .index = (uint16_t)filter->operand_count++, .at = operand->at };
	return PD_OK;
}

static struct pd_filter_operand *operand_of(const struct parser *p, struct piece piece)
{
	return &p->filter->operands[piece.index];
}

static bool is_constant(const struct parser *p, struct piece piece)
{
	return piece.is_value && operand_of(p, piece)->from == PD_FROM_CONSTANT;
}

// ---- values ----

static struct pd_filter_operand constant_of(const struct pd_token *token, struct pd_filter_value value)
{
	return (struct pd_filter_operand){
		.from = PD_FROM_CONSTANT, .kind = value.kind, .value = value, .at = token->at, .length = token->length
	};
}

static enum pd_status parse_negative(struct parser *p, struct piece *out)
{
	size_t at = p->token.at;
	struct pd_filter_operand operand;
	enum pd_status status = advance(p);

	if (status < 0)
		return status;
	if (p->token.kind != PD_TOKEN_NUMBER)
		return pd_filter_fail(p->error, p->token.at, "expected a number");
	if (p->token.value.number > INT64_MAX)
		return pd_filter_fail(p->error, at, "the number is too small");
	operand = constant_of(&p->token, p->token.value);
	operand.at = at;
	operand.value.real = -operand.value.real;
	operand.value.negative = operand.value.number != 0;
	operand.value.number = -operand.value.number;
	status = add_operand(p, &operand, out);
	return status < 0 ? status : advance(p);
}

// A word is the name of a value first, where the other operand has such names, then a field.
static enum pd_status parse_word(struct parser *p, struct piece *out)
{
	const char *word = p->filter->text + p->token.at;
	struct pd_filter_operand operand;
	struct pd_filter_value value = { .kind = PD_VALUE_NUMBER };
	enum pd_status status = PD_OK;
	bool has_names = p->other && (p->other->names || p->other->from == PD_FROM_TYPE);

	if (has_names && pd_filter_constant(p->other, word, p->token.length, &value.number)) {
		value.real = (double)value.number;
		operand = constant_of(&p->token, value);
	} else {
		status = pd_filter_find(p->filter, &p->token, &operand, p->error);
		if (status == PD_ERROR_ARGUMENT && has_names && !memchr(word, '.', p->token.length))
			return pd_filter_no_constant(p->filter, p->other, &p->token, p->error);
	}
	if (status >= 0)
		status = add_operand(p, &operand, out);
	return status < 0 ? status : advance(p);
}

static enum pd_status parse_bracket(struct parser *p, struct piece *out)
{
	size_t at = p->token.at;
	enum pd_status status = advance(p);

	if (++p->depth > PD_FILTER_DEPTH)
		return pd_filter_fail(p->error, at, "too many parentheses");
	if (status >= 0)
		status = parse_any(p, out);
	p->depth--;
	return status < 0 ? status : expect_token(p, ")");
}

static enum pd_status parse_primary(struct parser *p, struct piece *out)
{
	struct pd_filter_operand operand;
	enum pd_status status;

	switch (p->token.kind) {
	case PD_TOKEN_WORD:
		return parse_word(p, out);
	case PD_TOKEN_NUMBER:
	case PD_TOKEN_TEXT:
		operand = constant_of(&p->token, p->token.value);
		status = add_operand(p, &operand, out);
		return status < 0 ? status : advance(p);
	case PD_TOKEN_SIGN:
		if (is_sign(p, "("))
			return parse_bracket(p, out);
		if (is_sign(p, "-"))
			return parse_negative(p, out);
		break;
	case PD_TOKEN_END:
		return pd_filter_fail(p->error, p->token.at, "expected a field or a value after this");
	}
	return pd_filter_fail(p->error, p->token.at, "expected a field or a value");
}

static bool is_plain_number(const struct parser *p, struct piece piece)
{
	return is_constant(p, piece) && operand_of(p, piece)->kind == PD_VALUE_NUMBER;
}

// Constants joined by |.
static enum pd_status parse_bits(struct parser *p, struct piece *out)
{
	enum pd_status status = parse_primary(p, out);
	struct piece more;

	while (status >= 0 && is_sign(p, "|")) {
		size_t at = p->token.at;

		status = advance(p);
		if (status >= 0)
			status = parse_primary(p, &more);
		if (status < 0)
			return status;
		if (!is_plain_number(p, *out) || !is_plain_number(p, more))
			return pd_filter_fail(p->error, at, "only constants can be combined with |");
		operand_of(p, *out)->value.number |= operand_of(p, more)->value.number;
	}
	return status;
}

static enum pd_status parse_value(struct parser *p, struct piece *out)
{
	enum pd_status status = parse_bits(p, out);
	const struct pd_filter_operand *before = p->other;
	struct pd_filter_operand left;
	struct piece bits;

	if (status < 0 || !is_sign(p, "&"))
		return status;
	if (!out->is_value || is_constant(p, *out) ||
	    (operand_of(p, *out)->kind != PD_VALUE_NUMBER && operand_of(p, *out)->kind != PD_VALUE_ANY))
		return pd_filter_fail(p->error, out->at, "only numbers can be tested for bits");
	left = *operand_of(p, *out);
	status = advance(p);
	p->other = &left;
	if (status >= 0)
		status = parse_bits(p, &bits);
	p->other = before;
	if (status < 0)
		return status;
	if (!is_plain_number(p, bits))
		return pd_filter_fail(p->error, bits.at, "expected bits: a number or a name");
	operand_of(p, *out)->mask = operand_of(p, bits)->value.number & (left.mask ? left.mask : UINT64_MAX);
	if (!operand_of(p, *out)->mask)
		return pd_filter_fail(p->error, bits.at, "0 has no bits to test");
	return status;
}

// ---- comparisons ----

static const char *kind_name(enum pd_value_kind kind)
{
	switch (kind) {
	case PD_VALUE_NUMBER:
	case PD_VALUE_REAL:
		return "a number";
	case PD_VALUE_TEXT:
		return "a text";
	case PD_VALUE_BYTES:
		return "a list of bytes";
	case PD_VALUE_ANY:
		break;
	}
	return "anything";
}

static bool is_number(enum pd_value_kind kind)
{
	return kind == PD_VALUE_NUMBER || kind == PD_VALUE_REAL;
}

static bool go_together(enum pd_value_kind a, enum pd_value_kind b)
{
	if (a == PD_VALUE_ANY || b == PD_VALUE_ANY || a == b || (is_number(a) && is_number(b)))
		return true;
	// bytes are written as a text of hexadecimal digits
	return (a == PD_VALUE_BYTES && b == PD_VALUE_TEXT) || (a == PD_VALUE_TEXT && b == PD_VALUE_BYTES);
}

// A text that names a value of the other side becomes that value.
static enum pd_status name_value(struct parser *p, struct piece of, struct piece piece)
{
	const struct pd_filter_operand *operand = operand_of(p, of);
	struct pd_filter_operand *constant = operand_of(p, piece);
	struct pd_token token = { .kind = PD_TOKEN_TEXT, .at = constant->at, .length = constant->length };
	uint64_t number;

	if (!is_constant(p, piece) || constant->kind != PD_VALUE_TEXT || operand->kind != PD_VALUE_NUMBER ||
	    (!operand->names && operand->from != PD_FROM_TYPE))
		return PD_OK;
	if (!pd_filter_constant(operand, constant->value.text, constant->value.size, &number))
		return pd_filter_no_constant(p->filter, operand, &token, p->error);
	constant->kind = PD_VALUE_NUMBER;
	constant->value = (struct pd_filter_value){ .number = number, .real = (double)number };
	return PD_OK;
}

static enum pd_status check_sides(struct parser *p, struct piece left, struct piece right)
{
	const struct pd_filter_operand *a = operand_of(p, left), *b = operand_of(p, right);
	const char *text = p->filter->text;

	if (go_together(a->kind, b->kind))
		return PD_OK;
	return pd_filter_fail(p->error, right.at, "%.*s is %s, %.*s is %s", (int)a->length, text + a->at,
			      kind_name(a->kind), (int)b->length, text + b->at, kind_name(b->kind));
}

// The value on the right of an operator.
static enum pd_status parse_right(struct parser *p, struct piece left, struct piece *right)
{
	struct pd_filter_operand other = *operand_of(p, left);
	const struct pd_filter_operand *before = p->other;
	enum pd_status status;

	p->other = &other;
	status = parse_value(p, right);
	p->other = before;
	if (status < 0)
		return status;
	if (!right->is_value)
		return pd_filter_fail(p->error, right->at, "expected a value, not a condition");
	status = name_value(p, left, *right);
	if (status >= 0)
		status = name_value(p, *right, left);
	return status < 0 ? status : check_sides(p, left, *right);
}

static enum pd_status parse_list(struct parser *p, struct piece left, struct piece *out)
{
	struct pd_filter_test test = { .op = PD_TEST_IN, .left = left.index };
	enum pd_status status = advance(p);
	struct piece item;

	if (status >= 0)
		status = expect_token(p, "(");
	do {
		if (status >= 0 && test.count)
			status = advance(p);
		if (status >= 0)
			status = parse_right(p, left, &item);
		if (status < 0)
			return status;
		if (!is_constant(p, item))
			return pd_filter_fail(p->error, item.at, "a list can contain only constants");
		if (!test.count++)
			test.right = item.index;
		// what was joined by | has left operands behind
		p->filter->operands[test.right + test.count - 1] = *operand_of(p, item);
		p->filter->operand_count = (size_t)test.right + test.count;
	} while (is_sign(p, ","));
	status = expect_token(p, ")");
	return status < 0 ? status : add_test(p, test, out, left.at);
}

static enum pd_filter_op take_operator(const struct parser *p)
{
	static const struct {
		const char *sign;
		enum pd_filter_op op;
	} operators[] = { { "==", PD_TEST_EQ }, { "!=", PD_TEST_NE }, { "<", PD_TEST_LT },   { "<=", PD_TEST_LE },
			  { ">", PD_TEST_GT },  { ">=", PD_TEST_GE }, { "=~", PD_TEST_GLOB } };

	for (size_t i = 0; i < sizeof(operators) / sizeof(operators[0]); i++)
		if (is_sign(p, operators[i].sign))
			return operators[i].op;
	return PD_TEST_TRUE;
}

static enum pd_status parse_comparison(struct parser *p, struct piece *out)
{
	enum pd_status status = parse_value(p, out);
	struct pd_filter_test test;
	struct piece right;
	size_t at = p->token.at;

	if (status < 0)
		return status;
	test = (struct pd_filter_test){ .op = take_operator(p), .left = out->index };
	if (test.op == PD_TEST_TRUE && !is_sign(p, "in"))
		return PD_OK;
	if (!out->is_value)
		return pd_filter_fail(p->error, out->at, "expected a value, not a condition");
	if (test.op == PD_TEST_TRUE)
		return parse_list(p, *out, out);
	status = advance(p);
	if (status >= 0)
		status = parse_right(p, *out, &right);
	if (status < 0)
		return status;
	test.right = right.index;
	if (test.op == PD_TEST_GLOB && operand_of(p, right)->kind != PD_VALUE_TEXT)
		return pd_filter_fail(p->error, right.at, "expected a string, which may contain * and ?");
	if (test.op >= PD_TEST_LT && test.op <= PD_TEST_GE &&
	    (operand_of(p, right)->kind == PD_VALUE_TEXT || operand_of(p, *out)->kind == PD_VALUE_TEXT))
		return pd_filter_fail(p->error, at, "strings can be compared with ==, != and =~ only");
	if (is_constant(p, *out) && is_constant(p, right))
		return pd_filter_fail(p->error, out->at, "both operands are constants");
	return add_test(p, test, out, out->at);
}

// ---- conditions ----

// A value alone is a condition: it is not 0.
static enum pd_status condition_of(struct parser *p, struct piece *piece)
{
	if (!piece->is_value)
		return PD_OK;
	if (is_constant(p, *piece))
		return pd_filter_fail(p->error, piece->at, "a constant is not a condition");
	return add_test(p, (struct pd_filter_test){ .op = PD_TEST_TRUE, .left = piece->index }, piece, piece->at);
}

static enum pd_status parse_single(struct parser *p, struct piece *out)
{
	size_t at = p->token.at;
	bool not = false;
	enum pd_status status = PD_OK;

	while (status >= 0 && is_sign(p, "!")) {
		not = !not ;
		status = advance(p);
	}
	if (status >= 0)
		status = parse_comparison(p, out);
	if (status < 0 || !not )
		return status;
	status = condition_of(p, out);
	return status < 0 ? status : add_node(p, (struct node){ .kind = NODE_NOT, .left = out->index }, out, at);
}

typedef enum pd_status parse_fn(struct parser *p, struct piece *out);

// Conditions with one operator between them.
static enum pd_status parse_row(struct parser *p, const char *sign, enum node_kind kind, parse_fn *inner,
				struct piece *out)
{
	enum pd_status status = inner(p, out);
	struct piece right;

	while (status >= 0 && is_sign(p, sign)) {
		status = condition_of(p, out);
		if (status >= 0)
			status = advance(p);
		if (status >= 0)
			status = inner(p, &right);
		if (status >= 0)
			status = condition_of(p, &right);
		if (status >= 0)
			status = add_node(p, (struct node){ .kind = kind, .left = out->index, .right = right.index },
					  out, out->at);
	}
	return status;
}

static enum pd_status parse_all(struct parser *p, struct piece *out)
{
	return parse_row(p, "&&", NODE_AND, parse_single, out);
}

static enum pd_status parse_any(struct parser *p, struct piece *out)
{
	return parse_row(p, "||", NODE_OR, parse_all, out);
}

// ---- linking ----

// Rows lean to the left, so that there may be many: the left side is what the loop goes on with.
static uint16_t first_test(const struct parser *p, uint16_t index)
{
	while (p->nodes[index].kind != NODE_TEST)
		index = p->nodes[index].left;
	return p->nodes[index].test;
}

// The right sides are no deeper than there are brackets.
static void link_tests(struct parser *p, uint16_t index, uint16_t yes, uint16_t no)
{
	for (;;) {
		const struct node *node = &p->nodes[index];
		uint16_t next, swap;

		switch (node->kind) {
		case NODE_TEST:
			p->filter->tests[node->test].yes = yes;
			p->filter->tests[node->test].no = no;
			return;
		case NODE_NOT:
			swap = yes;
			yes = no;
			no = swap;
			break;
		case NODE_AND:
		case NODE_OR:
			next = first_test(p, node->right);
			link_tests(p, node->right, yes, no);
			yes = node->kind == NODE_AND ? next : yes;
			no = node->kind == NODE_OR ? next : no;
			break;
		}
		index = node->left;
	}
}

static enum pd_status parse(struct parser *p)
{
	struct piece whole;
	enum pd_status status = advance(p);

	if (status >= 0)
		status = parse_any(p, &whole);
	if (status >= 0)
		status = condition_of(p, &whole);
	if (status < 0)
		return status;
	if (p->token.kind != PD_TOKEN_END)
		return pd_filter_fail(p->error, p->token.at, "expected an operator");
	p->filter->start = first_test(p, whole.index);
	link_tests(p, whole.index, PD_FILTER_YES, PD_FILTER_NO);
	return PD_OK;
}

enum pd_status pd_filter_new(const char *text, struct pd_filter **filter_out, struct pd_error *error)
{
	struct pd_filter *filter = pd_alloc(sizeof(*filter));
	struct parser parser = { .filter = filter, .error = error };
	enum pd_status status = PD_OK;

	if (!filter)
		return pd_fail_memory(error);
	if (strlen(text) > PD_FILTER_TEXT_MOST)
		status = pd_filter_fail(error, PD_FILTER_TEXT_MOST, "the condition is too long");
	else if (!(filter->text = pd_arena_text(&filter->arena, text, strlen(text))))
		status = pd_fail_memory(error);
	if (status >= 0)
		status = parse(&parser);
	pd_free(parser.nodes);
	if (status < 0)
		pd_filter_free(filter);
	else
		*filter_out = filter;
	return status;
}

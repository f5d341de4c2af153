/* SPDX-License-Identifier: MIT */
/*
 * Expressions of "print fmt": C, with REC->field and the kernel's functions for flags, arrays and strings. They become
 * trees. What perf does not know makes the whole format fail, as it does there.
 *
 * perf's trees are not always those of C, and its numbers are what people compare with. There a parenthesis only says
 * where a cast is, operators of equal strength group from the right, and what follows a condition is applied to all of it:
 * a & (b | c) is (a & b) | c, and a - b + c is a - (b + c).
 */
#include "trace/trace.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

struct parser {
	struct pd_trace *trace;
	const struct pd_format *format;
	const char *at, *end;
	unsigned nodes; // of the expression, without those of its flags: no path in its tree is longer
};

static bool parse_operand(struct parser *p, struct pd_node *out);
static bool parse_operator(struct parser *p, struct pd_node *top);

// ---- words ----

static bool is_name(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

static char peek(struct parser *p)
{
	p->at = pd_trace_skip_space(p->at, p->end);
	return p->at < p->end ? *p->at : 0;
}

static bool accept_char(struct parser *p, char c)
{
	if (peek(p) != c)
		return false;
	p->at++;
	return true;
}

// Length of the name or number that comes next.
static size_t word_length(struct parser *p)
{
	const char *at;

	peek(p);
	for (at = p->at; at < p->end && is_name(*at); at++)
		;
	return (size_t)(at - p->at);
}

static bool is_word(const char *at, size_t length, const char *word)
{
	return strlen(word) == length && !memcmp(at, word, length);
}

// The end of a string literal that begins at at; NULL if it has none.
static const char *literal_end(const char *at, const char *end)
{
	for (at++; at < end && *at != '"'; at++)
		if (*at == '\\')
			at++;
	return at < end ? at : NULL;
}

char *pd_trace_literal(struct pd_trace *trace, const char **at, const char *end)
{
	char *text = NULL;
	size_t size = 0;

	// strings next to each other are one
	for (;;) {
		const char *start = pd_trace_skip_space(*at, end), *stop;
		char *longer;

		if (start >= end || *start != '"')
			return text;
		stop = literal_end(start, end);
		if (!stop)
			return NULL;
		longer = pd_arena_alloc(&trace->arena, size + (size_t)(stop - start));
		if (!longer)
			return NULL;
		if (size)
			memcpy(longer, text, size);
		memcpy(longer + size, start + 1, (size_t)(stop - start - 1));
		size += (size_t)(stop - start - 1);
		text = longer;
		*at = stop + 1;
	}
}

// ---- nodes ----

static struct pd_node *new_node(struct parser *p, enum pd_node_kind kind)
{
	struct pd_node *node;

	if (p->nodes >= PD_TRACE_NODES)
		return NULL;
	p->nodes++;
	node = pd_arena_alloc(&p->trace->arena, sizeof(*node));
	if (node)
		node->kind = kind;
	return node;
}

// One operand, without operators after it.
static struct pd_node *parse_plain(struct parser *p)
{
	struct pd_node *node = new_node(p, PD_NODE_NONE);

	return node && parse_operand(p, node) ? node : NULL;
}

// True if what comes next is an operator, or something that should be one.
static bool at_operator(struct parser *p)
{
	char next = peek(p);

	return next && !strchr("(),\"'", next) && !is_name(next);
}

static struct pd_node *parse_any(struct parser *p)
{
	struct pd_node *node = parse_plain(p);

	return node && (!at_operator(p) || parse_operator(p, node)) ? node : NULL;
}

// strtoull of a text that has an end.
static uint64_t number_of(const char *text, size_t length)
{
	char copy[32];

	if (length >= sizeof(copy))
		length = sizeof(copy) - 1;
	memcpy(copy, text, length);
	copy[length] = 0;
	return strtoull(copy, NULL, 0);
}

static bool set_atom(struct parser *p, struct pd_node *out, const char *text, size_t length)
{
	out->kind = PD_NODE_ATOM;
	out->text = pd_arena_text(&p->trace->arena, text, length);
	out->number = number_of(text, length);
	return out->text != NULL;
}

// ---- types ----

static uint64_t mask_of_type(const char *type)
{
	static const struct {
		const char *name;
		uint64_t mask;
	} types[] = {
		{ "u8", 0xff },        { "s8", 0xff },        { "char", 0xff },
		{ "u16", 0xffff },     { "s16", 0xffff },     { "short", 0xffff },
		{ "u32", 0xffffffff }, { "s32", 0xffffffff }, { "int", 0xffffffff },
	};

	if (strncmp(type, "unsigned ", 9) == 0)
		type += 9;
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (strcmp(types[i].name, type) == 0)
			return types[i].mask;
	return UINT64_MAX;
}

// The words of a type in parentheses, with one space between them; false if it is something else.
static bool read_type(struct parser *p, char *type, size_t size)
{
	const char *start = p->at;
	size_t used = 0, words = 0;

	for (;;) {
		size_t length = word_length(p);

		if (length && !isdigit((unsigned char)*p->at) && !is_word(p->at, length, "REC")) {
			words++;
		} else if (peek(p) == '*' && words && type[used - 1] != '*') {
			length = 1;
		} else {
			break;
		}
		if (used + length + 2 > size)
			break;
		if (used)
			type[used++] = ' ';
		memcpy(type + used, p->at, length);
		used += length;
		p->at += length;
	}
	type[used] = 0;
	if (words && peek(p) == ')') {
		p->at++;
		return true;
	}
	p->at = start;
	return false;
}

// True if what follows ")" makes what was inside a type.
static bool is_cast(struct parser *p)
{
	char next = peek(p);

	return next == '(' || next == '"' || next == '\'' || is_name(next);
}

static bool parse_cast(struct parser *p, struct pd_node *out, char *type)
{
	size_t length = strlen(type);

	out->kind = PD_NODE_CAST;
	out->op = length > 2 && type[length - 1] == '*';
	// of a pointer: what it points to is only used by brackets
	if (out->op)
		type[length - 2] = 0;
	out->number = mask_of_type(type);
	out->a = parse_plain(p);
	return out->a != NULL;
}

static bool parse_parentheses(struct parser *p, struct pd_node *out)
{
	const char *start = p->at;
	char type[64];

	if (read_type(p, type, sizeof(type)) && is_cast(p))
		return parse_cast(p, out, type);
	p->at = start;
	return parse_operand(p, out) && (!at_operator(p) || parse_operator(p, out)) && accept_char(p, ')');
}

// ---- functions ----

// What flags are called in formats of old kernels.
static int64_t named_constant(const char *name)
{
	static const struct {
		const char *name;
		int64_t value;
	} names[] = {
		{ "HI_SOFTIRQ", 0 },      { "TIMER_SOFTIRQ", 1 },     { "NET_TX_SOFTIRQ", 2 },
		{ "NET_RX_SOFTIRQ", 3 },  { "BLOCK_SOFTIRQ", 4 },     { "IRQ_POLL_SOFTIRQ", 5 },
		{ "TASKLET_SOFTIRQ", 6 }, { "SCHED_SOFTIRQ", 7 },     { "HRTIMER_SOFTIRQ", 8 },
		{ "RCU_SOFTIRQ", 9 },     { "HRTIMER_NORESTART", 0 }, { "HRTIMER_RESTART", 1 },
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(names[i].name, name) == 0)
			return names[i].value;
	return -1;
}

// The number that an expression without fields is; names in it are 0.
static int64_t constant(const struct pd_node *node, bool *known)
{
	int64_t a, b;

	*known = true;
	if (node->kind == PD_NODE_CAST)
		return constant(node->a, known);
	if (node->kind == PD_NODE_ATOM)
		return (int64_t)node->number;
	*known = node->kind == PD_NODE_OP && node->op != '?' && node->op != '[';
	a = *known && node->a->kind != PD_NODE_NONE ? constant(node->a, known) : 0;
	b = *known ? constant(node->b, known) : 0;
	if (!*known)
		return -1;
	switch (node->op) {
	case '|':
		return a | b;
	case '&':
		return a & b;
	case '^':
		return a ^ b;
	case '~':
		return ~b;
	case '!':
		return !b;
	case '+':
		return (int64_t)((uint64_t)a + (uint64_t)b);
	case '-':
		return (int64_t)((uint64_t)a - (uint64_t)b);
	case '*':
		return (int64_t)((uint64_t)a * (uint64_t)b);
	case '<' | PD_OP_TWICE:
		return (int64_t)((uint64_t)a << (b & 63));
	case '>' | PD_OP_TWICE:
		return a >> (b & 63);
	}
	*known = false;
	return -1;
}

// The value of a flag: a number, or -1.
static int64_t flag_value(const struct pd_node *node)
{
	bool known;
	int64_t value;

	while (node->kind == PD_NODE_CAST)
		node = node->a;
	if (node->kind == PD_NODE_ATOM && !isdigit((unsigned char)node->text[0]))
		return named_constant(node->text);
	value = constant(node, &known);
	return known && (value >= 0 || node->kind == PD_NODE_ATOM) ? value : -1;
}

// {value, "text"}, ... up to the closing parenthesis.
static bool parse_choices(struct parser *p, struct pd_node *out)
{
	struct pd_choice_of_value **last = &out->choices;
	unsigned nodes = p->nodes;

	for (; accept_char(p, ','); p->nodes = nodes) {
		struct pd_choice_of_value *choice = pd_arena_alloc(&p->trace->arena, sizeof(*choice));
		const struct pd_node *value;

		if (!choice)
			return false;
		if (peek(p) == ')')
			break;
		if (!accept_char(p, '{') || !(value = parse_any(p)) || !accept_char(p, ','))
			return false;
		choice->value = flag_value(value);
		value = parse_plain(p);
		if (!value || !accept_char(p, '}'))
			return false;
		choice->text = value->kind == PD_NODE_ATOM ? value->text : "";
		*last = choice;
		last = &choice->next;
	}
	p->nodes = nodes;
	return accept_char(p, ')');
}

static bool parse_flags(struct parser *p, struct pd_node *out)
{
	out->a = parse_any(p);
	if (!out->a)
		return false;
	if (out->kind == PD_NODE_FLAGS) {
		if (!accept_char(p, ','))
			return false;
		if (peek(p) != '"')
			return parse_plain(p) && parse_choices(p, out);
		out->text = pd_trace_literal(p->trace, &p->at, p->end);
		if (!out->text)
			return false;
	}
	return parse_choices(p, out);
}

// __get_str(name) and the like.
static bool parse_named(struct parser *p, struct pd_node *out)
{
	size_t length = word_length(p);

	out->member = pd_trace_find_member(p->format, p->at, length);
	p->at += length;
	if (!length || !accept_char(p, ')'))
		return false;
	return out->member || (out->kind != PD_NODE_DYNAMIC && out->kind != PD_NODE_DYNAMIC_LENGTH);
}

// Items, how many, and their size; perf allows no operators there.
static bool parse_array(struct parser *p, struct pd_node *out)
{
	out->a = parse_plain(p);
	out->b = out->a && accept_char(p, ',') ? parse_plain(p) : NULL;
	if (!out->b)
		return false;
	if (out->kind == PD_NODE_INT_ARRAY) {
		out->c = accept_char(p, ',') ? parse_plain(p) : NULL;
		if (!out->c)
			return false;
	}
	return accept_char(p, ')');
}

// __builtin_expect(value, what): the value.
static bool parse_expected(struct parser *p, struct pd_node *out)
{
	return parse_operand(p, out) && (!at_operator(p) || parse_operator(p, out)) && accept_char(p, ',') &&
	       parse_any(p) && accept_char(p, ')');
}

static bool parse_sizeof(struct parser *p, struct pd_node *out)
{
	static const struct {
		const char *type;
		char size;
	} types[] = { { "__u64", '8' }, { "u64", '8' },   { "__u32", '4' }, { "u32", '4' },
		      { "__u16", '2' }, { "u16", '2' },   { "__u8", '1' },  { "u8", '1' },
		      { "int", '4' },   { "short", '2' }, { "char", '1' } };
	size_t length = word_length(p);
	char size = is_word(p->at, length, "long") ? (p->trace->long_size == 8 ? '8' : '4') : 0;

	if (is_word(p->at, length, "REC")) {
		if (!parse_operand(p, out) || out->kind != PD_NODE_FIELD || !accept_char(p, ')'))
			return false;
		out->number = out->member->field.size;
		out->kind = PD_NODE_ATOM;
		out->text = "";
		return true;
	}
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (is_word(p->at, length, types[i].type))
			size = types[i].size;
	p->at += length;
	return size && set_atom(p, out, &size, 1) && accept_char(p, ')');
}

static const struct {
	const char *name;
	bool (*parse)(struct parser *p, struct pd_node *out);
	enum pd_node_kind kind;
} functions[] = {
	{ "__print_flags", parse_flags, PD_NODE_FLAGS },
	{ "__print_symbolic", parse_flags, PD_NODE_SYMBOL },
	{ "__print_hex", parse_array, PD_NODE_HEX },
	{ "__print_hex_str", parse_array, PD_NODE_HEX_STRING },
	{ "__print_array", parse_array, PD_NODE_INT_ARRAY },
	{ "__get_str", parse_named, PD_NODE_STRING },
	{ "__get_rel_str", parse_named, PD_NODE_STRING },
	{ "__get_bitmask", parse_named, PD_NODE_BITMASK },
	{ "__get_rel_bitmask", parse_named, PD_NODE_BITMASK },
	{ "__get_dynamic_array", parse_named, PD_NODE_DYNAMIC },
	{ "__get_rel_dynamic_array", parse_named, PD_NODE_DYNAMIC },
	{ "__get_dynamic_array_len", parse_named, PD_NODE_DYNAMIC_LENGTH },
	{ "__get_rel_dynamic_array_len", parse_named, PD_NODE_DYNAMIC_LENGTH },
	{ "__builtin_expect", parse_expected, PD_NODE_NONE },
	{ "sizeof", parse_sizeof, PD_NODE_NONE },
};

static bool parse_function(struct parser *p, struct pd_node *out, const char *name, size_t length)
{
	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		if (!is_word(name, length, functions[i].name))
			continue;
		out->kind = functions[i].kind;
		return functions[i].parse(p, out);
	}
	return false;
}

// ---- operands ----

// REC->name: the arrow and the name are still to come.
static bool parse_field(struct parser *p, struct pd_node *out)
{
	size_t length;

	if (!accept_char(p, '-') || p->at >= p->end || *p->at++ != '>')
		return false;
	length = word_length(p);
	out->kind = PD_NODE_FIELD;
	out->member = length ? pd_trace_find_member(p->format, p->at, length) : NULL;
	p->at += length;
	return out->member != NULL;
}

static bool parse_character(struct parser *p, struct pd_node *out)
{
	const char *start = ++p->at;

	while (p->at < p->end && *p->at != '\'')
		p->at += *p->at == '\\' ? 2 : 1;
	if (p->at >= p->end)
		return false;
	p->at++;
	return set_atom(p, out, start, (size_t)(p->at - 1 - start));
}

static bool parse_text(struct parser *p, struct pd_node *out)
{
	char *text = pd_trace_literal(p->trace, &p->at, p->end);

	if (!text)
		return false;
	out->kind = PD_NODE_ATOM;
	out->text = text;
	out->number = number_of(text, strlen(text));
	return true;
}

// - ! ~ and the operand after it.
static bool parse_single(struct parser *p, struct pd_node *out)
{
	char op = *p->at++;

	// -- and ++ are operators of their own, which perf does not know
	if (!strchr("!~-+", op) || (strchr("-+", op) && p->at < p->end && *p->at == op))
		return false;
	out->kind = PD_NODE_OP;
	out->op = (unsigned char)op;
	out->a = new_node(p, PD_NODE_NONE);
	out->b = out->a ? parse_plain(p) : NULL;
	return out->b && (!at_operator(p) || peek(p) == ':' || parse_operator(p, out));
}

static bool parse_operand(struct parser *p, struct pd_node *out)
{
	char next = peek(p);
	const char *name = p->at;
	size_t length = word_length(p);

	if (next == '"')
		return parse_text(p, out);
	if (next == '\'')
		return parse_character(p, out);
	if (next == '(')
		return p->at++, parse_parentheses(p, out);
	if (!length)
		return next && parse_single(p, out);
	p->at += length;
	if (is_word(name, length, "REC"))
		return parse_field(p, out);
	if (accept_char(p, '('))
		return parse_function(p, out, name, length);
	// several words are one name
	while ((length = word_length(p)) != 0)
		p->at += length;
	for (length = (size_t)(p->at - name); length && isspace((unsigned char)name[length - 1]); length--)
		;
	return set_atom(p, out, name, length);
}

// ---- operators ----

// The operator that comes next and its length; 0 if it is none with two sides.
static unsigned peek_operator(struct parser *p, size_t *length_out)
{
	char next = peek(p), second = p->end - p->at > 1 ? p->at[1] : 0;

	*length_out = 2;
	if (second == '=' && next && strchr("<>=!", next))
		return (unsigned char)next | PD_OP_EQUAL;
	if (second == next && next && strchr("|&<>", next))
		return (unsigned char)next | PD_OP_TWICE;
	*length_out = 1;
	return next && strchr("|^&<>+-*/%?[", next) ? (unsigned char)next : 0;
}

// How far from its operands an operator stands; 255 if it is none.
static unsigned distance(unsigned op)
{
	static const struct {
		unsigned op, distance;
	} table[] = {
		{ '*', 6 },
		{ '/', 6 },
		{ '%', 6 },
		{ '+', 7 },
		{ '-', 7 },
		{ '<' | PD_OP_TWICE, 8 },
		{ '>' | PD_OP_TWICE, 8 },
		{ '<', 9 },
		{ '>', 9 },
		{ '<' | PD_OP_EQUAL, 9 },
		{ '>' | PD_OP_EQUAL, 9 },
		{ '=' | PD_OP_EQUAL, 10 },
		{ '!' | PD_OP_EQUAL, 10 },
		{ '&', 11 },
		{ '^', 12 },
		{ '|', 13 },
		{ '&' | PD_OP_TWICE, 14 },
		{ '|' | PD_OP_TWICE, 15 },
		{ '?', 16 },
		{ '~', 4 },
		{ '!', 4 },
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		if (table[i].op == op)
			return table[i].distance;
	return 255;
}

// What was in top becomes its left side.
static bool put_operator(struct parser *p, struct pd_node *top, unsigned op)
{
	struct pd_node *left = new_node(p, PD_NODE_NONE);

	if (!left)
		return false;
	*left = *top;
	*top = (struct pd_node){ .kind = PD_NODE_OP, .op = op, .a = left };
	return true;
}

static bool parse_question(struct parser *p, struct pd_node *top)
{
	top->b = parse_plain(p);
	while (top->b && at_operator(p) && peek(p) != ':')
		if (!parse_operator(p, top->b))
			return false;
	top->c = top->b && accept_char(p, ':') ? parse_plain(p) : NULL;
	return top->c != NULL;
}

// The right side. If its own operator binds less it takes the place of top. *last_out is the lower one of the two.
static bool parse_right(struct parser *p, struct pd_node *top, struct pd_node **last_out)
{
	struct pd_node *right = parse_plain(p);

	*last_out = right;
	if (!right)
		return false;
	if (right->kind == PD_NODE_OP && distance(top->op) < distance(right->op) && right->op != '[') {
		struct pd_node upper = *right;

		top->b = right->a;
		*right = *top;
		*top = upper;
		top->a = right;
	} else {
		top->b = right;
	}
	return true;
}

// Takes the operator that comes next, and those after it. top is its left side and becomes the whole.
static bool parse_operator(struct parser *p, struct pd_node *top)
{
	struct pd_node *last = top;
	unsigned reach, next;
	size_t length;
	unsigned op = peek_operator(p, &length);

	if (!op || !put_operator(p, top, op))
		return false;
	p->at += length;
	if (op == '?') {
		reach = 0;
		if (!parse_question(p, top))
			return false;
	} else if (op == '[') {
		reach = 0;
		top->b = parse_plain(p);
		if (!top->b || !accept_char(p, ']'))
			return false;
	} else {
		if (!parse_right(p, top, &last))
			return false;
		reach = top->a->kind == PD_NODE_NONE ? 0 : distance(top->op);
	}
	if (!at_operator(p) || peek(p) == ':')
		return true;
	next = peek_operator(p, &length);
	return parse_operator(p, distance(next) > reach ? top : last);
}

struct pd_node *pd_trace_expression(struct pd_trace *trace, const struct pd_format *format, const char **at,
				    const char *end)
{
	struct parser p = { .trace = trace, .format = format, .at = *at, .end = end };
	struct pd_node *node = parse_any(&p);

	*at = p.at;
	return node;
}

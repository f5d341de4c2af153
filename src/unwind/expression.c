/* SPDX-License-Identifier: MIT */
/* Source: DWARF 5, 2.5, as far as expressions of unwind rules may go. */
#include "unwind/expression.h"

#include "object/dwarf/dwarf.h"

enum {
	STACK_MOST = 64,
	STEPS_MOST = 1000,
	OP_ADDR = 0x03,
	OP_DEREF = 0x06,
	OP_CONST1U = 0x08,
	OP_CONSTS = 0x11,
	OP_DUP = 0x12,
	OP_ROT = 0x17,
	OP_ABS = 0x19,
	OP_NEG = 0x1f,
	OP_NOT = 0x20,
	OP_PLUS_UCONST = 0x23,
	OP_BRA = 0x28,
	OP_EQ = 0x29,
	OP_NE = 0x2e,
	OP_SKIP = 0x2f,
	OP_LIT0 = 0x30,
	OP_LIT31 = 0x4f,
	OP_BREG0 = 0x70,
	OP_BREG31 = 0x8f,
	OP_BREGX = 0x92,
	OP_DEREF_SIZE = 0x94,
	OP_NOP = 0x96,
	OP_CALL_FRAME_CFA = 0x9c
};

struct machine {
	const struct pd_evaluation *evaluation;
	struct pd_cursor c;
	uint64_t stack[STACK_MOST];
	size_t count;
	bool failed;
};

static uint64_t as_word(const struct machine *m, uint64_t value)
{
	return m->evaluation->memory->word == 4 ? (uint32_t)value : value;
}

static void push(struct machine *m, uint64_t value)
{
	if (m->count == STACK_MOST)
		m->failed = true;
	else
		m->stack[m->count++] = as_word(m, value);
}

static uint64_t pop(struct machine *m)
{
	if (m->count)
		return m->stack[--m->count];
	m->failed = true;
	return 0;
}

static void pick(struct machine *m, size_t depth)
{
	if (depth < m->count)
		push(m, m->stack[m->count - 1 - depth]);
	else
		m->failed = true;
}

static void push_register(struct machine *m, uint64_t number, uint64_t offset)
{
	const struct pd_unwind_registers *registers = m->evaluation->registers;

	if (number < 64 && registers->known >> number & 1)
		push(m, registers->values[number] + offset);
	else
		m->failed = true;
}

static void dereference(struct machine *m, unsigned size)
{
	uint64_t value;

	if (!m->failed && pd_unwind_read_any(m->evaluation->memory, pop(m), size, &value))
		push(m, value);
	else
		m->failed = true;
}

static void push_constant(struct machine *m, unsigned op)
{
	struct pd_cursor *c = &m->c;

	switch (op) {
	case OP_CONST1U:
		push(m, pd_cursor_u8(c));
		return;
	case 0x09:
		push(m, (uint64_t)(int8_t)pd_cursor_u8(c));
		return;
	case 0x0a:
		push(m, pd_cursor_u16(c));
		return;
	case 0x0b:
		push(m, (uint64_t)(int16_t)pd_cursor_u16(c));
		return;
	case 0x0c:
		push(m, pd_cursor_u32(c));
		return;
	case 0x0d:
		push(m, (uint64_t)pd_cursor_s32(c));
		return;
	case 0x0e:
	case 0x0f:
		push(m, pd_cursor_u64(c));
		return;
	case 0x10:
		push(m, pd_dwarf_uleb(c));
		return;
	default:
		push(m, (uint64_t)pd_dwarf_sleb(c));
	}
}

static void rearrange(struct machine *m, unsigned op)
{
	uint64_t *top = m->stack + m->count, value;

	switch (op) {
	case OP_DUP:
		pick(m, 0);
		return;
	case 0x13: // drop
		pop(m);
		return;
	case 0x14: // over
		pick(m, 1);
		return;
	case 0x15: // pick
		pick(m, pd_cursor_u8(&m->c));
		return;
	case 0x16: // swap
	case OP_ROT:
		if (m->count < (op == OP_ROT ? 3u : 2u)) {
			m->failed = true;
			return;
		}
		value = top[-1];
		top[-1] = top[-2];
		top[-2] = op == OP_ROT ? top[-3] : value;
		if (op == OP_ROT)
			top[-3] = value;
		return;
	default:
		m->failed = true;
	}
}

// Words of 4 bytes are compared with their signs.
static int64_t signed_of(const struct machine *m, uint64_t value)
{
	return m->evaluation->memory->word == 4 ? (int32_t)value : (int64_t)value;
}

static uint64_t divide(struct machine *m, uint64_t a, uint64_t b, bool modulo)
{
	int64_t x = signed_of(m, a), y = signed_of(m, b);

	if (!b || (!modulo && y == -1 && x == INT64_MIN)) {
		m->failed = true;
		return 0;
	}
	return modulo ? a % b : (uint64_t)(x / y);
}

static uint64_t compare(const struct machine *m, unsigned op, uint64_t a, uint64_t b)
{
	int64_t x = signed_of(m, a), y = signed_of(m, b);

	switch (op) {
	case OP_EQ:
		return x == y;
	case 0x2a:
		return x >= y;
	case 0x2b:
		return x > y;
	case 0x2c:
		return x <= y;
	case 0x2d:
		return x < y;
	default:
		return x != y;
	}
}

static uint64_t shift_right(const struct machine *m, uint64_t a, uint64_t by)
{
	int64_t x = signed_of(m, a);

	if (by > 63)
		by = 63;
	// not every compiler keeps the sign
	return x < 0 ? ~(~(uint64_t)x >> by) : (uint64_t)x >> by;
}

static uint64_t combine(struct machine *m, unsigned op, uint64_t a, uint64_t b)
{
	switch (op) {
	case 0x1a:
		return a & b;
	case 0x1b:
		return divide(m, a, b, false);
	case 0x1c:
		return a - b;
	case 0x1d:
		return divide(m, a, b, true);
	case 0x1e:
		return a * b;
	case 0x21:
		return a | b;
	case 0x22:
		return a + b;
	case 0x24:
		return b > 63 ? 0 : a << b;
	case 0x25:
		return b > 63 ? 0 : a >> b;
	case 0x26:
		return shift_right(m, a, b);
	case 0x27:
		return a ^ b;
	default:
		if (op >= OP_EQ && op <= OP_NE)
			return compare(m, op, a, b);
		m->failed = true;
		return 0;
	}
}

static void calculate(struct machine *m, unsigned op)
{
	uint64_t b = pop(m), a;

	if (op == OP_ABS) {
		push(m, signed_of(m, b) < 0 ? 0 - b : b);
	} else if (op == OP_NEG) {
		push(m, 0 - b);
	} else if (op == OP_NOT) {
		push(m, ~b);
	} else if (op == OP_PLUS_UCONST) {
		push(m, b + pd_dwarf_uleb(&m->c));
	} else {
		a = pop(m);
		push(m, combine(m, op, a, b));
	}
}

static void jump(struct machine *m, bool taken)
{
	int16_t by = (int16_t)pd_cursor_u16(&m->c);
	const uint8_t *at = m->c.at;

	if (m->c.failed || !taken)
		return;
	if (by < m->c.start - at || by > m->c.end - at)
		m->failed = true;
	else
		m->c.at = at + by;
}

static void step(struct machine *m)
{
	const struct pd_evaluation *e = m->evaluation;
	unsigned op = pd_cursor_u8(&m->c);
	uint64_t number;

	if (op >= OP_LIT0 && op <= OP_LIT31) {
		push(m, op - OP_LIT0);
	} else if (op >= OP_BREG0 && op <= OP_BREG31) {
		push_register(m, op - OP_BREG0, (uint64_t)pd_dwarf_sleb(&m->c));
	} else if (op >= OP_CONST1U && op <= OP_CONSTS) {
		push_constant(m, op);
	} else if (op >= OP_DUP && op <= OP_ROT) {
		rearrange(m, op);
	} else if (op == OP_BRA || op == OP_SKIP) {
		jump(m, op == OP_SKIP || pop(m));
	} else if (op >= OP_ABS && op <= OP_NE) {
		calculate(m, op);
	} else if (op == OP_ADDR) {
		push(m, e->memory->word == 8 ? pd_cursor_u64(&m->c) : pd_cursor_u32(&m->c));
	} else if (op == OP_DEREF) {
		dereference(m, e->memory->word);
	} else if (op == OP_DEREF_SIZE) {
		dereference(m, pd_cursor_u8(&m->c));
	} else if (op == OP_BREGX) {
		number = pd_dwarf_uleb(&m->c);
		push_register(m, number, (uint64_t)pd_dwarf_sleb(&m->c));
	} else if (op == OP_CALL_FRAME_CFA && e->has_cfa) {
		push(m, e->cfa);
	} else if (op != OP_NOP) {
		m->failed = true;
	}
}

bool pd_unwind_evaluate(const struct pd_evaluation *evaluation, struct pd_bytes expression, uint64_t *value_out)
{
	struct machine m = { .evaluation = evaluation };
	unsigned own = STEPS_MOST, *left = evaluation->steps_left ? evaluation->steps_left : &own;

	m.c = pd_cursor(expression.data, expression.size, evaluation->big);
	if (evaluation->has_cfa)
		push(&m, evaluation->cfa);
	for (unsigned i = 0; i < STEPS_MOST && *left && !m.failed && !m.c.failed && pd_cursor_left(&m.c); i++) {
		(*left)--;
		step(&m);
	}
	if (m.failed || m.c.failed || pd_cursor_left(&m.c) || !m.count)
		return false;
	*value_out = pop(&m);
	return true;
}

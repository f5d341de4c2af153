/* SPDX-License-Identifier: MIT */
/* Instructions of call frame information, and rows of what they say. */
#include "object/dwarf/dwarf.h"
#include "unwind/rules/cfi.h"

enum {
	EXPRESSION_MOST = 4096,
	CFA_ADVANCE = 0x40,
	CFA_OFFSET = 0x80,
	CFA_RESTORE = 0xc0
};

// ---- rows ----

uint32_t pd_cfi_rule(struct pd_cfi_run *run, const struct pd_cfi_state *state)
{
	struct pd_cfi_compiler *compiler = run->compiler;
	uint8_t ra = pd_unwind_register(compiler->arch, run->common->ra);
	uint64_t words[1 + PD_UNWIND_REGISTERS];
	struct pd_unwind_rule rule = {
		.cfa = (int32_t)state->cfa,
		.kind = state->kind,
		.cfa_register = state->cfa_register,
		.ra = ra,
		.is_signal = run->common->is_signal,
	};
	size_t count = 1;
	uint32_t number;

	if (state->kind == PD_CFA_NONE || ra == PD_UNWIND_NO_REGISTER ||
	    compiler->table->rule_count >= compiler->words_most)
		return 0;
	for (uint64_t left = state->set; left; left &= left - 1) {
		unsigned i = (unsigned)__builtin_ctzll(left);
		struct pd_saved saved = { .number = (uint8_t)i,
					  .kind = state->registers[i].kind,
					  .value = state->registers[i].value };

		memcpy(&words[count++], &saved, sizeof(saved));
	}
	rule.count = (uint8_t)(count - 1) & 0x7f;
	memcpy(words, &rule, sizeof(rule));
	number = pd_unwind_table_rule(compiler->table, words, count);
	compiler->out_of_memory |= !number;
	return number;
}

static void put_row(struct pd_cfi_run *run)
{
	uint32_t number = pd_cfi_rule(run, &run->state);

	run->changed = false;
	if (!pd_unwind_table_add(run->compiler->table, run->at, number))
		run->compiler->out_of_memory = true;
}

static void advance(struct pd_cfi_run *run, uint64_t delta)
{
	uint64_t by;

	if (run->is_common || __builtin_mul_overflow(delta, run->common->code_align, &by) || by > run->end - run->at) {
		run->stopped = true;
		return;
	}
	if (by && run->changed)
		put_row(run);
	run->at += by;
	// what follows the end of the function is not run
	run->stopped |= run->at == run->end;
}

static void set_location(struct pd_cfi_run *run, struct pd_cursor *c)
{
	uint64_t addr;

	if (!pd_cfi_address(run->compiler->section, c, run->common->encoding, &addr) || addr < run->at ||
	    run->is_common || addr > run->end) {
		run->stopped = true;
		return;
	}
	if (addr > run->at && run->changed)
		put_row(run);
	run->at = addr;
	run->stopped |= run->at == run->end;
}

// ---- rules ----

static void set_register(struct pd_cfi_run *run, uint64_t number, unsigned kind, int64_t value)
{
	uint8_t i = pd_unwind_register(run->compiler->arch, number);

	if (i == PD_UNWIND_NO_REGISTER)
		return;
	if (value != (int32_t)value) {
		kind = PD_SAVED_UNDEFINED;
		value = 0;
	}
	run->state.registers[i] = (struct pd_cfi_register){ (uint8_t)kind, (int32_t)value };
	run->state.set |= UINT64_C(1) << i;
	run->changed = true;
}

static void forget_register(struct pd_cfi_run *run, uint64_t number)
{
	uint8_t i = pd_unwind_register(run->compiler->arch, number);

	if (i == PD_UNWIND_NO_REGISTER)
		return;
	run->state.set &= ~(UINT64_C(1) << i);
	run->changed = true;
}

static void restore_register(struct pd_cfi_run *run, uint64_t number)
{
	uint8_t i = pd_unwind_register(run->compiler->arch, number);
	const struct pd_cfi_state *initial = &run->common->initial;

	if (i == PD_UNWIND_NO_REGISTER)
		return;
	if (!run->is_common && initial->set >> i & 1) {
		run->state.registers[i] = initial->registers[i];
		run->state.set |= UINT64_C(1) << i;
		run->changed = true;
	} else {
		forget_register(run, number);
	}
}

static int64_t factored(const struct pd_cfi_run *run, int64_t value)
{
	return (int64_t)((uint64_t)value * (uint64_t)run->common->data_align);
}

static void set_cfa(struct pd_cfi_run *run, uint64_t number, int64_t offset)
{
	uint8_t i = pd_unwind_register(run->compiler->arch, number);

	run->state.kind = i == PD_UNWIND_NO_REGISTER || offset != (int32_t)offset ? PD_CFA_NONE : PD_CFA_REGISTER;
	run->state.cfa_register = i;
	run->state.cfa = offset;
	run->changed = true;
}

static void set_cfa_offset(struct pd_cfi_run *run, int64_t offset)
{
	if (run->state.kind == PD_CFA_REGISTER)
		set_cfa(run,
			run->state.cfa_register == PD_UNWIND_EXTRA ? run->compiler->arch->extra :
								     run->state.cfa_register,
			offset);
	else
		run->stopped = true;
}

static bool take_expression(struct pd_cfi_run *run, struct pd_cursor *c, int32_t *number_out)
{
	uint64_t size = pd_dwarf_uleb(c);
	const uint8_t *data = pd_cursor_take(c, size);

	if (!data || size > EXPRESSION_MOST) {
		run->stopped = true;
		return false;
	}
	if (pd_unwind_table_expression(run->compiler->table, data, (size_t)size, number_out))
		return true;
	run->compiler->out_of_memory = true;
	return false;
}

static void set_cfa_expression(struct pd_cfi_run *run, struct pd_cursor *c)
{
	int32_t number;

	if (!take_expression(run, c, &number))
		return;
	run->state.kind = PD_CFA_EXPRESSION;
	run->state.cfa = number;
	run->changed = true;
}

static void set_expression(struct pd_cfi_run *run, struct pd_cursor *c, unsigned kind)
{
	uint64_t number = pd_dwarf_uleb(c);
	int32_t expression;

	if (take_expression(run, c, &expression))
		set_register(run, number, kind, expression);
}

static void set_from_register(struct pd_cfi_run *run, struct pd_cursor *c)
{
	uint64_t number = pd_dwarf_uleb(c);
	uint8_t from = pd_unwind_register(run->compiler->arch, pd_dwarf_uleb(c));

	if (from == PD_UNWIND_NO_REGISTER)
		set_register(run, number, PD_SAVED_UNDEFINED, 0);
	else
		set_register(run, number, PD_SAVED_REGISTER, from);
}

static void remember(struct pd_cfi_run *run)
{
	if (run->remembered_count == PD_CFI_REMEMBERED_MOST)
		run->stopped = true;
	else
		run->remembered[run->remembered_count++] = run->state;
}

static void restore_state(struct pd_cfi_run *run)
{
	if (!run->remembered_count) {
		run->stopped = true;
		return;
	}
	run->state = run->remembered[--run->remembered_count];
	run->changed = true;
}

// ---- instructions ----

static void execute_cfa(struct pd_cfi_run *run, struct pd_cursor *c, unsigned op)
{
	uint64_t number;

	switch (op) {
	case 0x0c: // def_cfa
		number = pd_dwarf_uleb(c);
		set_cfa(run, number, (int64_t)pd_dwarf_uleb(c));
		return;
	case 0x0d: // def_cfa_register
		number = pd_dwarf_uleb(c);
		// some begin with it, without an offset
		if (run->state.kind == PD_CFA_EXPRESSION)
			run->stopped = true;
		else
			set_cfa(run, number, run->state.cfa);
		return;
	case 0x0e: // def_cfa_offset
		set_cfa_offset(run, (int64_t)pd_dwarf_uleb(c));
		return;
	case 0x0f:
		set_cfa_expression(run, c);
		return;
	case 0x12: // def_cfa_sf
		number = pd_dwarf_uleb(c);
		set_cfa(run, number, factored(run, pd_dwarf_sleb(c)));
		return;
	default: // def_cfa_offset_sf
		set_cfa_offset(run, factored(run, pd_dwarf_sleb(c)));
	}
}

static void execute_register(struct pd_cfi_run *run, struct pd_cursor *c, unsigned op)
{
	uint64_t number = pd_dwarf_uleb(c);

	switch (op) {
	case 0x05: // offset_extended
		set_register(run, number, PD_SAVED_AT_CFA, factored(run, (int64_t)pd_dwarf_uleb(c)));
		return;
	case 0x06:
		restore_register(run, number);
		return;
	case 0x07:
		set_register(run, number, PD_SAVED_UNDEFINED, 0);
		return;
	case 0x08: // same_value
		forget_register(run, number);
		return;
	case 0x11: // offset_extended_sf
		set_register(run, number, PD_SAVED_AT_CFA, factored(run, pd_dwarf_sleb(c)));
		return;
	case 0x14: // val_offset
		set_register(run, number, PD_SAVED_CFA, factored(run, (int64_t)pd_dwarf_uleb(c)));
		return;
	case 0x15: // val_offset_sf
		set_register(run, number, PD_SAVED_CFA, factored(run, pd_dwarf_sleb(c)));
		return;
	default: // GNU negative_offset_extended
		set_register(run, number, PD_SAVED_AT_CFA, -factored(run, (int64_t)pd_dwarf_uleb(c)));
	}
}

static void execute_location(struct pd_cfi_run *run, struct pd_cursor *c, unsigned op)
{
	switch (op) {
	case 0x01:
		set_location(run, c);
		return;
	case 0x02:
		advance(run, pd_cursor_u8(c));
		return;
	case 0x03:
		advance(run, pd_cursor_u16(c));
		return;
	case 0x04:
		advance(run, pd_cursor_u32(c));
		return;
	default: // MIPS advance_loc8
		advance(run, pd_cursor_u64(c));
	}
}

static void execute_extended(struct pd_cfi_run *run, struct pd_cursor *c, unsigned op)
{
	switch (op) {
	case 0x00: // nop
	case 0x2d: // AArch64 negate_ra_state: signatures are always taken off
		return;
	case 0x2c: // the same with a place
	case 0x2e: // GNU args_size
		pd_dwarf_uleb(c);
		return;
	case 0x01:
	case 0x02:
	case 0x03:
	case 0x04:
	case 0x1d:
		execute_location(run, c, op);
		return;
	case 0x05:
	case 0x06:
	case 0x07:
	case 0x08:
	case 0x11:
	case 0x14:
	case 0x15:
	case 0x2f:
		execute_register(run, c, op);
		return;
	case 0x09:
		set_from_register(run, c);
		return;
	case 0x0a:
		remember(run);
		return;
	case 0x0b:
		restore_state(run);
		return;
	case 0x0c:
	case 0x0d:
	case 0x0e:
	case 0x0f:
	case 0x12:
	case 0x13:
		execute_cfa(run, c, op);
		return;
	case 0x10:
		set_expression(run, c, PD_SAVED_AT_EXPRESSION);
		return;
	case 0x16:
		set_expression(run, c, PD_SAVED_EXPRESSION);
		return;
	default:
		run->stopped = true;
	}
}

void pd_cfi_execute(struct pd_cfi_run *run, struct pd_cursor *c)
{
	while (!run->stopped && !c->failed && pd_cursor_left(c) && !run->compiler->out_of_memory) {
		unsigned op = pd_cursor_u8(c);

		if (op >= CFA_RESTORE)
			restore_register(run, op - CFA_RESTORE);
		else if (op >= CFA_OFFSET)
			set_register(run, op - CFA_OFFSET, PD_SAVED_AT_CFA, factored(run, (int64_t)pd_dwarf_uleb(c)));
		else if (op >= CFA_ADVANCE)
			advance(run, op - CFA_ADVANCE);
		else
			execute_extended(run, c, op);
	}
	if (run->is_common || run->at == run->end || run->compiler->out_of_memory)
		return;
	if (run->stopped || c->failed)
		run->compiler->out_of_memory = !pd_unwind_table_add(run->compiler->table, run->at, 0);
	else if (run->changed)
		put_row(run);
}

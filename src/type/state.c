/* SPDX-License-Identifier: MIT */
/* What registers and the stack hold, and how an instruction changes it. */
#include "type/inside.h"

#include <string.h>

// ---- the stack ----

struct pd_type_slot *pd_type_slot_at(struct pd_type_state *state, int64_t offset)
{
	if (!pd_types_work(state->query->types, state->slot_count))
		return NULL;
	// the last one that was added
	for (size_t i = state->slot_count; i-- > 0;) {
		struct pd_type_slot *slot = &state->slots[i];

		if (slot->at == offset || (slot->is_compound && offset > slot->at &&
					   pd_type_difference(offset, slot->at) > 0 && offset - slot->at < slot->size))
			return slot;
	}
	return NULL;
}

static void fill_slot(struct pd_type_slot *slot, int64_t offset, const struct pd_type_register *value)
{
	struct pd_die plain;
	uint64_t size;

	*slot = (struct pd_type_slot){
		.type = value->type, .at = offset, .holds = value->holds, .offset = value->offset
	};
	if (value->holds == PD_TYPE_NUMBER || !value->type.abbrev)
		return;
	slot->size = pd_type_size(&value->type, &size) && size <= INT32_MAX ? (int64_t)size : 0;
	slot->is_compound = pd_type_plain(&value->type, &plain) && pd_type_is_compound(&plain) &&
			    value->holds == PD_TYPE_VALUE;
}

void pd_type_slot_set(struct pd_type_state *state, int64_t offset, const struct pd_type_register *value)
{
	struct pd_type_slot *slot = pd_type_slot_at(state, offset);

	if (!slot) {
		if (!PD_GROW(state->slots, state->slot_capacity, state->slot_count + 1)) {
			state->failed = true;
			return;
		}
		slot = &state->slots[state->slot_count++];
	}
	fill_slot(slot, offset, value);
}

static bool is_stack(const struct pd_type_state *state, int reg)
{
	return reg >= 0 && (reg == state->frame || reg == PD_TYPE_STACK);
}

// ---- registers ----

static struct pd_type_register *register_at(struct pd_type_state *state, int reg)
{
	return reg >= 0 && reg < PD_TYPE_REGISTERS ? &state->registers[reg] : NULL;
}

static void set(struct pd_type_register *reg, enum pd_type_holds holds, const struct pd_die *type, int64_t offset)
{
	*reg = (struct pd_type_register){
		.type = *type, .holds = (uint8_t)holds, .offset = offset, .copied_from = PD_TYPE_NO_REGISTER
	};
}

static void forget(struct pd_type_register *reg)
{
	reg->holds = PD_TYPE_NOTHING;
	reg->copied_from = PD_TYPE_NO_REGISTER;
	reg->offset = 0;
}

static bool is_pointing(const struct pd_type_register *reg)
{
	return reg->holds == PD_TYPE_POINTER ||
	       (reg->holds == PD_TYPE_VALUE && pd_die_tag(&reg->type) == PD_TAG_POINTER);
}

// ---- calls ----

static bool is_saved_by_caller(int reg)
{
	return reg <= 2 || reg == 4 || reg == 5 || (reg >= 8 && reg <= 11);
}

static void follow_call(struct pd_type_state *state, const struct pd_type_instruction *i)
{
	struct pd_type_query *query = state->query;
	struct pd_die type;

	for (int reg = 0; reg < PD_TYPE_REGISTERS; reg++)
		if (is_saved_by_caller(reg))
			forget(&state->registers[reg]);
	if (i->has_target && pd_type_find_returned(query, i->target, &type))
		set(&state->registers[PD_TYPE_RESULT], PD_TYPE_VALUE, &type, 0);
}

// ---- arithmetic ----

static void follow_sum(struct pd_type_state *state, const struct pd_type_instruction *i)
{
	struct pd_type_register *to = register_at(state, i->to.reg), *from = register_at(state, i->from.reg);
	int64_t number;

	if (!to || i->to.is_memory)
		return;
	to->copied_from = PD_TYPE_NO_REGISTER;
	if (i->from.is_constant)
		number = i->from.offset;
	else if (from && !i->from.is_memory && from->holds == PD_TYPE_NUMBER)
		number = from->offset;
	else
		return;
	if (!is_pointing(to) && to->holds != PD_TYPE_NUMBER)
		return;
	to->offset = i->action == PD_TYPE_SUBTRACT ? pd_type_difference(to->offset, number) :
						     pd_type_sum(to->offset, number);
}

static void follow_address(struct pd_type_state *state, const struct pd_type_instruction *i)
{
	struct pd_type_register *to = register_at(state, i->to.reg), *from = register_at(state, i->from.reg), source;
	const struct pd_type_slot *slot;
	struct pd_die type;
	int64_t offset;

	if (!to || !from || !i->from.is_memory)
		return;
	source = *from;
	forget(to);
	if (is_stack(state, i->from.reg)) {
		offset = pd_type_difference(i->from.offset, state->frame_offset);
		slot = pd_type_slot_at(state, offset);
		if (slot)
			set(to, PD_TYPE_POINTER, &slot->type, offset - slot->at);
		return;
	}
	if (!is_pointing(&source))
		return;
	offset = pd_type_sum(i->from.offset, source.offset);
	type = source.type;
	if (source.holds == PD_TYPE_VALUE && !pd_type_target(&source.type, &type))
		return;
	if (pd_type_member_at(&type, offset, &type))
		set(to, (enum pd_type_holds)source.holds, &source.type, offset);
}

// ---- moves ----

static void copy(struct pd_type_state *state, const struct pd_type_instruction *i, struct pd_type_register *to)
{
	const struct pd_type_register *from = register_at(state, i->from.reg);

	if (i->from.is_constant && !i->from.is_percpu) {
		*to = (struct pd_type_register){ .holds = PD_TYPE_NUMBER,
						 .offset = i->from.offset,
						 .copied_from = PD_TYPE_NO_REGISTER };
	} else if (!from || from->holds == PD_TYPE_NOTHING) {
		forget(to);
	} else {
		*to = *from;
		to->copied_from = from->holds == PD_TYPE_VALUE ? i->from.reg : PD_TYPE_NO_REGISTER;
	}
}

static void load_from_stack(struct pd_type_state *state, int64_t offset, struct pd_type_register *to)
{
	const struct pd_type_slot *slot = pd_type_slot_at(state, offset);
	struct pd_die type;

	if (slot && !slot->is_compound)
		set(to, (enum pd_type_holds)slot->holds, &slot->type, slot->offset);
	else if (slot && pd_type_member_at(&slot->type, offset - slot->at, &type))
		set(to, PD_TYPE_VALUE, &type, 0);
	else
		forget(to);
}

static void load(struct pd_type_state *state, const struct pd_type_instruction *i, struct pd_type_register *to)
{
	const struct pd_type_register *from = register_at(state, i->from.reg);
	struct pd_die type;
	int64_t offset;

	if (is_stack(state, i->from.reg)) {
		load_from_stack(state, pd_type_difference(i->from.offset, state->frame_offset), to);
		return;
	}
	if (i->from.reg == PD_TYPE_PC && i->has_named && pd_type_find_global(state->query, i->named, &type, &offset) &&
	    pd_type_member_at(&type, offset, &type)) {
		set(to, PD_TYPE_VALUE, &type, 0);
		return;
	}
	offset = from ? pd_type_sum(i->from.offset, from->offset) : 0;
	if (from && from->holds == PD_TYPE_VALUE && pd_type_pointed_member(&from->type, offset, &type))
		set(to, PD_TYPE_VALUE, &type, 0);
	else if (from && from->holds == PD_TYPE_POINTER && pd_type_member_at(&from->type, offset, &type))
		set(to, PD_TYPE_VALUE, &type, 0);
	else
		forget(to);
}

static void store(struct pd_type_state *state, const struct pd_type_instruction *i)
{
	const struct pd_type_register *from = register_at(state, i->from.reg);
	int64_t offset = pd_type_difference(i->to.offset, state->frame_offset);
	const struct pd_type_slot *slot;

	if (!from || from->holds == PD_TYPE_NOTHING || !is_stack(state, i->to.reg))
		return;
	slot = pd_type_slot_at(state, offset);
	if (!slot || !slot->is_compound)
		pd_type_slot_set(state, offset, from);
}

static void follow_move(struct pd_type_state *state, const struct pd_type_instruction *i)
{
	struct pd_type_register *to = register_at(state, i->to.reg);

	if (i->to.is_memory) {
		if (!i->from.is_memory)
			store(state, i);
	} else if (to && i->from.is_memory) {
		to->copied_from = PD_TYPE_NO_REGISTER;
		load(state, i, to);
	} else if (to) {
		copy(state, i, to);
	}
}

void pd_type_follow(struct pd_type_state *state, const struct pd_type_instruction *i)
{
	struct pd_type_register *to = register_at(state, i->to.reg);

	if (i->is_call) {
		follow_call(state, i);
		return;
	}
	switch (i->action) {
	case PD_TYPE_ADD:
	case PD_TYPE_SUBTRACT:
		follow_sum(state, i);
		break;
	case PD_TYPE_ADDRESS:
		follow_address(state, i);
		break;
	case PD_TYPE_MOVE:
		follow_move(state, i);
		break;
	case PD_TYPE_CLEAR:
		if (to)
			forget(to);
		break;
	case PD_TYPE_SPOIL:
		if (to && is_pointing(to))
			forget(to);
		break;
	default:
		break;
	}
}

/* SPDX-License-Identifier: MIT */
/*
 * Registers followed through a function: from the beginning of the innermost scope to the instruction, then from that of the scope
 * around it, and so on, with the variables of these scopes where their locations say so.
 */
#include "type/inside.h"

/** A place of a variable of a scope, for where it is followed. */
struct known {
	struct pd_die type;
	uint64_t start, end;
	int reg;
	int64_t offset;
	bool is_frame;
	bool is_target; // the register has the address of the variable
};

struct tracking {
	struct pd_type_query *query;
	struct pd_type_state state;
	struct pd_type_path path;
	struct known *items; // the last ones are looked at first
	size_t count, capacity;
	uint64_t scope_start;
	bool failed;
};

// ---- variables ----

static bool add_known(void *self, const struct pd_die *variable, const struct pd_type_place *place)
{
	struct tracking *t = self;
	struct known known = { .start = place->start, .end = place->end, .reg = place->reg, .offset = place->offset };

	if (place->is_addr || !pd_probe_type_of(variable, false, &known.type))
		return true;
	if (!known.start)
		known.start = t->scope_start;
	known.is_frame = place->is_frame;
	// the variable is there; else it has the value of the register, plus the offset
	known.is_target = place->is_memory && place->is_only && !place->is_frame;
	if (!PD_GROW(t->items, t->capacity, t->count + 1)) {
		t->failed = true;
		return false;
	}
	t->items[t->count++] = known;
	return true;
}

static void add_scope(struct tracking *t, const struct pd_die *scope)
{
	const struct pd_type_scope *below = pd_type_scope_of(t->query, scope);

	for (size_t i = 0; i < below->variable_count && !t->failed; i++)
		pd_type_each_place(t->query->code->object, &below->variables[i], add_known, t);
}

static void put_on_stack(struct tracking *t, const struct known *known)
{
	int64_t offset = pd_type_difference(known->offset, known->is_frame ? 0 : t->state.frame_offset);
	struct pd_type_slot *slot = pd_type_slot_at(&t->state, offset);
	const struct pd_type_register value = { .type = known->type, .holds = PD_TYPE_VALUE };

	// it is so already
	if (slot && slot->at == offset && slot->holds == PD_TYPE_VALUE && !slot->offset &&
	    pd_die_same(&slot->type, &known->type))
		return;
	if (!slot || slot->holds != PD_TYPE_VALUE || pd_type_is_better(&slot->type, &known->type))
		pd_type_slot_set(&t->state, offset, &value);
}

// What a register was copied from is of the same type.
static void put_back(struct tracking *t, const struct pd_type_register *reg, const struct pd_die *before)
{
	struct pd_type_register *source;

	if (reg->copied_from < 0)
		return;
	source = &t->state.registers[reg->copied_from];
	if (source->holds == PD_TYPE_VALUE && pd_die_same(&source->type, before))
		source->type = reg->type;
}

static void put_in_register(struct tracking *t, const struct known *known)
{
	struct pd_type_register *reg = &t->state.registers[known->reg];
	struct pd_die before = reg->type;
	bool had_value = reg->holds == PD_TYPE_VALUE;
	int64_t offset = pd_type_difference(0, known->offset);

	// it is so already
	if (had_value && !known->is_target && reg->offset == offset && pd_die_same(&reg->type, &known->type))
		return;
	// as perf: what a register has counts more than what is where it points to
	if (had_value && !pd_type_is_better(&reg->type, &known->type))
		return;
	reg->type = known->type;
	reg->holds = known->is_target ? PD_TYPE_POINTER : PD_TYPE_VALUE;
	reg->offset = offset;
	if (had_value && !known->is_target)
		put_back(t, reg, &before);
}

static void update(struct tracking *t, uint64_t addr)
{
	struct pd_type_state *state = &t->state;

	if (t->query->has_cfa) {
		state->frame = PD_TYPE_NO_REGISTER;
		state->frame_offset = 0;
		pd_type_frame_at(t->query->code->object, addr, &state->frame, &state->frame_offset);
	}
	for (size_t i = t->count; i-- > 0;) {
		const struct known *known = &t->items[i];

		if (addr < known->start || addr >= known->end)
			continue;
		if (known->is_frame || (known->reg >= 0 && (known->reg == state->frame || known->reg == PD_TYPE_STACK)))
			put_on_stack(t, known);
		else if (known->reg >= 0 && known->reg < PD_TYPE_REGISTERS)
			put_in_register(t, known);
	}
}

// ---- what the instruction accesses ----

static bool set_result(struct pd_type_query *query, const struct pd_die *type, int64_t offset)
{
	uint64_t size;

	query->answer = PD_TYPE_BAD_OFFSET;
	if (offset < 0 || !pd_type_size(type, &size) || (uint64_t)offset >= size)
		return false;
	query->type = *type;
	query->offset = offset;
	return true;
}

static bool check_stack(struct pd_type_state *state, int64_t offset)
{
	const struct pd_type_slot *slot = pd_type_slot_at(state, offset);

	if (!slot || slot->holds != PD_TYPE_VALUE)
		return false;
	state->query->type = slot->type;
	state->query->offset = offset - slot->at;
	return true;
}

static bool check(struct tracking *t)
{
	struct pd_type_query *query = t->query;
	int number = query->operand.reg;
	const struct pd_type_register *reg = &t->state.registers[number];
	struct pd_die type;

	// as perf: without a frame it does not know where to look
	query->answer = reg->holds == PD_TYPE_VALUE || query->has_cfa || number == PD_TYPE_STACK ? PD_TYPE_NO_TYPE :
												   PD_TYPE_NO_VARIABLE;
	if (reg->holds == PD_TYPE_VALUE)
		return pd_type_target(&reg->type, &type) &&
		       set_result(query, &type, pd_type_sum(query->operand.offset, reg->offset));
	if (reg->holds == PD_TYPE_POINTER)
		return set_result(query, &reg->type, pd_type_sum(query->operand.offset, reg->offset));
	if (number != PD_TYPE_STACK && number != t->state.frame)
		return false;
	if (check_stack(&t->state, pd_type_difference(query->operand.offset, t->state.frame_offset)))
		return true;
	// what the instruction itself puts there
	pd_type_follow(&t->state, &query->code->items[query->at]);
	return check_stack(&t->state, pd_type_difference(query->operand.offset, t->state.frame_offset));
}

static bool follow_run(struct tracking *t, const struct pd_type_run *run, bool *reached)
{
	const struct pd_type_code *code = t->query->code;

	for (uint32_t at = run->first; at <= run->last && !t->state.failed; at++) {
		if (!pd_types_work(t->query->types, t->count + 1))
			return false;
		update(t, code->items[at].addr);
		if (at == t->query->at) {
			*reached = true;
			return check(t);
		}
		pd_type_follow(&t->state, &code->items[at]);
	}
	return false;
}

static bool follow_path(struct tracking *t)
{
	bool found = false, reached = false;

	t->state.slot_count = 0;
	for (int i = 0; i < PD_TYPE_REGISTERS; i++)
		t->state.registers[i] = (struct pd_type_register){ .copied_from = PD_TYPE_NO_REGISTER };
	t->state.frame = t->query->frame;
	t->state.frame_offset = t->query->frame_offset;
	for (size_t i = 0; i < t->path.count && !reached && !t->state.failed; i++)
		found = follow_run(t, &t->path.runs[i], &reached);
	return found;
}

// ---- scopes ----

static bool take_start(void *self, uint64_t start, uint64_t end)
{
	uint64_t *first = self;

	(void)end;
	*first = start;
	return false;
}

static bool track_scopes(struct tracking *t)
{
	struct pd_type_query *query = t->query;
	struct pd_type_code *code = query->code;
	uint32_t to = query->at, before = query->at;

	for (size_t i = query->scope_count; i-- > 0 && !t->failed;) {
		const struct pd_die *scope = &query->scopes[i];
		uint32_t from;

		t->scope_start = UINT64_MAX;
		pd_die_spans(scope, take_start, &t->scope_start);
		from = pd_type_code_at(code, t->scope_start);
		if (from == PD_TYPE_NONE)
			continue;
		if (!pd_type_path_extend(query->types, code, from, to, &t->path)) {
			if (to == before || !pd_type_path_extend(query->types, code, from, before, &t->path))
				continue;
			to = before;
		}
		add_scope(t, scope);
		if (follow_path(t))
			return true;
		before = to;
		to = from;
	}
	return false;
}

bool pd_type_track(struct pd_type_query *query)
{
	struct tracking t = { .query = query, .state = { .query = query } };
	bool found = false;

	if (query->operand.reg >= 0 && query->operand.reg < PD_TYPE_REGISTERS)
		found = track_scopes(&t);
	if (found)
		query->answer = PD_TYPE_TRACKED;
	query->types->failed |= t.failed || t.state.failed;
	pd_free(t.items);
	pd_free(t.path.runs);
	pd_free(t.state.slots);
	return found;
}

/* SPDX-License-Identifier: MIT */
/* Which variable a register points to at an instruction, by the locations in the debug information. */
#include "type/inside.h"

#include <string.h>

// ---- scopes ----

static bool scope_below(struct pd_type_query *query, const struct pd_die *scope, uint64_t addr, struct pd_die *die_out)
{
	const struct pd_type_scope *below = pd_type_scope_of(query, scope);

	for (size_t i = 0; i < below->inner_count; i++) {
		if (addr >= below->inner[i].start && addr < below->inner[i].end) {
			*die_out = below->inner[i].die;
			return true;
		}
	}
	return false;
}

static void find_frame(struct pd_type_query *query, uint64_t addr)
{
	struct pd_dwarf_value value;
	uint8_t code;

	if (!query->scope_count || !pd_die_value(&query->scopes[0], PD_AT_FRAME_BASE, &value) || value.number != 1 ||
	    !value.text)
		return;
	code = (uint8_t)value.text[0];
	if (code >= PD_OP_REG0 && code < PD_OP_REG0 + 32) {
		query->frame = code - PD_OP_REG0;
	} else if (code == PD_OP_CALL_FRAME_CFA) {
		query->has_cfa = true;
		pd_type_frame_at(query->code->object, addr, &query->frame, &query->frame_offset);
	}
}

void pd_type_query_scopes(struct pd_type_query *query)
{
	uint64_t addr = query->code->items[query->at].addr;
	const struct pd_die *function = pd_probe_function_at(&query->unit->unit, addr);

	query->scope_count = 0;
	query->frame = PD_TYPE_NO_REGISTER;
	query->frame_offset = 0;
	if (!function)
		return;
	query->scopes[query->scope_count++] = *function;
	while (query->scope_count < PD_TYPE_SCOPES &&
	       scope_below(query, &query->scopes[query->scope_count - 1], addr, &query->scopes[query->scope_count]))
		query->scope_count++;
	find_frame(query, addr);
}

// ---- variables in registers and on the stack ----

struct matching {
	struct pd_type_query *query;
	uint64_t addr;
	int reg;
	int64_t offset; // of the access
	bool is_frame;
	bool found;
	struct pd_die type; // the result
	int64_t type_offset;
};

// Whether an access at a distance from what a variable is, or points to, is one of that.
static bool fits(struct matching *m, const struct pd_die *variable, int64_t distance, bool is_value)
{
	struct pd_die type, plain, target;
	uint64_t size;

	if (distance < 0 || !pd_probe_type_of(variable, false, &type))
		return false;
	if (is_value && pd_type_plain(&type, &plain) && pd_die_tag(&plain) == PD_TAG_POINTER) {
		if (!pd_probe_type_of(&plain, false, &target))
			return false;
		type = target;
	}
	if (distance && (!pd_type_size(&type, &size) || (uint64_t)distance >= size))
		return false;
	m->type = type;
	m->type_offset = distance;
	m->found = true;
	return true;
}

static bool match_place(void *self, const struct pd_die *variable, const struct pd_type_place *place)
{
	struct matching *m = self;

	if (m->addr < place->start || m->addr >= place->end)
		return true;
	if (place->is_frame)
		return !(m->is_frame && fits(m, variable, pd_type_difference(m->offset, place->offset), false));
	if (place->is_addr || place->reg != m->reg)
		return true;
	if (!place->is_memory)
		return !fits(m, variable, m->offset, true);
	return !fits(m, variable, pd_type_difference(m->offset, place->offset), !place->is_only);
}

static bool find_in_scope(struct matching *m, const struct pd_die *scope)
{
	const struct pd_type_scope *below = pd_type_scope_of(m->query, scope);

	m->found = false;
	for (size_t i = 0; i < below->variable_count && !m->found; i++)
		pd_type_each_place(m->query->code->object, &below->variables[i], match_place, m);
	return m->found;
}

bool pd_type_find_variable(struct pd_type_query *query)
{
	struct matching m = { .query = query, .reg = query->operand.reg, .addr = query->code->items[query->at].addr };
	bool found = false;

	m.is_frame = m.reg >= 0 && m.reg == query->frame;
	m.offset = pd_type_difference(query->operand.offset, m.is_frame ? query->frame_offset : 0);
	for (size_t i = query->scope_count; m.reg >= 0 && i-- > 0;) {
		if (!find_in_scope(&m, &query->scopes[i]) || (found && !pd_type_is_better(&query->type, &m.type)))
			continue;
		query->type = m.type;
		query->offset = m.type_offset;
		found = true;
	}
	return found;
}

// ---- variables at fixed addresses ----

static bool take_global(const struct pd_die *variable, uint64_t distance, struct pd_die *type_out, int64_t *offset_out)
{
	struct pd_die type;
	uint64_t size;

	if (!pd_probe_type_of(variable, true, &type) || !pd_type_size(&type, &size) || distance >= size)
		return false;
	*type_out = type;
	*offset_out = (int64_t)distance;
	return true;
}

static bool find_by_addr(const struct pd_type_unit *unit, uint64_t addr, struct pd_die *type_out, int64_t *offset_out)
{
	size_t at;

	PD_SEARCH(at, 0, unit->global_count, i, unit->globals[i].addr <= addr);
	return at && take_global(&unit->globals[at - 1].die, addr - unit->globals[at - 1].addr, type_out, offset_out);
}

static bool has_name(const struct pd_die *die, const struct pd_symbol *symbol)
{
	const char *name = pd_die_name(die);

	return name && strlen(name) == symbol->name_length && memcmp(name, symbol->name, symbol->name_length) == 0;
}

// A variable of another unit that is declared in this one; false if there is none.
static bool find_declared(const struct pd_type_query *query, uint64_t addr, struct pd_type_global *global)
{
	struct pd_die_walk walk = { .die = query->unit->unit.die };
	struct pd_symbol symbol;
	struct pd_die type;
	int64_t offset;

	if (!pd_type_symbol_at(query->code->object, addr, &symbol))
		return false;
	while (pd_die_next(&walk, false)) {
		if (pd_die_tag(&walk.die) == PD_TAG_VARIABLE && has_name(&walk.die, &symbol) &&
		    take_global(&walk.die, addr - symbol.start, &type, &offset)) {
			*global = (struct pd_type_global){ symbol.start, walk.die };
			return true;
		}
	}
	return false;
}

// Each address is looked for once.
static bool find_by_name(const struct pd_type_query *query, uint64_t addr, struct pd_die *type_out, int64_t *offset_out)
{
	struct pd_type_unit *unit = query->unit;
	uint64_t known = pd_u64_map_find(&unit->asked, addr);
	struct pd_type_global global;

	if (!known) {
		known = 1;
		if (find_declared(query, addr, &global) &&
		    PD_GROW(unit->others, unit->other_capacity, unit->other_count + 1)) {
			unit->others[unit->other_count++] = global;
			known = unit->other_count + 1;
		}
		query->types->failed |= !pd_u64_map_add(&unit->asked, addr, known);
	}
	if (known == 1)
		return false;
	global = unit->others[known - 2];
	return take_global(&global.die, addr - global.addr, type_out, offset_out);
}

struct fixed {
	uint64_t addr;
	struct pd_die type;
	int64_t offset;
	bool found;
};

static bool match_fixed(void *self, const struct pd_die *variable, const struct pd_type_place *place)
{
	struct fixed *f = self;
	uint64_t size;

	f->offset = (int64_t)(f->addr - (uint64_t)place->offset);
	f->found = place->is_addr && f->addr >= (uint64_t)place->offset &&
		   pd_probe_type_of(variable, false, &f->type) && pd_type_size(&f->type, &size) &&
		   (uint64_t)f->offset < size;
	return !f->found;
}

// A static variable of the scopes that the instruction is in.
static bool find_static(struct pd_type_query *query, uint64_t addr, struct pd_die *type_out, int64_t *offset_out)
{
	struct fixed f = { .addr = addr };

	for (size_t i = query->scope_count; i-- > 0 && !f.found;) {
		const struct pd_type_scope *below = pd_type_scope_of(query, &query->scopes[i]);

		for (size_t k = 0; k < below->variable_count && !f.found; k++)
			if (pd_die_tag(&below->variables[k]) == PD_TAG_VARIABLE)
				pd_type_each_place(query->code->object, &below->variables[k], match_fixed, &f);
	}
	*type_out = f.type;
	*offset_out = f.offset;
	return f.found;
}

bool pd_type_find_global(struct pd_type_query *query, uint64_t addr, struct pd_die *type_out, int64_t *offset_out)
{
	return find_by_addr(query->unit, addr, type_out, offset_out) || find_by_name(query, addr, type_out, offset_out);
}

bool pd_type_find_fixed(struct pd_type_query *query, uint64_t addr)
{
	if (pd_type_find_global(query, addr, &query->type, &query->offset))
		return true;
	pd_type_query_scopes(query);
	return find_static(query, addr, &query->type, &query->offset);
}

// The number of a function that returns something, + 2; 1 if the unit has none.
static uint64_t find_function(const struct pd_type_query *query, uint64_t addr)
{
	const struct pd_probe_unit *unit = &query->unit->unit;
	struct pd_symbol symbol;
	struct pd_die type;

	if (!pd_type_symbol_at(query->code->object, addr, &symbol) ||
	    !pd_types_work(query->types, unit->function_count))
		return 1;
	for (size_t i = 0; i < unit->function_count; i++)
		if (has_name(&unit->functions[i], &symbol) && pd_probe_type_of(&unit->functions[i], true, &type))
			return i + 2;
	return 1;
}

bool pd_type_find_returned(struct pd_type_query *query, uint64_t addr, struct pd_die *type_out)
{
	struct pd_type_unit *unit = query->unit;
	uint64_t known = pd_u64_map_find(&unit->returned, addr);

	// each address is looked for once
	if (!known) {
		known = find_function(query, addr);
		query->types->failed |= !pd_u64_map_add(&unit->returned, addr, known);
	}
	return known > 1 && pd_probe_type_of(&unit->unit.functions[known - 2], true, type_out);
}

/* SPDX-License-Identifier: MIT */
/* Arguments of a probe at one place: which variable a name is, and where that is. */
#include "probe/find/finder.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

// What stands where a variable is not known at one of several places: nobody takes it for a value.
static const char unknown_value[] = "\\deade12d";

// ---- registers ----

static const char *registers_of(uint16_t machine)
{
	static const struct {
		uint16_t machine;
		const char *names;
	} machines[] = {
#define MACHINE(number, names) { number, names },
#include "probe/find/registers.def"
	};

	for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++)
		if (machines[i].machine == machine)
			return machines[i].names;
	return "";
}

// The name of a register by the number of DWARF; NULL if it has none, or without memory.
static const char *register_name(struct pd_probe_finder *f, uint64_t number)
{
	const char *at = registers_of(f->debug->object->machine);
	size_t length;

	for (; number && *at; number--) {
		at += strcspn(at, " ");
		at += strspn(at, " ");
	}
	length = strcspn(at, " ");
	return length && *at != '-' ? pd_arena_text(f->arena, at, length) : NULL;
}

// ---- where a variable is ----

static enum pd_probe_found give_text(struct pd_probe_finder *f, struct pd_probe_value *value, const char *text)
{
	value->value = pd_arena_text(f->arena, text, strlen(text));
	return value->value ? PD_PROBE_FOUND : PD_PROBE_NO_MEMORY;
}

static enum pd_probe_found give_memory(struct pd_probe_finder *f, struct pd_probe_value *value, int64_t offset)
{
	value->memory = pd_arena_alloc(f->arena, sizeof(*value->memory));
	if (!value->memory)
		return PD_PROBE_NO_MEMORY;
	value->memory->offset = offset;
	return PD_PROBE_FOUND;
}

static enum pd_probe_found give_static(struct pd_probe_finder *f, const struct pd_die *variable,
				       struct pd_probe_value *value)
{
	const char *name = pd_die_name(variable);
	struct pd_text text = { .data = NULL };

	if (!value)
		return PD_PROBE_FOUND;
	pd_text_printf(&text, "@%s", name ? name : "");
	value->value = text.failed ? NULL : pd_arena_text(f->arena, text.data, text.size);
	pd_free(text.data);
	return value->value ? give_memory(f, value, 0) : PD_PROBE_NO_MEMORY;
}

static enum pd_probe_found give_constant(struct pd_probe_finder *f, int64_t number, struct pd_probe_value *value)
{
	char text[32];

	if (!value)
		return PD_PROBE_FOUND;
	snprintf(text, sizeof(text), "\\%" PRId64, number);
	return give_text(f, value, text);
}

static enum pd_probe_found give_operation(struct pd_probe_finder *f, const struct pd_die_operation *operation,
					  struct pd_probe_value *value)
{
	const struct pd_die_operation *o = operation;
	int64_t offset = 0;
	bool is_memory = o->code == PD_OP_FBREG;
	uint64_t number;

	if (is_memory) {
		if (!f->has_frame)
			return PD_PROBE_UNSUPPORTED;
		offset = o->offset;
		o = &f->frame;
	}
	if (o->code >= PD_OP_BREG0 && o->code < PD_OP_BREG0 + 32)
		number = o->code - PD_OP_BREG0;
	else if (o->code >= PD_OP_REG0 && o->code < PD_OP_REG0 + 32)
		number = o->code - PD_OP_REG0;
	else if (o->code == PD_OP_REGX || o->code == PD_OP_BREGX)
		number = o->number;
	else
		return PD_PROBE_UNSUPPORTED;
	if (!value)
		return PD_PROBE_FOUND;
	value->value = register_name(f, number);
	if (!value->value)
		return PD_PROBE_UNSUPPORTED;
	is_memory |= o->code >= PD_OP_BREG0 && o->code != PD_OP_REGX;
	return is_memory ? give_memory(f, value, (int64_t)((uint64_t)offset + (uint64_t)o->offset)) : PD_PROBE_FOUND;
}

struct earliest {
	uint64_t addr, end, start; // the first one from addr on
	struct pd_die_location *location;
	bool found;
};

static bool take_earliest(void *self, const struct pd_die_location *location)
{
	struct earliest *e = self;
	uint64_t start = location->start > e->addr ? location->start : e->addr;

	if (!location->end || start >= location->end || start > e->end || (e->found && start >= e->start))
		return true;
	e->found = true;
	e->start = start;
	*e->location = *location;
	return true;
}

// Parameters may get their place only after the first instruction. Others have one elsewhere, if that is asked for.
static enum pd_probe_found find_elsewhere(struct pd_probe_finder *f, const struct pd_die *variable, bool any,
					  struct pd_die_location *location)
{
	bool is_parameter = pd_die_tag(variable) == PD_TAG_PARAMETER;
	struct earliest earliest = { .addr = f->addr + 1, .location = location };
	uint64_t entry;

	if (!pd_die_entry_pc(&f->function, false, &entry))
		return PD_PROBE_MISSING;
	any = any && pd_die_tag(variable) == PD_TAG_VARIABLE;
	if ((!any && (f->addr != entry || !is_parameter)) || !pd_die_high_pc(&f->function, &earliest.end))
		return PD_PROBE_MISSING;
	pd_die_each_location(variable, PD_AT_LOCATION, &f->debug->locations, take_earliest, &earliest);
	return !earliest.found ? PD_PROBE_MISSING : any ? PD_PROBE_ELSEWHERE : PD_PROBE_FOUND;
}

static bool is_addr(unsigned code)
{
	return code == PD_OP_ADDR || code == PD_OP_ADDRX || code == PD_OP_GNU_ADDR_INDEX;
}

enum pd_probe_found pd_probe_locate(struct pd_probe_finder *f, const struct pd_die *variable, bool any,
				    struct pd_probe_value *value)
{
	struct pd_die_operation operation;
	struct pd_die_location location;
	enum pd_probe_found found = PD_PROBE_FOUND, other;
	int64_t number;

	if (pd_die_has(variable, PD_AT_EXTERNAL))
		return give_static(f, variable, value);
	if (f->features.has_constants && pd_die_signed(variable, PD_AT_CONST_VALUE, &number))
		return give_constant(f, number, value);
	if (!pd_die_location_at(variable, PD_AT_LOCATION, &f->debug->locations, f->addr, &location))
		found = find_elsewhere(f, variable, any, &location);
	if (found == PD_PROBE_MISSING)
		return found;
	if (!pd_die_operation(variable, location.expression, &operation))
		return PD_PROBE_MISSING;
	other = is_addr(operation.code) ? give_static(f, variable, value) : give_operation(f, &operation, value);
	return other == PD_PROBE_FOUND ? found : other;
}

// ---- which variable it is ----

static bool is_variable(const struct pd_die *die)
{
	return pd_die_tag(die) == PD_TAG_PARAMETER || pd_die_tag(die) == PD_TAG_VARIABLE;
}

static bool has_name(const struct pd_die *die, const char *name)
{
	const char *own = pd_die_name(die);

	return own && strcmp(own, name) == 0;
}

// The first variable of a name in what has the address.
static bool find_variable(const struct pd_die *scope, const char *name, uint64_t addr, struct pd_die *die_out)
{
	struct pd_die_walk walk = { .die = *scope };
	bool into = true;

	while (pd_die_next(&walk, into)) {
		if (is_variable(&walk.die) && has_name(&walk.die, name) &&
		    (pd_die_has(&walk.die, PD_AT_EXTERNAL) || pd_die_has(&walk.die, PD_AT_LOCATION) ||
		     pd_die_has(&walk.die, PD_AT_CONST_VALUE))) {
			*die_out = walk.die;
			return true;
		}
		into = pd_die_has_pc(&walk.die, addr);
	}
	return false;
}

static enum pd_status fail_missing(const struct pd_probe_finder *f, const struct pd_probe_argument *argument)
{
	return pd_fail(
		f->error, PD_ERROR_NO_MATCH, PD_NO_OFFSET,
		"'%s': no variable '%s' has a value at this place; --vars --range shows which are there, and where",
		f->definition->text, argument->variable);
}

static enum pd_status take_found(struct pd_probe_finder *f, const struct pd_probe_argument *argument,
				 struct pd_die *variable, struct pd_probe_value *value)
{
	enum pd_probe_found found = pd_probe_locate(f, variable, false, value);
	enum pd_status status = PD_OK;

	switch (found) {
	case PD_PROBE_NO_MEMORY:
		return pd_fail_memory(f->error);
	case PD_PROBE_UNSUPPORTED:
		return pd_fail(f->error, PD_ERROR_UNSUPPORTED, PD_NO_OFFSET,
			       "'%s': variable '%s' is computed, which a probe cannot do", f->definition->text,
			       argument->variable);
	case PD_PROBE_FOUND:
		break;
	default: // it may have one at another place
		return f->features.has_constants ? PD_OK : fail_missing(f, argument);
	}
	if (argument->fields)
		status = pd_probe_fields(f, argument, variable, value);
	return status ? status : pd_probe_type(f, argument, variable, value);
}

// What is given to the kernel as it is.
static bool is_raw(const struct pd_probe_argument *argument)
{
	return !pd_probe_is_variable(argument);
}

static const char *default_name(struct pd_probe_finder *f, const struct pd_probe_argument *argument)
{
	struct pd_text text = { .data = NULL };
	char *name, *colon;

	if (argument->name)
		return argument->name;
	pd_probe_put_argument(&text, argument);
	name = text.failed ? NULL : pd_arena_text(f->arena, text.data, text.size);
	pd_free(text.data);
	colon = name ? strchr(name, ':') : NULL;
	if (colon)
		*colon = '_';
	return name;
}

static enum pd_status take_value(struct pd_probe_finder *f, const struct pd_probe_argument *argument,
				 struct pd_probe_value *value)
{
	struct pd_die variable;

	if (is_raw(argument)) {
		*value = (struct pd_probe_value){ argument->name, argument->variable, argument->type, NULL };
		return PD_OK;
	}
	value->name = default_name(f, argument);
	if (!value->name)
		return pd_fail_memory(f->error);
	if (find_variable(&f->scope, argument->variable, f->addr, &variable) ||
	    find_variable(&f->unit.die, argument->variable, 0, &variable))
		return take_found(f, argument, &variable, value);
	if (f->features.has_constants)
		return PD_OK;
	return pd_fail(f->error, PD_ERROR_NO_MATCH, PD_NO_OFFSET, "'%s': no variable '%s' here", f->definition->text,
		       argument->variable);
}

// ---- all arguments ----

struct arguments {
	struct pd_probe_argument *items;
	size_t count;
};

static bool add_argument(struct pd_probe_finder *f, struct arguments *arguments, const char *name)
{
	if (arguments->count == PD_PROBE_ARGUMENTS)
		return true;
	// of an inner block, or of what was inlined: the kernel refuses a name that is there already
	for (size_t i = 0; i < arguments->count; i++)
		if (strcmp(arguments->items[i].name ? arguments->items[i].name : arguments->items[i].variable, name) ==
		    0)
			return true;
	name = pd_arena_text(f->arena, name, strlen(name));
	arguments->items[arguments->count++] = (struct pd_probe_argument){ .variable = name };
	return name != NULL;
}

// $params, or all that are in scope.
static bool add_variables(struct pd_probe_finder *f, struct arguments *arguments, bool all)
{
	struct pd_die_walk walk = { .die = f->scope };
	bool into = true;

	while (pd_die_next(&walk, into)) {
		const char *name;
		uint32_t tag = pd_die_tag(&walk.die);

		into = pd_die_has_pc(&walk.die, f->addr);
		if ((tag != PD_TAG_PARAMETER && (tag != PD_TAG_VARIABLE || !all)) ||
		    pd_probe_locate(f, &walk.die, false, NULL) != PD_PROBE_FOUND)
			continue;
		name = pd_die_name(&walk.die);
		if (name && !add_argument(f, arguments, name))
			return false;
	}
	return true;
}

static bool expand(struct pd_probe_finder *f, struct arguments *arguments)
{
	const struct pd_probe_definition *d = f->definition;
	bool ok = true;

	arguments->items = pd_arena_alloc(f->arena, PD_PROBE_ARGUMENTS * sizeof(*arguments->items));
	ok = arguments->items != NULL;
	for (size_t i = 0; i < d->argument_count && ok; i++) {
		bool all = strcmp(d->arguments[i].variable, "$vars") == 0;

		if (all || strcmp(d->arguments[i].variable, "$params") == 0)
			ok = add_variables(f, arguments, all);
		else if (arguments->count < PD_PROBE_ARGUMENTS)
			arguments->items[arguments->count++] = d->arguments[i];
	}
	return ok;
}

enum pd_status pd_probe_values(struct pd_probe_finder *f, struct pd_probe_point *point)
{
	struct arguments arguments = { .items = NULL };
	enum pd_status status = PD_OK;

	if (!expand(f, &arguments))
		return pd_fail_memory(f->error);
	point->values = pd_arena_alloc(f->arena, (arguments.count + 1) * sizeof(*point->values));
	if (!point->values)
		return pd_fail_memory(f->error);
	for (size_t i = 0; i < arguments.count && !status; i++)
		status = take_value(f, &arguments.items[i], &point->values[point->value_count++]);
	return status;
}

enum pd_status pd_probe_fill(struct pd_probe_finder *f, struct pd_probe_point *points, size_t count)
{
	for (size_t p = 0; p < count; p++) {
		for (size_t i = 0; i < points[p].value_count; i++) {
			struct pd_probe_value *value = &points[p].values[i];
			const struct pd_probe_value *known = NULL;

			if (value->value)
				continue;
			for (size_t k = 0; k < count && !known; k++)
				if (i < points[k].value_count && points[k].values[i].value)
					known = &points[k].values[i];
			if (!known)
				return fail_missing(f, i < f->definition->argument_count ?
							       &f->definition->arguments[i] :
							       &(struct pd_probe_argument){ .variable = value->name });
			value->value = unknown_value;
			value->type = known->type;
		}
	}
	return PD_OK;
}

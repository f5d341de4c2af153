/* SPDX-License-Identifier: MIT */
/* What is directly below a function or a block: its variables and the scopes in it, read once, as large functions have thousands. */
#include "type/inside.h"

enum {
	ITEMS = 8 // that take as long as a step
};

static bool is_scope(const struct pd_die *die)
{
	uint32_t tag = pd_die_tag(die);

	return tag == PD_TAG_BLOCK || tag == PD_TAG_INLINED || tag == PD_TAG_FUNCTION;
}

struct reading {
	struct pd_type_scope *scope;
	struct pd_die die;
	size_t *left;  // struct pd_type_object, items_left
	bool too_many; // for what is left
	bool failed;   // no memory
};

static bool take_item(struct reading *r)
{
	r->too_many |= !*r->left;
	*r->left -= !r->too_many;
	return !r->too_many;
}

static bool add_span(void *self, uint64_t start, uint64_t end)
{
	struct reading *r = self;
	struct pd_type_scope *scope = r->scope;

	if (!take_item(r))
		return false;
	if (!PD_GROW(scope->inner, scope->inner_capacity, scope->inner_count + 1)) {
		r->failed = true;
		return false;
	}
	scope->inner[scope->inner_count++] = (struct pd_type_inner){ start, end, r->die };
	return true;
}

static void add_variable(struct reading *r)
{
	struct pd_type_scope *scope = r->scope;

	if (!take_item(r))
		return;
	if (PD_GROW(scope->variables, scope->variable_capacity, scope->variable_count + 1))
		scope->variables[scope->variable_count++] = r->die;
	else
		r->failed = true;
}

static void empty(struct pd_type_scope *scope)
{
	pd_free(scope->variables);
	pd_free(scope->inner);
	*scope = (struct pd_type_scope){ .next = scope->next };
}

// What is not read wholly is not kept at all: an answer from a part of it may be wrong.
static bool read_scope(struct pd_type_object *object, struct pd_type_scope *scope, const struct pd_die *die)
{
	struct pd_die_walk walk = { .die = *die };
	struct reading r = { .scope = scope, .left = &object->items_left };

	while (!r.failed && !r.too_many && pd_die_next(&walk, false)) {
		r.die = walk.die;
		if (is_scope(&walk.die))
			pd_die_spans(&walk.die, add_span, &r);
		if (pd_type_is_variable(&walk.die))
			add_variable(&r);
	}
	if (r.too_many || !die->dwarf->entry_work) {
		object->items_left += scope->inner_count + scope->variable_count;
		empty(scope);
	}
	return !r.failed;
}

const struct pd_type_scope *pd_type_scope_of(struct pd_type_query *query, const struct pd_die *die)
{
	static const struct pd_type_scope nothing;
	struct pd_type_unit *unit = query->unit;
	const struct pd_type_scope *known = pd_u64_map_find_pointer(&unit->scopes, die->offset);
	struct pd_type_scope *scope;

	if (known) // looked through each time
		return pd_types_work(query->types, (known->inner_count + known->variable_count) / ITEMS + 1) ? known :
													       &nothing;
	scope = pd_alloc(sizeof(*scope));
	if (scope) {
		scope->next = unit->scope_list;
		unit->scope_list = scope;
	}
	if (!scope || !read_scope(query->code->object, scope, die) ||
	    !pd_u64_map_add_pointer(&unit->scopes, die->offset, scope)) {
		query->types->failed = true;
		return &nothing;
	}
	return scope;
}

void pd_type_scopes_free(struct pd_type_unit *unit)
{
	while (unit->scope_list) {
		struct pd_type_scope *next = unit->scope_list->next;

		empty(unit->scope_list);
		pd_free(unit->scope_list);
		unit->scope_list = next;
	}
	pd_u64_map_fini(&unit->scopes);
}

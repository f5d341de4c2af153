/* SPDX-License-Identifier: MIT */
/* Where variables are: expressions, and lists of them by address (DWARF 5, 2.6 and 7.7.3; DWARF 4, 2.6.2). */
#include "object/dwarf/die.h"
#include "object/dwarf/dwarf_form.h"

#include <string.h>

void pd_die_locations_read(struct pd_elf *elf, size_t limit, struct pd_die_locations *locations_out)
{
	*locations_out = (struct pd_die_locations){ .old = NULL };
	pd_debug_section_read(elf, "loc", limit, &locations_out->old, &locations_out->old_size, NULL);
	pd_debug_section_read(elf, "loclists", limit, &locations_out->lists, &locations_out->lists_size, NULL);
}

void pd_die_locations_fini(struct pd_die_locations *locations)
{
	pd_free(locations->old);
	pd_free(locations->lists);
	*locations = (struct pd_die_locations){ .old = NULL };
}

// ---- lists ----

struct list {
	const struct pd_die *die;
	struct pd_cursor c;
	uint64_t base;
	pd_die_location_fn *each;
	void *self;
};

static struct pd_cursor cursor_of(const struct pd_die *die, const uint8_t *data, size_t size, uint64_t offset)
{
	size_t from = offset < size ? (size_t)offset : size;

	return pd_cursor(data ? data + from : (const uint8_t *)"", data ? size - from : 0, die->dwarf->image->big);
}

// Gives a place whose expression follows; false ends the list.
static bool give(struct list *l, uint64_t start, uint64_t end, uint64_t size)
{
	const uint8_t *data = pd_cursor_take(&l->c, size);
	struct pd_die_location location = { start, end, { data, (size_t)size } };

	if (!data || !l->die->dwarf->entry_work)
		return false;
	l->die->dwarf->entry_work--;
	return start > end || !end || l->each(l->self, &location);
}

static void each_of_old(struct list *l)
{
	unsigned size = l->die->unit->addr_size;
	uint64_t last = size == 4 ? UINT32_MAX : UINT64_MAX;

	for (;;) {
		uint64_t start = pd_dwarf_number(&l->c, size), end = pd_dwarf_number(&l->c, size);

		if (l->c.failed || (!start && !end))
			return;
		if (start == last)
			l->base = end;
		else if (!give(l, start + l->base, end + l->base, pd_cursor_u16(&l->c)))
			return;
	}
}

static uint64_t indexed(struct list *l)
{
	const struct pd_dwarf_value value = { .form = FORM_ADDRX, .number = pd_dwarf_uleb(&l->c) };
	uint64_t addr = 0;

	if (!pd_dwarf_addr(l->die->dwarf, l->die->unit, &value, &addr))
		pd_cursor_fail(&l->c, "is not in the address table");
	return addr;
}

// One entry of version 5; false at the end.
static bool each_of_list(struct list *l)
{
	unsigned size = l->die->unit->addr_size;
	uint64_t start, end;

	switch (pd_cursor_u8(&l->c)) {
	case 1: // base, by index
		l->base = indexed(l);
		return !l->c.failed;
	case 2: // start and end, by index
		start = indexed(l);
		end = indexed(l);
		break;
	case 3: // start by index, length
		start = indexed(l);
		end = start + pd_dwarf_uleb(&l->c);
		break;
	case 4: // distances from the base
		start = l->base + pd_dwarf_uleb(&l->c);
		end = l->base + pd_dwarf_uleb(&l->c);
		break;
	case 5: // where nothing else says it
		start = 0;
		end = UINT64_MAX;
		break;
	case 6: // base
		l->base = pd_dwarf_number(&l->c, size);
		return !l->c.failed;
	case 7: // start and end
		start = pd_dwarf_number(&l->c, size);
		end = pd_dwarf_number(&l->c, size);
		break;
	case 8: // start and length
		start = pd_dwarf_number(&l->c, size);
		end = start + pd_dwarf_uleb(&l->c);
		break;
	case 9: // views of GNU
		pd_dwarf_uleb(&l->c);
		pd_dwarf_uleb(&l->c);
		return !l->c.failed;
	default:
		return false;
	}
	return !l->c.failed && give(l, start, end, pd_dwarf_uleb(&l->c));
}

static void each_of_lists(struct list *l, const struct pd_dwarf_value *value, const struct pd_die_locations *locations)
{
	uint64_t offset = value->number, base = l->die->unit->loclists_base;

	if (value->form == FORM_LOCLISTX) {
		if (offset > locations->lists_size)
			return;
		l->c = cursor_of(l->die, locations->lists, locations->lists_size, base);
		pd_cursor_take(&l->c, offset * l->die->unit->offset_size);
		offset = base + pd_dwarf_number(&l->c, l->die->unit->offset_size);
		if (l->c.failed)
			return;
	}
	l->c = cursor_of(l->die, locations->lists, locations->lists_size, offset);
	while (each_of_list(l))
		;
}

static bool is_expression(unsigned form)
{
	return form == FORM_EXPRLOC || form == FORM_BLOCK || form == FORM_BLOCK1 || form == FORM_BLOCK2 ||
	       form == FORM_BLOCK4;
}

void pd_die_each_location(const struct pd_die *die, unsigned attribute, const struct pd_die_locations *locations,
			  pd_die_location_fn *each, void *self)
{
	struct list list = { .die = die, .base = die->unit->low, .each = each, .self = self };
	struct pd_dwarf_value value;
	struct pd_die_location location = { .start = 0 };

	if (!pd_die_value(die, attribute, &value))
		return;
	if (is_expression(value.form)) {
		location.expression = (struct pd_bytes){ (const uint8_t *)value.text, (size_t)value.number };
		each(self, &location);
	} else if (die->unit->version >= 5) {
		each_of_lists(&list, &value, locations);
	} else {
		list.c = cursor_of(die, locations->old, locations->old_size, value.number);
		each_of_old(&list);
	}
}

struct looking {
	uint64_t addr;
	bool found;
	struct pd_die_location *location;
};

static bool check_location(void *self, const struct pd_die_location *location)
{
	struct looking *looking = self;

	if (location->end && (looking->addr < location->start || looking->addr >= location->end))
		return true;
	*looking->location = *location;
	looking->found = true;
	return false;
}

bool pd_die_location_at(const struct pd_die *die, unsigned attribute, const struct pd_die_locations *locations,
			uint64_t addr, struct pd_die_location *location_out)
{
	struct looking looking = { .addr = addr, .location = location_out };

	pd_die_each_location(die, attribute, locations, check_location, &looking);
	return looking.found;
}

// ---- expressions ----

bool pd_die_operation(const struct pd_die *die, struct pd_bytes expression, struct pd_die_operation *o)
{
	struct pd_cursor c;

	if (!expression.size || !expression.data)
		return false;
	c = pd_cursor(expression.data, expression.size, die->dwarf->image->big);
	*o = (struct pd_die_operation){ .code = pd_cursor_u8(&c) };
	switch (o->code) {
	case PD_OP_ADDR:
		o->number = pd_dwarf_number(&c, die->unit->addr_size);
		break;
	case PD_OP_REGX:
	case PD_OP_PLUS_UCONST:
	case PD_OP_ADDRX:
	case PD_OP_GNU_ADDR_INDEX:
		o->number = pd_dwarf_uleb(&c);
		break;
	case PD_OP_BREG0 ... PD_OP_BREG0 + 31:
	case PD_OP_FBREG:
		o->offset = pd_dwarf_sleb(&c);
		break;
	case PD_OP_BREGX:
		o->number = pd_dwarf_uleb(&c);
		o->offset = pd_dwarf_sleb(&c);
		break;
	default:
		break;
	}
	o->is_only = !pd_cursor_left(&c);
	return !c.failed;
}

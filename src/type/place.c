/* SPDX-License-Identifier: MIT */
/* Places of variables: the first operation of a location, where only such follow it as leave its register what counts. */
#include "type/inside.h"

enum {
	OP_DEREF = 0x06,
	OP_PIECE = 0x93,
	OP_DEREF_SIZE = 0x94,
	OP_STACK_VALUE = 0x9f
};

// Whether only such operations follow the first one as leave its register what counts.
static bool can_follow(const struct pd_die *die, struct pd_cursor c)
{
	while (pd_cursor_left(&c)) {
		switch (pd_cursor_u8(&c)) {
		case OP_DEREF:
		case OP_STACK_VALUE:
			break;
		case OP_DEREF_SIZE:
			pd_cursor_u8(&c);
			break;
		case OP_PIECE:
			pd_dwarf_uleb(&c);
			break;
		default:
			return false;
		}
	}
	return !c.failed && die->abbrev;
}

// The register of the first operation; false if it has none that is understood.
static bool read_first(const struct pd_die *die, struct pd_cursor *c, struct pd_type_place *place)
{
	unsigned code = pd_cursor_u8(c);
	uint64_t number = code;

	place->reg = PD_TYPE_NO_REGISTER;
	switch (code) {
	case PD_OP_ADDR:
		place->is_addr = true;
		place->offset = (int64_t)pd_dwarf_number(c, die->unit->addr_size);
		return true;
	case PD_OP_FBREG:
		place->is_frame = place->is_memory = true;
		place->offset = pd_dwarf_sleb(c);
		return true;
	case PD_OP_REG0 ... PD_OP_REG0 + 31:
		place->reg = (int)(number - PD_OP_REG0);
		return true;
	case PD_OP_BREG0 ... PD_OP_BREG0 + 31:
		place->reg = (int)(number - PD_OP_BREG0);
		break;
	case PD_OP_REGX:
		number = pd_dwarf_uleb(c);
		place->reg = number < INT8_MAX ? (int)number : PD_TYPE_NO_REGISTER;
		return true;
	case PD_OP_BREGX:
		number = pd_dwarf_uleb(c);
		place->reg = number < INT8_MAX ? (int)number : PD_TYPE_NO_REGISTER;
		break;
	default:
		return false;
	}
	place->is_memory = true;
	place->offset = pd_dwarf_sleb(c);
	return true;
}

struct placing {
	pd_type_place_fn *each;
	void *self;
	const struct pd_die *variable;
};

// An index of addresses is the address.
static bool read_addr_index(const struct pd_die *die, struct pd_bytes bytes, struct pd_type_place *place)
{
	struct pd_die_operation operation;
	struct pd_dwarf_value value = { .form = 0x1b };
	uint64_t addr;

	if (!pd_die_operation(die, bytes, &operation) || !operation.is_only ||
	    (operation.code != PD_OP_ADDRX && operation.code != PD_OP_GNU_ADDR_INDEX))
		return false;
	value.number = operation.number;
	if (!pd_dwarf_addr(die->dwarf, die->unit, &value, &addr))
		return false;
	place->is_addr = place->is_only = true;
	place->offset = (int64_t)addr;
	return true;
}

static bool give_place(void *self, const struct pd_die_location *location)
{
	struct placing *placing = self;
	const struct pd_die *die = placing->variable;
	struct pd_type_place place = { .start = location->start, .end = location->end ? location->end : UINT64_MAX };
	struct pd_cursor c;

	if (!location->expression.size || !location->expression.data)
		return true;
	c = pd_cursor(location->expression.data, location->expression.size, die->dwarf->image->big);
	if (!read_addr_index(die, location->expression, &place)) {
		if (!read_first(die, &c, &place) || c.failed || !can_follow(die, c))
			return true;
		place.is_only = !pd_cursor_left(&c);
	}
	return placing->each(placing->self, die, &place);
}

void pd_type_each_place(const struct pd_type_object *object, const struct pd_die *variable, pd_type_place_fn *each,
			void *self)
{
	struct placing placing = { each, self, variable };

	pd_die_each_location(variable, PD_AT_LOCATION, &object->debug.locations, give_place, &placing);
}

bool pd_type_is_variable(const struct pd_die *die)
{
	return pd_die_tag(die) == PD_TAG_VARIABLE || pd_die_tag(die) == PD_TAG_PARAMETER;
}

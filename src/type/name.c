/* SPDX-License-Identifier: MIT */
/* Types: their size, their name, and their members. */
#include "type/inside.h"

#include <inttypes.h>
#include <string.h>

enum {
	NESTED = 32,      // types in each other
	MEMBERS = 1 << 16 // that are looked at for one offset
};

// ---- kinds ----

static bool points(const struct pd_die *type)
{
	return pd_die_tag(type) == PD_TAG_POINTER || pd_die_tag(type) == PD_TAG_ARRAY;
}

bool pd_type_target(const struct pd_die *type, struct pd_die *target_out)
{
	struct pd_die plain;

	return pd_type_plain(type, &plain) && points(&plain) && pd_probe_type_of(&plain, false, target_out);
}

static bool is_pointer(const struct pd_die *type)
{
	struct pd_die plain;

	return pd_type_plain(type, &plain) && points(&plain);
}

bool pd_type_is_compound(const struct pd_die *type)
{
	return pd_die_tag(type) == PD_TAG_STRUCTURE || pd_die_tag(type) == PD_TAG_UNION;
}

bool pd_type_plain(const struct pd_die *type, struct pd_die *plain_out)
{
	if (pd_die_tag(type) == PD_TAG_TYPEDEF)
		return pd_probe_type_of(type, true, plain_out);
	*plain_out = *type;
	return true;
}

// ---- sizes ----

static bool count_of(const struct pd_die *range, uint64_t *count_out)
{
	uint64_t last;

	if (pd_die_find_number(range, PD_AT_COUNT, count_out))
		return true;
	if (!pd_die_find_number(range, PD_AT_UPPER_BOUND, &last))
		return false;
	*count_out = last + 1;
	return true;
}

// The product of its dimensions; false if one is not known.
static bool elements_of(const struct pd_die *array, uint64_t *count_out)
{
	struct pd_die_walk walk = { .die = *array };
	uint64_t count;

	*count_out = 1;
	while (pd_die_next(&walk, false)) {
		if (pd_die_tag(&walk.die) != PD_TAG_SUBRANGE)
			continue;
		if (!count_of(&walk.die, &count) || __builtin_mul_overflow(*count_out, count, count_out))
			return false;
	}
	return true;
}

static bool fits_size(uint64_t size, uint64_t factor, uint64_t *size_out)
{
	return !__builtin_mul_overflow(size, factor, size_out) && *size_out <= INT64_MAX;
}

bool pd_type_size(const struct pd_die *type, uint64_t *size_out)
{
	struct pd_die at;
	uint64_t count, factor = 1;

	if (!pd_type_plain(type, &at))
		return false;
	for (int i = 0; i < NESTED; i++) {
		if (pd_die_find_number(&at, PD_AT_BYTE_SIZE, size_out))
			return fits_size(*size_out, factor, size_out);
		if (pd_die_tag(&at) == PD_TAG_POINTER || pd_die_tag(&at) == PD_TAG_REFERENCE)
			return fits_size(at.unit->addr_size, factor, size_out);
		if (pd_die_tag(&at) != PD_TAG_ARRAY || !elements_of(&at, &count) ||
		    __builtin_mul_overflow(factor, count, &factor) || !pd_probe_type_of(&at, true, &at))
			return false;
	}
	return false;
}

// ---- names ----

void pd_type_put_name(struct pd_text *text, const struct pd_die *type)
{
	static const char unknown[] = "(unknown type)";
	bool is_array[NESTED];
	struct pd_die at = *type;
	size_t count = 0;
	const char *name, *prefix;

	while (points(&at) && count < NESTED) {
		is_array[count++] = pd_die_tag(&at) == PD_TAG_ARRAY;
		if (!pd_probe_type_of(&at, false, &at)) {
			at.abbrev = NULL;
			break;
		}
	}
	prefix = at.abbrev ? pd_probe_type_prefix(pd_die_tag(&at)) : "";
	name = !at.abbrev ? "void" : pd_die_tag(&at) == PD_TAG_FUNCTION_TYPE ? "(function_type)" : pd_die_name(&at);
	if (!name && !*prefix) {
		pd_text_add(text, unknown);
		return;
	}
	pd_text_printf(text, "%s%s", prefix, name ? name : "");
	while (count--)
		pd_text_add(text, is_array[count] ? "[]" : "*");
}

// ---- members ----

bool pd_type_part_read(const struct pd_die *die, struct pd_type_part *m)
{
	struct pd_die plain;
	uint64_t number;

	*m = (struct pd_type_part){ .die = *die };
	if (pd_die_tag(die) != PD_TAG_MEMBER || !pd_probe_type_of(die, false, &m->type))
		return false;
	if (!pd_type_plain(&m->type, &plain) || !pd_type_size(&plain, &m->size))
		m->size = 0;
	if (pd_die_find_number(die, PD_AT_MEMBER_LOCATION, &m->at))
		return true;
	m->at = pd_die_find_number(die, PD_AT_DATA_BIT_OFFSET, &number) ? number / 8 : 0;
	if (pd_die_find_number(die, PD_AT_BIT_SIZE, &m->bits) && m->bits)
		m->size = (m->bits - 1) / 8 + 1;
	return true;
}

// The first member that has an offset.
static bool find_member(const struct pd_die *type, uint64_t offset, bool exact, struct pd_type_part *m)
{
	struct pd_die_walk walk = { .die = *type };
	size_t left = MEMBERS;

	while (left-- && pd_die_next(&walk, false)) {
		if (!pd_type_part_read(&walk.die, m) || offset < m->at)
			continue;
		if (offset - m->at < m->size || (exact && !m->size && offset == m->at))
			return true;
	}
	return false;
}

// Classes have members to be shown, but none for what is followed.
static bool can_show(const struct pd_die *type)
{
	return pd_type_is_compound(type) || pd_die_tag(type) == PD_TAG_CLASS;
}

void pd_type_put_member(struct pd_text *text, const struct pd_die *type, int64_t offset)
{
	struct pd_die at;
	struct pd_type_part m;
	bool is_first = true;

	if (!pd_type_plain(type, &at))
		at = *type;
	for (int i = 0; i < NESTED && (i ? pd_type_is_compound(&at) : can_show(&at)); i++) {
		const char *name;

		if (!find_member(&at, (uint64_t)offset, false, &m))
			break;
		name = pd_die_name(&m.die);
		if (name)
			pd_text_printf(text, "%s%s", is_first ? "" : ".", name);
		if (name && m.bits)
			pd_text_printf(text, ":%" PRIu64, m.bits);
		is_first = is_first && !name;
		offset = pd_type_difference(offset, (int64_t)m.at);
		if (!pd_type_plain(&m.type, &at))
			break;
	}
	if (is_first)
		pd_text_add(text, "no field");
}

// From an array to the element at an offset.
static bool enter_element(struct pd_die *type, int64_t *offset)
{
	uint64_t size;

	for (int i = 0; pd_die_tag(type) == PD_TAG_ARRAY; i++) {
		if (i == NESTED || !pd_probe_type_of(type, true, type) || !pd_type_size(type, &size) || !size)
			return false;
		*offset = (int64_t)((uint64_t)*offset % size);
	}
	return true;
}

bool pd_type_member_at(const struct pd_die *type, int64_t offset, struct pd_die *type_out)
{
	struct pd_die at;
	struct pd_type_part m;

	if (!pd_type_plain(type, &at))
		return false;
	for (int i = 0; pd_type_is_compound(&at); i++) {
		if (i == NESTED || !find_member(&at, (uint64_t)offset, true, &m) || !pd_type_plain(&m.type, &at))
			return false;
		offset = pd_type_difference(offset, (int64_t)m.at);
		if (!enter_element(&at, &offset))
			return false;
	}
	*type_out = at;
	return true;
}

bool pd_type_pointed_member(const struct pd_die *pointer, int64_t offset, struct pd_die *type_out)
{
	struct pd_die target;
	uint64_t size;

	// as perf: not through a typedef of a pointer
	if (!points(pointer) || !pd_type_target(pointer, &target) || !pd_type_plain(&target, &target))
		return false;
	if (offset && !pd_type_is_compound(&target) &&
	    (offset < 0 || !pd_type_size(&target, &size) || (uint64_t)offset >= size))
		return false;
	return pd_type_member_at(&target, offset, type_out);
}

bool pd_type_is_better(const struct pd_die *first, const struct pd_die *second)
{
	struct pd_die a = *first, b = *second;
	uint64_t size_a, size_b;

	if (is_pointer(&a) != is_pointer(&b))
		return is_pointer(&b);
	if (is_pointer(&b)) {
		// what they point to counts
		if (!pd_type_target(&a, &a))
			return true;
		if (!pd_type_target(&b, &b))
			return false;
	}
	if (!pd_type_size(&a, &size_a) || !pd_type_size(&b, &size_b))
		return false;
	if (size_a != size_b)
		return size_a < size_b;
	if (pd_type_is_compound(&a) != pd_type_is_compound(&b))
		return pd_type_is_compound(&b);
	return pd_die_tag(&b) == PD_TAG_TYPEDEF;
}

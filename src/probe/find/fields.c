/* SPDX-License-Identifier: MIT */
/* From a variable to a part of it, and what type that has for the kernel. */
#include "probe/find/finder.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
	QUALIFIERS = 64,        // of a type, one after another
	NESTED = 16,            // structures without a name in each other
	MOST_MEMBERS = 1000000, // that are looked at: those that are in each other could be without end
	MOST_BITS = 64,
	ENCODING_SIGNED_FIXED = 0x0d,
	ENCODING_SIGNED = 0x05,
	ENCODING_SIGNED_CHAR = 0x06
};

// ---- types ----

static bool is_qualifier(uint32_t tag)
{
	return tag == PD_TAG_CONST || tag == PD_TAG_VOLATILE || tag == PD_TAG_RESTRICT || tag == PD_TAG_SHARED;
}

bool pd_probe_type_of(const struct pd_die *die, bool plain, struct pd_die *type_out)
{
	struct pd_die at = *die;

	for (int i = 0; i < QUALIFIERS; i++) {
		uint32_t tag;

		if (!pd_die_find_reference(&at, PD_AT_TYPE, &at))
			return false;
		tag = pd_die_tag(&at);
		if (is_qualifier(tag) || (plain && tag == PD_TAG_TYPEDEF))
			continue;
		*type_out = at;
		return true;
	}
	return false;
}

static const char *name_of(const struct pd_die *die)
{
	const char *name = pd_die_name(die);

	return name ? name : "(unnamed)";
}

// Bytes of a type; 0 if it is not known.
static uint64_t size_of(const struct pd_die *type)
{
	uint64_t size;

	if (pd_die_find_number(type, PD_AT_BYTE_SIZE, &size))
		return size;
	return pd_die_tag(type) == PD_TAG_POINTER ? type->unit->addr_size : 0;
}

const char *pd_probe_type_prefix(uint32_t tag)
{
	switch (tag) {
	case PD_TAG_UNION:
		return "union ";
	case PD_TAG_STRUCTURE:
		return "struct ";
	case PD_TAG_ENUMERATION:
		return "enum ";
	default:
		return "";
	}
}

bool pd_probe_put_type(struct pd_text *text, const struct pd_die *die)
{
	size_t stars = 0;
	struct pd_die at = *die;
	bool is_pointer = false;

	for (;;) {
		struct pd_die pointer = at;
		bool has_type = pd_probe_type_of(&at, false, &at);
		uint32_t tag = has_type ? pd_die_tag(&at) : 0;
		const char *prefix = pd_probe_type_prefix(tag), *name;

		if ((tag == PD_TAG_POINTER || tag == PD_TAG_ARRAY) && stars < QUALIFIERS) {
			stars++;
			is_pointer = tag == PD_TAG_POINTER;
			continue;
		}
		name = has_type ? pd_die_name(&at) : NULL;
		// of nothing, not of a constant nothing
		if (!has_type && (!is_pointer || pd_die_has(&pointer, PD_AT_TYPE)))
			return false;
		if (has_type && !name && tag != PD_TAG_FUNCTION_TYPE)
			return false;
		if (!has_type)
			pd_text_add(text, "void");
		else if (tag == PD_TAG_FUNCTION_TYPE)
			pd_text_add(text, "(function_type)");
		else
			pd_text_printf(text, "%s%s", prefix, name);
		break;
	}
	// arrays, too, as perf 6.1
	while (stars--)
		pd_text_char(text, '*');
	return true;
}

// ---- fields ----

static enum pd_status fail_field(const struct pd_probe_finder *f, const char *sentence, const char *name)
{
	return pd_fail(f->error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "'%s': '%s' %s", f->definition->text, name, sentence);
}

// The memory that the value ends with; one more read of it if it has to begin there.
static struct pd_probe_memory *last_memory(struct pd_probe_finder *f, struct pd_probe_value *value, bool add,
					   bool is_user)
{
	struct pd_probe_memory **link = &value->memory;

	while (*link && (add || (*link)->next))
		link = &(*link)->next;
	if (add)
		*link = pd_arena_alloc(f->arena, sizeof(**link));
	if (add && *link)
		(*link)->is_user = is_user;
	return *link;
}

static bool is_structure(uint32_t tag)
{
	return tag == PD_TAG_STRUCTURE || tag == PD_TAG_UNION;
}

// The member of a structure by its name. One without a name is given if what it is has that name.
static bool find_in(const struct pd_die *structure, const char *name, int depth, size_t *left,
		    struct pd_die *member_out)
{
	struct pd_die_walk walk = { .die = *structure };

	while (*left && pd_die_next(&walk, false)) {
		const char *own;
		struct pd_die type, inner;

		--*left;
		if (pd_die_tag(&walk.die) != PD_TAG_MEMBER)
			continue;
		own = pd_die_name(&walk.die);
		if (own ? strcmp(own, name) == 0 :
			  depth < NESTED && pd_die_find_reference(&walk.die, PD_AT_TYPE, &type) &&
				    find_in(&type, name, depth + 1, left, &inner)) {
			*member_out = walk.die;
			return true;
		}
	}
	return false;
}

static bool find_member(const struct pd_die *structure, const char *name, struct pd_die *member_out)
{
	size_t left = MOST_MEMBERS;

	return find_in(structure, name, 0, &left, member_out);
}

// What is damaged must not overflow.
static void add_offset(struct pd_probe_memory *memory, uint64_t offset)
{
	memory->offset = (int64_t)((uint64_t)memory->offset + offset);
}

static bool offset_of_member(const struct pd_die *member, uint64_t *offset_out)
{
	struct pd_dwarf_value value;
	struct pd_die_operation operation;
	struct pd_die type;
	uint64_t size;

	if (pd_die_find_number(member, PD_AT_MEMBER_LOCATION, offset_out))
		return true;
	// bits are counted from the begin of the structure
	if (pd_die_find_number(member, PD_AT_DATA_BIT_OFFSET, offset_out)) {
		size = pd_probe_type_of(member, true, &type) ? size_of(&type) : 0;
		*offset_out = size ? *offset_out / 8 / size * size : *offset_out / 8;
		return true;
	}
	if (!pd_die_value(member, PD_AT_MEMBER_LOCATION, &value) || !value.text ||
	    !pd_die_operation(member, (struct pd_bytes){ (const uint8_t *)value.text, (size_t)value.number },
			      &operation) ||
	    operation.code != PD_OP_PLUS_UCONST || !operation.is_only)
		return false;
	*offset_out = operation.number;
	return true;
}

static enum pd_status take_index(struct pd_probe_finder *f, const struct pd_probe_argument *argument,
				 const struct pd_probe_field *field, const char *name, struct pd_die *die,
				 struct pd_probe_value *value)
{
	struct pd_probe_memory *memory;
	struct pd_die type, element;

	if (!pd_probe_type_of(die, true, &type) || !pd_probe_type_of(&type, true, &element))
		return fail_field(f, "has no type", name);
	memory = last_memory(f, value, pd_die_tag(&type) == PD_TAG_POINTER || !value->memory, argument->is_user);
	if (!memory)
		return pd_fail_memory(f->error);
	add_offset(memory, size_of(&element) * (uint64_t)field->index);
	memory->is_user = argument->is_user;
	*die = type;
	return PD_OK;
}

// Goes into the structure of a member, or of what a pointer points to; type is that of the variable.
static enum pd_status enter(struct pd_probe_finder *f, const struct pd_probe_argument *argument,
			    const struct pd_probe_field *field, const char *name, const struct pd_die *die,
			    struct pd_die *type, struct pd_probe_value *value)
{
	bool is_pointer = pd_die_tag(type) == PD_TAG_POINTER;

	if (is_pointer && !field->is_arrow)
		return fail_field(f, "is a field of a pointer, which needs ->", field->name);
	if (is_pointer && !pd_probe_type_of(type, true, type))
		return fail_field(f, "has no type", name);
	if (!is_structure(pd_die_tag(type)))
		return fail_field(f, "is neither a structure nor a union", name);
	if (!is_pointer && field->is_index)
		return fail_field(f, "is neither an array nor a pointer", name);
	if (!is_pointer && field->is_arrow && pd_die_name(die))
		return fail_field(f, "is a field of no pointer, which needs .", field->name);
	if (!is_pointer && !value->memory)
		return fail_field(f, "is a structure in registers, which a probe cannot read", name);
	return last_memory(f, value, is_pointer, argument->is_user) ? PD_OK : pd_fail_memory(f->error);
}

static enum pd_status take_member(struct pd_probe_finder *f, const struct pd_probe_argument *argument,
				  const struct pd_probe_field *field, const char *name, struct pd_die *die,
				  struct pd_probe_value *value)
{
	struct pd_probe_memory *memory;
	struct pd_die type, member;
	enum pd_status status;
	uint64_t offset = 0;

	if (!pd_probe_type_of(die, true, &type))
		return fail_field(f, "has no type", name);
	status = enter(f, argument, field, name, die, &type, value);
	if (status)
		return status;
	if (!find_member(&type, field->name, &member))
		return pd_fail(f->error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "'%s': '%s', a %s, has no member '%s'",
			       f->definition->text, name, name_of(&type), field->name);
	if (pd_die_tag(&type) != PD_TAG_UNION && !offset_of_member(&member, &offset))
		return fail_field(f, "has no offset", field->name);
	memory = last_memory(f, value, false, false);
	add_offset(memory, offset);
	memory->is_user = argument->is_user;
	*die = member;
	return PD_OK;
}

enum pd_status pd_probe_fields(struct pd_probe_finder *f, const struct pd_probe_argument *argument, struct pd_die *die,
			       struct pd_probe_value *value)
{
	const char *name = argument->variable;

	for (const struct pd_probe_field *field = argument->fields; field; field = field->next) {
		enum pd_status status = PD_OK;
		struct pd_die type;
		uint32_t tag = pd_probe_type_of(die, true, &type) ? pd_die_tag(&type) : 0;

		if (field->is_index && (tag == PD_TAG_ARRAY || tag == PD_TAG_POINTER))
			status = take_index(f, argument, field, name, die, value);
		else
			status = take_member(f, argument, field, name, die, value);
		// a member without a name has the field in it
		for (int i = 0; !status && !field->is_index && !pd_die_name(die) && i < NESTED; i++)
			status = take_member(f, argument, field, name, die, value);
		if (status)
			return status;
		name = field->name;
	}
	return PD_OK;
}

// ---- the type of a value ----

static bool is_string(const char *type)
{
	return type && (strcmp(type, "string") == 0 || strcmp(type, "ustring") == 0);
}

// One letter: only how a number is printed is given.
static bool is_notation(const char *type)
{
	return type && type[0] && !type[1] && strchr("xsu", type[0]);
}

static enum pd_status give_type(struct pd_probe_finder *f, struct pd_probe_value *value, const char *type)
{
	value->type = pd_arena_text(f->arena, type, strlen(type));
	return value->type ? PD_OK : pd_fail_memory(f->error);
}

static enum pd_status give_string(struct pd_probe_finder *f, const struct pd_probe_argument *argument,
				  const struct pd_die *die, const struct pd_die *type, struct pd_probe_value *value)
{
	uint32_t tag = pd_die_tag(type);
	struct pd_die element;
	const char *name;

	if (tag != PD_TAG_POINTER && tag != PD_TAG_ARRAY)
		return fail_field(f, "is no string: neither a pointer nor an array", name_of(die));
	if (!pd_probe_type_of(type, true, &element))
		return fail_field(f, "is no string: what it points to has no type", name_of(die));
	name = pd_die_name(&element);
	if (!name || (strcmp(name, "char") != 0 && strcmp(name, "unsigned char") != 0))
		return fail_field(f, "is no string: it does not point to characters", name_of(die));
	if (tag == PD_TAG_POINTER && !last_memory(f, value, true, argument->is_user))
		return pd_fail_memory(f->error);
	return give_type(f, value, argument->type);
}

static bool is_signed(const struct pd_die *type)
{
	uint64_t encoding;

	return pd_die_find_number(type, PD_AT_ENCODING, &encoding) &&
	       (encoding == ENCODING_SIGNED || encoding == ENCODING_SIGNED_CHAR || encoding == ENCODING_SIGNED_FIXED);
}

static char notation_of(const struct pd_probe_finder *f, const struct pd_probe_argument *argument,
			const struct pd_die *type)
{
	bool can_hex = f->features.has_hexadecimal;

	if (is_notation(argument->type) && (argument->type[0] != 'x' || can_hex))
		return argument->type[0];
	return is_signed(type) ? 's' : can_hex ? 'x' : 'u';
}

// Where a bit field is in a number of its type, counted from the lowest bit; false if it is none.
static bool bit_field(const struct pd_die *die, uint64_t *width, uint64_t *offset, uint64_t *bytes)
{
	struct pd_die type;

	if (!pd_die_find_number(die, PD_AT_BIT_SIZE, width) || !*width || *width > MOST_BITS)
		return false;
	if (!pd_die_find_number(die, PD_AT_BYTE_SIZE, bytes))
		*bytes = pd_probe_type_of(die, true, &type) ? size_of(&type) : 0;
	if (!*bytes || *bytes > MOST_BITS / 8)
		return false;
	if (pd_die_find_number(die, PD_AT_DATA_BIT_OFFSET, offset)) {
		*offset %= *bytes * 8;
	} else if (pd_die_find_number(die, PD_AT_BIT_OFFSET, offset) && *offset + *width <= *bytes * 8) {
		// older versions count from the highest bit
		if (!die->dwarf->image->big)
			*offset = *bytes * 8 - *offset - *width;
	} else {
		return false;
	}
	return *offset + *width <= *bytes * 8;
}

enum pd_status pd_probe_type(struct pd_probe_finder *f, const struct pd_probe_argument *argument,
			     const struct pd_die *die, struct pd_probe_value *value)
{
	struct pd_die type;
	uint64_t bits, offset, bytes;
	char text[80];

	if (argument->type && !is_string(argument->type) && !is_notation(argument->type))
		return give_type(f, value, argument->type);
	if (bit_field(die, &bits, &offset, &bytes)) {
		snprintf(text, sizeof(text), "b%" PRIu64 "@%" PRIu64 "/%" PRIu64, bits, offset, bytes * 8);
		return give_type(f, value, text);
	}
	if (!pd_probe_type_of(die, true, &type))
		return fail_field(f, "has no type", name_of(die));
	if (is_string(argument->type))
		return give_string(f, argument, die, &type, value);
	// where nothing says the size, the kernel has its own
	if (!pd_die_find_number(&type, PD_AT_BYTE_SIZE, &bits) || !bits)
		return PD_OK;
	bits = bits > MOST_BITS / 8 ? MOST_BITS : bits * 8;
	snprintf(text, sizeof(text), "%c%" PRIu64, notation_of(f, argument, &type), bits);
	return give_type(f, value, text);
}

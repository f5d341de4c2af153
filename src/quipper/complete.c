/* SPDX-License-Identifier: MIT */
/* What encoding needs and a message does not say: counts of arrays, and parts that are there although nothing was given. */
#include "quipper/decode.h"

static size_t count_of(const struct pd_field *field, const void *member)
{
	if (field->line == PD_LINE_LIST)
		return ((const struct pd_list *)member)->count;
	return field->kind == PD_KIND_U8 ? ((const struct pd_bytes *)member)->size :
					   ((const struct pd_u64s *)member)->count;
}

static void put_count(void *decoded, const struct pd_field *field, uint64_t value)
{
	char *at = (char *)decoded + field->count.offset;

	if (field->count.size == 2)
		*(uint16_t *)(void *)at = (uint16_t)value;
	else if (field->count.size == 4)
		*(uint32_t *)(void *)at = (uint32_t)value;
	else if (field->count.size == 8)
		*(uint64_t *)(void *)at = value;
}

// A count before several arrays is that of the first one that has items.
static void count_items(void *decoded, const struct pd_field *field)
{
	void *member = (char *)decoded + field->offset;
	size_t count = count_of(field, member);

	if (field->count.op == PD_COUNT_MEMBER && count && !pd_member(decoded, field->count.offset, field->count.size))
		put_count(decoded, field, count);
	// something is there, which a member before it has to say
	if (field->when.op == PD_WHEN_NOT && field->when.size == 1 && count)
		*((bool *)decoded + field->when.offset) = true;
}

// Zeros in an array that is shorter than its count.
static bool fill_array(struct pd_scope *scope, void *decoded, const struct pd_field *field)
{
	void *member = (char *)decoded + field->offset;
	struct pd_bytes *bytes = member;
	struct pd_u64s *numbers = member;
	uint64_t want = field->count.op == PD_COUNT_MEMBER ?
				pd_member(decoded, field->count.offset, field->count.size) :
			field->count.op == PD_COUNT_FIXED ? field->count.value :
							    0;
	void *made;

	if (!pd_when_holds(&field->when, scope, decoded) || count_of(field, member) >= want ||
	    count_of(field, member) || want > UINT16_MAX)
		return true;
	made = pd_arena_alloc(scope->arena, (size_t)want * sizeof(uint64_t));
	if (!made)
		return false;
	if (field->kind == PD_KIND_U8)
		*bytes = (struct pd_bytes){ made, (size_t)want };
	else
		*numbers = (struct pd_u64s){ made, (size_t)want };
	return true;
}

static bool fill_part(struct pd_scope *scope, void *decoded, const struct pd_field *field)
{
	void **pointer = (void **)(void *)((char *)decoded + field->offset);

	if (!pd_when_holds(&field->when, scope, decoded))
		return true;
	if (!*pointer)
		*pointer = pd_arena_alloc(scope->arena, field->part->struct_size);
	return *pointer && pd_quipper_complete(scope, field->part, *pointer);
}

bool pd_quipper_complete(struct pd_scope *scope, const struct pd_layout *layout, void *decoded)
{
	size_t count;
	const struct pd_field *fields = layout->fields(&count);

	for (size_t i = 0; i < count; i++)
		if (fields[i].line == PD_LINE_LIST || fields[i].line == PD_LINE_ARRAY)
			count_items(decoded, &fields[i]);
	for (size_t i = 0; i < count; i++) {
		if (fields[i].line == PD_LINE_ARRAY && !fill_array(scope, decoded, &fields[i]))
			return false;
		if (fields[i].line == PD_LINE_ONE && !fill_part(scope, decoded, &fields[i]))
			return false;
	}
	return true;
}

/* SPDX-License-Identifier: MIT */
#include "ranges.h"

#include "format/text/print.h"

static const uint8_t kind_sizes[] = {
	[PD_KIND_U8] = 1, [PD_KIND_U16] = 2, [PD_KIND_U32] = 4, [PD_KIND_U64] = 8, [PD_KIND_S32] = 4, [PD_KIND_F64] = 8,
};

static void add(struct field_ranges *ranges, const struct pd_field *field, enum field_range_kind kind, size_t size)
{
	if (ranges->count < RANGE_LIMIT && size)
		ranges->items[ranges->count++] =
			(struct field_range){ field, ranges->at, size, (uint8_t)kind, ranges->big };
	ranges->at += size;
}

static void find_number(struct field_ranges *ranges, const struct pd_field *field, const void *member)
{
	(void)member;
	add(ranges, field, RANGE_NUMBER, kind_sizes[field->kind]);
}

static void find_text(struct field_ranges *ranges, const struct pd_field *field, const void *member)
{
	const struct pd_str *text = member;

	if (field->kind == PD_KIND_PSTR)
		add(ranges, field, RANGE_COUNT, 4);
	add(ranges, field, RANGE_TEXT, text->size);
}

static void find_count(struct field_ranges *ranges, const struct pd_field *field)
{
	if (field->count.op == PD_COUNT_LEADING)
		add(ranges, field, RANGE_COUNT, kind_sizes[field->count.value]);
}

static void find_array(struct field_ranges *ranges, const struct pd_field *field, const void *member)
{
	const struct pd_bytes *array = member;

	find_count(ranges, field);
	add(ranges, field, RANGE_BYTES, array->size * kind_sizes[field->kind]);
}

static void find_part(struct field_ranges *ranges, const struct pd_field *field, const void *member)
{
	field_ranges_find(ranges, field->part, *(const void *const *)member);
}

static void find_list(struct field_ranges *ranges, const struct pd_field *field, const void *member)
{
	const struct pd_list *list = member;

	find_count(ranges, field);
	for (size_t i = 0; i < list->count; i++)
		field_ranges_find(ranges, field->part, (const uint8_t *)list->items + i * list->stride);
}

static void find_records(struct field_ranges *ranges, const struct pd_field *field, const void *member)
{
	const struct pd_bytes *bytes = member;

	add(ranges, field, RANGE_BYTES, bytes->size);
}

static void set_word(struct field_ranges *ranges, const struct pd_field *field, const void *member)
{
	ranges->scope.words[field->word] = pd_member(member, 0, field->size);
}

static void change_order(struct field_ranges *ranges, const struct pd_field *field, const void *member)
{
	ranges->big = pd_member(member, 0, field->size) != 0;
}

typedef void find_fn(struct field_ranges *ranges, const struct pd_field *field, const void *member);
static find_fn *const finders[] = {
	[PD_LINE_FIELD] = find_number, [PD_LINE_FLAGS] = find_number,
	[PD_LINE_TEXT] = find_text,    [PD_LINE_CHARS] = find_text,
	[PD_LINE_ARRAY] = find_array,  [PD_LINE_ONE] = find_part,
	[PD_LINE_AGAIN] = find_part,   [PD_LINE_BOXED] = find_part,
	[PD_LINE_LIST] = find_list,    [PD_LINE_RECORDS] = find_records,
	[PD_LINE_SET] = set_word,      [PD_LINE_ORDER] = change_order,
	[PD_LINE_MORE] = NULL,
};

void field_ranges_find(struct field_ranges *ranges, const struct pd_layout *layout, const void *decoded)
{
	size_t count;
	const struct pd_field *fields = layout->fields(&count);
	const struct pd_body_head *head = decoded;

	for (size_t i = 0; i < count; i++) {
		find_fn *find = finders[fields[i].line];

		if (find && pd_when_holds(&fields[i].when, &ranges->scope, decoded))
			find(ranges, &fields[i], (const uint8_t *)decoded + fields[i].offset);
	}
	if (layout->form != PD_FORM_PART)
		ranges->at += head->rest.size;
}

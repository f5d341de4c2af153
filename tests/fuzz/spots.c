/* SPDX-License-Identifier: MIT */
#include "spots.h"

#include "format/text/print.h"

static const uint8_t kind_sizes[] = {
	[PD_KIND_U8] = 1, [PD_KIND_U16] = 2, [PD_KIND_U32] = 4, [PD_KIND_U64] = 8, [PD_KIND_S32] = 4, [PD_KIND_F64] = 8,
};

static void add(struct spots *spots, const struct pd_field *field, enum spot_kind kind, size_t size)
{
	if (spots->count < SPOT_LIMIT && size)
		spots->items[spots->count++] = (struct spot){ field, spots->at, size, (uint8_t)kind, spots->big };
	spots->at += size;
}

static void find_number(struct spots *spots, const struct pd_field *field, const void *member)
{
	(void)member;
	add(spots, field, SPOT_NUMBER, kind_sizes[field->kind]);
}

static void find_text(struct spots *spots, const struct pd_field *field, const void *member)
{
	const struct pd_str *text = member;

	if (field->kind == PD_KIND_PSTR)
		add(spots, field, SPOT_COUNT, 4);
	add(spots, field, SPOT_TEXT, text->size);
}

static void find_count(struct spots *spots, const struct pd_field *field)
{
	if (field->count.op == PD_COUNT_LEADING)
		add(spots, field, SPOT_COUNT, kind_sizes[field->count.value]);
}

static void find_array(struct spots *spots, const struct pd_field *field, const void *member)
{
	const struct pd_bytes *array = member;

	find_count(spots, field);
	add(spots, field, SPOT_BYTES, array->size * kind_sizes[field->kind]);
}

static void find_part(struct spots *spots, const struct pd_field *field, const void *member)
{
	spots_find(spots, field->part, *(const void *const *)member);
}

static void find_list(struct spots *spots, const struct pd_field *field, const void *member)
{
	const struct pd_list *list = member;

	find_count(spots, field);
	for (size_t i = 0; i < list->count; i++)
		spots_find(spots, field->part, (const uint8_t *)list->items + i * list->stride);
}

static void find_records(struct spots *spots, const struct pd_field *field, const void *member)
{
	const struct pd_bytes *bytes = member;

	add(spots, field, SPOT_BYTES, bytes->size);
}

static void set_word(struct spots *spots, const struct pd_field *field, const void *member)
{
	spots->scope.words[field->word] = pd_member(member, 0, field->size);
}

static void change_order(struct spots *spots, const struct pd_field *field, const void *member)
{
	spots->big = pd_member(member, 0, field->size) != 0;
}

typedef void find_fn(struct spots *spots, const struct pd_field *field, const void *member);
static find_fn *const finders[] = {
	[PD_LINE_FIELD] = find_number, [PD_LINE_FLAGS] = find_number,
	[PD_LINE_TEXT] = find_text,    [PD_LINE_CHARS] = find_text,
	[PD_LINE_ARRAY] = find_array,  [PD_LINE_ONE] = find_part,
	[PD_LINE_AGAIN] = find_part,   [PD_LINE_BOXED] = find_part,
	[PD_LINE_LIST] = find_list,    [PD_LINE_RECORDS] = find_records,
	[PD_LINE_SET] = set_word,      [PD_LINE_ORDER] = change_order,
	[PD_LINE_MORE] = NULL,
};

void spots_find(struct spots *spots, const struct pd_layout *layout, const void *decoded)
{
	size_t count;
	const struct pd_field *fields = layout->fields(&count);
	const struct pd_body_head *head = decoded;

	for (size_t i = 0; i < count; i++) {
		find_fn *find = finders[fields[i].line];

		if (find && pd_when_holds(&fields[i].when, &spots->scope, decoded))
			find(spots, &fields[i], (const uint8_t *)decoded + fields[i].offset);
	}
	if (layout->form != PD_FORM_PART)
		spots->at += head->rest.size;
}

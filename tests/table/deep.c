/* SPDX-License-Identifier: MIT */
#include "deep.h"

#include <inttypes.h>

size_t deep_kind_size(unsigned kind)
{
	switch (kind) {
	case PD_KIND_U8:
		return 1;
	case PD_KIND_U16:
		return 2;
	case PD_KIND_U32:
	case PD_KIND_S32:
		return 4;
	default:
		return 8;
	}
}

const struct pd_bytes *deep_rest(const struct pd_layout *layout, const void *decoded)
{
	return layout->form == PD_FORM_PART ? NULL : decoded;
}

static const void *member_at(const void *decoded, const struct pd_field *field)
{
	return (const uint8_t *)decoded + field->offset;
}

static const void *part_at(const void *decoded, const struct pd_field *field)
{
	const void *part;

	memcpy(&part, member_at(decoded, field), sizeof(part));
	return part;
}

static const void *item_at(const struct pd_list *list, size_t index)
{
	return (const uint8_t *)list->items + index * list->stride;
}

// ---- equality ----

static bool bytes_equal(const void *a, const void *b, size_t size)
{
	return size == 0 || (a && b && memcmp(a, b, size) == 0);
}

static bool texts_equal(const struct pd_str *wanted, const struct pd_str *got)
{
	if (!wanted->data || !got->data)
		return !wanted->data && !got->data && !wanted->size && !got->size;
	return wanted->length == got->length && wanted->size == got->size && got->data[got->length] == '\0' &&
	       bytes_equal(wanted->data, got->data, wanted->size);
}

static bool arrays_equal(const void *wanted, const void *got, const struct pd_field *field)
{
	struct pd_bytes a = pd_array_of(wanted, field), b = pd_array_of(got, field);
	size_t width = field->kind ? deep_kind_size(field->kind) : 1;

	return a.size == b.size && bytes_equal(a.data, b.data, a.size * width);
}

static bool parts_equal(const struct pd_layout *layout, const void *wanted, const void *got, struct pd_text *where)
{
	if (!wanted || !got)
		return wanted == got;
	return deep_equal(layout, wanted, got, where);
}

static bool lists_equal(const struct pd_layout *layout, const struct pd_list *wanted, const struct pd_list *got,
			struct pd_text *where)
{
	if (wanted->count != got->count)
		return false;
	for (size_t i = 0; i < wanted->count; i++)
		if (!deep_equal(layout, item_at(wanted, i), item_at(got, i), where))
			return false;
	return true;
}

static bool lines_equal(const struct pd_field *field, const void *wanted, const void *got, struct pd_text *where)
{
	const void *a = member_at(wanted, field), *b = member_at(got, field);

	switch (field->line) {
	case PD_LINE_FIELD:
	case PD_LINE_FLAGS:
	case PD_LINE_MORE:
		return memcmp(a, b, field->size) == 0;
	case PD_LINE_TEXT:
	case PD_LINE_CHARS:
		return texts_equal(a, b);
	case PD_LINE_ARRAY:
	case PD_LINE_RECORDS:
		return arrays_equal(wanted, got, field);
	case PD_LINE_ONE:
	case PD_LINE_AGAIN:
	case PD_LINE_BOXED:
		return parts_equal(field->part, part_at(wanted, field), part_at(got, field), where);
	case PD_LINE_LIST:
		return lists_equal(field->part, a, b, where);
	default:
		return true;
	}
}

static bool differs(struct pd_text *where, const struct pd_layout *layout, const char *member)
{
	pd_text_printf(where, "%s%s.%s", where->size ? " in " : "", layout->name, member);
	return false;
}

static uint64_t wire_size_of(const struct pd_field *field, const void *decoded)
{
	return field->when.op == PD_WHEN_SINCE ? pd_member(decoded, field->when.offset, field->when.size) : 0;
}

bool deep_equal(const struct pd_layout *layout, const void *wanted, const void *got, struct pd_text *where)
{
	const struct pd_body_head *a = wanted, *b = got;
	size_t count;
	const struct pd_field *fields = layout->fields(&count);

	for (size_t i = 0; i < count; i++) {
		if (wire_size_of(&fields[i], wanted) != wire_size_of(&fields[i], got))
			return differs(where, layout, "wire_size");
		if (!lines_equal(&fields[i], wanted, got, where))
			return differs(where, layout, fields[i].name);
	}
	if (layout->form == PD_FORM_PART)
		return true;
	if (a->rest.size != b->rest.size || !bytes_equal(a->rest.data, b->rest.data, a->rest.size))
		return differs(where, layout, "rest");
	if (layout->form == PD_FORM_BODY &&
	    !parts_equal(&pd_layouts[PD_LAYOUT_sample_id], a->sample_id, b->sample_id, where))
		return differs(where, layout, "sample_id");
	return true;
}

// ---- size ----

static struct deep_size solid(size_t size)
{
	return (struct deep_size){ size, size };
}

static size_t lead_size(const struct pd_field *field)
{
	return field->count.op == PD_COUNT_LEADING ? deep_kind_size(field->count.value) : 0;
}

static struct deep_size list_size(const struct pd_field *field, const void *decoded, struct pd_scope *scope)
{
	const struct pd_list *list = member_at(decoded, field);
	struct deep_size all = solid(lead_size(field));

	for (size_t i = 0; i < list->count; i++) {
		struct deep_size one = deep_size(field->part, item_at(list, i), scope);

		if (all.firm == all.size)
			all.firm += one.firm;
		all.size += one.size;
	}
	if (field->count.op == PD_COUNT_REST)
		all.firm = 0;
	return all;
}

static struct deep_size text_size(const struct pd_field *field, const struct pd_str *text)
{
	if (field->kind == PD_KIND_PSTR)
		return solid(4 + (size_t)text->size);
	// padding may go, the NUL may not
	if (field->kind == PD_KIND_STR0)
		return (struct deep_size){ text->size, (size_t)text->length + 1 };
	return solid(text->size);
}

struct deep_size deep_line_size(const struct pd_field *field, const void *decoded, struct pd_scope *scope)
{
	const struct pd_str *text = member_at(decoded, field);
	size_t size;

	switch (field->line) {
	case PD_LINE_FIELD:
	case PD_LINE_FLAGS:
		return solid(deep_kind_size(field->kind));
	case PD_LINE_TEXT:
		return text_size(field, text);
	case PD_LINE_CHARS:
		return (struct deep_size){ text->size, field->count.word ? text->size : 0 };
	case PD_LINE_ARRAY:
		size = lead_size(field) + pd_array_of(decoded, field).size * deep_kind_size(field->kind);
		return (struct deep_size){ size, field->count.op == PD_COUNT_REST ? 0 : size };
	case PD_LINE_RECORDS:
		return (struct deep_size){ pd_array_of(decoded, field).size, 0 };
	case PD_LINE_ONE:
	case PD_LINE_AGAIN:
		return deep_size(field->part, part_at(decoded, field), scope);
	case PD_LINE_BOXED:
		return solid(deep_size(field->part, part_at(decoded, field), scope).size);
	case PD_LINE_LIST:
		return list_size(field, decoded, scope);
	case PD_LINE_SET:
		scope->words[field->word] = pd_member(decoded, field->offset, field->size);
		return solid(0);
	default:
		return solid(0);
	}
}

struct deep_size deep_size(const struct pd_layout *layout, const void *decoded, struct pd_scope *scope)
{
	const struct pd_bytes *rest = deep_rest(layout, decoded);
	struct deep_size all = { 0, SIZE_MAX };
	size_t count;
	const struct pd_field *fields = layout->fields(&count);

	for (size_t i = 0; i < count; i++) {
		const struct pd_field *field = &fields[i];
		struct deep_size one;

		// where something may be missing, the bytes from there on are not firm
		if (all.firm == SIZE_MAX && (field->line == PD_LINE_MORE || field->when.op == PD_WHEN_SINCE))
			all.firm = all.size;
		if (!pd_when_holds(&field->when, scope, decoded))
			continue;
		one = deep_line_size(field, decoded, scope);
		if (all.firm == SIZE_MAX && one.firm != one.size)
			all.firm = all.size + one.firm;
		all.size += one.size;
	}
	if (all.firm == SIZE_MAX)
		all.firm = all.size;
	all.size += rest ? rest->size : 0;
	return all;
}

bool deep_more(const struct pd_field *field, const void *decoded, const struct pd_scope *scope, size_t left)
{
	const struct pd_counting *count = &field->count;
	uint64_t member = pd_member(decoded, count->offset, count->size);

	switch (count->op) {
	case PD_COUNT_FIXED:
		return left >= count->value;
	case PD_COUNT_MEMBER:
		return member && member <= left / count->value;
	case PD_COUNT_WORD:
		return scope->words[count->word] && scope->words[count->word] <= left / count->value;
	case PD_COUNT_AFTER:
		return member && left >= count->value;
	default:
		return false;
	}
}

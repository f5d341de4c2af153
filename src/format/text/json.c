/* SPDX-License-Identifier: MIT */
/* Decoded structs as JSON: numbers as numbers, bytes as hexadecimal text, parts as objects, lists as arrays. */
#include <math.h>
#include <stdio.h>

#include <perfdata/print.h>

#include "format/text/print.h"

static void json_key(struct pd_text *text, const char *name, bool *first)
{
	if (!*first)
		pd_text_char(text, ',');
	*first = false;
	pd_text_char(text, '"');
	pd_text_add(text, name);
	PD_TEXT_LITERAL(text, "\":");
}

static void json_bytes(struct pd_text *text, struct pd_bytes bytes)
{
	pd_text_char(text, '"');
	pd_text_hex_bytes(text, bytes.data, bytes.size);
	pd_text_char(text, '"');
}

static void json_number(struct pd_text *text, const struct pd_field *field, const void *decoded)
{
	double value;

	if (field->kind == PD_KIND_F64) {
		memcpy(&value, (const uint8_t *)decoded + field->offset, sizeof(value));
		if (isfinite(value))
			pd_text_double(text, value);
		else
			PD_TEXT_LITERAL(text, "null");
	} else if (field->kind == PD_KIND_S32 || field->show == PD_SHOW_SIGNED) {
		pd_text_s64(text, pd_signed_member(field, decoded));
	} else {
		pd_text_u64(text, pd_member(decoded, field->offset, field->size));
	}
}

// {"AX":1,...}; a register without a name is "reg24".
static void json_regs(struct pd_printer *printer, const struct pd_field *field, struct pd_bytes array)
{
	uint64_t mask = printer->scope.words[field->word];
	bool first = true;

	pd_text_char(printer->text, '{');
	for (size_t i = 0; i < array.size && mask; i++, mask &= mask - 1) {
		unsigned number = (unsigned)__builtin_ctzll(mask);
		const char *name = pd_register_name(printer->arch, number);
		char unnamed[16];

		if (!name) {
			snprintf(unnamed, sizeof(unnamed), "reg%u", number);
			name = unnamed;
		}
		json_key(printer->text, name, &first);
		pd_text_u64(printer->text, pd_array_item(array, field->kind, i));
	}
	pd_text_char(printer->text, '}');
}

static void json_array(struct pd_printer *printer, const struct pd_field *field, const void *decoded)
{
	struct pd_bytes array = pd_array_of(decoded, field);

	if (field->kind == PD_KIND_U8) {
		json_bytes(printer->text, array);
		return;
	}
	if (field->show == PD_SHOW_REGS) {
		json_regs(printer, field, array);
		return;
	}
	pd_text_char(printer->text, '[');
	for (size_t i = 0; i < array.size; i++) {
		uint64_t value = pd_array_item(array, field->kind, i);

		if (i)
			pd_text_char(printer->text, ',');
		if (field->show == PD_SHOW_SIGNED)
			pd_text_s64(printer->text, field->kind == PD_KIND_U32 ? (int32_t)value : (int64_t)value);
		else
			pd_text_u64(printer->text, value);
	}
	pd_text_char(printer->text, ']');
}

static void json_list(struct pd_printer *printer, const struct pd_field *field, const struct pd_list *list)
{
	pd_text_char(printer->text, '[');
	for (size_t i = 0; i < list->count; i++) {
		if (i)
			pd_text_char(printer->text, ',');
		pd_json_struct(printer, field->part, (const uint8_t *)list->items + i * list->stride);
	}
	pd_text_char(printer->text, ']');
}

void pd_json_value(struct pd_printer *printer, const struct pd_field *field, const void *decoded)
{
	const void *member = (const uint8_t *)decoded + field->offset;
	struct pd_str str;

	switch (field->line) {
	case PD_LINE_TEXT:
	case PD_LINE_CHARS:
		memcpy(&str, member, sizeof(str));
		pd_text_json_string(printer->text, str.data, str.length);
		break;
	case PD_LINE_ARRAY:
		json_array(printer, field, decoded);
		break;
	case PD_LINE_RECORDS:
		json_bytes(printer->text, pd_array_of(decoded, field));
		break;
	case PD_LINE_LIST:
		json_list(printer, field, member);
		break;
	case PD_LINE_ONE:
	case PD_LINE_AGAIN:
	case PD_LINE_BOXED:
		if (*(const void *const *)member)
			pd_json_struct(printer, field->part, *(const void *const *)member);
		else
			PD_TEXT_LITERAL(printer->text, "null");
		break;
	default:
		json_number(printer->text, field, decoded);
		break;
	}
}

void pd_json_struct(struct pd_printer *printer, const struct pd_layout *layout, const void *decoded)
{
	size_t count;
	const struct pd_field *fields = layout->fields(&count);
	const struct pd_body_head *head = decoded;
	bool first = true;

	pd_text_char(printer->text, '{');
	for (size_t i = 0; i < count; i++) {
		if (fields[i].line == PD_LINE_SET)
			pd_printer_set(printer, &fields[i], decoded);
		if (!pd_printer_shows(printer, &fields[i], decoded))
			continue;
		json_key(printer->text, fields[i].name, &first);
		pd_json_value(printer, &fields[i], decoded);
	}
	if (layout->form != PD_FORM_PART && head->rest.size) {
		json_key(printer->text, "rest", &first);
		json_bytes(printer->text, head->rest);
	}
	if (layout->form == PD_FORM_BODY && head->sample_id) {
		json_key(printer->text, "sample_id", &first);
		pd_json_struct(printer, &pd_layouts[PD_LAYOUT_sample_id], head->sample_id);
	}
	pd_text_char(printer->text, '}');
}

/* SPDX-License-Identifier: MIT */
/*
 * Decoded structs as text. Numbers stand one a line; parts and items of lists stand on one line with what is
 * simple in them, and what is not follows below, further in.
 */
#include "format/text/print.h"

#include <stdio.h>

#include <perfdata/print.h>

enum {
	BYTES_SHOWN = 32
};

bool pd_printer_shows(struct pd_printer *printer, const struct pd_field *field, const void *decoded)
{
	if (field->line >= PD_LINE_MORE)
		return false;
	if (!pd_when_holds(&field->when, &printer->scope, decoded))
		return false;
	return field->line != PD_LINE_FIELD || field->show != PD_SHOW_HIDDEN ||
	       pd_member(decoded, field->offset, field->size) != 0;
}

uint64_t pd_array_item(struct pd_bytes array, enum pd_kind kind, size_t index)
{
	static const uint8_t sizes[] = { [PD_KIND_U8] = 1, [PD_KIND_U16] = 2, [PD_KIND_U32] = 4, [PD_KIND_U64] = 8 };

	return pd_member(array.data, index * sizes[kind], sizes[kind]);
}

int64_t pd_signed_member(const struct pd_field *field, const void *decoded)
{
	uint64_t value = pd_member(decoded, field->offset, field->size);

	return field->size == 4 ? (int32_t)value : (int64_t)value;
}

static void print_named(struct pd_text *text, const struct pd_names *names, uint64_t value)
{
	char buffer[512];

	if (names->bits) {
		pd_text_hex(text, value);
		if (!value)
			return;
		pd_names_print(names, value, buffer, sizeof(buffer));
		PD_TEXT_LITERAL(text, " (");
		pd_text_add(text, buffer);
		pd_text_char(text, ')');
	} else {
		const char *name = pd_names_text(names, (int64_t)value);

		pd_text_u64(text, value);
		if (name && *name) {
			PD_TEXT_LITERAL(text, " (");
			pd_text_add(text, name);
			pd_text_char(text, ')');
		}
	}
}

static void print_f64(struct pd_text *text, const struct pd_field *field, const void *decoded)
{
	double value;

	memcpy(&value, (const uint8_t *)decoded + field->offset, sizeof(value));
	pd_text_double(text, value);
}

static void print_number(struct pd_printer *printer, const struct pd_field *field, const void *decoded)
{
	struct pd_text *text = printer->text;
	uint64_t value = pd_member(decoded, field->offset, field->size);

	if (field->kind == PD_KIND_F64) {
		print_f64(text, field, decoded);
		return;
	}
	switch (field->show) {
	case PD_SHOW_HEX:
	case PD_SHOW_ADDR:
		pd_text_hex(text, value);
		break;
	case PD_SHOW_TIME:
		if (value == UINT64_MAX)
			PD_TEXT_LITERAL(text, "none");
		else
			pd_text_time(text, value);
		break;
	case PD_SHOW_SIGNED:
		pd_text_s64(text, pd_signed_member(field, decoded));
		break;
	case PD_SHOW_NAMES:
	case PD_SHOW_BITS:
		print_named(text, field->names, value);
		break;
	default:
		if (field->kind == PD_KIND_S32)
			pd_text_s64(text, pd_signed_member(field, decoded));
		else
			pd_text_u64(text, value);
		break;
	}
}

static void print_str(struct pd_text *text, const void *decoded, const struct pd_field *field)
{
	struct pd_str str;

	memcpy(&str, (const uint8_t *)decoded + field->offset, sizeof(str));
	pd_text_escaped(text, str.data, str.length);
}

static void print_bytes(struct pd_text *text, struct pd_bytes bytes)
{
	pd_text_char(text, '[');
	pd_text_u64(text, bytes.size);
	pd_text_char(text, ']');
	if (!bytes.size)
		return;
	pd_text_char(text, ' ');
	pd_text_hex_bytes(text, bytes.data, bytes.size < BYTES_SHOWN ? bytes.size : BYTES_SHOWN);
	if (bytes.size > BYTES_SHOWN)
		PD_TEXT_LITERAL(text, "...");
}

static void print_item(struct pd_text *text, const struct pd_field *field, uint64_t value)
{
	const char *marker = field->show == PD_SHOW_CHAIN && value >= PD_CONTEXT_MAX ?
				     pd_names_text(field->names, (int64_t)value) :
				     NULL;

	if (marker)
		pd_text_add(text, marker);
	else if (field->show == PD_SHOW_DEC)
		pd_text_u64(text, value);
	else if (field->show == PD_SHOW_SIGNED)
		pd_text_s64(text, field->kind == PD_KIND_U32 ? (int32_t)value : (int64_t)value);
	else
		pd_text_hex(text, value);
}

// Registers with their names; the n-th word belongs to the n-th bit of the mask.
static void print_regs(struct pd_printer *printer, const struct pd_field *field, struct pd_bytes array)
{
	uint64_t mask = printer->scope.words[field->word];

	for (size_t i = 0; i < array.size && mask; i++, mask &= mask - 1) {
		unsigned number = (unsigned)__builtin_ctzll(mask);
		const char *name = pd_register_name(printer->arch, number);

		pd_text_char(printer->text, ' ');
		if (name)
			pd_text_add(printer->text, name);
		else
			pd_text_printf(printer->text, "reg%u", number);
		pd_text_char(printer->text, ':');
		pd_text_hex(printer->text, pd_array_item(array, field->kind, i));
	}
}

static void print_array(struct pd_printer *printer, const struct pd_field *field, const void *decoded)
{
	struct pd_bytes array = pd_array_of(decoded, field);

	if (field->kind == PD_KIND_U8) {
		print_bytes(printer->text, array);
		return;
	}
	pd_text_char(printer->text, '[');
	pd_text_u64(printer->text, array.size);
	pd_text_char(printer->text, ']');
	if (field->show == PD_SHOW_REGS) {
		print_regs(printer, field, array);
		return;
	}
	for (size_t i = 0; i < array.size; i++) {
		pd_text_char(printer->text, ' ');
		print_item(printer->text, field, pd_array_item(array, field->kind, i));
	}
}

static bool is_simple(const struct pd_field *field)
{
	return field->line == PD_LINE_FIELD || field->line == PD_LINE_FLAGS || field->line == PD_LINE_TEXT ||
	       field->line == PD_LINE_CHARS || field->line == PD_LINE_ARRAY || field->line == PD_LINE_RECORDS;
}

static void print_simple(struct pd_printer *printer, const struct pd_field *field, const void *decoded)
{
	switch (field->line) {
	case PD_LINE_TEXT:
	case PD_LINE_CHARS:
		print_str(printer->text, decoded, field);
		break;
	case PD_LINE_ARRAY:
		print_array(printer, field, decoded);
		break;
	case PD_LINE_RECORDS:
		print_bytes(printer->text, pd_array_of(decoded, field));
		break;
	default:
		print_number(printer, field, decoded);
		break;
	}
}

static void print_line(struct pd_printer *printer, const struct pd_field *field, const void *decoded, unsigned indent);

static void print_rest(struct pd_printer *printer, const struct pd_layout *layout, const void *decoded, unsigned indent)
{
	const struct pd_body_head *head = decoded;

	if (layout->form == PD_FORM_PART || !head->rest.size)
		return;
	pd_text_indent(printer->text, indent);
	PD_TEXT_LITERAL(printer->text, "rest: ");
	print_bytes(printer->text, head->rest);
	pd_text_char(printer->text, '\n');
}

// A part after its name: simple fields on this line, the others below.
static void print_part(struct pd_printer *printer, const struct pd_layout *layout, const void *decoded, unsigned indent)
{
	size_t count;
	const struct pd_field *fields = layout->fields(&count);
	bool first = true;

	for (size_t i = 0; i < count; i++) {
		if (fields[i].line == PD_LINE_SET)
			pd_printer_set(printer, &fields[i], decoded);
		if (!is_simple(&fields[i]) || !pd_printer_shows(printer, &fields[i], decoded))
			continue;
		pd_text_put(printer->text, ", ", first ? 0 : 2);
		first = false;
		pd_text_add(printer->text, fields[i].name);
		pd_text_char(printer->text, ' ');
		print_simple(printer, &fields[i], decoded);
	}
	pd_text_char(printer->text, '\n');
	for (size_t i = 0; i < count; i++)
		if (!is_simple(&fields[i]) && pd_printer_shows(printer, &fields[i], decoded))
			print_line(printer, &fields[i], decoded, indent + 1);
	print_rest(printer, layout, decoded, indent + 1);
}

static void print_list(struct pd_printer *printer, const struct pd_field *field, const struct pd_list *list,
		       unsigned indent)
{
	for (size_t i = 0; i < list->count; i++) {
		pd_text_indent(printer->text, indent);
		pd_text_add(printer->text, field->name);
		pd_text_char(printer->text, '[');
		pd_text_u64(printer->text, i);
		PD_TEXT_LITERAL(printer->text, "]: ");
		print_part(printer, field->part, (const uint8_t *)list->items + i * list->stride, indent);
	}
	if (list->count)
		return;
	pd_text_indent(printer->text, indent);
	pd_text_add(printer->text, field->name);
	PD_TEXT_LITERAL(printer->text, ": [0]\n");
}

static void print_line(struct pd_printer *printer, const struct pd_field *field, const void *decoded, unsigned indent)
{
	const void *member = (const uint8_t *)decoded + field->offset;

	if (field->line == PD_LINE_LIST) {
		print_list(printer, field, member, indent);
		return;
	}
	pd_text_indent(printer->text, indent);
	pd_text_add(printer->text, field->name);
	PD_TEXT_LITERAL(printer->text, ": ");
	if (is_simple(field)) {
		print_simple(printer, field, decoded);
		pd_text_char(printer->text, '\n');
	} else {
		const void *part = *(const void *const *)member;

		if (part)
			print_part(printer, field->part, part, indent);
		else
			PD_TEXT_LITERAL(printer->text, "none\n");
	}
}

void pd_print_struct(struct pd_printer *printer, const struct pd_layout *layout, const void *decoded, unsigned indent)
{
	size_t count;
	const struct pd_field *fields = layout->fields(&count);
	const struct pd_body_head *head = decoded;

	for (size_t i = 0; i < count; i++) {
		if (fields[i].line == PD_LINE_SET)
			pd_printer_set(printer, &fields[i], decoded);
		if (pd_printer_shows(printer, &fields[i], decoded))
			print_line(printer, &fields[i], decoded, indent);
	}
	print_rest(printer, layout, decoded, indent);
	if (layout->form == PD_FORM_BODY && head->sample_id) {
		pd_text_indent(printer->text, indent);
		PD_TEXT_LITERAL(printer->text, "sample_id: ");
		print_part(printer, &pd_layouts[PD_LAYOUT_sample_id], head->sample_id, indent);
	}
}

void pd_print_hex(struct pd_text *text, struct pd_bytes bytes, uint64_t offset)
{
	for (size_t line = 0; line < bytes.size; line += 16) {
		size_t count = bytes.size - line < 16 ? bytes.size - line : 16;

		pd_text_printf(text, "  %08llx:", (unsigned long long)(offset + line));
		for (size_t i = 0; i < 16; i++) {
			if (i == 8)
				pd_text_char(text, ' ');
			if (i < count) {
				pd_text_char(text, ' ');
				pd_text_hex_bytes(text, bytes.data + line + i, 1);
			} else {
				PD_TEXT_LITERAL(text, "   ");
			}
		}
		PD_TEXT_LITERAL(text, "  ");
		for (size_t i = 0; i < count; i++) {
			uint8_t c = bytes.data[line + i];

			pd_text_char(text, c >= 0x20 && c < 0x7f ? (char)c : '.');
		}
		pd_text_char(text, '\n');
	}
}

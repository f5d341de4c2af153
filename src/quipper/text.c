/* SPDX-License-Identifier: MIT */
#include "quipper/text.h"

// Messages inside of messages; there are no more in the schema.
enum {
	DEEPEST = 8
};

static bool print_fields(struct pd_text *text, enum pd_quipper_message_id id, struct pd_bytes message, unsigned depth);

static void put_indent(struct pd_text *text, unsigned depth)
{
	for (unsigned i = 0; i < depth; i++)
		PD_TEXT_LITERAL(text, "  ");
}

static void put_quoted(struct pd_text *text, struct pd_bytes string)
{
	static const char plain[] = "\n\r\t\"'\\", names[] = "nrt\"'\\";

	pd_text_char(text, '"');
	for (size_t i = 0; i < string.size; i++) {
		uint8_t c = string.data[i];
		const char *at = c ? strchr(plain, c) : NULL;

		if (at) {
			pd_text_char(text, '\\');
			pd_text_char(text, names[at - plain]);
		} else if (c < 0x20 || c > 0x7e) {
			pd_text_char(text, '\\');
			pd_text_char(text, (char)('0' + (c >> 6)));
			pd_text_char(text, (char)('0' + (c >> 3 & 7)));
			pd_text_char(text, (char)('0' + (c & 7)));
		} else {
			pd_text_char(text, (char)c);
		}
	}
	pd_text_char(text, '"');
}

static void put_number(struct pd_text *text, const struct pd_quipper_line *line, uint64_t value)
{
	if (line->type == PD_QUIPPER_BOOL)
		pd_text_add(text, value ? "true" : "false");
	else
		pd_text_u64(text, line->type == PD_QUIPPER_U32 ? (uint32_t)value : value);
}

static void put_name(struct pd_text *text, const struct pd_quipper_line *line, unsigned depth)
{
	put_indent(text, depth);
	pd_text_add(text, line->name);
}

static bool print_sized(struct pd_text *text, const struct pd_quipper_line *line, struct pd_bytes bytes, unsigned depth)
{
	struct pd_cursor packed;

	if (line->type == PD_QUIPPER_MESSAGE) {
		put_name(text, line, depth);
		PD_TEXT_LITERAL(text, " {\n");
		if (!print_fields(text, line->part, bytes, depth + 1))
			return false;
		put_indent(text, depth);
		PD_TEXT_LITERAL(text, "}\n");
		return true;
	}
	if (line->type == PD_QUIPPER_STRING || line->type == PD_QUIPPER_BYTES) {
		put_name(text, line, depth);
		PD_TEXT_LITERAL(text, ": ");
		put_quoted(text, bytes);
		pd_text_char(text, '\n');
		return true;
	}
	packed = pd_cursor(bytes.data, bytes.size, false);
	while (pd_cursor_left(&packed)) {
		uint64_t value = pd_proto_take_varint(&packed);

		put_name(text, line, depth);
		PD_TEXT_LITERAL(text, ": ");
		put_number(text, line, value);
		pd_text_char(text, '\n');
	}
	return !packed.failed;
}

static bool print_fields(struct pd_text *text, enum pd_quipper_message_id id, struct pd_bytes message, unsigned depth)
{
	struct pd_cursor c = pd_cursor(message.data, message.size, false);
	struct pd_proto_field field;

	if (depth > DEEPEST)
		return false;
	while (pd_proto_next(&c, &field)) {
		const struct pd_quipper_line *line = pd_quipper_by_number(id, field.number);

		if (!line)
			continue;
		if (field.wire == PD_PROTO_SIZED) {
			if (!print_sized(text, line, field.bytes, depth))
				return false;
		} else {
			put_name(text, line, depth);
			PD_TEXT_LITERAL(text, ": ");
			put_number(text, line, field.value);
			pd_text_char(text, '\n');
		}
	}
	return !c.failed;
}

bool pd_quipper_print(struct pd_text *text, const struct pd_quipper_line *line, struct pd_bytes message)
{
	return print_sized(text, line, message, 0);
}

/* SPDX-License-Identifier: MIT */
/*
 * Raw data as text: the pieces of the format with what their expressions give. Numbers outside of the raw data are 0
 * and texts end with it, whatever a format says of offsets.
 */
#include "trace/trace.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/cursor.h"
#include "base/text/text.h"

struct print {
	struct pd_trace *trace;
	struct pd_format *format;
	struct pd_bytes raw;
	struct pd_text *text;
};

// ---- numbers ----

static uint64_t read_number(const struct pd_trace *trace, struct pd_bytes raw, uint64_t offset, uint64_t size)
{
	const uint8_t *at = raw.data + offset;
	bool swap = trace->big != PD_HOST_BIG;

	if (size > raw.size || offset > raw.size - size)
		return 0;
	switch (size) {
	case 1:
		return *at;
	case 2:
		return pd_load_u16(at, swap);
	case 4:
		return pd_load_u32(at, swap);
	case 8:
		return pd_load_u64(at, swap);
	}
	return 0;
}

static uint64_t read_member(const struct pd_trace *trace, struct pd_bytes raw, const struct pd_member *m)
{
	return read_number(trace, raw, m->field.offset, m->field.size);
}

// The bytes of an array, as far as they are there.
static struct pd_bytes bytes_of(const struct pd_trace *trace, struct pd_bytes raw, const struct pd_member *m)
{
	uint64_t offset = m->field.offset, size = m->field.size;

	if (m->is_dynamic) {
		uint64_t place = read_member(trace, raw, m);

		size = place >> 16;
		offset = (place & 0xffff) + (m->is_relative ? offset + m->field.size : 0);
	}
	if (offset > raw.size)
		offset = raw.size;
	if (size > raw.size - offset)
		size = raw.size - offset;
	return (struct pd_bytes){ raw.data + offset, (size_t)size };
}

static uint64_t value_of_other(const struct print *p, const struct pd_node *node);

static inline uint64_t value_of(const struct print *p, const struct pd_node *node)
{
	if (node->constant)
		return node->number;
	return node->kind == PD_NODE_FIELD ? read_member(p->trace, p->raw, node->member) : value_of_other(p, node);
}

static uint64_t value_at_index(const struct print *p, const struct pd_node *node)
{
	const struct pd_node *of = node->a, *cast = NULL;
	uint64_t index = value_of(p, node->b), offset, size, value;

	for (; of->kind == PD_NODE_CAST; of = of->a)
		cast = cast ? cast : of;
	if ((of->kind != PD_NODE_FIELD && of->kind != PD_NODE_DYNAMIC) || !of->member || index > UINT16_MAX)
		return 0;
	size = of->member->element_size ? of->member->element_size : p->trace->long_size;
	offset = of->kind == PD_NODE_FIELD ? of->member->field.offset :
					     read_member(p->trace, p->raw, of->member) & 0xffff;
	value = read_number(p->trace, p->raw, offset + index * size, size);
	return cast ? value & cast->number : value;
}

static uint64_t value_of_other(const struct print *p, const struct pd_node *node)
{
	switch (node->kind) {
	case PD_NODE_ATOM:
		return node->number;
	case PD_NODE_FIELD:
		return read_member(p->trace, p->raw, node->member);
	case PD_NODE_CAST:
		return value_of(p, node->a) & (node->op ? UINT64_MAX : node->number);
	case PD_NODE_DYNAMIC_LENGTH:
		return read_member(p->trace, p->raw, node->member) >> 16;
	case PD_NODE_OP:
		break;
	default:
		return 0;
	}
	if (node->op == '[')
		return value_at_index(p, node);
	if (node->op == '?')
		return value_of(p, value_of(p, node->a) ? node->b : node->c);
	return pd_trace_value_of_two(node->op, value_of(p, node->a), value_of(p, node->b));
}

// ---- texts ----

// A text for %s, with the width of its conversion.
static void put_string(const struct print *p, const struct pd_format_piece *piece, const char *string, size_t length)
{
	bool left = false;
	uint64_t width = 0, most = UINT64_MAX, *number = &width;

	if (piece->size == 2) {
		pd_text_put(p->text, string, length);
		return;
	}
	for (const char *at = piece->text + 1; *at && *at != 's'; at++) {
		if (*at == '-')
			left = true;
		else if (*at == '.')
			*(number = &most) = 0;
		else if (isdigit((unsigned char)*at))
			*number = *number * 10 + (uint64_t)(*at - '0');
		else if (*at == '*' && piece->width) {
			int64_t given = (int32_t)value_of(p, piece->width);

			*number = given >= 0 ? (uint64_t)given : number == &most ? UINT64_MAX : 0;
		}
	}
	if (length > most)
		length = (size_t)most;
	width = width > PD_TRACE_WIDTH_MOST ? PD_TRACE_WIDTH_MOST : width;
	for (size_t i = length; !left && i < width; i++)
		pd_text_char(p->text, ' ');
	pd_text_put(p->text, string, length);
	for (size_t i = length; left && i < width; i++)
		pd_text_char(p->text, ' ');
}

static void put_word(const struct print *p, const struct pd_format_piece *piece, const char *word)
{
	put_string(p, piece, word, strlen(word));
}

static void put_flags(const struct print *p, const struct pd_format_piece *piece, const struct pd_node *node)
{
	uint64_t value = value_of(p, node->a);
	bool some = false;

	for (const struct pd_choice_of_value *c = node->choices; c; c = c->next) {
		if (!value && c->value < 0) {
			put_word(p, piece, c->text);
			break;
		}
		if (c->value <= 0 || (value & (uint64_t)c->value) != (uint64_t)c->value)
			continue;
		if (some && node->text)
			pd_text_add(p->text, node->text);
		put_word(p, piece, c->text);
		some = true;
		value &= ~(uint64_t)c->value;
	}
	if (!value)
		return;
	if (some && node->text)
		pd_text_add(p->text, node->text);
	pd_text_hex(p->text, value);
}

static void put_symbol(const struct print *p, const struct pd_format_piece *piece, const struct pd_node *node)
{
	uint64_t value = value_of(p, node->a);

	for (const struct pd_choice_of_value *c = node->choices; c; c = c->next) {
		if ((uint64_t)c->value == value) {
			put_word(p, piece, c->text);
			return;
		}
	}
	pd_text_hex(p->text, value);
}

// What an array argument stands for, all that is there from its start on.
static struct pd_bytes array_of(const struct print *p, const struct pd_node *node)
{
	struct pd_bytes bytes = { NULL, 0 };

	while (node->kind == PD_NODE_CAST)
		node = node->a;
	if ((node->kind != PD_NODE_FIELD && node->kind != PD_NODE_DYNAMIC) || !node->member)
		return bytes;
	bytes = bytes_of(p->trace, p->raw, node->member);
	bytes.size = (size_t)(p->raw.data + p->raw.size - bytes.data);
	return bytes;
}

static void put_hex(const struct print *p, const struct pd_node *node)
{
	struct pd_bytes bytes = array_of(p, node->a);
	uint64_t count = value_of(p, node->b);

	for (size_t i = 0; i < count && i < bytes.size; i++) {
		if (i && node->kind == PD_NODE_HEX)
			pd_text_char(p->text, ' ');
		pd_text_hex_bytes(p->text, bytes.data + i, 1);
	}
}

static void put_numbers(const struct print *p, const struct pd_node *node)
{
	struct pd_bytes bytes = array_of(p, node->a);
	uint64_t count = value_of(p, node->b), size = value_of(p, node->c), offset = 0;

	for (uint64_t i = 0; i < count && offset < bytes.size; i++) {
		if (i)
			pd_text_char(p->text, ' ');
		if (size == 1 || size == 2 || size == 4 || size == 8) {
			pd_text_u64(p->text, read_number(p->trace, bytes, offset, size));
		} else {
			pd_text_printf(p->text, "BAD SIZE:%d 0x%x", (int)size, bytes.data[offset]);
			size = 1;
		}
		offset += size;
	}
}

static void put_bitmask(const struct print *p, const struct pd_format_piece *piece, const struct pd_node *node)
{
	struct pd_bytes bytes = node->member ? bytes_of(p->trace, p->raw, node->member) : (struct pd_bytes){ NULL, 0 };
	struct pd_text text = { 0 };

	// the highest byte first, and a comma between numbers of 32 bits
	for (size_t i = bytes.size; i-- > 0;) {
		size_t at = p->trace->big ? bytes.size - 1 - i : i;

		pd_text_hex_bytes(&text, bytes.data + at, 1);
		if (i && i % 4 == 0)
			pd_text_char(&text, ',');
	}
	if (!text.failed)
		put_string(p, piece, text.size ? text.data : "", text.size);
	p->text->failed |= text.failed;
	pd_free(text.data);
}

static size_t text_length(struct pd_bytes bytes)
{
	return bytes.size ? strnlen((const char *)bytes.data, bytes.size) : 0;
}

static void put_field(const struct print *p, const struct pd_format_piece *piece, const struct pd_member *m)
{
	struct pd_bytes bytes;
	const char *known;

	if (!m->is_array && m->field.size == p->trace->long_size) {
		// the address of a text of the kernel
		uint64_t addr = read_member(p->trace, p->raw, m);

		known = pd_trace_find_printk(p->trace, addr);
		if (known)
			pd_text_add(p->text, known);
		else
			pd_text_printf(p->text, "%" PRIx64, addr);
		return;
	}
	bytes = bytes_of(p->trace, p->raw, m);
	if (m->is_dynamic)
		bytes = (struct pd_bytes){
			p->raw.data + (m->field.offset > p->raw.size ? p->raw.size : m->field.offset), 0
		};
	if (m->is_dynamic || !m->field.size)
		bytes.size = (size_t)(p->raw.data + p->raw.size - bytes.data);
	if (m->is_dynamic && bytes.size > m->field.size)
		bytes.size = m->field.size;
	put_string(p, piece, (const char *)bytes.data, text_length(bytes));
}

static void put_text(const struct print *p, const struct pd_format_piece *piece, const struct pd_node *node)
{
	struct pd_bytes bytes;

	while (node->kind == PD_NODE_OP && node->op == '?')
		node = value_of(p, node->a) ? node->b : node->c;
	switch (node->kind) {
	case PD_NODE_ATOM:
		put_word(p, piece, node->text);
		break;
	case PD_NODE_FIELD:
		put_field(p, piece, node->member);
		break;
	case PD_NODE_FLAGS:
		put_flags(p, piece, node);
		break;
	case PD_NODE_SYMBOL:
		put_symbol(p, piece, node);
		break;
	case PD_NODE_HEX:
	case PD_NODE_HEX_STRING:
		put_hex(p, node);
		break;
	case PD_NODE_INT_ARRAY:
		put_numbers(p, node);
		break;
	case PD_NODE_STRING:
		if (!node->member)
			break;
		bytes = bytes_of(p->trace, p->raw, node->member);
		bytes.size = (size_t)(p->raw.data + p->raw.size - bytes.data);
		put_string(p, piece, (const char *)bytes.data, text_length(bytes));
		break;
	case PD_NODE_BITMASK:
		put_bitmask(p, piece, node);
		break;
	default:
		break;
	}
}

// ---- pointers ----

static void put_function(const struct print *p, const struct pd_format_piece *piece)
{
	const struct pd_trace_options *options = &p->trace->options;
	uint64_t addr = value_of(p, piece->arg), start = addr;
	const char *name = options->function ? options->function(options->self, addr, &start) : NULL;

	if (!name) {
		pd_text_printf(p->text, "0x%" PRIx64, addr);
		return;
	}
	pd_text_add(p->text, name);
	if (piece->more[0] == 'F' || piece->more[0] == 'S')
		pd_text_printf(p->text, "+0x%" PRIx64, addr - start);
}

// The bytes of a field that is an array; says what it is otherwise.
static bool take_field(const struct print *p, const struct pd_format_piece *piece, struct pd_bytes *bytes_out)
{
	if (piece->arg->kind == PD_NODE_FIELD) {
		const struct pd_trace_field *field = &piece->arg->member->field;

		*bytes_out = (struct pd_bytes){ p->raw.data + field->offset, field->size };
		if (field->offset <= p->raw.size && field->size <= p->raw.size - field->offset)
			return true;
		*bytes_out = (struct pd_bytes){ NULL, 0 };
		return false;
	}
	pd_text_printf(p->text, "ARG TYPE NOT FIELD BUT %d", piece->arg->kind);
	return false;
}

static void put_mac(const struct print *p, const struct pd_format_piece *piece)
{
	struct pd_bytes bytes;

	if (!take_field(p, piece, &bytes))
		return;
	if (bytes.size != 6) {
		PD_TEXT_LITERAL(p->text, "INVALIDMAC");
		return;
	}
	for (size_t i = 0; i < bytes.size; i++) {
		if (i && piece->more[0] == 'M')
			pd_text_char(p->text, piece->more[1] == 'F' ? '-' : ':');
		pd_text_hex_bytes(p->text, bytes.data + (piece->more[1] == 'R' ? 5 - i : i), 1);
	}
}

static void put_uuid(const struct print *p, const struct pd_format_piece *piece)
{
	static const uint8_t little[16] = { 3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15 };
	char kind = piece->more[1];
	bool upper = kind == 'L' || kind == 'B';
	struct pd_bytes bytes;

	if (!take_field(p, piece, &bytes))
		return;
	if (bytes.size != 16) {
		PD_TEXT_LITERAL(p->text, "INVALIDUUID");
		return;
	}
	for (size_t i = 0; i < 16; i++) {
		uint8_t byte = bytes.data[kind == 'l' || kind == 'L' ? little[i] : i];

		pd_text_printf(p->text, upper ? "%02X" : "%02x", byte);
		if (i == 3 || i == 5 || i == 7 || i == 9)
			pd_text_char(p->text, '-');
	}
}

// An address of a socket: its family first. Other families show nothing.
static void put_socket(const struct print *p, const struct pd_format_piece *piece, struct pd_bytes bytes)
{
	uint64_t family = read_number(p->trace, bytes, 0, 2);
	bool port = strchr(piece->more, 'p') != NULL;

	if (family == 2 && bytes.size >= 8) {
		pd_trace_put_ip4(p->text, bytes.data + 4, piece->more[0], 'n');
	} else if (family == 10 && bytes.size >= 24) {
		if (port)
			pd_text_char(p->text, '[');
		pd_trace_put_ip6(p->text, bytes.data + 8,
				 (const char[]){ piece->more[0], '6', strchr(piece->more, 'c') ? 'c' : 0, 0 });
		if (port)
			pd_text_char(p->text, ']');
	} else {
		return;
	}
	if (port)
		pd_text_printf(p->text, ":%u", bytes.data[2] * 256u + bytes.data[3]);
}

static void put_ip(const struct print *p, const struct pd_format_piece *piece)
{
	char version = piece->more[1];
	struct pd_bytes bytes;

	if (!take_field(p, piece, &bytes))
		return;
	if (version == 'S') {
		put_socket(p, piece, bytes);
		return;
	}
	if (version == '4' && bytes.size == 4)
		pd_trace_put_ip4(p->text, bytes.data, piece->more[0], piece->more[2]);
	else if (version == '6' && bytes.size == 16)
		pd_trace_put_ip6(p->text, bytes.data, piece->more);
	else
		pd_text_add(p->text, version == '4' ? "INVALIDIPv4" : "INVALIDIPv6");
}

static void put_pointer(const struct print *p, const struct pd_format_piece *piece)
{
	uint64_t value;

	switch (piece->more[0]) {
	case 'F':
	case 'f':
	case 'S':
	case 's':
		put_function(p, piece);
		return;
	case 'M':
	case 'm':
		put_mac(p, piece);
		return;
	case 'U':
		put_uuid(p, piece);
		return;
	case 'I':
	case 'i':
		if (piece->more[1]) {
			put_ip(p, piece);
			return;
		}
	}
	value = value_of(p, piece->arg);
	if (value)
		pd_text_hex(p->text, value);
	else
		PD_TEXT_LITERAL(p->text, "(nil)");
}

// ---- pieces ----

// A number as printf prints it; the conversion has been looked at character by character.
static void put_converted(const struct print *p, const struct pd_format_piece *piece, uint64_t value, int width)
{
	char buffer[PD_TRACE_WIDTH_MOST + 64];
	int size;

#define CONVERT(value)                                                                \
	(piece->width ? snprintf(buffer, sizeof(buffer), piece->text, width, value) : \
			snprintf(buffer, sizeof(buffer), piece->text, value))
	switch (piece->longs) {
	case -2:
		size = CONVERT((signed char)value);
		break;
	case -1:
		size = CONVERT((short)value);
		break;
	case 0:
		size = strpbrk(piece->text, "zZ") ? CONVERT((uint64_t)(uint32_t)value) : CONVERT((int)value);
		break;
	case 1:
	case 2:
		size = CONVERT((long long)value);
		break;
	default:
		return;
	}
#undef CONVERT
	if (size > 0)
		pd_text_put(p->text, buffer, (size_t)size < sizeof(buffer) ? (size_t)size : sizeof(buffer) - 1);
}

// Digits and a sign, at least so many characters of it, filled with spaces or zeros.
static void put_digits(const struct print *p, const struct pd_format_piece *piece, uint64_t value)
{
	char buffer[2 * PD_TRACE_PAD_MOST + 2], *end = buffer + sizeof(buffer), *at = end;
	bool negative = piece->conversion != 'u' && piece->conversion != 'x' && (int64_t)value < 0;
	bool hex = piece->conversion == 'x';
	unsigned width = piece->pad;

	if (negative)
		value = 0 - value;
	do {
		*--at = "0123456789abcdef"[hex ? value & 15 : value % 10];
		value = hex ? value >> 4 : value / 10;
	} while (value);
	while (piece->pad_char == '0' && end - at + negative < (ptrdiff_t)width)
		*--at = '0';
	if (negative)
		*--at = '-';
	while (end - at < (ptrdiff_t)width)
		*--at = ' ';
	pd_text_put(p->text, at, (size_t)(end - at));
}

static void put_number(const struct print *p, const struct pd_format_piece *piece)
{
	uint64_t value = value_of(p, piece->arg);
	int64_t width = piece->width ? (int32_t)value_of(p, piece->width) : 0;

	if (piece->simple) {
		if (!piece->longs)
			value = piece->conversion == 'd' || piece->conversion == 'i' ? (uint64_t)(int32_t)value :
										       (uint32_t)value;
		if (piece->pad) {
			put_digits(p, piece, value);
			return;
		}
		if (piece->conversion == 'd' || piece->conversion == 'i') {
			pd_text_s64(p->text, (int64_t)value);
			return;
		}
		if (piece->conversion == 'u') {
			pd_text_u64(p->text, value);
			return;
		}
		if (piece->conversion == 'x') {
			put_digits(p, piece, value);
			return;
		}
	}
	if (width > PD_TRACE_WIDTH_MOST)
		width = PD_TRACE_WIDTH_MOST;
	if (width < -PD_TRACE_WIDTH_MOST)
		width = -PD_TRACE_WIDTH_MOST;
	put_converted(p, piece, value, (int)width);
}

void pd_trace_print_members(struct pd_trace *trace, struct pd_format *format, struct pd_bytes raw, struct pd_text *text)
{
	for (size_t i = 0; i < format->member_count; i++) {
		if (format->members[i].field.is_common)
			continue;
		pd_text_char(text, ' ');
		pd_text_add(text, format->members[i].field.name);
		pd_text_char(text, '=');
		pd_trace_print_member(trace, &format->members[i], raw, text);
	}
}

void pd_trace_print_format(struct pd_trace *trace, struct pd_format *format, struct pd_bytes raw, struct pd_text *text)
{
	struct print p = { trace, format, raw, text };
	size_t start = text->size;

	if (format->failed) {
		PD_TEXT_LITERAL(text, "[FAILED TO PARSE]");
		pd_trace_print_members(trace, format, raw, text);
		return;
	}
	for (size_t i = 0; i < format->piece_count && text->size - start < PD_TRACE_TEXT_MOST; i++) {
		const struct pd_format_piece *piece = &format->pieces[i];

		if (piece->kind == PD_PIECE_TEXT)
			pd_text_put(text, piece->text, piece->size);
		else if (piece->kind == PD_PIECE_NUMBER)
			put_number(&p, piece);
		else if (piece->kind == PD_PIECE_POINTER)
			put_pointer(&p, piece);
		else
			put_text(&p, piece, piece->arg);
	}
}

// ---- plain fields ----

// As perf: text that may end with any number of NULs.
static bool is_printable(struct pd_bytes bytes)
{
	for (size_t i = 0; i < bytes.size && bytes.data[i]; i++)
		if (!isprint(bytes.data[i]) && !isspace(bytes.data[i]))
			return false;
	return true;
}

static void put_array(struct pd_trace *trace, struct pd_member *m, struct pd_bytes raw, struct pd_text *text)
{
	struct pd_bytes bytes = bytes_of(trace, raw, m);

	if (m->field.is_string && !m->found_unprintable && is_printable(bytes)) {
		bytes.size = (size_t)(raw.data + raw.size - bytes.data);
		pd_text_put(text, (const char *)bytes.data, text_length(bytes));
		return;
	}
	PD_TEXT_LITERAL(text, "ARRAY[");
	for (size_t i = 0; i < bytes.size; i++) {
		if (i)
			PD_TEXT_LITERAL(text, ", ");
		pd_text_hex_bytes(text, bytes.data + i, 1);
	}
	pd_text_char(text, ']');
	m->found_unprintable = true;
}

void pd_trace_print_member(struct pd_trace *trace, struct pd_member *m, struct pd_bytes raw, struct pd_text *text)
{
	uint64_t value;

	if (m->is_array) {
		put_array(trace, m, raw, text);
		return;
	}
	value = read_member(trace, raw, m);
	if (m->is_pointer || (m->is_long && (!m->field.is_signed || m->field.size == 4)))
		pd_text_hex(text, value);
	else if (!m->field.is_signed)
		pd_text_u64(text, value);
	else if (m->field.size == 4)
		pd_text_s64(text, (int32_t)value);
	else if (m->field.size == 2)
		pd_text_printf(text, "%2d", (int16_t)value);
	else if (m->field.size == 1)
		pd_text_s64(text, (int8_t)value);
	else
		pd_text_s64(text, (int64_t)value);
}

/* SPDX-License-Identifier: MIT */
#include "base/text/proto.h"

void pd_proto_varint(struct pd_text *text, uint64_t value)
{
	if (text->capacity - text->size < PD_VARINT_MOST && !pd_text_reserve(text, PD_VARINT_MOST))
		return;
	text->size = (size_t)(pd_varint_to(text->data + text->size, value) - text->data);
}

static void put_tag(struct pd_text *text, unsigned field, unsigned wire)
{
	pd_proto_varint(text, (uint64_t)field << 3 | wire);
}

void pd_proto_given(struct pd_text *text, unsigned field, uint64_t value)
{
	put_tag(text, field, PD_PROTO_VARINT);
	pd_proto_varint(text, value);
}

void pd_proto_number(struct pd_text *text, unsigned field, uint64_t value)
{
	if (value)
		pd_proto_given(text, field, value);
}

void pd_proto_fixed64(struct pd_text *text, unsigned field, uint64_t value)
{
	char bytes[8];

	if (!value)
		return;
	put_tag(text, field, PD_PROTO_FIXED64);
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (char)(value >> 8 * i);
	pd_text_put(text, bytes, sizeof(bytes));
}

void pd_proto_bytes(struct pd_text *text, unsigned field, const void *data, size_t size)
{
	put_tag(text, field, PD_PROTO_SIZED);
	pd_proto_varint(text, size);
	pd_text_put(text, data, size);
}

void pd_proto_string(struct pd_text *text, unsigned field, const char *string)
{
	if (*string)
		pd_proto_bytes(text, field, string, strlen(string));
}

size_t pd_proto_open(struct pd_text *text, unsigned field)
{
	put_tag(text, field, PD_PROTO_SIZED);
	// of its size, which is mostly one byte
	pd_text_char(text, 0);
	return text->size;
}

void pd_proto_close(struct pd_text *text, size_t opened)
{
	size_t size = text->size - opened, more;
	char bytes[PD_VARINT_MOST];

	if (text->failed)
		return;
	// its size stands before it, and is known only now
	more = (size_t)(pd_varint_to(bytes, size) - bytes) - 1;
	if (more && !pd_text_reserve(text, more))
		return;
	if (more)
		memmove(text->data + opened + more, text->data + opened, size);
	memcpy(text->data + opened - 1, bytes, more + 1);
	text->size += more;
}

void pd_proto_packed_after(struct pd_text *text, unsigned field, const uint32_t *numbers, size_t count)
{
	enum {
		NUMBER_MOST = 5
	};
	size_t opened = pd_proto_open(text, field);
	char *to;

	if (!pd_text_reserve(text, count * NUMBER_MOST + 1))
		return;
	to = text->data + text->size;
	for (size_t i = 0; i < count; i++)
		to = pd_varint_to(to, (uint64_t)numbers[i] + 1);
	text->size = (size_t)(to - text->data);
	pd_proto_close(text, opened);
}

// ---- reading ----

uint64_t pd_proto_take_varint(struct pd_cursor *c)
{
	uint64_t value = 0;

	for (unsigned shift = 0; shift < 64; shift += 7) {
		uint8_t byte = pd_cursor_u8(c);

		value |= (uint64_t)(byte & 127) << shift;
		if (!(byte & 128))
			return value;
	}
	pd_cursor_fail(c, "a number is too long");
	return 0;
}

static uint64_t take_fixed(struct pd_cursor *c, size_t size)
{
	const uint8_t *at = pd_cursor_take(c, size);
	uint64_t value = 0;

	for (size_t i = 0; at && i < size; i++)
		value |= (uint64_t)at[i] << 8 * i;
	return value;
}

bool pd_proto_next(struct pd_cursor *c, struct pd_proto_field *field_out)
{
	uint64_t tag, size;

	if (c->failed || !pd_cursor_left(c))
		return false;
	tag = pd_proto_take_varint(c);
	*field_out = (struct pd_proto_field){ .number = (uint32_t)(tag >> 3), .wire = tag & 7 };
	if (!field_out->number || tag >> 32)
		pd_cursor_fail(c, "a field has no number");
	switch (field_out->wire) {
	case PD_PROTO_VARINT:
		field_out->value = pd_proto_take_varint(c);
		break;
	case PD_PROTO_FIXED64:
		field_out->value = take_fixed(c, 8);
		break;
	case PD_PROTO_FIXED32:
		field_out->value = take_fixed(c, 4);
		break;
	case PD_PROTO_SIZED:
		size = pd_proto_take_varint(c);
		field_out->bytes.data = pd_cursor_take(c, size);
		field_out->bytes.size = c->failed ? 0 : (size_t)size;
		break;
	default:
		pd_cursor_fail(c, "a field is of no known kind");
	}
	return !c->failed;
}

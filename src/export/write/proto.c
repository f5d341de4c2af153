/* SPDX-License-Identifier: MIT */
#include "export/write/proto.h"

enum {
	WIRE_VARINT = 0,
	WIRE_FIXED64 = 1,
	WIRE_SIZED = 2,
	VARINT_MOST = 10
};

static size_t encode(uint64_t value, char bytes[VARINT_MOST])
{
	size_t size = 0;

	for (; value > 127; value >>= 7)
		bytes[size++] = (char)(value | 128);
	bytes[size++] = (char)value;
	return size;
}

void pd_proto_varint(struct pd_text *text, uint64_t value)
{
	char bytes[VARINT_MOST];

	pd_text_put(text, bytes, encode(value, bytes));
}

static void put_tag(struct pd_text *text, unsigned field, unsigned wire)
{
	pd_proto_varint(text, (uint64_t)field << 3 | wire);
}

void pd_proto_given(struct pd_text *text, unsigned field, uint64_t value)
{
	put_tag(text, field, WIRE_VARINT);
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
	put_tag(text, field, WIRE_FIXED64);
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (char)(value >> 8 * i);
	pd_text_put(text, bytes, sizeof(bytes));
}

void pd_proto_bytes(struct pd_text *text, unsigned field, const void *data, size_t size)
{
	put_tag(text, field, WIRE_SIZED);
	pd_proto_varint(text, size);
	pd_text_put(text, data, size);
}

void pd_proto_string(struct pd_text *text, unsigned field, const char *string)
{
	if (*string)
		pd_proto_bytes(text, field, string, strlen(string));
}

void pd_proto_table_string(struct pd_text *text, unsigned field, const struct pd_tables *tables, uint32_t string)
{
	if (string)
		pd_proto_bytes(text, field, tables->strings[string].text, tables->strings[string].size);
}

size_t pd_proto_open(struct pd_text *text, unsigned field)
{
	put_tag(text, field, WIRE_SIZED);
	return text->size;
}

void pd_proto_close(struct pd_text *text, size_t opened)
{
	size_t size = text->size - opened;
	char bytes[VARINT_MOST];
	size_t count = encode(size, bytes);

	// its size stands before it, and is known only now
	if (text->failed || !pd_text_reserve(text, count))
		return;
	memmove(text->data + opened + count, text->data + opened, size);
	memcpy(text->data + opened, bytes, count);
	text->size += count;
}

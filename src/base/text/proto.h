/* SPDX-License-Identifier: MIT */
/* Messages of protocol buffers, field by field: written into a text, and read from bytes. */
#ifndef PD_BASE_TEXT_PROTO_H
#define PD_BASE_TEXT_PROTO_H

#include "base/cursor.h"
#include "base/text/text.h"

enum pd_proto_wire {
	PD_PROTO_VARINT = 0,
	PD_PROTO_FIXED64 = 1,
	PD_PROTO_SIZED = 2,
	PD_PROTO_FIXED32 = 5
};

enum {
	PD_VARINT_MOST = 10 // bytes
};

// Writes a number where there is room for it, and returns where the next one stands.
static inline char *pd_varint_to(char *to, uint64_t value)
{
	for (; value > 127; value >>= 7)
		*to++ = (char)(value | 128);
	*to++ = (char)value;
	return to;
}

// The same with its field, of a number below 16; nothing for 0.
static inline char *pd_number_to(char *to, unsigned field, uint64_t value)
{
	if (!value)
		return to;
	*to++ = (char)(field << 3);
	return pd_varint_to(to, value);
}

// ---- writing; fields of 0 and empty strings are those that are not there, but for pd_proto_given and pd_proto_bytes ----

void pd_proto_varint(struct pd_text *text, uint64_t value);
void pd_proto_number(struct pd_text *text, unsigned field, uint64_t value);
// Also if it is 0.
void pd_proto_given(struct pd_text *text, unsigned field, uint64_t value);
void pd_proto_fixed64(struct pd_text *text, unsigned field, uint64_t value);
void pd_proto_bytes(struct pd_text *text, unsigned field, const void *data, size_t size);
void pd_proto_string(struct pd_text *text, unsigned field, const char *string);

// Packed numbers, each with one more.
void pd_proto_packed_after(struct pd_text *text, unsigned field, const uint32_t *numbers, size_t count);
// A message in a field, or packed numbers. What is returned is for its end; nothing may be flushed between.
size_t pd_proto_open(struct pd_text *text, unsigned field);
void pd_proto_close(struct pd_text *text, size_t opened);

// ---- reading ----

struct pd_proto_field {
	uint32_t number;
	enum pd_proto_wire wire;
	uint64_t value;        // of a number
	struct pd_bytes bytes; // of what is sized
};

uint64_t pd_proto_take_varint(struct pd_cursor *c);
// The next field of a message; false at the end, or when the cursor has failed.
bool pd_proto_next(struct pd_cursor *c, struct pd_proto_field *field_out);

#endif

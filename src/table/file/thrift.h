/* SPDX-License-Identifier: MIT */
/* The compact protocol of Thrift, as far as Parquet has it. https://github.com/apache/thrift/blob/master/doc/specs/ */
#ifndef PD_TABLE_FILE_THRIFT_H
#define PD_TABLE_FILE_THRIFT_H

#include "base/cursor.h"
#include "table/file/format.h"

enum {
	PD_THRIFT_TRUE = 1,
	PD_THRIFT_FALSE = 2,
	PD_THRIFT_BYTE = 3,
	PD_THRIFT_I32 = 5,
	PD_THRIFT_I64 = 6,
	PD_THRIFT_BINARY = 8,
	PD_THRIFT_LIST = 9,
	PD_THRIFT_STRUCT = 12,
	PD_THRIFT_DEPTH = 8
};

// Fields are numbered by their difference to the one before, in each struct.
struct pd_thrift {
	struct pd_text *text;
	unsigned last[PD_THRIFT_DEPTH], depth;
};

static inline void pd_thrift_field(struct pd_thrift *thrift, unsigned id, unsigned type)
{
	pd_text_char(thrift->text, (char)((id - thrift->last[thrift->depth]) << 4 | type));
	thrift->last[thrift->depth] = id;
}

static inline void pd_thrift_number(struct pd_thrift *thrift, int64_t value)
{
	pd_proto_varint(thrift->text, (uint64_t)value << 1 ^ (uint64_t)(value >> 63));
}

static inline void pd_thrift_i32(struct pd_thrift *thrift, unsigned id, int32_t value)
{
	pd_thrift_field(thrift, id, PD_THRIFT_I32);
	pd_thrift_number(thrift, value);
}

static inline void pd_thrift_i64(struct pd_thrift *thrift, unsigned id, uint64_t value)
{
	pd_thrift_field(thrift, id, PD_THRIFT_I64);
	pd_thrift_number(thrift, (int64_t)value);
}

static inline void pd_thrift_bytes(struct pd_thrift *thrift, const void *data, size_t size)
{
	pd_proto_varint(thrift->text, size);
	pd_text_put(thrift->text, data, size);
}

static inline void pd_thrift_binary(struct pd_thrift *thrift, unsigned id, const void *data, size_t size)
{
	pd_thrift_field(thrift, id, PD_THRIFT_BINARY);
	pd_thrift_bytes(thrift, data, size);
}

static inline void pd_thrift_list(struct pd_thrift *thrift, unsigned id, size_t count, unsigned type)
{
	pd_thrift_field(thrift, id, PD_THRIFT_LIST);
	pd_text_char(thrift->text, (char)((count < 15 ? count : 15) << 4 | type));
	if (count >= 15)
		pd_proto_varint(thrift->text, count);
}

// A struct, of a list.
static inline void pd_thrift_open(struct pd_thrift *thrift)
{
	thrift->last[++thrift->depth] = 0;
}

// A struct, in a field.
static inline void pd_thrift_struct(struct pd_thrift *thrift, unsigned id)
{
	pd_thrift_field(thrift, id, PD_THRIFT_STRUCT);
	pd_thrift_open(thrift);
}

static inline void pd_thrift_close(struct pd_thrift *thrift)
{
	pd_text_char(thrift->text, 0);
	thrift->depth--;
}

// ---- reading ----

// The next field of a struct, whose fields are numbered from *id, 0 at first; its type, or 0 at the end.
unsigned pd_thrift_next(struct pd_cursor *c, uint32_t *id);
// A number, if the field is one; else the cursor fails.
int64_t pd_thrift_take(struct pd_cursor *c, unsigned type);
struct pd_bytes pd_thrift_take_bytes(struct pd_cursor *c, unsigned type);
// The items of a list, which must be of a type.
uint64_t pd_thrift_take_list(struct pd_cursor *c, unsigned type, unsigned item_type);
// What is of no interest.
void pd_thrift_skip(struct pd_cursor *c, unsigned type);

#endif

/* SPDX-License-Identifier: MIT */
#include "table/file/thrift.h"

enum {
	DOUBLE = 7,
	SET = 10,
	DEPTH = 16
};

unsigned pd_thrift_next(struct pd_cursor *c, uint32_t *id)
{
	uint8_t head = pd_cursor_u8(c);

	if (!head)
		return 0;
	if (head >> 4) {
		*id += head >> 4;
	} else {
		uint64_t number = pd_proto_take_varint(c);

		*id = (uint32_t)(number >> 1);
	}
	return head & 15;
}

static int64_t take_number(struct pd_cursor *c)
{
	uint64_t number = pd_proto_take_varint(c);

	return (int64_t)(number >> 1 ^ (0 - (number & 1)));
}

int64_t pd_thrift_take(struct pd_cursor *c, unsigned type)
{
	if (type == PD_THRIFT_I32 || type == PD_THRIFT_I64)
		return take_number(c);
	pd_cursor_fail(c, "a field is no number");
	return 0;
}

struct pd_bytes pd_thrift_take_bytes(struct pd_cursor *c, unsigned type)
{
	uint64_t size = 0;
	const uint8_t *at;

	if (type == PD_THRIFT_BINARY)
		size = pd_proto_take_varint(c);
	else
		pd_cursor_fail(c, "a field is no string");
	at = pd_cursor_take(c, size);
	return (struct pd_bytes){ at, at ? (size_t)size : 0 };
}

static uint64_t take_head(struct pd_cursor *c, unsigned *item_type_out)
{
	uint8_t head = pd_cursor_u8(c);

	*item_type_out = head & 15;
	return head >> 4 < 15 ? head >> 4 : pd_proto_take_varint(c);
}

uint64_t pd_thrift_take_list(struct pd_cursor *c, unsigned type, unsigned item_type)
{
	unsigned found = 0;
	uint64_t count = type == PD_THRIFT_LIST ? take_head(c, &found) : 0;

	if (type != PD_THRIFT_LIST || (count && found != item_type) || count > pd_cursor_left(c))
		pd_cursor_fail(c, "a field is no such list");
	return c->failed ? 0 : count;
}

// A struct or a list whose rest is skipped.
struct level {
	bool is_struct;
	uint32_t id;
	unsigned type;
	uint64_t left;
};

static void skip_one(struct pd_cursor *c, unsigned type, struct level *levels, size_t *depth, bool in_list)
{
	struct level level = { .is_struct = type == PD_THRIFT_STRUCT };

	switch (type) {
	case PD_THRIFT_TRUE:
	case PD_THRIFT_FALSE:
		pd_cursor_take(c, in_list);
		return;
	case PD_THRIFT_BYTE:
		pd_cursor_take(c, 1);
		return;
	case DOUBLE:
		pd_cursor_take(c, 8);
		return;
	case PD_THRIFT_BINARY:
		pd_thrift_take_bytes(c, type);
		return;
	case PD_THRIFT_LIST:
	case SET:
		level.left = take_head(c, &level.type);
		break;
	case PD_THRIFT_STRUCT:
		break;
	default:
		pd_thrift_take(c, type);
		return;
	}
	if (*depth == DEPTH)
		pd_cursor_fail(c, "fields are too deep");
	else
		levels[(*depth)++] = level;
}

void pd_thrift_skip(struct pd_cursor *c, unsigned type)
{
	struct level levels[DEPTH];
	size_t depth = 0;

	skip_one(c, type, levels, &depth, false);
	while (depth && !c->failed) {
		struct level *top = &levels[depth - 1];
		unsigned next = 0;

		if (top->is_struct)
			next = pd_thrift_next(c, &top->id);
		else if (top->left && top->left--)
			next = top->type;
		if (!next)
			depth--;
		else
			skip_one(c, next, levels, &depth, !top->is_struct);
	}
}

/* SPDX-License-Identifier: MIT */
#include "quipper/decode.h"

#include "format/text/print.h"

static bool fail(struct pd_quipper_decoder *self, const char *why)
{
	if (!self->wrong)
		self->wrong = why;
	return false;
}

static void *make(struct pd_quipper_decoder *self, uint64_t count, size_t size)
{
	void *made = count > UINT32_MAX ? NULL : pd_arena_alloc(self->scope.arena, (size_t)count * size + 1);

	if (!made)
		fail(self, "a message is too large, or there is no memory");
	return made;
}

static void store(void *decoded, size_t offset, size_t size, uint64_t value)
{
	char *at = (char *)decoded + offset;

	switch (size) {
	case 1:
		*(uint8_t *)at = (uint8_t)value;
		break;
	case 2:
		*(uint16_t *)(void *)at = (uint16_t)value;
		break;
	case 4:
		*(uint32_t *)(void *)at = (uint32_t)value;
		break;
	default:
		*(uint64_t *)(void *)at = value;
	}
}

// ---- strings ----

static bool take_string(struct pd_quipper_decoder *self, struct pd_bytes bytes, struct pd_str *out)
{
	size_t length = bytes.size ? strnlen((const char *)bytes.data, bytes.size) : 0;

	out->data = pd_arena_text(self->scope.arena, bytes.data, length);
	out->length = (uint32_t)length;
	out->size = 0;
	return out->data || fail(self, "there is no memory");
}

static int digit(uint8_t c)
{
	return c >= '0' && c <= '9' ? c - '0' :
	       c >= 'a' && c <= 'f' ? c - 'a' + 10 :
	       c >= 'A' && c <= 'F' ? c - 'A' + 10 :
				      -1;
}

static bool take_hex(struct pd_quipper_decoder *self, const struct pd_quipper_line *line, struct pd_bytes bytes,
		     void *decoded)
{
	enum {
		MOST = 20 // bytes of a build id
	};
	struct pd_bytes *out = (void *)((char *)decoded + line->offset);
	uint8_t *made = make(self, MOST, 1);

	if (!made)
		return false;
	if (bytes.size % 2 || bytes.size > 2 * MOST)
		return fail(self, "a build id is not of at most 40 hexadecimal digits");
	for (size_t i = 0; i < bytes.size / 2; i++) {
		int high = digit(bytes.data[2 * i]), low = digit(bytes.data[2 * i + 1]);

		if (high < 0 || low < 0)
			return fail(self, "a build id is not of hexadecimal digits");
		made[i] = (uint8_t)(high << 4 | low);
	}
	*out = (struct pd_bytes){ made, MOST };
	store(decoded, line->other_offset, line->other_size, bytes.size / 2);
	return true;
}

// Data that were left out are zeros.
static bool take_length(struct pd_quipper_decoder *self, uint64_t size, struct pd_bytes *out)
{
	if (out->size || !size)
		return true;
	if (size > UINT16_MAX)
		return fail(self, "raw data are larger than a record");
	out->data = make(self, size, 1);
	out->size = out->data ? (size_t)size : 0;
	return out->data != NULL;
}

// ---- arrays and lists, which are counted first ----

struct counts {
	size_t of[PD_QUIPPER_MOST_LINES], at[PD_QUIPPER_MOST_LINES];
};

static size_t numbers_in(const struct pd_proto_field *field)
{
	size_t count = 0;

	if (field->wire != PD_PROTO_SIZED)
		return 1;
	for (size_t i = 0; i < field->bytes.size; i++)
		count += !(field->bytes.data[i] & 128);
	return count;
}

static bool take_numbers(struct pd_quipper_decoder *self, const struct pd_proto_field *field, struct pd_u64s *out,
			 struct counts *counts, size_t index)
{
	struct pd_cursor packed = pd_cursor(field->bytes.data, field->bytes.size, false);
	uint64_t *items;

	if (!out->items)
		out->items = make(self, counts->of[index], sizeof(*items));
	if (!out->items)
		return false;
	items = (uint64_t *)out->items;
	if (field->wire != PD_PROTO_SIZED) {
		if (out->count < counts->of[index])
			items[out->count++] = field->value;
		return true;
	}
	while (pd_cursor_left(&packed) && out->count < counts->of[index])
		items[out->count++] = pd_proto_take_varint(&packed);
	return !packed.failed || fail(self, "packed numbers are cut off");
}

// The next item of a list.
static void *next_item(struct pd_quipper_decoder *self, struct pd_list *list, size_t item_size, struct counts *counts,
		       size_t index)
{
	if (!list->items) {
		list->items = make(self, counts->of[index], item_size);
		list->stride = item_size;
	}
	if (!list->items || counts->at[index] >= counts->of[index])
		return NULL;
	if (counts->at[index] >= list->count)
		list->count++;
	return (char *)(uintptr_t)list->items + counts->at[index]++ * item_size;
}

// ---- one field ----

static bool take_part(struct pd_quipper_decoder *self, const struct pd_quipper_line *line, struct pd_bytes bytes,
		      const void **pointer)
{
	const struct pd_layout *layout = pd_quipper_message(line->part).layout;

	if (!*pointer)
		*pointer = make(self, 1, layout->struct_size);
	return *pointer && pd_quipper_decode(self, line->part, bytes, (void *)(uintptr_t)*pointer);
}

static bool take_bits(const struct pd_quipper_line *line, uint64_t value, void *decoded)
{
	uint64_t mask = UINT64_MAX >> (64 - line->width), word = pd_member(decoded, line->offset, line->size);

	word &= ~(mask << line->shift);
	store(decoded, line->offset, line->size, word | (value & mask) << line->shift);
	return true;
}

static bool take_number(const struct pd_quipper_line *line, const struct pd_proto_field *field, void *decoded)
{
	switch (line->how) {
	case PD_QUIPPER_BIT:
		return take_bits(line, field->value, decoded);
	case PD_QUIPPER_ID:
		store(decoded, line->other_offset, line->other_size, field->value);
		break;
	default:
		break;
	}
	store(decoded, line->offset, line->size, field->value);
	return true;
}

static bool take_sized(struct pd_quipper_decoder *self, const struct pd_quipper_line *line, struct pd_bytes bytes,
		       void *decoded, struct counts *counts, size_t index)
{
	void *at = (char *)decoded + line->offset, *item;

	switch ((enum pd_quipper_how)line->how) {
	case PD_QUIPPER_TEXT:
		return take_string(self, bytes, at);
	case PD_QUIPPER_TEXTS:
		item = next_item(self, at, line->part_layout->struct_size, counts, index);
		return item && take_string(self, bytes, (void *)((char *)item + line->item));
	case PD_QUIPPER_HEX:
		return take_hex(self, line, bytes, decoded);
	case PD_QUIPPER_DATA:
		*(struct pd_bytes *)at = bytes;
		return true;
	case PD_QUIPPER_TAIL:
		self->tail = bytes;
		return true;
	case PD_QUIPPER_PART:
		return take_part(self, line, bytes, at);
	case PD_QUIPPER_TRAILER:
		return !bytes.size || take_part(self, line, bytes,
						(const void **)(void *)&((struct pd_body_head *)decoded)->sample_id);
	case PD_QUIPPER_HERE:
		return pd_quipper_decode(self, line->part, bytes, decoded);
	case PD_QUIPPER_LIST:
		item = next_item(self, at, pd_quipper_message(line->part).layout->struct_size, counts, index);
		return item && pd_quipper_decode(self, line->part, bytes, item);
	default:
		return true;
	}
}

static bool take_field(struct pd_quipper_decoder *self, const struct pd_quipper_line *line,
		       const struct pd_proto_field *field, void *decoded, struct counts *counts, size_t index)
{
	void *at = (char *)decoded + line->offset;

	switch ((enum pd_quipper_how)line->how) {
	case PD_QUIPPER_NUMBERS:
		return take_numbers(self, field, at, counts, index);
	case PD_QUIPPER_LENGTH:
		return take_length(self, field->value, at);
	case PD_QUIPPER_NUMBER:
	case PD_QUIPPER_ALSO:
	case PD_QUIPPER_ALWAYS:
	case PD_QUIPPER_EITHER:
	case PD_QUIPPER_BIT:
	case PD_QUIPPER_ID:
		return field->wire == PD_PROTO_SIZED || take_number(line, field, decoded);
	default:
		return field->wire != PD_PROTO_SIZED || take_sized(self, line, field->bytes, decoded, counts, index);
	}
}

// ---- messages ----

// Conditions on members are met by what is given.
static bool is_recorded(const struct pd_quipper_decoder *self, const struct pd_field *field)
{
	return !field || (field->when.op != PD_WHEN_MASKED && field->when.op != PD_WHEN_WORD_NOT) ||
	       pd_when_holds(&field->when, &self->scope, NULL);
}

// The line that a field is for, by what its event records; the count of lines if there is none.
static size_t find_line(const struct pd_quipper_decoder *self, enum pd_quipper_message_id id,
			const struct pd_quipper_message *message, uint32_t number)
{
	size_t i;

	for (i = 0; i < message->count; i++)
		if (message->lines[i].number == number &&
		    (message->lines[i].how == PD_QUIPPER_ID || is_recorded(self, self->plan->fields[id][i])) &&
		    is_recorded(self, self->plan->pointers[id][i]))
			break;
	return i;
}

static void *base_of(struct pd_quipper_decoder *self, const struct pd_quipper_line *line, void *decoded)
{
	void **pointer = (void **)(void *)((char *)decoded + line->pointer);

	if (!line->inside)
		return decoded;
	if (!*pointer)
		*pointer = make(self, 1, line->part_layout->struct_size);
	return *pointer;
}

bool pd_quipper_decode(struct pd_quipper_decoder *self, enum pd_quipper_message_id id, struct pd_bytes bytes,
		       void *decoded)
{
	struct pd_quipper_message message = pd_quipper_message(id);
	struct pd_cursor c = pd_cursor(bytes.data, bytes.size, false);
	struct counts counts = { .of = { 0 } };
	struct pd_proto_field field;

	while (pd_proto_next(&c, &field)) {
		size_t index = find_line(self, id, &message, field.number);

		if (index < message.count && message.lines[index].repeated)
			counts.of[index] += message.lines[index].how == PD_QUIPPER_NUMBERS ? numbers_in(&field) : 1;
	}
	if (c.failed)
		return fail(self, c.reason);
	c = pd_cursor(bytes.data, bytes.size, false);
	while (pd_proto_next(&c, &field)) {
		size_t index = find_line(self, id, &message, field.number);
		void *base;

		if (index == message.count)
			continue;
		base = base_of(self, &message.lines[index], decoded);
		if (!base || !take_field(self, &message.lines[index], &field, base, &counts, index))
			return fail(self, "a message is too large, or there is no memory");
	}
	return true;
}

bool pd_quipper_find_id(enum pd_quipper_message_id id, struct pd_bytes bytes, uint64_t *id_out)
{
	struct pd_cursor c = pd_cursor(bytes.data, bytes.size, false);
	struct pd_proto_field field;

	while (pd_proto_next(&c, &field)) {
		const struct pd_quipper_line *line = pd_quipper_by_number(id, field.number);

		if (line && line->how == PD_QUIPPER_ID && field.wire != PD_PROTO_SIZED) {
			*id_out = field.value;
			return true;
		}
		if (line && line->how == PD_QUIPPER_TRAILER && field.wire == PD_PROTO_SIZED)
			return pd_quipper_find_id(line->part, field.bytes, id_out);
	}
	return false;
}

/* SPDX-License-Identifier: MIT */
#include "quipper/encode.h"

#include "base/md5.h"

enum {
	MOST_CPUS = 65536 // of a list like 0-3,8
};

static bool starts(const char *path, size_t length, const char *with)
{
	size_t size = strlen(with);

	return length >= size && !memcmp(path, with, size);
}

// What is no path has no directories, but for what the kernel names like one.
size_t pd_quipper_root(const char *path, size_t length)
{
	size_t end, next;

	if (starts(path, length, "[anon:"))
		return strlen("[anon:");
	if (starts(path, length, "/memfd:"))
		return strlen("/memfd:");
	if (starts(path, length, "/tmp/"))
		return strlen("/tmp");
	if (!length || path[0] != '/')
		return 0;
	for (end = 1; end < length && path[end] == '/'; end++)
		;
	next = end;
	for (unsigned i = 0; i < 2; i++) {
		while (next < length && path[next] == '/')
			next++;
		while (next < length && path[next] != '/')
			next++;
		if (next == length)
			break;
		end = next;
	}
	return end;
}

static void put_cpus(struct pd_text *text, unsigned number, const struct pd_str *cpus)
{
	size_t opened = pd_proto_open(text, number), count = 0;
	uint64_t from = 0, value = 0;
	bool digits = false, ranged = false;

	for (size_t i = 0; i <= cpus->length && count < MOST_CPUS; i++) {
		char c = i < cpus->length ? cpus->data[i] : ',';

		if (c >= '0' && c <= '9') {
			value = (value * 10 + (uint64_t)(c - '0')) & UINT32_MAX;
			digits = true;
		} else if (c == '-' && digits) {
			from = value;
			ranged = true;
			value = 0;
			digits = false;
		} else {
			for (uint64_t cpu = ranged ? from : value; digits && cpu <= value && count < MOST_CPUS;
			     cpu++, count++)
				pd_proto_varint(text, cpu);
			ranged = digits = false;
			value = 0;
		}
	}
	pd_proto_close(text, opened);
}

// ---- texts ----

static void put_text(struct pd_text *text, unsigned number, const struct pd_str *string)
{
	pd_proto_bytes(text, number, string->data, string->data ? string->length : 0);
}

static void put_hex(struct pd_text *text, unsigned number, const struct pd_bytes *bytes, uint64_t size)
{
	size_t opened = pd_proto_open(text, number);

	pd_text_hex_bytes(text, bytes->data, size < bytes->size ? (size_t)size : bytes->size);
	pd_proto_close(text, opened);
}

static void put_root(struct pd_quipper_encoder *self, const struct pd_quipper_line *line, const struct pd_str *path)
{
	size_t size = path->data ? pd_quipper_root(path->data, path->length) : 0;

	if (line->how == PD_QUIPPER_ROOT_MD5)
		pd_proto_given(self->text, line->number, pd_md5_prefix(path->data, size));
	else if (size)
		pd_proto_bytes(self->text, line->number, path->data, size);
}

static void put_string_line(struct pd_quipper_encoder *self, const struct pd_quipper_line *line,
			    const struct pd_str *string)
{
	switch (line->how) {
	case PD_QUIPPER_TEXT:
		put_text(self->text, line->number, string);
		break;
	case PD_QUIPPER_MD5:
		pd_proto_given(self->text, line->number, pd_md5_prefix(string->data, string->length));
		break;
	case PD_QUIPPER_CPUS:
		put_cpus(self->text, line->number, string);
		break;
	default:
		put_root(self, line, string);
	}
}

static void put_strings(struct pd_quipper_encoder *self, const struct pd_quipper_line *line, const struct pd_list *list)
{
	for (size_t i = 0; i < list->count; i++) {
		const struct pd_str *string = (const void *)((const char *)list->items + i * list->stride + line->item);

		if (line->how == PD_QUIPPER_TEXTS)
			put_text(self->text, line->number, string);
		else
			pd_proto_given(self->text, line->number, pd_md5_prefix(string->data, string->length));
	}
}

// ---- numbers ----

static uint64_t bits_of(const struct pd_quipper_line *line, uint64_t word)
{
	return word >> line->shift & (UINT64_MAX >> (64 - line->width));
}

static void put_id(struct pd_quipper_encoder *self, const struct pd_quipper_line *line, const void *decoded)
{
	uint64_t words = self->scope.words[PD_WORD_SAMPLE_TYPE] | self->scope.words[PD_WORD_TRAILER];
	bool first = words & MASK_SAMPLE_TYPE(IDENTIFIER);

	if (first || words & MASK_SAMPLE_TYPE(ID))
		pd_proto_given(self->text, line->number,
			       pd_member(decoded, first ? line->other_offset : line->offset, sizeof(uint64_t)));
}

static void put_number_line(struct pd_quipper_encoder *self, const struct pd_quipper_line *line, const void *decoded)
{
	uint64_t value = line->member ? pd_member(decoded, line->offset, line->size) : 0;

	switch (line->how) {
	case PD_QUIPPER_ALWAYS:
		value = line->value;
		break;
	case PD_QUIPPER_EITHER:
		if (bits_of(line, pd_member(decoded, line->other_offset, line->other_size)) != line->value)
			return;
		break;
	case PD_QUIPPER_BIT:
		value = bits_of(line, value);
		break;
	case PD_QUIPPER_OUT:
		value = (self->scope.words[PD_WORD_MISC] & MASK_MISC(SWITCH_OUT)) != 0;
		break;
	case PD_QUIPPER_NO_INDEX:
		value = !(self->scope.words[PD_WORD_BRANCH_TYPE] & MASK_BRANCH_TYPE(HW_INDEX));
		break;
	default:
		break;
	}
	pd_proto_given(self->text, line->number, line->type == PD_QUIPPER_BOOL ? value != 0 : value);
}

static void put_numbers(struct pd_text *text, unsigned number, const struct pd_u64s *numbers)
{
	for (size_t i = 0; i < numbers->count; i++)
		pd_proto_given(text, number, numbers->items[i]);
}

// ---- messages ----

void pd_quipper_encode_in(struct pd_quipper_encoder *self, unsigned number, enum pd_quipper_message_id message,
			  const void *decoded)
{
	size_t opened = pd_proto_open(self->text, number);

	if (decoded)
		pd_quipper_encode(self, message, decoded);
	pd_proto_close(self->text, opened);
}

static void put_list(struct pd_quipper_encoder *self, const struct pd_quipper_line *line, const struct pd_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		pd_quipper_encode_in(self, line->number, line->part, (const char *)list->items + i * list->stride);
}

// What records without a trailer have is an empty message, as long as their kind may have one.
static void put_trailer(struct pd_quipper_encoder *self, const struct pd_quipper_line *line, const void *decoded)
{
	const struct pd_body_head *head = decoded;

	pd_quipper_encode_in(self, line->number, line->part, head->sample_id);
}

static void put_line(struct pd_quipper_encoder *self, const struct pd_quipper_line *line, const void *decoded)
{
	const void *at = (const char *)decoded + line->offset;

	switch ((enum pd_quipper_how)line->how) {
	case PD_QUIPPER_ALSO:
	case PD_QUIPPER_OTHER:
	case PD_QUIPPER_EVENT:
		break;
	case PD_QUIPPER_ID:
		put_id(self, line, decoded);
		break;
	case PD_QUIPPER_TEXT:
	case PD_QUIPPER_MD5:
	case PD_QUIPPER_CPUS:
	case PD_QUIPPER_ROOT:
	case PD_QUIPPER_ROOT_MD5:
		put_string_line(self, line, at);
		break;
	case PD_QUIPPER_TEXTS:
	case PD_QUIPPER_MD5S:
		put_strings(self, line, at);
		break;
	case PD_QUIPPER_HEX:
		put_hex(self->text, line->number, at, pd_member(decoded, line->other_offset, line->other_size));
		break;
	case PD_QUIPPER_DATA:
		pd_proto_bytes(self->text, line->number, ((const struct pd_bytes *)at)->data,
			       ((const struct pd_bytes *)at)->size);
		break;
	case PD_QUIPPER_LENGTH:
		pd_proto_given(self->text, line->number, ((const struct pd_bytes *)at)->size);
		break;
	case PD_QUIPPER_TAIL:
		if (self->tail.size)
			pd_proto_bytes(self->text, line->number, self->tail.data, self->tail.size);
		break;
	case PD_QUIPPER_NUMBERS:
		put_numbers(self->text, line->number, at);
		break;
	case PD_QUIPPER_PART:
		pd_quipper_encode_in(self, line->number, line->part, *(void *const *)at);
		break;
	case PD_QUIPPER_HERE:
		pd_quipper_encode_in(self, line->number, line->part, decoded);
		break;
	case PD_QUIPPER_LIST:
		put_list(self, line, at);
		break;
	case PD_QUIPPER_TRAILER:
		put_trailer(self, line, decoded);
		break;
	default:
		put_number_line(self, line, decoded);
	}
}

void pd_quipper_encode(struct pd_quipper_encoder *self, enum pd_quipper_message_id id, const void *decoded)
{
	struct pd_quipper_message message = pd_quipper_message(id);

	for (size_t i = 0; i < message.count; i++) {
		const struct pd_quipper_line *line = &message.lines[i];
		const struct pd_field *field = self->plan->fields[id][i], *pointer = self->plan->pointers[id][i];
		const void *base = decoded;

		if (line->inside) {
			if (pointer && !pd_when_holds(&pointer->when, &self->scope, decoded))
				continue;
			base = *(void *const *)(const void *)((const char *)decoded + line->pointer);
		}
		// an index that was not recorded is written as 0
		if (!base || (field && !line->inside && line->how != PD_QUIPPER_ID &&
			      !pd_when_holds(&field->when, &self->scope, base)))
			continue;
		put_line(self, line, base);
	}
}

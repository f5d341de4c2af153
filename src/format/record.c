/* SPDX-License-Identifier: MIT */
#include "format/record.h"

#include "format/decode.h"
#include "format/encode.h"
#include "format/text/print.h"

static void *take_body(const struct pd_layout *layout, struct pd_scope *scope, struct pd_cursor *c)
{
	void *out = pd_arena_alloc(scope->arena, layout->struct_size);

	if (!out) {
		pd_cursor_fail_memory(c);
		return NULL;
	}
	layout->decode(c, scope, out);
	return c->failed ? NULL : out;
}

static void *take_with_trailer(const struct pd_layout *layout, struct pd_bytes record, size_t trailer_size,
			       struct pd_scope *scope, struct pd_cursor *c)
{
	struct pd_body_head *out;
	struct pd_sample_id *sample_id;

	c->end -= trailer_size;
	out = take_body(layout, scope, c);
	if (!out)
		return NULL;
	c->at = record.data + record.size - trailer_size;
	c->end = record.data + record.size;
	sample_id = pd_arena_alloc(scope->arena, sizeof(*sample_id));
	if (!sample_id) {
		pd_cursor_fail_memory(c);
		return NULL;
	}
	pd_decode_sample_id(c, scope, sample_id);
	out->sample_id = sample_id;
	return out;
}

static void aim(struct pd_cursor *c, struct pd_bytes record)
{
	c->start = record.data;
	c->at = record.data + PD_RECORD_HEADER_SIZE;
	c->end = record.data + record.size;
}

void *pd_record_take(const struct pd_layout *layout, enum pd_record_group group, struct pd_bytes record,
		     struct pd_scope *scope, struct pd_cursor *cursor)
{
	if (group == PD_GROUP_KERNEL && scope->words[PD_WORD_TRAILER]) {
		size_t trailer_size = pd_trailer_size(scope->words[PD_WORD_TRAILER]);
		struct pd_cursor fresh = *cursor;

		aim(cursor, record);
		if (trailer_size <= pd_cursor_left(cursor)) {
			void *out = take_with_trailer(layout, record, trailer_size, scope, cursor);

			if (out || cursor->status == PD_ERROR_MEMORY)
				return out;
			*cursor = fresh;
		}
		scope->words[PD_WORD_TRAILER] = 0;
	}
	aim(cursor, record);
	return take_body(layout, scope, cursor);
}

bool pd_record_is_tight(const struct pd_layout *layout, const void *decoded)
{
	enum {
		MOST_PADDING = 8
	};
	size_t count;
	const struct pd_field *fields = layout->fields(&count);

	for (size_t i = 0; i < count; i++) {
		const struct pd_str *text = (const void *)((const char *)decoded + fields[i].offset);

		if (fields[i].line == PD_LINE_TEXT && fields[i].kind == PD_KIND_STR0 && text->data &&
		    text->size > text->length + MOST_PADDING)
			return false;
	}
	return true;
}

void pd_record_put(struct pd_buffer *buffer, const struct pd_record_head *head, const struct pd_layout *layout,
		   enum pd_record_group group, struct pd_scope *scope, const void *decoded)
{
	struct pd_buffer body = *buffer;
	const struct pd_body_head *in = decoded;
	struct pd_buffer header;
	size_t size;

	// the body's own pen starts after the header, so that its padding is aligned like the record
	body.data = buffer->data ? buffer->data + buffer->need + PD_RECORD_HEADER_SIZE : NULL;
	body.capacity = buffer->capacity > buffer->need + PD_RECORD_HEADER_SIZE ?
				buffer->capacity - buffer->need - PD_RECORD_HEADER_SIZE :
				0;
	body.need = 0;
	layout->encode(&body, scope, decoded);
	if (group == PD_GROUP_KERNEL && in->sample_id && scope->words[PD_WORD_TRAILER])
		pd_encode_sample_id(&body, scope, in->sample_id);
	size = body.need + PD_RECORD_HEADER_SIZE;
	if (body.failed) {
		*buffer = body;
		return;
	}
	if (size > (group == PD_GROUP_SIMPLEPERF ? UINT32_MAX : UINT16_MAX))
		pd_buffer_fail(buffer, "record is too large");
	header = *buffer;
	pd_buffer_u32(&header, head->type);
	pd_buffer_u16(&header, group == PD_GROUP_SIMPLEPERF ? (uint16_t)(size >> 16) : head->misc);
	pd_buffer_u16(&header, (uint16_t)size);
	buffer->need += size;
}

void pd_attr_words(const struct pd_attr *attr, uint64_t words[PD_WORD_COUNT])
{
	words[PD_WORD_SAMPLE_TYPE] = attr->sample_type;
	words[PD_WORD_READ_FORMAT] = attr->read_format;
	words[PD_WORD_BRANCH_TYPE] = attr->branch_sample_type;
	words[PD_WORD_REGS_USER] = attr->sample_regs_user;
	words[PD_WORD_REGS_INTR] = attr->sample_regs_intr;
	if (PD_BITS(attr->flags, PD_ATTR_SAMPLE_ID_ALL))
		words[PD_WORD_TRAILER] = attr->sample_type & PD_TRAILER_BITS;
}

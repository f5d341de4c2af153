/* SPDX-License-Identifier: MIT */
#include "quipper/read.h"

#include <inttypes.h>

#include "base/error.h"
#include "format/record.h"
#include "format/text/print.h"
#include "quipper/text.h"

enum {
	PIECE = 1 << 16,           // that is asked for at once
	LARGEST_FIELD = 256 << 20, // of PerfDataProto
	LARGEST_RECORD = 64 << 20  // of what is made of one event
};

// ---- records ----

struct event {
	uint32_t type;
	uint16_t misc;
	uint64_t size;
	const struct pd_quipper_line *line; // of its message; NULL: it has none
	struct pd_bytes message;
};

static bool read_header(struct event *event, struct pd_bytes bytes)
{
	struct pd_cursor c = pd_cursor(bytes.data, bytes.size, false);
	struct pd_proto_field field;

	while (pd_proto_next(&c, &field)) {
		if (field.number == 1)
			event->type = (uint32_t)field.value;
		else if (field.number == 2)
			event->misc = (uint16_t)field.value;
		else if (field.number == 3)
			event->size = field.value;
	}
	return !c.failed;
}

// Its header may stand anywhere. Of messages of other types the last one is taken, as exits were written as forks once.
static bool read_event(struct event *event, struct pd_bytes bytes)
{
	struct pd_cursor c = pd_cursor(bytes.data, bytes.size, false);
	struct pd_proto_field field;
	bool ok = true;

	while (ok && pd_proto_next(&c, &field)) {
		if (field.wire != PD_PROTO_SIZED)
			continue;
		if (field.number == 1)
			ok = read_header(event, field.bytes);
		else
			event->message = field.bytes;
	}
	event->line = pd_quipper_event(event->type);
	return ok && !c.failed;
}

static size_t find_attr(struct pd_quipper_reading *self, const struct event *event)
{
	uint64_t id = 0, found;

	if (!event->line || !pd_quipper_find_id(event->line->part, event->message, &id))
		return 0;
	found = pd_u64_map_find(&self->attr_of, id);
	return found ? (size_t)found - 1 : 0;
}

static void set_words(struct pd_quipper_reading *self, const struct event *event, size_t attr)
{
	uint64_t *words = self->decoder.scope.words;
	enum pd_record_group group = pd_record_group(event->type);

	if ((group == PD_GROUP_SAMPLE || group == PD_GROUP_KERNEL) && attr < self->attr_count)
		memcpy(words, self->attrs[attr].words, PD_WORD_COUNT * sizeof(*words));
	else
		memset(words, 0, PD_WORD_COUNT * sizeof(*words));
	words[PD_WORD_MISC] = event->misc;
}

static size_t size_of(struct pd_quipper_reading *self, const struct event *event, const struct pd_layout *layout,
		      const void *decoded)
{
	struct pd_buffer counted = { .capacity = 0 };
	struct pd_scope scope = self->decoder.scope;

	pd_record_put(&counted, &(struct pd_record_head){ .type = event->type }, layout, pd_record_group(event->type),
		      &scope, decoded);
	return counted.failed ? 0 : counted.need;
}

static bool is_last_string(const struct pd_field *field)
{
	return (field->line == PD_LINE_TEXT && field->kind == PD_KIND_STR0) ||
	       (field->line == PD_LINE_CHARS && !field->count.word); // may be cut off
}

// The record gets the size that its header says: by the padding of a string at its end, or by zeros.
static bool pad_record(struct pd_quipper_reading *self, const struct event *event, const struct pd_layout *layout,
		       void *decoded)
{
	struct pd_body_head *head = decoded;
	struct pd_str *string = NULL;
	size_t count, size;
	const struct pd_field *fields = layout->fields(&count);
	char *padded;

	for (size_t i = 0; i < count; i++)
		if (is_last_string(&fields[i]))
			string = (void *)((char *)decoded + fields[i].offset);
	if (string)
		string->size = string->length + 1;
	size = size_of(self, event, layout, decoded);
	if (string)
		string->size = 0;
	if (!size || event->size < size || event->size > UINT16_MAX)
		return true;
	padded = pd_arena_alloc(&self->record, event->size - size + (string ? string->length + 1 : 0) + 1);
	if (!padded)
		return false;
	if (string) {
		if (string->length)
			memcpy(padded, string->data, string->length);
		string->data = padded;
		string->size = (uint32_t)(string->length + 1 + (event->size - size));
	} else {
		head->rest = (struct pd_bytes){ (const uint8_t *)padded, (size_t)event->size - size };
	}
	return true;
}

static void set_size(const struct event *event, const struct pd_layout *layout, void *decoded)
{
	// members at its end are there as far as its size goes
	if (layout == &pd_layouts[PD_LAYOUT_time_conv] && event->size > PD_RECORD_HEADER_SIZE)
		((struct pd_time_conv *)decoded)->wire_size = (uint32_t)(event->size - PD_RECORD_HEADER_SIZE);
}

static enum pd_status add_record(struct pd_quipper_reading *self, const struct event *event,
				 const struct pd_layout *layout, void *decoded, size_t attr, struct pd_error *error)
{
	const struct pd_bytes tail = self->decoder.tail;
	struct pd_error why = { .message = "" };
	enum pd_status status;

	if (event->type == PD_RECORD_AUXTRACE)
		((struct pd_auxtrace *)decoded)->size = tail.size;
	set_size(event, layout, decoded);
	if (!pd_quipper_complete(&self->decoder.scope, layout, decoded) || !pad_record(self, event, layout, decoded))
		return pd_fail_memory(error);
	status = pd_writer_add(self->writer, event->type, event->misc, decoded, attr, &why);
	// it is larger than a record can be
	if (status == PD_ERROR_FORMAT) {
		self->result.damaged++;
		return PD_OK;
	}
	if (status >= 0 && tail.size)
		status = pd_writer_add_tail(self->writer, tail, &why);
	if (status < 0) {
		if (error)
			*error = why;
		return status;
	}
	self->result.records++;
	self->result.samples += event->type == PD_RECORD_SAMPLE;
	return PD_OK;
}

static enum pd_status take_event(struct pd_quipper_reading *self, struct pd_bytes bytes, struct pd_error *error)
{
	struct event event = { .type = 0 };
	const struct pd_layout *layout;
	size_t attr;
	void *decoded;

	if (!read_event(&event, bytes))
		return pd_quipper_fail(self, "an event is damaged", error);
	layout = pd_record_layout(event.type);
	if (!layout || (!event.line && event.type != PD_RECORD_FINISHED_ROUND)) {
		self->result.left_out++;
		return PD_OK;
	}
	if (!self->attr_count && pd_record_group(event.type) == PD_GROUP_SAMPLE)
		return pd_quipper_fail(self, "events stand before file_attrs", error);
	attr = find_attr(self, &event);
	pd_arena_reset(&self->record);
	self->decoder.scope.arena = &self->record;
	self->decoder.tail = (struct pd_bytes){ 0 };
	decoded = pd_arena_alloc(&self->record, layout->struct_size);
	if (!decoded)
		return pd_fail_memory(error);
	set_words(self, &event, attr);
	if (event.line && !pd_quipper_decode(&self->decoder, event.line->part, event.message, decoded))
		return pd_quipper_fail(self, self->decoder.wrong, error);
	return add_record(self, &event, layout, decoded, attr, error);
}

static enum pd_status take_field(struct pd_quipper_reading *self, const struct pd_proto_field *field,
				 struct pd_error *error)
{
	return field->number == 2 && field->wire == PD_PROTO_SIZED ? take_event(self, field->bytes, error) :
								     pd_quipper_take_metadata(self, field, error);
}

// ---- the input ----

struct input {
	pd_pull_fn *pull;
	void *self;
	uint8_t *data;
	size_t size, capacity, at;
	bool ended;
	enum pd_status status;
	struct pd_error *error;
};

// At least size bytes from the present place, unless the input ends.
static bool fill(struct input *input, size_t size)
{
	size_t got;

	if (input->at && input->size - input->at < size) {
		memmove(input->data, input->data + input->at, input->size - input->at);
		input->size -= input->at;
		input->at = 0;
	}
	while (input->status >= 0 && !input->ended && input->size - input->at < size) {
		if (!PD_GROW(input->data, input->capacity, input->size + PIECE)) {
			input->status = pd_fail_memory(input->error);
			return false;
		}
		input->status = input->pull(input->self, input->data + input->size, input->capacity - input->size, &got,
					    input->error);
		if (input->status < 0)
			return false;
		input->size += got;
		input->ended = !got;
	}
	return input->status >= 0;
}

enum {
	MOST_HEADER = 20 // bytes of a tag and a size
};

// Bytes of the next field, as far as its size is known; 0: it is damaged.
static uint64_t field_size(const struct input *input)
{
	struct pd_cursor c = pd_cursor(input->data + input->at, input->size - input->at, false);
	uint64_t tag = pd_proto_take_varint(&c), size = 0;

	if ((tag & 7) == PD_PROTO_SIZED) {
		size = pd_proto_take_varint(&c);
		return c.failed || size > LARGEST_FIELD ? 0 : (uint64_t)(c.at - c.start) + size;
	}
	if ((tag & 7) == PD_PROTO_VARINT)
		pd_proto_take_varint(&c);
	else
		pd_cursor_take(&c, (tag & 7) == PD_PROTO_FIXED64 ? 8 : 4);
	return c.failed ? 0 : (uint64_t)(c.at - c.start);
}

static enum pd_status read_binary(struct pd_quipper_reading *self, struct input *input, struct pd_error *error)
{
	enum pd_status status = PD_OK;

	while (status >= 0 && fill(input, MOST_HEADER) && input->at < input->size) {
		uint64_t size = field_size(input);
		struct pd_proto_field field;
		struct pd_cursor c;

		if (!size)
			return pd_quipper_fail(self, "a field is damaged or too large", error);
		if (!fill(input, (size_t)size))
			break;
		if (input->size - input->at < size)
			return pd_quipper_fail(self, "it is cut off", error);
		c = pd_cursor(input->data + input->at, (size_t)size, false);
		if (!pd_proto_next(&c, &field))
			return pd_quipper_fail(self, c.reason, error);
		input->at += (size_t)size;
		status = take_field(self, &field, error);
		self->at += size;
	}
	return input->status < 0 ? input->status : status;
}

static size_t more_text(void *self, char *data, size_t size)
{
	struct input *input = self;
	size_t got = 0;

	if (input->status >= 0)
		input->status = input->pull(input->self, data, size, &got, input->error);
	return input->status < 0 ? 0 : got;
}

static enum pd_status read_text(struct pd_quipper_reading *self, struct input *input, struct pd_error *error)
{
	struct pd_quipper_parser *parser = pd_alloc(sizeof(*parser));
	struct pd_text *message = pd_text_new();
	enum pd_status status = parser && message ? PD_OK : pd_fail_memory(error);

	self->at = PD_NO_OFFSET;
	if (parser) {
		parser->more = more_text;
		parser->self = input;
		parser->line = 1;
		parser->word = pd_text_new();
		status = parser->word ? status : pd_fail_memory(error);
	}
	while (status >= 0 && pd_quipper_parse(parser, message)) {
		struct pd_cursor c = pd_cursor(message->data, message->size, false);
		struct pd_proto_field field;

		while (status >= 0 && pd_proto_next(&c, &field))
			status = take_field(self, &field, error);
	}
	if (status >= 0 && input->status < 0)
		status = input->status;
	else if (status >= 0 && (pd_text_failed(message) || pd_text_failed(parser->word)))
		status = pd_fail_memory(error);
	else if (status >= 0 && parser->wrong)
		status = pd_fail(error, PD_ERROR_FORMAT, PD_NO_OFFSET, "%s: line %" PRIu64 ": %s", self->name,
				 parser->line, parser->wrong);
	if (parser)
		pd_text_free(parser->word);
	pd_free(parser);
	pd_text_free(message);
	return status;
}

// ---- everything ----

static void fini(struct pd_quipper_reading *self)
{
	for (size_t i = 0; i < PD_QUIPPER_FEATURES; i++)
		pd_free(self->lists[i].items);
	pd_free(self->arguments.items);
	pd_free(self->attrs);
	pd_u64_map_fini(&self->attr_of);
	pd_arena_fini(&self->record);
	pd_arena_fini(&self->lasting);
	pd_text_free(self->build_ids);
	pd_free(self);
}

static enum pd_status read_all(struct pd_quipper_reading *self, struct input *input, struct pd_error *error)
{
	enum pd_status status = self->options.text ? read_text(self, input, error) : read_binary(self, input, error);

	return status >= 0 ? pd_quipper_restore(self, error) : status;
}

enum pd_status pd_quipper_read(pd_pull_fn *pull, void *pull_self, const char *name,
			       const struct pd_quipper_options *options, struct pd_writer *writer,
			       struct pd_quipper_result *result_out, struct pd_error *error)
{
	struct pd_quipper_reading *self = pd_alloc(sizeof(*self));
	struct pd_error own;
	struct input input = { .pull = pull, .self = pull_self, .error = error ? error : &own };
	enum pd_status status;

	if (!self)
		return pd_fail_memory(error);
	if (options)
		memcpy(&self->options, options, options->size < sizeof(*options) ? options->size : sizeof(*options));
	self->name = name;
	self->writer = writer;
	self->record.limit = LARGEST_RECORD;
	self->lasting.limit = LARGEST_FIELD;
	self->decoder.plan = &self->plan;
	self->build_ids = pd_text_new();
	pd_quipper_plan_init(&self->plan);
	status = self->build_ids ? read_all(self, &input, error) : pd_fail_memory(error);
	if (status >= 0 && result_out)
		*result_out = self->result;
	pd_free(input.data);
	fini(self);
	return status;
}

/* SPDX-License-Identifier: MIT */
/*
 * A profile of pprof. Samples are sums, so that there are no times; each value of a sample is one of the event of its type.
 * Counts of samples are left out where there is what they counted. Inlined functions are frames.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/text/proto.h"
#include "file/codec.h"
#include "import/builder.h"
#include "import/import.h"
#include "import/input.h"

enum {
	MOST_TYPES = 64,
	MOST_INLINED = 256, // functions of a location
	LARGEST = 1 << 30   // decompressed
};

struct location {
	uint64_t address;
	struct pd_bytes message;
};

struct pprof {
	struct pd_input input;
	struct pd_builder builder;
	struct pd_bytes *strings;
	size_t string_count, string_capacity;
	struct pd_u64_map function_of; // id to number of its name plus 1
	struct location *locations;
	size_t location_count, location_capacity;
	struct pd_u64_map location_of; // id to place in locations plus 1
	struct {
		uint64_t name, unit;
	} types[MOST_TYPES];
	size_t type_count;
	uint64_t *chain;
	size_t capacity;
};

static struct pd_bytes string_at(const struct pprof *self, uint64_t index)
{
	return index < self->string_count ? self->strings[index] : (struct pd_bytes){ (const uint8_t *)"", 0 };
}

static bool is_string(const struct pprof *self, uint64_t index, const char *text)
{
	struct pd_bytes string = string_at(self, index);

	return string.size == strlen(text) && !memcmp(string.data, text, string.size);
}

static void out_of_memory(struct pprof *self)
{
	if (self->builder.status >= 0)
		self->builder.status = pd_fail_memory(self->builder.error);
}

// ---- tables, which stand anywhere ----

// Two numbers of a message.
static void read_two(struct pd_bytes message, uint32_t one, uint32_t other, uint64_t *one_out, uint64_t *other_out)
{
	struct pd_cursor c = pd_cursor(message.data, message.size, false);
	struct pd_proto_field field;

	*one_out = *other_out = 0;
	while (pd_proto_next(&c, &field)) {
		if (field.number == one && field.wire != PD_PROTO_SIZED)
			*one_out = field.value;
		if (field.number == other && field.wire != PD_PROTO_SIZED)
			*other_out = field.value;
	}
}

static void take_location(struct pprof *self, struct pd_bytes message)
{
	uint64_t id, address;

	read_two(message, 1, 3, &id, &address);
	if (!PD_GROW(self->locations, self->location_capacity, self->location_count + 1) ||
	    !pd_u64_map_set(&self->location_of, id, self->location_count + 1)) {
		out_of_memory(self);
		return;
	}
	self->locations[self->location_count++] = (struct location){ address, message };
}

static void take_function(struct pprof *self, struct pd_bytes message)
{
	uint64_t id, name;

	read_two(message, 1, 2, &id, &name);
	if (!pd_u64_map_set(&self->function_of, id, name + 1))
		out_of_memory(self);
}

static void take_string(struct pprof *self, struct pd_bytes string)
{
	if (!PD_GROW(self->strings, self->string_capacity, self->string_count + 1))
		out_of_memory(self);
	else
		self->strings[self->string_count++] = string;
}

static void take_table(struct pprof *self, const struct pd_proto_field *field)
{
	switch (field->number) {
	case 1:
		if (self->type_count < MOST_TYPES)
			read_two(field->bytes, 1, 2, &self->types[self->type_count].name,
				 &self->types[self->type_count].unit);
		self->type_count += self->type_count < MOST_TYPES;
		break;
	case 4:
		take_location(self, field->bytes);
		break;
	case 5:
		take_function(self, field->bytes);
		break;
	case 6:
		take_string(self, field->bytes);
		break;
	default:
		break;
	}
}

// ---- samples ----

static void push(struct pprof *self, size_t *count, const char *name, size_t size)
{
	if (!PD_GROW(self->chain, self->capacity, *count + 1)) {
		out_of_memory(self);
		return;
	}
	self->chain[(*count)++] = pd_builder_function(&self->builder, name, size);
}

// Its functions, innermost first, or its address.
static void push_location(struct pprof *self, size_t *count, uint64_t id)
{
	uint64_t place = pd_u64_map_find(&self->location_of, id);
	const struct location *location = place ? &self->locations[place - 1] : NULL;
	struct pd_cursor c = { .start = NULL };
	struct pd_proto_field field;
	size_t before = *count;
	char address[24];

	if (location)
		c = pd_cursor(location->message.data, location->message.size, false);
	while (location && self->builder.status >= 0 && *count - before < MOST_INLINED && pd_proto_next(&c, &field)) {
		uint64_t function, line;
		struct pd_bytes name;

		if (field.number != 4 || field.wire != PD_PROTO_SIZED)
			continue;
		read_two(field.bytes, 1, 2, &function, &line);
		function = pd_u64_map_find(&self->function_of, function);
		name = string_at(self, function ? function - 1 : 0);
		push(self, count, name.size ? (const char *)name.data : "[unknown]", name.size ? name.size : 9);
	}
	if (*count != before)
		return;
	snprintf(address, sizeof(address), "0x%" PRIx64, location ? location->address : 0);
	push(self, count, address, strlen(address));
}

// One number of a field, or many that are packed.
static bool next_number(const struct pd_proto_field *field, struct pd_cursor *packed, uint64_t *value_out)
{
	if (field->wire != PD_PROTO_SIZED) {
		*value_out = field->value;
		return !packed->start && (packed->start = (const uint8_t *)field);
	}
	if (!packed->start)
		*packed = pd_cursor(field->bytes.data, field->bytes.size, false);
	if (!pd_cursor_left(packed))
		return false;
	*value_out = pd_proto_take_varint(packed);
	return !packed->failed;
}

struct labels {
	struct pd_bytes comm;
	uint64_t pid, tid;
	bool has_tid;
};

static void take_label(struct pprof *self, struct pd_bytes message, struct labels *labels)
{
	uint64_t key, string, number, unused;

	read_two(message, 1, 2, &key, &string);
	read_two(message, 3, 4, &number, &unused);
	if (is_string(self, key, "comm") || (is_string(self, key, "thread") && !labels->comm.size))
		labels->comm = string_at(self, string);
	else if (is_string(self, key, "pid"))
		labels->pid = number;
	else if (is_string(self, key, "tid")) {
		labels->tid = number;
		labels->has_tid = true;
	}
}

// Counts of samples are not wanted beside what these counted.
static bool is_wanted(const struct pprof *self, size_t type)
{
	struct pd_bytes name = string_at(self, self->types[type].name);

	return self->type_count == 1 || name.size < 7 || memcmp(name.data, "samples", 7) != 0;
}

static void add_values(struct pprof *self, const uint64_t *values, struct pd_builder_sample *sample)
{
	for (size_t i = 0; i < self->type_count && self->builder.status >= 0; i++) {
		struct pd_bytes name = string_at(self, self->types[i].name);

		if (!values[i] || !is_wanted(self, i))
			continue;
		if (values[i] >> 63) {
			self->builder.result->left_out++;
			continue;
		}
		sample->event = pd_builder_event(&self->builder, (const char *)name.data, name.size,
						 is_string(self, self->types[i].unit, "nanoseconds"));
		sample->period = values[i];
		pd_builder_sample(&self->builder, sample);
	}
}

static void take_sample(struct pprof *self, struct pd_bytes message)
{
	struct pd_cursor c = pd_cursor(message.data, message.size, false);
	struct pd_builder_sample sample = { .event = 0 };
	struct labels labels = { .tid = 0 };
	struct pd_proto_field field;
	uint64_t values[MOST_TYPES] = { 0 }, value;
	size_t value_count = 0;

	while (self->builder.status >= 0 && pd_proto_next(&c, &field)) {
		struct pd_cursor packed = { .start = NULL };

		if (field.number == 3 && field.wire == PD_PROTO_SIZED)
			take_label(self, field.bytes, &labels);
		while (field.number == 1 && self->builder.status >= 0 && next_number(&field, &packed, &value))
			push_location(self, &sample.count, value);
		while (field.number == 2 && next_number(&field, &packed, &value))
			if (value_count < MOST_TYPES)
				values[value_count++] = value;
	}
	if (!sample.count)
		push(self, &sample.count, "[unknown]", strlen("[unknown]"));
	if (self->builder.status < 0)
		return;
	if (!labels.comm.data)
		labels.comm = (struct pd_bytes){ (const uint8_t *)"[unknown]", 9 };
	sample.pid = (uint32_t)labels.pid;
	sample.tid = (uint32_t)labels.tid;
	// events come before other records
	sample.chain = self->chain;
	if (labels.has_tid)
		pd_builder_thread(&self->builder, sample.pid, sample.tid, (const char *)labels.comm.data,
				  labels.comm.size);
	else
		sample.pid = sample.tid =
			pd_builder_numberless_thread(&self->builder, (const char *)labels.comm.data, labels.comm.size);
	add_values(self, values, &sample);
}

// ---- the file ----

// Into a text, as long as it is not too large.
static bool inflate(struct pprof *self, struct pd_bytes packed, struct pd_text *text)
{
	const struct pd_codec *codec = pd_codec_by_name("gzip");
	void *state = codec && codec->start ? codec->start() : NULL;
	struct pd_codec_run run = { .in = packed.data, .in_size = packed.size };
	enum pd_codec_result result = PD_CODEC_OK;
	enum {
		PIECE = 1 << 16
	};

	if (!state) {
		self->builder.status = codec ? pd_fail_memory(self->builder.error) :
					       pd_fail(self->builder.error, PD_ERROR_UNSUPPORTED, PD_NO_OFFSET,
						       "%s: gzip is not built in", self->input.name);
		return false;
	}
	while (result != PD_CODEC_ERROR && text->size < LARGEST && pd_text_reserve(text, PIECE)) {
		size_t before = run.in_size;

		run.out = (uint8_t *)text->data + text->size;
		run.out_size = PIECE;
		result = codec->run(state, &run);
		text->size += PIECE - run.out_size;
		if ((result == PD_CODEC_END && !run.in_size) || (before == run.in_size && run.out_size == PIECE))
			break;
	}
	codec->close(state);
	if (text->failed)
		out_of_memory(self);
	else if (result != PD_CODEC_END)
		self->builder.status = text->size >= LARGEST ?
					       pd_fail(self->builder.error, PD_ERROR_LIMIT, PD_NO_OFFSET,
						       "%s: more than 1 GiB when decompressed", self->input.name) :
					       pd_fail(self->builder.error, PD_ERROR_FORMAT, PD_NO_OFFSET,
						       "%s: damaged gzip data", self->input.name);
	return self->builder.status >= 0;
}

static void read_profile(struct pprof *self, struct pd_bytes bytes)
{
	struct pd_cursor c = pd_cursor(bytes.data, bytes.size, false);
	struct pd_proto_field field;

	while (self->builder.status >= 0 && pd_proto_next(&c, &field))
		if (field.wire == PD_PROTO_SIZED)
			take_table(self, &field);
	if (self->builder.status >= 0 && c.failed) {
		uint64_t offset = (uint64_t)(c.failed_at - c.start);

		self->builder.status = pd_fail(self->builder.error, PD_ERROR_FORMAT, offset,
					       "%s: offset 0x%" PRIx64 ": no profile of pprof: %s", self->input.name,
					       offset, c.reason);
	} else if (self->builder.status >= 0 && !self->type_count) {
		self->builder.status = pd_fail(self->builder.error, PD_ERROR_FORMAT, PD_NO_OFFSET,
					       "%s: no profile of pprof: it has no types of samples", self->input.name);
	}
	if (self->builder.status < 0)
		return;
	pd_builder_limit(&self->builder, bytes.size);
	// all events come before the first record
	for (size_t i = 0; i < self->type_count && self->builder.status >= 0; i++)
		if (is_wanted(self, i)) {
			struct pd_bytes name = string_at(self, self->types[i].name);

			pd_builder_event(&self->builder, (const char *)name.data, name.size,
					 is_string(self, self->types[i].unit, "nanoseconds"));
		}
	c = pd_cursor(bytes.data, bytes.size, false);
	while (self->builder.status >= 0 && pd_proto_next(&c, &field))
		if (field.number == 2 && field.wire == PD_PROTO_SIZED)
			take_sample(self, field.bytes);
}

enum pd_status pd_import_pprof(const struct pd_import_options *options, struct pd_writer *writer,
			       struct pd_import_result *result, struct pd_error *error)
{
	struct pprof *self = pd_alloc(sizeof(*self));
	struct pd_text *plain = pd_text_new();
	struct pd_bytes bytes;
	enum pd_status status = self && plain ? PD_OK : pd_fail_memory(error);

	if (status >= 0) {
		pd_input_init(&self->input, options, error);
		pd_builder_init(&self->builder, writer, options, result, error);
		if (pd_input_rest(&self->input, &bytes)) {
			bool packed = bytes.size > 2 && bytes.data[0] == 0x1f && bytes.data[1] == 0x8b;

			if (packed && inflate(self, bytes, plain))
				bytes = (struct pd_bytes){ (const uint8_t *)plain->data, plain->size };
			if (self->builder.status >= 0)
				read_profile(self, bytes);
		}
		status = self->input.status < 0 ? self->input.status : self->builder.status;
		pd_free(self->strings);
		pd_free(self->locations);
		pd_free(self->chain);
		pd_u64_map_fini(&self->function_of);
		pd_u64_map_fini(&self->location_of);
		pd_builder_fini(&self->builder);
		pd_input_fini(&self->input);
	}
	pd_free(self);
	pd_text_free(plain);
	return status;
}

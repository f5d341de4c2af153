/* SPDX-License-Identifier: MIT */
/*
 * Files of simpleperf report-sample --protobuf: samples first, then what their numbers stand for: files with symbols, threads,
 * events. Facts: cmd_report_sample.proto of Android's simpleperf.
 */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/text/proto.h"
#include "import/builder.h"
#include "import/import.h"
#include "import/input.h"

enum {
	MAGIC_BYTES = 10,
	HEAD_BYTES = 12, // with the version
	MOST_EVENTS = 1024
};

// Numbers of records.
enum {
	SAMPLE = 1,
	OBJECT = 3,
	THREAD = 4,
	META_INFO = 5
};

struct file {
	struct pd_bytes path;
	size_t first_symbol, symbol_count;
};

struct report {
	struct pd_input input;
	struct pd_builder builder;
	struct file *files;
	size_t file_count, file_capacity;
	struct pd_u64_map file_of; // id to place in files plus 1
	struct pd_bytes *symbols;
	size_t symbol_count, symbol_capacity;
	struct thread {
		uint32_t pid;
		struct pd_bytes name;
	} * threads;
	size_t thread_count, thread_capacity;
	struct pd_u64_map thread_of; // tid to place in threads plus 1
	struct pd_bytes events[MOST_EVENTS];
	size_t event_count;
	uint64_t *chain;
	size_t capacity;
};

static void out_of_memory(struct report *self)
{
	if (self->builder.status >= 0)
		self->builder.status = pd_fail_memory(self->builder.error);
}

static void fail(struct report *self, const char *why)
{
	if (self->builder.status >= 0)
		self->builder.status = pd_fail(self->builder.error, PD_ERROR_FORMAT, PD_NO_OFFSET,
					       "%s: no report of simpleperf: %s", self->input.name, why);
}

// ---- what numbers stand for ----

static void take_file(struct report *self, struct pd_bytes message)
{
	struct pd_cursor c = pd_cursor(message.data, message.size, false);
	struct file file = { .first_symbol = self->symbol_count };
	struct pd_proto_field field;
	uint64_t id = 0;

	while (pd_proto_next(&c, &field)) {
		if (field.number == 1 && field.wire != PD_PROTO_SIZED)
			id = field.value;
		if (field.number == 2 && field.wire == PD_PROTO_SIZED)
			file.path = field.bytes;
		if (field.number != 3 || field.wire != PD_PROTO_SIZED)
			continue;
		if (!PD_GROW(self->symbols, self->symbol_capacity, self->symbol_count + 1)) {
			out_of_memory(self);
			return;
		}
		self->symbols[self->symbol_count++] = field.bytes;
	}
	file.symbol_count = self->symbol_count - file.first_symbol;
	if (!PD_GROW(self->files, self->file_capacity, self->file_count + 1) ||
	    !pd_u64_map_set(&self->file_of, id, self->file_count + 1))
		out_of_memory(self);
	else
		self->files[self->file_count++] = file;
}

static void take_thread(struct report *self, struct pd_bytes message)
{
	struct pd_cursor c = pd_cursor(message.data, message.size, false);
	struct thread thread = { .pid = 0 };
	struct pd_proto_field field;
	uint32_t tid = 0;

	while (pd_proto_next(&c, &field)) {
		if (field.number == 1 && field.wire != PD_PROTO_SIZED)
			tid = (uint32_t)field.value;
		if (field.number == 2 && field.wire != PD_PROTO_SIZED)
			thread.pid = (uint32_t)field.value;
		if (field.number == 3 && field.wire == PD_PROTO_SIZED)
			thread.name = field.bytes;
	}
	if (!PD_GROW(self->threads, self->thread_capacity, self->thread_count + 1) ||
	    !pd_u64_map_set(&self->thread_of, tid, self->thread_count + 1))
		out_of_memory(self);
	else
		self->threads[self->thread_count++] = thread;
}

static void take_meta_info(struct report *self, struct pd_bytes message)
{
	struct pd_cursor c = pd_cursor(message.data, message.size, false);
	struct pd_proto_field field;

	while (pd_proto_next(&c, &field))
		if (field.number == 1 && field.wire == PD_PROTO_SIZED && self->event_count < MOST_EVENTS)
			self->events[self->event_count++] = field.bytes;
}

// ---- samples ----

static bool push(struct report *self, size_t *count, const void *name, size_t size)
{
	if (!PD_GROW(self->chain, self->capacity, *count + 1)) {
		out_of_memory(self);
		return false;
	}
	self->chain[(*count)++] = pd_builder_function(&self->builder, name, size);
	return self->builder.status >= 0;
}

// By its symbol, or by its file in brackets.
static bool push_entry(struct report *self, size_t *count, struct pd_bytes message)
{
	struct pd_cursor c = pd_cursor(message.data, message.size, false);
	struct pd_proto_field field;
	uint64_t file_id = 0, symbol = UINT64_MAX, place;
	const struct file *file;
	const uint8_t *slash;
	char name[256] = "[unknown]";

	while (pd_proto_next(&c, &field)) {
		if (field.number == 2 && field.wire != PD_PROTO_SIZED)
			file_id = field.value;
		if (field.number == 3 && field.wire != PD_PROTO_SIZED)
			symbol = field.value;
	}
	place = pd_u64_map_find(&self->file_of, file_id);
	file = place ? &self->files[place - 1] : NULL;
	if (file && symbol < file->symbol_count && self->symbols[file->first_symbol + symbol].size) {
		const struct pd_bytes *known = &self->symbols[file->first_symbol + symbol];

		return push(self, count, known->data, known->size);
	}
	if (file && file->path.size) {
		slash = memrchr(file->path.data, '/', file->path.size);
		slash = slash ? slash + 1 : file->path.data;
		snprintf(name, sizeof(name), "[%.*s]", (int)(file->path.size - (size_t)(slash - file->path.data)),
			 (const char *)slash);
	}
	return push(self, count, name, strlen(name));
}

static void name_thread(struct report *self, struct pd_builder_sample *sample)
{
	static const char unknown[] = "[unknown]";
	uint64_t place = pd_u64_map_find(&self->thread_of, sample->tid);
	struct thread thread = { sample->tid, { (const uint8_t *)unknown, strlen(unknown) } };

	if (place)
		thread = self->threads[place - 1];
	sample->pid = thread.pid;
	pd_builder_thread(&self->builder, thread.pid, sample->tid, (const char *)thread.name.data, thread.name.size);
}

static void take_sample(struct report *self, struct pd_bytes message)
{
	struct pd_cursor c = pd_cursor(message.data, message.size, false);
	struct pd_builder_sample sample = { .period = 1 };
	struct pd_proto_field field;
	uint64_t event = 0;

	while (pd_proto_next(&c, &field)) {
		if (field.number == 3 && field.wire == PD_PROTO_SIZED) {
			if (!push_entry(self, &sample.count, field.bytes))
				return;
		} else if (field.number == 1) {
			sample.time_ns = field.value;
		} else if (field.number == 2) {
			sample.tid = (uint32_t)field.value;
		} else if (field.number == 4) {
			sample.period = field.value;
		} else if (field.number == 5) {
			event = field.value;
		}
	}
	if (!sample.count && !push(self, &sample.count, "[unknown]", strlen("[unknown]")))
		return;
	// events of a file have these numbers; without any there is one
	sample.event = event < self->event_count ?
			       pd_builder_event(&self->builder, (const char *)self->events[event].data,
						self->events[event].size, false) :
			       pd_builder_event(&self->builder, "samples", strlen("samples"), false);
	sample.chain = self->chain;
	name_thread(self, &sample);
	if (self->builder.status >= 0)
		pd_builder_sample(&self->builder, &sample);
}

// ---- the file ----

static void take_record(struct report *self, const struct pd_proto_field *field, bool samples)
{
	if (field->wire != PD_PROTO_SIZED)
		return;
	if (samples && field->number == SAMPLE)
		take_sample(self, field->bytes);
	else if (!samples && field->number == OBJECT)
		take_file(self, field->bytes);
	else if (!samples && field->number == THREAD)
		take_thread(self, field->bytes);
	else if (!samples && field->number == META_INFO)
		take_meta_info(self, field->bytes);
	else if (!samples && field->number != SAMPLE)
		self->builder.result->left_out++;
}

// Records with their sizes, up to one of 0. First what numbers stand for, then the samples.
static void read_records(struct report *self, struct pd_bytes bytes, bool samples)
{
	struct pd_cursor c = pd_cursor(bytes.data + HEAD_BYTES, bytes.size - HEAD_BYTES, false);
	uint32_t size;

	while (self->builder.status >= 0 && (size = pd_cursor_u32(&c)) != 0) {
		const uint8_t *record = pd_cursor_take(&c, size);
		struct pd_cursor fields = pd_cursor(record, record ? size : 0, false);
		struct pd_proto_field field;

		while (self->builder.status >= 0 && pd_proto_next(&fields, &field))
			take_record(self, &field, samples);
		if (fields.failed)
			fail(self, fields.reason);
	}
	if (c.failed)
		fail(self, "it is cut off");
}

static void read_file(struct report *self, struct pd_bytes bytes)
{
	if (bytes.size < HEAD_BYTES || memcmp(bytes.data, "SIMPLEPERF", MAGIC_BYTES) != 0 || bytes.data[10] != 1 ||
	    bytes.data[11]) {
		fail(self, "it does not begin as version 1 does");
		return;
	}
	self->builder.sample_type = PD_MASK(PD_SAMPLE_TYPE_TIME);
	read_records(self, bytes, false);
	// events come before other records
	for (size_t i = 0; i < self->event_count && self->builder.status >= 0; i++)
		pd_builder_event(&self->builder, (const char *)self->events[i].data, self->events[i].size, false);
	if (!self->event_count)
		pd_builder_event(&self->builder, "samples", strlen("samples"), false);
	read_records(self, bytes, true);
}

enum pd_status pd_import_simpleperf(const struct pd_import_options *options, struct pd_writer *writer,
				    struct pd_import_result *result, struct pd_error *error)
{
	struct report *self = pd_alloc(sizeof(*self));
	struct pd_bytes bytes;
	enum pd_status status;

	if (!self)
		return pd_fail_memory(error);
	pd_input_init(&self->input, options, error);
	pd_builder_init(&self->builder, writer, options, result, error);
	if (pd_input_rest(&self->input, &bytes))
		read_file(self, bytes);
	status = self->input.status < 0 ? self->input.status : self->builder.status;
	pd_free(self->files);
	pd_free(self->symbols);
	pd_free(self->threads);
	pd_free(self->chain);
	pd_u64_map_fini(&self->file_of);
	pd_u64_map_fini(&self->thread_of);
	pd_builder_fini(&self->builder);
	pd_input_fini(&self->input);
	pd_free(self);
	return status;
}

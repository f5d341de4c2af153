/* SPDX-License-Identifier: MIT */
/*
 * pprof: one message of profile.proto in a file of gzip. Samples with the same stack, thread and CPU are one; each event has two
 * values, its samples and what they counted.
 */
#include "export/export.h"
#include "export/feed/line_texts.h"
#include "export/feed/sums.h"
#include "export/write/gzip.h"
#include "export/write/proto.h"
#include "file/file.h"

enum {
	PROFILE_SAMPLE_TYPE = 1,
	PROFILE_SAMPLE = 2,
	PROFILE_MAPPING = 3,
	PROFILE_LOCATION = 4,
	PROFILE_FUNCTION = 5,
	PROFILE_STRING = 6,
	PROFILE_TIME = 9,
	PROFILE_DURATION = 10,
	PROFILE_PERIOD_TYPE = 11,
	PROFILE_PERIOD = 12,
	PROFILE_DEFAULT_TYPE = 14
};

// Each sample has values for all of them.
enum {
	EVENTS_MOST = 64
};

#define NO_PLACE SIZE_MAX

struct pprof {
	struct pd_sums sums;
	struct pd_text *message;
	size_t *place_of; // by event: the number of its first value, or NO_PLACE
	size_t value_count;
	uint32_t label_pid, label_tid, label_comm, label_cpu;
	struct pd_line_texts labels; // by thread
	struct pd_gzip gzip;
};

static void take_sample(struct pd_export *self, const struct pd_export_sample *sample)
{
	struct pprof *pprof = self->sink;

	pd_export_sum(self, &pprof->sums, sample);
}

enum {
	PIECE = 256 << 10 // bytes that are compressed at once
};

// To be called between fields of the message.
static void compress_large(struct pd_export *self)
{
	struct pprof *pprof = self->sink;
	struct pd_text *message = pprof->message;

	if (message->size < PIECE || message->failed || self->failed)
		return;
	pd_gzip_add(&pprof->gzip, self->text, message->data, message->size);
	pd_text_clear(message);
	pd_export_flush(self);
}

// ---- what the values are ----

// The usual name of time on a CPU, if nothing else is measured.
static const char *measure_name(const struct pd_export *self, const struct pd_event *event)
{
	return pd_attr_is_clock(event->attr) && self->events_used == 1 ? "cpu" : event->name;
}

static void put_value_type(struct pd_export *self, unsigned field, const char *type, const char *unit)
{
	struct pprof *pprof = self->sink;
	uint32_t type_string = pd_tables_text(&self->tables, type);
	uint32_t unit_string = pd_tables_text(&self->tables, unit);
	size_t opened = pd_proto_open(pprof->message, field);

	pd_proto_number(pprof->message, 1, type_string);
	pd_proto_number(pprof->message, 2, unit_string);
	pd_proto_close(pprof->message, opened);
}

static void put_event_types(struct pd_export *self, const struct pd_event *event, bool only)
{
	struct pd_text *name = pd_text_new();

	if (name) {
		if (only)
			PD_TEXT_LITERAL(name, "samples");
		else
			pd_text_printf(name, "samples:%s", event->name);
		pd_text_char(name, 0);
	}
	self->failed |= !name || name->failed;
	if (!self->failed)
		put_value_type(self, PROFILE_SAMPLE_TYPE, name->data, "count");
	pd_text_free(name);
	if (pd_event_unit(event) != PD_UNIT_SAMPLES)
		put_value_type(self, PROFILE_SAMPLE_TYPE, measure_name(self, event), pd_export_unit(event));
}

static void put_types(struct pd_export *self)
{
	struct pprof *pprof = self->sink;
	bool only = self->events_used == 1;
	size_t events = 0;

	for (size_t i = 0; i < self->event_count; i++) {
		const struct pd_event *event = pd_file_event(self->file, i);

		pprof->place_of[i] = NO_PLACE;
		if (!self->sums[i].samples)
			continue;
		if (events++ >= EVENTS_MOST) {
			self->dropped[PD_SUPPORT_EVENTS] += self->sums[i].samples;
			continue;
		}
		pprof->place_of[i] = pprof->value_count;
		put_event_types(self, event, only);
		pprof->value_count += pd_event_unit(event) == PD_UNIT_SAMPLES ? 1 : 2;
	}
}

// The event that the file is about: the first one that has the most samples.
static void put_period(struct pd_export *self)
{
	struct pprof *pprof = self->sink;
	uint64_t duration = self->last_ns - self->first_ns;
	const struct pd_event *event;
	const char *name;
	size_t most = 0;

	for (size_t i = 0; i < self->event_count; i++)
		if (self->sums[i].samples > self->sums[most].samples)
			most = i;
	event = pd_file_event(self->file, most);
	name = pd_event_unit(event) == PD_UNIT_SAMPLES ? "samples" : measure_name(self, event);
	put_value_type(self, PROFILE_PERIOD_TYPE, name, pd_export_unit(event));
	pd_proto_number(pprof->message, PROFILE_PERIOD, self->sums[most].value / self->sums[most].samples);
	if (self->events_used == 1)
		pd_proto_number(pprof->message, PROFILE_DEFAULT_TYPE, pd_tables_text(&self->tables, name));
	pd_proto_number(pprof->message, PROFILE_TIME, pd_export_wall_clock(self));
	pd_proto_number(pprof->message, PROFILE_DURATION, duration < INT64_MAX ? duration : INT64_MAX);
}

// ---- samples ----

static void put_label(struct pd_text *message, uint32_t key, uint64_t string, uint64_t number)
{
	size_t opened = pd_proto_open(message, 3);

	pd_proto_number(message, 1, key);
	pd_proto_number(message, 2, string);
	pd_proto_number(message, 3, number);
	pd_proto_close(message, opened);
}

static void put_values(const struct pprof *pprof, const struct pd_export *self, const struct pd_sum *sum)
{
	size_t place = pprof->place_of[sum->event], opened = pd_proto_open(pprof->message, 2);
	bool counted = pd_event_unit(pd_file_event(self->file, sum->event)) != PD_UNIT_SAMPLES;

	for (size_t i = 0; i < pprof->value_count; i++)
		pd_proto_varint(pprof->message, i == place ? sum->samples : counted && i == place + 1 ? sum->value : 0);
	pd_proto_close(pprof->message, opened);
}

static bool make_labels(struct pd_export *self, uint32_t thread)
{
	struct pprof *pprof = self->sink;
	const struct pd_owner *owner = pd_export_thread(self, thread);
	struct pd_text *piece = pd_line_texts_begin(&pprof->labels, thread);

	if (!piece)
		return false;
	put_label(piece, pprof->label_comm, pd_export_comm(self, thread), 0);
	put_label(piece, pprof->label_pid, 0, (uint64_t)(int32_t)owner->pid);
	put_label(piece, pprof->label_tid, 0, (uint64_t)(int32_t)owner->tid);
	return pd_line_texts_keep(&pprof->labels, thread);
}

static void put_sample(struct pd_export *self, const struct pd_sum *sum)
{
	struct pprof *pprof = self->sink;
	struct pd_text *message = pprof->message;
	size_t sample = pd_proto_open(message, PROFILE_SAMPLE), count;
	const uint32_t *frames = pd_tables_frames(&self->tables, sum->stack, &count);

	pd_proto_packed_after(message, 1, frames, count);
	put_values(pprof, self, sum);
	if (!pd_line_texts_put(&pprof->labels, sum->thread, message))
		self->failed |= !make_labels(self, sum->thread) ||
				!pd_line_texts_put(&pprof->labels, sum->thread, message);
	if (sum->cpu != UINT32_MAX)
		put_label(message, pprof->label_cpu, 0, sum->cpu);
	pd_proto_close(message, sample);
	compress_large(self);
}

// ---- tables ----

// A program rather than a library or the kernel: the first mapping names the whole profile.
static unsigned rank_of(const struct pd_table_object *object, const char *path)
{
	if (object->kernel)
		return 0;
	return path[0] == '[' || strstr(path, ".so") || !strncmp(path, "//", 2) ? 1 : 2;
}

static size_t main_mapping(struct pd_export *self, const struct pprof *pprof)
{
	const struct pd_tables *tables = &self->tables;
	uint64_t *values = pd_alloc((tables->mapping_count + 1) * sizeof(*values));
	size_t best = 0;
	unsigned best_rank = 0;

	self->failed |= !values;
	for (size_t i = 0; values && i < pprof->sums.count; i++) {
		const struct pd_sum *sum = &pprof->sums.items[i];

		values[tables->frames[pd_tables_innermost(tables, sum->stack)].mapping] += sum->samples;
	}
	for (size_t i = 1; values && i < tables->mapping_count; i++) {
		const struct pd_table_object *object = &tables->objects[tables->mappings[i].object];
		unsigned rank = rank_of(object, pd_tables_text_of(tables, object->path));

		if (best && (rank < best_rank || (rank == best_rank && values[i] <= values[best])))
			continue;
		best = i;
		best_rank = rank;
	}
	pd_free(values);
	return best;
}

static void put_mapping(struct pd_export *self, struct pd_text *message, size_t number)
{
	const struct pd_table_mapping *mapping = &self->tables.mappings[number];
	const struct pd_table_object *object = &self->tables.objects[mapping->object];
	size_t opened = pd_proto_open(message, PROFILE_MAPPING);

	pd_proto_number(message, 1, number);
	pd_proto_number(message, 2, mapping->start);
	pd_proto_number(message, 3, mapping->end);
	pd_proto_number(message, 4, object->kernel ? 0 : mapping->pgoff);
	pd_proto_number(message, 5, object->path);
	pd_proto_number(message, 6, object->build_id);
	// nothing is left to be looked up
	for (unsigned field = 7; field <= 10; field++)
		pd_proto_number(message, field, 1);
	pd_proto_close(message, opened);
}

static void put_mappings(struct pd_export *self)
{
	struct pprof *pprof = self->sink;
	size_t main = main_mapping(self, pprof);

	if (main)
		put_mapping(self, pprof->message, main);
	for (size_t i = 1; i < self->tables.mapping_count; i++)
		if (i != main) {
			put_mapping(self, pprof->message, i);
			compress_large(self);
		}
}

static void put_line(struct pd_text *message, const struct pd_table_line *line)
{
	char bytes[2 * (1 + PD_VARINT_MOST)], *to = pd_number_to(bytes, 1, (uint64_t)line->function + 1);

	to = pd_number_to(to, 2, line->line);
	pd_proto_bytes(message, 4, bytes, (size_t)(to - bytes));
}

static void put_location(const struct pd_tables *tables, struct pd_text *message, size_t number)
{
	const struct pd_table_frame *frame = &tables->frames[number];
	char bytes[3 * (1 + PD_VARINT_MOST)], *to = pd_number_to(bytes, 1, number + 1);
	size_t opened = pd_proto_open(message, PROFILE_LOCATION);

	to = pd_number_to(to, 2, frame->mapping);
	to = pd_number_to(to, 3, frame->place.recorded);
	pd_text_put(message, bytes, (size_t)(to - bytes));
	for (uint32_t i = 0; i < frame->line_count; i++)
		put_line(message, &tables->lines[frame->first_line + i]);
	pd_proto_close(message, opened);
}

static void put_function(const struct pd_tables *tables, struct pd_text *message, size_t number)
{
	const struct pd_table_function *function = &tables->functions[number];
	size_t opened = pd_proto_open(message, PROFILE_FUNCTION);

	pd_proto_number(message, 1, number + 1);
	pd_proto_number(message, 2, function->name);
	pd_proto_number(message, 3, function->linker);
	pd_proto_number(message, 4, function->file);
	pd_proto_close(message, opened);
}

static void put_tables(struct pd_export *self)
{
	const struct pprof *pprof = self->sink;
	const struct pd_tables *tables = &self->tables;

	put_mappings(self);
	for (size_t i = 0; i < tables->frame_count; i++) {
		put_location(tables, pprof->message, i);
		compress_large(self);
	}
	for (size_t i = 0; i < tables->function_count; i++) {
		put_function(tables, pprof->message, i);
		compress_large(self);
	}
	for (size_t i = 0; i < tables->string_count; i++) {
		pd_proto_bytes(pprof->message, PROFILE_STRING, tables->strings[i].text, tables->strings[i].size);
		compress_large(self);
	}
}

static void end(struct pd_export *self)
{
	struct pprof *pprof = self->sink;

	pprof->message = pd_text_new();
	pprof->place_of = pd_alloc((self->event_count + 1) * sizeof(*pprof->place_of));
	if (!pprof->message || !pprof->place_of || !pd_sums_finish(&pprof->sums)) {
		self->failed = true;
		return;
	}
	pprof->label_pid = pd_tables_text(&self->tables, "pid");
	pprof->label_tid = pd_tables_text(&self->tables, "tid");
	pprof->label_comm = pd_tables_text(&self->tables, "comm");
	pprof->label_cpu = pd_tables_text(&self->tables, "cpu");
	put_types(self);
	put_period(self);
	for (size_t i = 0; i < pprof->sums.count && !self->tables.failed; i++)
		if (pprof->place_of[pprof->sums.items[i].event] != NO_PLACE)
			put_sample(self, &pprof->sums.items[i]);
	if (self->tables.failed)
		return;
	put_tables(self);
	self->failed |= pprof->message->failed || self->tables.failed;
	if (!self->failed)
		pd_gzip_end(&pprof->gzip, self->text, pprof->message->data, pprof->message->size);
}

static void fini(struct pd_export *self)
{
	struct pprof *pprof = self->sink;

	pd_sums_fini(&pprof->sums);
	pd_text_free(pprof->message);
	pd_free(pprof->place_of);
	pd_line_texts_fini(&pprof->labels);
	pd_gzip_fini(&pprof->gzip);
}

const struct pd_export_sink pd_export_sink_pprof = {
	.size = sizeof(struct pprof),
	.whole_stacks = true,
	.sample = take_sample,
	.end = end,
	.fini = fini,
};

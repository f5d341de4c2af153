/* SPDX-License-Identifier: MIT */
/*
 * Profiles of OpenTelemetry, package opentelemetry.proto.profiles.v1development of version 1.11 of the protocol: one message
 * ProfilesData. Each event is a profile; samples with the same stack, thread and CPU are one, without their times.
 */
#include "base/sha256.h"
#include "base/text/path.h"
#include "export/export.h"
#include "export/feed/sums.h"
#include "export/write/proto.h"

enum {
	ID_SIZE = 16
};

struct otlp {
	struct pd_sums sums;
	size_t *of_event;           // sums by event, each in their order
	size_t *end_of_event;       // by event: where they end there
	struct pd_text *message;    // everything but the dictionary
	struct pd_text *dictionary; // so far
	uint32_t *stack_of;         // by stack: its number in the dictionary; 0: none yet
	uint32_t stack_count;
	size_t attribute_count;
	uint64_t *attributes_of; // by thread: the first of its attributes
	struct pd_u64_map cpu_attributes;
};

static void take_sample(struct pd_export *self, const struct pd_export_sample *sample)
{
	struct otlp *otlp = self->sink;

	pd_export_sum(self, &otlp->sums, sample);
}

// ---- the dictionary ----

enum {
	DICTIONARY_MAPPING = 1,
	DICTIONARY_LOCATION = 2,
	DICTIONARY_FUNCTION = 3,
	DICTIONARY_LINK = 4,
	DICTIONARY_STRING = 5,
	DICTIONARY_ATTRIBUTE = 6,
	DICTIONARY_STACK = 7
};

// A string or, if it is 0, a number. Returns the number of the attribute.
static size_t add_attribute(struct pd_export *self, const char *key, uint32_t string, uint64_t number)
{
	struct otlp *otlp = self->sink;
	struct pd_text *text = otlp->dictionary;
	uint32_t key_string = pd_tables_text(&self->tables, key);
	size_t attribute = pd_proto_open(text, DICTIONARY_ATTRIBUTE), value;

	pd_proto_number(text, 1, key_string);
	value = pd_proto_open(text, 2);
	if (string)
		pd_proto_table_string(text, 1, &self->tables, string);
	else
		pd_proto_given(text, 3, number);
	pd_proto_close(text, value);
	pd_proto_close(text, attribute);
	return otlp->attribute_count++;
}

static void put_empty(struct pd_text *text, unsigned field)
{
	pd_proto_bytes(text, field, "", 0);
}

// Tables begin with an element that stands for none.
static void begin_tables(struct pd_export *self)
{
	static const uint8_t none[ID_SIZE] = { 0 };
	struct otlp *otlp = self->sink;
	size_t link;

	put_empty(otlp->dictionary, DICTIONARY_LOCATION);
	put_empty(otlp->dictionary, DICTIONARY_FUNCTION);
	put_empty(otlp->dictionary, DICTIONARY_MAPPING);
	put_empty(otlp->dictionary, DICTIONARY_ATTRIBUTE);
	put_empty(otlp->dictionary, DICTIONARY_STACK);
	link = pd_proto_open(otlp->dictionary, DICTIONARY_LINK);
	pd_proto_bytes(otlp->dictionary, 1, none, ID_SIZE);
	pd_proto_bytes(otlp->dictionary, 2, none, ID_SIZE / 2);
	pd_proto_close(otlp->dictionary, link);
	otlp->attribute_count = otlp->stack_count = 1;
}

static void put_mapping(struct pd_export *self, size_t number)
{
	struct otlp *otlp = self->sink;
	const struct pd_table_mapping *mapping = &self->tables.mappings[number];
	const struct pd_table_object *object = &self->tables.objects[mapping->object];
	size_t build_id =
		object->build_id ? add_attribute(self, "process.executable.build_id.gnu", object->build_id, 0) : 0;
	size_t opened = pd_proto_open(otlp->dictionary, DICTIONARY_MAPPING), packed;

	pd_proto_number(otlp->dictionary, 1, mapping->start);
	pd_proto_number(otlp->dictionary, 2, mapping->end);
	pd_proto_number(otlp->dictionary, 3, object->kernel ? 0 : mapping->pgoff);
	pd_proto_number(otlp->dictionary, 4, object->path);
	if (build_id) {
		packed = pd_proto_open(otlp->dictionary, 5);
		pd_proto_varint(otlp->dictionary, build_id);
		pd_proto_close(otlp->dictionary, packed);
	}
	pd_proto_close(otlp->dictionary, opened);
}

static void put_location(struct pd_text *text, const struct pd_tables *tables, const struct pd_table_frame *frame)
{
	size_t opened = pd_proto_open(text, DICTIONARY_LOCATION);

	pd_proto_number(text, 1, frame->mapping);
	pd_proto_number(text, 2, frame->place.recorded);
	for (uint32_t i = 0; i < frame->line_count; i++) {
		const struct pd_table_line *line = &tables->lines[frame->first_line + i];
		size_t inside = pd_proto_open(text, 3);

		pd_proto_number(text, 1, (uint64_t)line->function + 1);
		pd_proto_number(text, 2, line->line);
		pd_proto_close(text, inside);
	}
	pd_proto_close(text, opened);
}

static void put_tables(struct pd_export *self)
{
	const struct otlp *otlp = self->sink;
	const struct pd_tables *tables = &self->tables;

	for (size_t i = 1; i < tables->mapping_count; i++)
		put_mapping(self, i);
	for (size_t i = 0; i < tables->frame_count; i++)
		put_location(otlp->dictionary, tables, &tables->frames[i]);
	for (size_t i = 0; i < tables->function_count; i++) {
		const struct pd_table_function *function = &tables->functions[i];
		size_t opened = pd_proto_open(otlp->dictionary, DICTIONARY_FUNCTION);

		pd_proto_number(otlp->dictionary, 1, function->name);
		pd_proto_number(otlp->dictionary, 2, function->linker);
		pd_proto_number(otlp->dictionary, 3, function->file);
		pd_proto_close(otlp->dictionary, opened);
	}
	// last, as more come on the way
	for (size_t i = 0; i < tables->string_count; i++)
		pd_proto_bytes(otlp->dictionary, DICTIONARY_STRING, tables->strings[i].text, tables->strings[i].size);
}

static uint32_t stack_number(struct pd_export *self, uint32_t stack)
{
	struct otlp *otlp = self->sink;
	size_t opened, count;
	const uint32_t *frames;

	if (otlp->stack_of[stack])
		return otlp->stack_of[stack];
	frames = pd_tables_frames(&self->tables, stack, &count);
	opened = pd_proto_open(otlp->dictionary, DICTIONARY_STACK);
	pd_proto_packed_after(otlp->dictionary, 1, frames, count);
	pd_proto_close(otlp->dictionary, opened);
	otlp->stack_of[stack] = otlp->stack_count++;
	return otlp->stack_of[stack];
}

// ---- profiles ----

static uint64_t thread_attributes(struct pd_export *self, uint32_t thread)
{
	struct otlp *otlp = self->sink;
	const struct pd_owner *owner = pd_export_thread(self, thread);

	if (!otlp->attributes_of[thread]) {
		otlp->attributes_of[thread] = add_attribute(self, "thread.name", pd_export_comm(self, thread), 0);
		add_attribute(self, "thread.id", 0, (uint64_t)(int32_t)owner->tid);
		add_attribute(self, "process.pid", 0, (uint64_t)(int32_t)owner->pid);
	}
	return otlp->attributes_of[thread];
}

static uint64_t cpu_attribute(struct pd_export *self, uint32_t cpu)
{
	struct otlp *otlp = self->sink;
	uint64_t known = pd_u64_map_find(&otlp->cpu_attributes, cpu);

	if (known)
		return known;
	known = add_attribute(self, "cpu.logical_number", 0, cpu);
	self->failed |= !pd_u64_map_add(&otlp->cpu_attributes, cpu, known);
	return known;
}

static void put_sample(struct pd_export *self, const struct pd_sum *sum)
{
	struct otlp *otlp = self->sink;
	uint64_t thread = thread_attributes(self, sum->thread);
	uint64_t cpu = sum->cpu == UINT32_MAX ? 0 : cpu_attribute(self, sum->cpu);
	uint32_t stack = stack_number(self, sum->stack);
	size_t sample = pd_proto_open(otlp->message, 2), packed;

	pd_proto_number(otlp->message, 1, stack);
	packed = pd_proto_open(otlp->message, 2);
	for (uint64_t i = 0; i < 3; i++)
		pd_proto_varint(otlp->message, thread + i);
	if (cpu)
		pd_proto_varint(otlp->message, cpu);
	pd_proto_close(otlp->message, packed);
	packed = pd_proto_open(otlp->message, 4);
	pd_proto_varint(otlp->message, sum->value);
	pd_proto_close(otlp->message, packed);
	pd_proto_close(otlp->message, sample);
}

static void put_type(struct pd_export *self, unsigned field, const struct pd_event *event)
{
	const struct otlp *otlp = self->sink;
	bool samples = pd_event_unit(event) == PD_UNIT_SAMPLES;
	uint32_t type = pd_tables_text(&self->tables, event->name);
	uint32_t unit = pd_tables_text(&self->tables, samples ? "count" : pd_export_unit(event));
	size_t opened = pd_proto_open(otlp->message, field);

	pd_proto_number(otlp->message, 1, type);
	pd_proto_number(otlp->message, 2, unit);
	pd_proto_close(otlp->message, opened);
}

static void put_profile(struct pd_export *self, size_t event_index)
{
	const struct otlp *otlp = self->sink;
	const struct pd_event *event = pd_file_event(self->file, event_index);
	size_t profile = pd_proto_open(otlp->message, 2);
	uint8_t digest[PD_SHA256_BYTES];
	struct pd_sha256 sha;

	put_type(self, 1, event);
	for (size_t i = event_index ? otlp->end_of_event[event_index - 1] : 0;
	     i < otlp->end_of_event[event_index] && !self->failed && !self->tables.failed; i++)
		put_sample(self, &otlp->sums.items[otlp->of_event[i]]);
	pd_proto_fixed64(otlp->message, 3, pd_export_wall_clock(self));
	pd_proto_number(otlp->message, 4, self->last_ns - self->first_ns);
	put_type(self, 5, event);
	pd_proto_number(otlp->message, 6, self->sums[event_index].value / self->sums[event_index].samples);
	// an id that is the same for the same samples
	if (!otlp->message->failed) {
		pd_sha256_begin(&sha);
		pd_sha256_add(&sha, otlp->message->data + profile, otlp->message->size - profile);
		pd_sha256_end(&sha, digest);
		pd_proto_bytes(otlp->message, 7, digest, ID_SIZE);
	}
	pd_proto_close(otlp->message, profile);
}

static void put_resource(struct pd_export *self, struct pd_text *text)
{
	uint32_t name = pd_tables_text(&self->tables, pd_path_name(pd_export_name(self)));
	size_t resource = pd_proto_open(text, 1), attribute = pd_proto_open(text, 1), value;

	pd_proto_string(text, 1, "service.name");
	value = pd_proto_open(text, 2);
	pd_proto_table_string(text, 1, &self->tables, name);
	pd_proto_close(text, value);
	pd_proto_close(text, attribute);
	pd_proto_close(text, resource);
}

static void put_profiles(struct pd_export *self)
{
	struct otlp *otlp = self->sink;
	struct pd_text *text = otlp->message;
	size_t resource = pd_proto_open(text, 1), scope, about;

	put_resource(self, text);
	scope = pd_proto_open(text, 2);
	about = pd_proto_open(text, 1);
	pd_proto_string(text, 1, "perfdata");
	pd_proto_string(text, 2, pd_version());
	pd_proto_close(text, about);
	for (size_t i = 0; i < self->event_count; i++)
		if (self->sums[i].samples)
			put_profile(self, i);
	pd_proto_close(text, scope);
	pd_proto_close(text, resource);
}

// A file may have thousands of events, so that each cannot look through all sums for its own.
static bool sort_by_event(struct pd_export *self)
{
	struct otlp *otlp = self->sink;
	const struct pd_sums *sums = &otlp->sums;
	size_t *next = otlp->end_of_event = pd_alloc((self->event_count + 1) * sizeof(*next));

	otlp->of_event = pd_alloc((sums->count + 1) * sizeof(*otlp->of_event));
	if (!next || !otlp->of_event)
		return false;
	for (size_t i = 0; i < sums->count; i++)
		next[sums->items[i].event + 1]++;
	for (size_t i = 1; i < self->event_count; i++)
		next[i] += next[i - 1];
	// where those of an event begin moves to where they end
	for (size_t i = 0; i < sums->count; i++)
		otlp->of_event[next[sums->items[i].event]++] = i;
	return true;
}

static bool prepare(struct pd_export *self)
{
	struct otlp *otlp = self->sink;

	otlp->message = pd_text_new();
	otlp->dictionary = pd_text_new();
	otlp->stack_of = pd_alloc(pd_tables_stack_count(&self->tables) * sizeof(*otlp->stack_of));
	otlp->attributes_of = pd_alloc((self->places.owners.count + 1) * sizeof(*otlp->attributes_of));
	otlp->cpu_attributes.seed = self->tables.seed;
	return otlp->message && otlp->dictionary && otlp->stack_of && otlp->attributes_of;
}

static void pass(struct pd_export *self, struct pd_text *part)
{
	pd_text_pass(self->text, &part->data, part->capacity, part->size);
}

static void end(struct pd_export *self)
{
	struct otlp *otlp = self->sink;

	if (!pd_sums_finish(&otlp->sums) || !sort_by_event(self) || !prepare(self)) {
		self->failed = true;
		return;
	}
	begin_tables(self);
	put_profiles(self);
	put_tables(self);
	self->failed |= otlp->message->failed || otlp->dictionary->failed || self->tables.failed;
	if (self->failed)
		return;
	pass(self, otlp->message);
	pd_proto_varint(self->text, 2 << 3 | PD_PROTO_SIZED);
	pd_proto_varint(self->text, otlp->dictionary->size);
	pass(self, otlp->dictionary);
}

static void fini(struct pd_export *self)
{
	struct otlp *otlp = self->sink;

	pd_sums_fini(&otlp->sums);
	pd_free(otlp->of_event);
	pd_free(otlp->end_of_event);
	pd_text_free(otlp->message);
	pd_text_free(otlp->dictionary);
	pd_free(otlp->stack_of);
	pd_free(otlp->attributes_of);
	pd_u64_map_fini(&otlp->cpu_attributes);
}

const struct pd_export_sink pd_export_sink_otlp = {
	.size = sizeof(struct otlp),
	.whole_stacks = true,
	.sample = take_sample,
	.end = end,
	.fini = fini,
};

/* SPDX-License-Identifier: MIT */
/*
 * JSON as perf data convert --to-json (6.1) writes it, byte for byte. A function inlined into another one is not shown, as there.
 */
#include <string.h>
#include <time.h>

#include <perfdata/header.h>

#include "base/cursor.h"
#include "base/text/text.h"
#include "export/export.h"
#include "export/feed/line_texts.h"

struct perf_json {
	bool comma;                          // a sample precedes
	uint64_t parts;                      // of samples of any event
	struct pd_line_texts pieces;         // by function: what follows an address
	struct pd_line_texts threads, comms; // by thread: its numbers; its name
};

// ---- layout ----

static void put_key(struct pd_text *text, unsigned depth, bool comma, const char *key)
{
	if (comma)
		pd_text_char(text, ',');
	pd_text_char(text, '\n');
	for (unsigned i = 0; i < depth; i++)
		pd_text_char(text, '\t');
	if (!key)
		return;
	pd_text_char(text, '"');
	pd_text_add(text, key);
	PD_TEXT_LITERAL(text, "\": ");
}

// ---- headers ----

static void put_feature(struct pd_export *self, const char *key, const struct pd_string *feature)
{
	if (!feature)
		return;
	put_key(self->text, 2, true, key);
	pd_text_json_string(self->text, feature->value.data, feature->value.length);
}

static void put_number(struct pd_text *text, unsigned depth, const char *key, uint64_t value)
{
	put_key(text, depth, true, key);
	pd_text_u64(text, value);
}

static void put_arguments(struct pd_export *self, struct pd_list arguments)
{
	put_key(self->text, 2, true, "cmdline");
	pd_text_char(self->text, '[');
	for (size_t i = 0; i < arguments.count; i++) {
		const struct pd_argument *argument = PD_ITEM(pd_argument, arguments, i);

		put_key(self->text, 3, i != 0, NULL);
		pd_text_json_string(self->text, argument->value.data, argument->value.length);
	}
	put_key(self->text, 2, false, NULL);
	pd_text_char(self->text, ']');
}

static void put_time(struct pd_export *self)
{
	time_t seconds = (time_t)pd_file_modified(self->file);
	char buffer[64] = "";
	struct tm parts;

	if (gmtime_r(&seconds, &parts))
		strftime(buffer, sizeof(buffer), "%Y-%m-%dT%H:%M:%SZ", &parts);
	put_key(self->text, 2, true, "captured-on");
	pd_text_printf(self->text, "\"%s\"", buffer);
}

static void put_features(struct pd_export *self)
{
	const struct pd_nrcpus *cpus = pd_file_nrcpus(self->file);
	const struct pd_cmdline *cmdline = pd_file_cmdline(self->file);
	const struct pd_clock_data *clock = pd_file_clock_data(self->file);

	put_feature(self, "hostname", pd_file_hostname(self->file));
	put_feature(self, "os-release", pd_file_osrelease(self->file));
	put_feature(self, "arch", pd_file_arch(self->file));
	put_feature(self, "cpu-desc", pd_file_cpudesc(self->file));
	put_feature(self, "cpuid", pd_file_cpuid(self->file));
	if (cpus) {
		put_number(self->text, 2, "nrcpus-online", cpus->online);
		put_number(self->text, 2, "nrcpus-avail", cpus->available);
	}
	if (clock) {
		put_number(self->text, 2, "clockid", clock->clockid);
		put_number(self->text, 2, "clock-time", clock->clockid_time_ns);
		put_number(self->text, 2, "real-time", clock->wall_clock_ns);
	}
	put_feature(self, "perf-version", pd_file_version(self->file));
	if (cmdline)
		put_arguments(self, cmdline->arguments);
}

static void begin(struct pd_export *self)
{
	const struct pd_header *header = pd_file_header(self->file);
	struct perf_json *json = self->sink;
	struct pd_text *text = self->text;

	for (size_t i = 0; i < self->event_count; i++)
		json->parts |= pd_file_event(self->file, i)->attr->sample_type;
	PD_TEXT_LITERAL(text, "{\n\t\"linux-perf-json-version\": 1,\n\t\"headers\": {\n\t\t\"header-version\": ");
	PD_TEXT_LITERAL(text, "1");
	put_time(self);
	put_number(text, 2, "data-offset", header->data_offset);
	put_number(text, 2, "data-size", header->data_size);
	put_number(text, 2, "feat-offset", header->data_offset + header->data_size);
	put_features(self);
	PD_TEXT_LITERAL(text, "\n\t},\n\t\"samples\": [");
}

// ---- samples ----

// What follows the address of an entry.
static void put_function(struct pd_text *text, const struct pd_tables *tables, const struct pd_table_function *function)
{
	pd_text_char(text, '"');
	if (function->known) {
		const struct pd_table_string *name = &tables->strings[function->name];
		const struct pd_table_string *object = &tables->strings[tables->objects[function->object].name];

		put_key(text, 5, true, "symbol");
		pd_text_json_string(text, name->text, name->size);
		put_key(text, 5, true, "dso");
		pd_text_json_string(text, object->text, object->size);
	}
	put_key(text, 4, false, NULL);
	pd_text_char(text, '}');
}

static bool make_function(struct pd_export *self, uint32_t function)
{
	struct perf_json *json = self->sink;
	struct pd_text *piece = pd_line_texts_begin(&json->pieces, function);

	if (piece)
		put_function(piece, &self->tables, &self->tables.functions[function]);
	return piece && pd_line_texts_keep(&json->pieces, function);
}

static void put_entry(struct pd_export *self, const struct pd_table_frame *frame, uint64_t addr)
{
	static const char begin[] = ",\n\t\t\t\t{\n\t\t\t\t\t\"ip\": \"0x";
	const size_t begin_size = sizeof(begin) - 1, digits_most = 16;
	// the function that was called comes last, after those inlined into it
	uint32_t function = self->tables.lines[frame->first_line + frame->line_count - 1].function;
	struct perf_json *json = self->sink;
	struct pd_text *text = self->text;
	struct pd_bytes piece;
	char *to;

	if (!pd_line_texts_get(&json->pieces, function, &piece) &&
	    (!make_function(self, function) || !pd_line_texts_get(&json->pieces, function, &piece))) {
		self->failed = true;
		return;
	}
	if (text->capacity - text->size < begin_size + digits_most + piece.size &&
	    !pd_text_reserve(text, begin_size + digits_most + piece.size))
		return;
	to = text->data + text->size;
	memcpy(to, begin, begin_size);
	to += begin_size;
	to += pd_hex_digits(addr, to);
	memcpy(to, piece.data, piece.size);
	text->size = (size_t)(to + piece.size - text->data);
}

// A chain without an address has no entries; where there is no chain, there is one for the sampled address.
static bool has_no_entries(const struct pd_export_sample *sample)
{
	const struct pd_u64s *chain = &sample->brief->callchain;

	if (!(sample->event->attr->sample_type & PD_MASK(PD_SAMPLE_TYPE_CALLCHAIN)))
		return false;
	for (size_t i = 0; i < chain->count; i++)
		if (chain->items[i] < PD_CONTEXT_MAX)
			return false;
	return true;
}

static void put_chain(struct pd_export *self, const struct pd_export_sample *sample)
{
	const struct pd_table_frame *frame;
	struct pd_text *text = self->text;
	struct pd_chain_walk walk;
	size_t begin;
	uint64_t addr;

	PD_TEXT_LITERAL(text, ",\n\t\t\t\"callchain\": ");
	begin = text->size;
	pd_chain_walk_begin(&walk, &self->tables, sample);
	while (!has_no_entries(sample) && pd_chain_walk_next(&walk, &frame, &addr) && !self->failed)
		put_entry(self, frame, addr);
	// in the place of the first comma
	if (text->size > begin)
		text->data[begin] = '[';
	else
		pd_text_char(text, '[');
	PD_TEXT_LITERAL(text, "\n\t\t\t]\n\t\t}");
}

static bool make_thread(struct pd_export *self, uint32_t thread)
{
	struct perf_json *json = self->sink;
	const struct pd_owner *owner = pd_export_thread(self, thread);
	struct pd_text *piece = pd_line_texts_begin(&json->threads, thread);

	if (!piece)
		return false;
	PD_TEXT_LITERAL(piece, ",\n\t\t\t\"pid\": ");
	pd_text_s64(piece, (int32_t)owner->pid);
	PD_TEXT_LITERAL(piece, ",\n\t\t\t\"tid\": ");
	pd_text_s64(piece, (int32_t)owner->tid);
	return pd_line_texts_keep(&json->threads, thread);
}

static bool make_comm(struct pd_export *self, uint32_t thread)
{
	struct perf_json *json = self->sink;
	uint32_t comm = pd_export_comm(self, thread);
	const struct pd_table_string *name = &self->tables.strings[comm];
	struct pd_text *piece = pd_line_texts_begin(&json->comms, thread);

	if (!piece)
		return false;
	PD_TEXT_LITERAL(piece, ",\n\t\t\t\"comm\": ");
	pd_text_json_string(piece, name->text, name->size);
	return pd_line_texts_keep(&json->comms, thread);
}

// The CPU stands between both.
static void put_thread(struct pd_export *self, const struct pd_export_sample *sample)
{
	struct perf_json *json = self->sink;
	struct pd_text *text = self->text;
	uint32_t thread = sample->thread;

	if (!pd_line_texts_put(&json->threads, thread, text))
		self->failed |= !make_thread(self, thread) || !make_comm(self, thread) ||
				!pd_line_texts_put(&json->threads, thread, text);
	if (json->parts & PD_MASK(PD_SAMPLE_TYPE_CPU)) {
		PD_TEXT_LITERAL(text, ",\n\t\t\t\"cpu\": ");
		pd_text_s64(text, (int32_t)sample->brief->cpu);
	}
	self->failed |= !pd_line_texts_put(&json->comms, thread, text);
}

static void take_sample(struct pd_export *self, const struct pd_export_sample *sample)
{
	struct perf_json *json = self->sink;
	struct pd_text *text = self->text;

	if (json->comma)
		pd_text_char(text, ',');
	json->comma = true;
	PD_TEXT_LITERAL(text, "\n\t\t{\n\t\t\t\"timestamp\": ");
	pd_text_s64(text, (int64_t)sample->time_ns);
	put_thread(self, sample);
	put_chain(self, sample);
	pd_export_flush(self);
}

static void end(struct pd_export *self)
{
	PD_TEXT_LITERAL(self->text, "\n\t]\n}\n");
}

static void fini(struct pd_export *self)
{
	struct perf_json *json = self->sink;

	pd_line_texts_fini(&json->pieces);
	pd_line_texts_fini(&json->threads);
	pd_line_texts_fini(&json->comms);
}

const struct pd_export_sink pd_export_sink_perf_json = {
	.size = sizeof(struct perf_json),
	.as_recorded = true,
	.begin = begin,
	.frames = PD_FRAMES_FUNCTIONS,
	.no_stacks = true,
	.sample = take_sample,
	.end = end,
	.fini = fini,
};

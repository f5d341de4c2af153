/* SPDX-License-Identifier: MIT */
/*
 * JSON as perf data convert --to-json (6.1) writes it, byte for byte. A function inlined into another one is not shown, as there.
 */
#include <inttypes.h>
#include <time.h>

#include <perfdata/header.h>

#include "base/cursor.h"
#include "base/text/text.h"
#include "export/export.h"
#include "export/feed/line_texts.h"

struct perf_json {
	bool comma;                  // a sample precedes
	uint64_t parts;              // of samples of any event
	struct pd_line_texts pieces; // by line
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

static void put_known(const struct pd_export *self, uint32_t string)
{
	const struct pd_table_string *known = &self->tables.strings[string];

	pd_text_json_string(self->text, known->text, known->size);
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
static void put_function(struct pd_text *text, const struct pd_tables *tables, const struct pd_table_frame *frame,
			 const struct pd_table_line *line)
{
	const struct pd_table_function *function = &tables->functions[line->function];

	pd_text_char(text, '"');
	if (function->known) {
		const struct pd_table_string *name = &tables->strings[function->name];
		const struct pd_table_string *object = &tables->strings[tables->objects[frame->object].name];

		put_key(text, 5, true, "symbol");
		pd_text_json_string(text, name->text, name->size);
		put_key(text, 5, true, "dso");
		pd_text_json_string(text, object->text, object->size);
	}
	put_key(text, 4, false, NULL);
	pd_text_char(text, '}');
}

static void put_entry(struct pd_export *self, const struct pd_table_frame *frame, uint64_t addr, bool comma)
{
	struct perf_json *json = self->sink;
	// the function that was called comes last, after those inlined into it
	uint32_t line = frame->first_line + frame->line_count - 1;
	struct pd_text *piece;

	if (comma)
		pd_text_char(self->text, ',');
	PD_TEXT_LITERAL(self->text, "\n\t\t\t\t{\n\t\t\t\t\t\"ip\": \"");
	pd_text_hex(self->text, addr);
	if (pd_line_texts_put(&json->pieces, line, self->text))
		return;
	piece = pd_line_texts_begin(&json->pieces, line);
	if (piece)
		put_function(piece, &self->tables, frame, &self->tables.lines[line]);
	if (!piece || !pd_line_texts_keep(&json->pieces, line))
		self->failed = true;
	else
		pd_line_texts_put(&json->pieces, line, self->text);
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
	struct pd_chain_walk walk;
	uint64_t addr;

	put_key(self->text, 3, true, "callchain");
	pd_text_char(self->text, '[');
	pd_chain_walk_begin(&walk, &self->tables, sample);
	for (bool comma = false; !has_no_entries(sample) && pd_chain_walk_next(&walk, &frame, &addr); comma = true)
		put_entry(self, frame, addr, comma);
	put_key(self->text, 3, false, NULL);
	pd_text_char(self->text, ']');
}

static void put_task(struct pd_text *text, const char *key, uint32_t number)
{
	put_key(text, 3, true, key);
	pd_text_s64(text, (int32_t)number);
}

static void take_sample(struct pd_export *self, const struct pd_export_sample *sample)
{
	struct perf_json *json = self->sink;
	const struct pd_owner *owner = pd_export_thread(self, sample->thread);
	uint32_t comm = pd_export_comm(self, sample->thread);
	struct pd_text *text = self->text;

	put_key(text, 2, json->comma, NULL);
	json->comma = true;
	pd_text_char(text, '{');
	put_key(text, 3, false, "timestamp");
	pd_text_s64(text, (int64_t)sample->time_ns);
	put_task(text, "pid", owner->pid);
	put_task(text, "tid", owner->tid);
	if (json->parts & PD_MASK(PD_SAMPLE_TYPE_CPU))
		put_task(text, "cpu", sample->brief->cpu);
	put_key(text, 3, true, "comm");
	put_known(self, comm);
	put_chain(self, sample);
	put_key(text, 2, false, NULL);
	pd_text_char(text, '}');
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
}

const struct pd_export_sink pd_export_sink_perf_json = {
	.size = sizeof(struct perf_json),
	.as_recorded = true,
	.begin = begin,
	.sample = take_sample,
	.end = end,
	.fini = fini,
};

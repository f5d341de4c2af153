/* SPDX-License-Identifier: MIT */
// A summary on one screen, and as one JSON object. What the file does not say is null or absent from its object.
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/text/json.h"
#include "header/summary.h"

enum {
	EVENTS_SHOWN = 24,
	TYPES_SHOWN = 6,
	LABEL_WIDTH = 12
};

static void label(struct pd_text *text, const char *name)
{
	pd_text_printf(text, "%-*s", LABEL_WIDTH, name);
}

static void add_string(struct pd_text *text, const char *string)
{
	pd_text_escaped(text, string, strlen(string));
}

/* Adds before and the text of a string feature; false if the file has none. */
static bool add_feature(struct pd_text *text, const char *before, const struct pd_string *string)
{
	if (!string || !string->value.data || !string->value.length)
		return false;
	pd_text_add(text, before);
	pd_text_escaped(text, string->value.data, string->value.length);
	return true;
}

static void add_size(struct pd_text *text, uint64_t bytes)
{
	char size[32];

	pd_text_add(text, pd_size_string(bytes, size));
}

static void add_seconds(struct pd_text *text, uint64_t ns)
{
	pd_text_printf(text, "%" PRIu64 ".%06" PRIu64, ns / 1000000000, ns / 1000 % 1000000);
}

static void add_duration(struct pd_text *text, uint64_t ns)
{
	if (ns < UINT64_C(1000000000))
		pd_text_printf(text, "%.3f ms", (double)ns / 1e6);
	else
		pd_text_printf(text, "%.3f s", (double)ns / 1e9);
}

/* Local time with its distance from UTC. */
static void add_date(struct pd_text *text, int64_t seconds)
{
	time_t moment = (time_t)seconds;
	struct tm broken_down;
	char date[64];

	if (localtime_r(&moment, &broken_down) && strftime(date, sizeof(date), "%Y-%m-%d %H:%M:%S %z", &broken_down))
		pd_text_add(text, date);
	else
		pd_text_printf(text, "%" PRId64 " s since 1970", seconds);
}

static void print_file(struct pd_text *text, struct pd_file *file, const char *name)
{
	const struct pd_header *header = pd_file_header(file);

	label(text, "file");
	add_string(text, name);
	pd_text_add(text, "\n");
	label(text, "format");
	pd_text_printf(text, "%s, ", pd_mode_name(header->mode));
	if (pd_file_part_count(file) > 1)
		pd_text_printf(text, "%zu data files, ", pd_file_part_count(file));
	if (header->file_size) {
		pd_text_add(text, header->mode == PD_MODE_DIRECTORY ? "main file " : "");
		add_size(text, header->file_size);
		pd_text_add(text, ", ");
	}
	pd_text_printf(text, "version %u, %s-endian", header->version, header->big_endian ? "big" : "little");
	if (header->compression)
		pd_text_printf(text, ", compressed with %s", header->compression);
	pd_text_add(text, "\n");
	if (pd_file_modified(file)) {
		label(text, "modified");
		add_date(text, pd_file_modified(file));
		pd_text_add(text, "\n");
	}
}

static void print_host(struct pd_text *text, struct pd_file *file)
{
	const struct pd_nrcpus *cpus = pd_file_nrcpus(file);
	const struct pd_total_mem *memory = pd_file_total_mem(file);
	const char *before = "";

	label(text, "host");
	if (add_feature(text, before, pd_file_hostname(file)))
		before = ", ";
	if (add_feature(text, before, pd_file_arch(file)))
		before = ", ";
	if (add_feature(text, *before ? ", kernel " : "kernel ", pd_file_osrelease(file)))
		before = ", ";
	if (cpus) {
		pd_text_printf(text, "%s%" PRIu32 " of %" PRIu32 " CPUs", before, cpus->online, cpus->available);
		before = ", ";
	}
	if (memory) {
		pd_text_add(text, before);
		add_size(text, memory->kib <= UINT64_MAX / 1024 ? memory->kib * 1024 : UINT64_MAX);
		before = ", ";
	}
	pd_text_add(text, *before ? "\n" : "unknown\n");
}

static void print_cpu(struct pd_text *text, struct pd_file *file)
{
	const struct pd_string *description = pd_file_cpudesc(file);
	const struct pd_string *id = pd_file_cpuid(file);

	if (!description && !id)
		return;
	label(text, "CPU");
	if (add_feature(text, "", description))
		add_feature(text, ", ", id);
	else
		add_feature(text, "", id);
	pd_text_add(text, "\n");
}

/* simpleperf has its version in a list of keys and values. */
static bool add_simpleperf(struct pd_text *text, struct pd_file *file)
{
	const struct pd_simpleperf_meta_info *meta = pd_file_simpleperf_meta_info(file);

	for (size_t i = 0; meta && i < meta->pairs.count; i++) {
		const struct pd_simpleperf_pair *pair = PD_ITEM(pd_simpleperf_pair, meta->pairs, i);

		if (strcmp(pair->key.data, "simpleperf_version") != 0)
			continue;
		pd_text_add(text, "simpleperf ");
		pd_text_escaped(text, pair->value.data, pair->value.length);
		return true;
	}
	return false;
}

static void print_recorder(struct pd_text *text, struct pd_file *file)
{
	const struct pd_cmdline *line = pd_file_cmdline(file);

	label(text, "recorder");
	if (!add_simpleperf(text, file) && !add_feature(text, "perf ", pd_file_version(file)))
		pd_text_add(text, "unknown");
	pd_text_add(text, "\n");
	if (!line)
		return;
	label(text, "command");
	for (size_t i = 0; i < line->arguments.count; i++) {
		const struct pd_argument *argument = PD_ITEM(pd_argument, line->arguments, i);

		pd_text_add(text, i ? " " : "");
		pd_text_escaped(text, argument->value.data, argument->value.length);
	}
	pd_text_add(text, "\n");
}

static void print_event(struct pd_text *text, const struct pd_summary *summary, size_t index)
{
	const struct pd_event *event = pd_file_event(summary->file, index);
	uint64_t samples = pd_stats_samples(summary->stats, index);
	const char *trait;

	label(text, index ? "" : "events");
	add_string(text, event->name);
	pd_text_printf(text, ": %" PRIu64 " sample%s", samples, samples == 1 ? "" : "s");
	if (PD_BITS(event->attr->flags, PD_ATTR_FREQ))
		pd_text_printf(text, ", %" PRIu64 " Hz", event->attr->sample_period);
	else if (event->attr->sample_period)
		pd_text_printf(text, ", period %" PRIu64, event->attr->sample_period);
	pd_text_printf(text, ", %zu id%s", event->ids.count, event->ids.count == 1 ? "" : "s");
	for (size_t i = 0; (trait = pd_event_trait(event, i)) != NULL; i++)
		pd_text_printf(text, ", %s", trait);
	pd_text_add(text, "\n");
}

static void print_events(struct pd_text *text, const struct pd_summary *summary)
{
	size_t count = pd_file_event_count(summary->file);

	for (size_t i = 0; i < count && i < EVENTS_SHOWN; i++)
		print_event(text, summary, i);
	if (count > EVENTS_SHOWN) {
		label(text, "");
		pd_text_printf(text, "and %zu more\n", count - EVENTS_SHOWN);
	} else if (!count) {
		label(text, "events");
		pd_text_add(text, "none\n");
	}
}

/* The most frequent type that is less frequent than the one before, in the order of this list. */
static bool next_type(const struct pd_stats *stats, uint64_t *count, uint32_t *type)
{
	uint64_t best = 0;
	uint32_t best_type = 0, candidate;

	for (size_t i = 0; pd_stats_type_at(stats, i, &candidate); i++) {
		uint64_t found = pd_stats_of_type(stats, candidate);

		if ((found < *count || (found == *count && candidate > *type)) && found > best) {
			best = found;
			best_type = candidate;
		}
	}
	*count = best;
	*type = best_type;
	return best > 0;
}

static void print_records(struct pd_text *text, const struct pd_summary *summary)
{
	uint64_t count = UINT64_MAX;
	uint32_t type = 0;
	char buffer[32];
	size_t kinds = 0;
	uint32_t any;

	while (pd_stats_type_at(summary->stats, kinds, &any))
		kinds++;
	label(text, "records");
	pd_text_printf(text, "%" PRIu64, pd_stats_total(summary->stats));
	for (size_t i = 0; i < TYPES_SHOWN && next_type(summary->stats, &count, &type); i++)
		pd_text_printf(text, "%s %" PRIu64 " %s", i ? "," : ":", count,
			       pd_stats_type_name(type, buffer, sizeof(buffer)));
	if (kinds > TYPES_SHOWN)
		pd_text_printf(text, ", %zu more type%s", kinds - TYPES_SHOWN, kinds - TYPES_SHOWN == 1 ? "" : "s");
	pd_text_add(text, "\n");
}

static void print_time(struct pd_text *text, const struct pd_summary *summary)
{
	uint64_t wall = pd_file_wall_clock(summary->file, summary->numbers.first_ns);

	label(text, "time");
	if (summary->numbers.first_ns == PD_NO_TIME) {
		pd_text_add(text, "no timestamps\n");
		return;
	}
	add_duration(text, summary->numbers.last_ns - summary->numbers.first_ns);
	pd_text_add(text, ", from ");
	add_seconds(text, summary->numbers.first_ns);
	pd_text_add(text, " to ");
	add_seconds(text, summary->numbers.last_ns);
	pd_text_printf(text, ", clock %s\n", pd_file_clock_name(summary->file));
	if (wall != PD_NO_TIME) {
		label(text, "started");
		add_date(text, (int64_t)(wall / 1000000000));
		pd_text_add(text, "\n");
	}
}

static void print_losses(struct pd_text *text, const struct pd_summary *summary)
{
	bool damaged = pd_file_problem_count(summary->file, PD_DAMAGE) > 0;

	label(text, "lost");
	if (!summary->numbers.lost_records && !summary->numbers.lost_samples && !summary->numbers.throttle_count)
		pd_text_add(text, damaged ? "nothing while recording" : "nothing");
	else
		pd_text_printf(text, "%" PRIu64 " records, %" PRIu64 " samples; throttled %" PRIu64 " times",
			       summary->numbers.lost_records, summary->numbers.lost_samples,
			       summary->numbers.throttle_count);
	pd_text_add(text, "\n");
}

static void print_compression(struct pd_text *text, const struct pd_summary *summary)
{
	if (summary->numbers.compressed_bytes) {
		label(text, "compressed");
		add_size(text, summary->numbers.inflated_bytes);
		pd_text_add(text, " of records in ");
		add_size(text, summary->numbers.compressed_bytes);
		pd_text_printf(
			text,
			", ratio %.1f; for samply, go-perf, quipper and hotspot run perfdata convert --no-compress\n",
			(double)summary->numbers.inflated_bytes / (double)summary->numbers.compressed_bytes);
	}
	if (summary->numbers.aux_bytes) {
		label(text, "AUX data");
		add_size(text, summary->numbers.aux_bytes);
		pd_text_add(text, "\n");
	}
}

static void print_missing(struct pd_text *text, const struct pd_summary *summary)
{
	const char *what;

	for (size_t i = 0; (what = pd_summary_missing(summary, i)) != NULL; i++) {
		label(text, i ? "" : "missing");
		pd_text_printf(text, "%s\n", what);
	}
}

void pd_print_summary(struct pd_text *text, const struct pd_summary *summary, const char *name)
{
	print_file(text, summary->file, name);
	print_host(text, summary->file);
	print_cpu(text, summary->file);
	print_recorder(text, summary->file);
	print_events(text, summary);
	print_records(text, summary);
	print_time(text, summary);
	print_losses(text, summary);
	print_compression(text, summary);
	print_missing(text, summary);
}

// ---- JSON ----

static void json_feature(struct pd_json *json, const char *name, const struct pd_string *string)
{
	if (string)
		pd_json_str(json, name, string->value);
	else
		pd_json_string(json, name, NULL);
}

static void json_file(struct pd_json *json, struct pd_file *file, const char *name)
{
	const struct pd_header *header = pd_file_header(file);

	pd_json_open(json, "file", '{');
	pd_json_string(json, "name", name);
	pd_json_string(json, "mode", pd_mode_name(header->mode));
	pd_json_number(json, "parts", pd_file_part_count(file));
	pd_json_number(json, "size", header->file_size);
	pd_json_number(json, "version", header->version);
	pd_json_string(json, "byte_order", header->big_endian ? "big" : "little");
	pd_json_string(json, "compression", header->compression);
	pd_json_bool(json, "unfinished", header->unfinished);
	pd_json_bool(json, "truncated", header->truncated);
	pd_json_name(json, "modified");
	pd_text_printf(json->text, "%" PRId64, pd_file_modified(file));
	pd_json_close(json, '}');
}

static void json_host(struct pd_json *json, struct pd_file *file)
{
	const struct pd_nrcpus *cpus = pd_file_nrcpus(file);
	const struct pd_total_mem *memory = pd_file_total_mem(file);

	pd_json_open(json, "host", '{');
	json_feature(json, "name", pd_file_hostname(file));
	json_feature(json, "kernel", pd_file_osrelease(file));
	json_feature(json, "arch", pd_file_arch(file));
	json_feature(json, "cpu", pd_file_cpudesc(file));
	json_feature(json, "cpuid", pd_file_cpuid(file));
	if (cpus) {
		pd_json_number(json, "cpus_online", cpus->online);
		pd_json_number(json, "cpus_available", cpus->available);
	}
	if (memory)
		pd_json_number(json, "memory_kib", memory->kib);
	pd_json_close(json, '}');
}

/* What simpleperf says of a recording, in its own words. */
static void json_meta(struct pd_json *json, const struct pd_simpleperf_meta_info *meta)
{
	if (!meta)
		return;
	pd_json_open(json, "simpleperf", '[');
	for (size_t i = 0; i < meta->pairs.count; i++) {
		const struct pd_simpleperf_pair *pair = PD_ITEM(pd_simpleperf_pair, meta->pairs, i);

		pd_json_open(json, NULL, '{');
		pd_json_str(json, "key", pair->key);
		pd_json_str(json, "value", pair->value);
		pd_json_close(json, '}');
	}
	pd_json_close(json, ']');
}

static void json_recorder(struct pd_json *json, struct pd_file *file)
{
	const struct pd_cmdline *line = pd_file_cmdline(file);

	pd_json_open(json, "recorder", '{');
	json_feature(json, "version", pd_file_version(file));
	json_meta(json, pd_file_simpleperf_meta_info(file));
	pd_json_open(json, "command", '[');
	for (size_t i = 0; line && i < line->arguments.count; i++)
		pd_json_str(json, NULL, PD_ITEM(pd_argument, line->arguments, i)->value);
	pd_json_close(json, ']');
	pd_json_close(json, '}');
}

static void json_event(struct pd_json *json, const struct pd_summary *summary, size_t index)
{
	const struct pd_event *event = pd_file_event(summary->file, index);
	bool by_frequency = PD_BITS(event->attr->flags, PD_ATTR_FREQ);
	const char *trait;

	pd_json_open(json, NULL, '{');
	pd_json_number(json, "index", index);
	pd_json_string(json, "name", event->name);
	pd_json_number(json, "type", event->attr->type);
	pd_json_number(json, "config", event->attr->config);
	pd_json_number(json, by_frequency ? "frequency" : "period", event->attr->sample_period);
	pd_json_number(json, "samples", pd_stats_samples(summary->stats, index));
	pd_json_number(json, "lost_samples", pd_stats_lost_samples(summary->stats, index));
	pd_json_number(json, "ids", event->ids.count);
	pd_json_open(json, "traits", '[');
	for (size_t i = 0; (trait = pd_event_trait(event, i)) != NULL; i++)
		pd_json_string(json, NULL, trait);
	pd_json_close(json, ']');
	pd_json_close(json, '}');
}

static void json_events(struct pd_json *json, const struct pd_summary *summary)
{
	pd_json_open(json, "events", '[');
	for (size_t i = 0; i < pd_file_event_count(summary->file); i++)
		json_event(json, summary, i);
	pd_json_close(json, ']');
}

static void json_records(struct pd_json *json, const struct pd_summary *summary)
{
	char buffer[32];
	uint32_t type;

	pd_json_open(json, "records", '{');
	pd_json_number(json, "total", pd_stats_total(summary->stats));
	pd_json_open(json, "types", '{');
	for (size_t i = 0; pd_stats_type_at(summary->stats, i, &type); i++)
		pd_json_number(json, pd_stats_type_name(type, buffer, sizeof(buffer)),
			       pd_stats_of_type(summary->stats, type));
	pd_json_close(json, '}');
	pd_json_close(json, '}');
}

static void json_time(struct pd_json *json, const struct pd_summary *summary)
{
	pd_json_open(json, "time", '{');
	pd_json_string(json, "clock", pd_file_clock_name(summary->file));
	pd_json_offset(json, "first_ns", summary->numbers.first_ns);
	pd_json_offset(json, "last_ns", summary->numbers.last_ns);
	pd_json_offset(json, "first_wall_clock_ns", pd_file_wall_clock(summary->file, summary->numbers.first_ns));
	pd_json_close(json, '}');
}

static void json_losses(struct pd_json *json, const struct pd_summary *summary)
{
	pd_json_open(json, "lost", '{');
	pd_json_number(json, "records", summary->numbers.lost_records);
	pd_json_number(json, "samples", summary->numbers.lost_samples);
	pd_json_number(json, "throttled", summary->numbers.throttle_count);
	pd_json_close(json, '}');
	pd_json_open(json, "compressed", '{');
	pd_json_number(json, "stored_bytes", summary->numbers.compressed_bytes);
	pd_json_number(json, "inflated_bytes", summary->numbers.inflated_bytes);
	pd_json_close(json, '}');
	pd_json_number(json, "aux_bytes", summary->numbers.aux_bytes);
}

static void json_problems(struct pd_json *json, const struct pd_summary *summary)
{
	const char *what;

	pd_json_open(json, "missing", '[');
	for (size_t i = 0; (what = pd_summary_missing(summary, i)) != NULL; i++)
		pd_json_string(json, NULL, what);
	pd_json_close(json, ']');
	pd_json_open(json, "problems", '{');
	pd_json_number(json, "damage", pd_file_problem_count(summary->file, PD_DAMAGE));
	pd_json_number(json, "warning", pd_file_problem_count(summary->file, PD_WARNING));
	pd_json_number(json, "info", pd_file_problem_count(summary->file, PD_INFO));
	pd_json_close(json, '}');
}

void pd_json_summary(struct pd_text *text, const struct pd_summary *summary, const char *name)
{
	struct pd_json json = { .text = text };

	pd_json_open(&json, NULL, '{');
	json_file(&json, summary->file, name);
	json_host(&json, summary->file);
	json_recorder(&json, summary->file);
	json_events(&json, summary);
	json_records(&json, summary);
	json_time(&json, summary);
	json_losses(&json, summary);
	json_problems(&json, summary);
	pd_json_close(&json, '}');
}

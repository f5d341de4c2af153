/* SPDX-License-Identifier: MIT */
/*
 * perfdata info: what a file is, where and how it was made and what is in it, on one screen.
 */
#include "facts.h"
#include "info_json.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum {
	EVENTS_SHOWN = 24,
	TYPES_SHOWN = 6,
	LABEL_WIDTH = 12
};

struct values {
	struct input_options input;
	bool json;
	bool header;
	bool full;
};

static const struct option options[] = {
	INPUT_OPTIONS(struct values, input),
	{ "json", 'j', OPTION_FLAG, NULL, offsetof(struct values, json), "print one JSON object" },
	{ "header", 0, OPTION_FLAG, NULL, offsetof(struct values, header),
	  "print the header as perf report --header-only" },
	{ "full", 'I', OPTION_FLAG, NULL, offsetof(struct values, full),
	  "same as --header, with CPU and NUMA topology and caches" },
	{ 0 },
};

static const struct example examples[] = {
	{ "perfdata info perf.data", "summary of a recording" },
	{ "perfdata info --header perf.data", "its header as perf prints it" },
	{ "perfdata info --json perf.data | jq .events", "the events as JSON" },
	{ 0 },
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

	size_text(bytes, size);
	pd_text_add(text, size);
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

static void print_event(struct pd_text *text, const struct facts *facts, size_t index)
{
	const struct pd_event *event = pd_file_event(facts->file, index);
	const struct stats_event *line = index < facts->stats.event_count ? &facts->stats.events[index] : NULL;
	uint64_t samples = line ? line->samples : 0;
	const char *trait;

	label(text, index ? "" : "events");
	add_string(text, event->name);
	pd_text_printf(text, ": %" PRIu64 " sample%s", samples, plural(samples));
	if (PD_BITS(event->attr->flags, PD_ATTR_FREQ))
		pd_text_printf(text, ", %" PRIu64 " Hz", event->attr->sample_period);
	else if (event->attr->sample_period)
		pd_text_printf(text, ", period %" PRIu64, event->attr->sample_period);
	pd_text_printf(text, ", %zu id%s", event->ids.count, plural(event->ids.count));
	for (size_t i = 0; (trait = event_trait(event, i)) != NULL; i++)
		pd_text_printf(text, ", %s", trait);
	pd_text_add(text, "\n");
}

static void print_events(struct pd_text *text, const struct facts *facts)
{
	size_t count = pd_file_event_count(facts->file);

	for (size_t i = 0; i < count && i < EVENTS_SHOWN; i++)
		print_event(text, facts, i);
	if (count > EVENTS_SHOWN) {
		label(text, "");
		pd_text_printf(text, "and %zu more\n", count - EVENTS_SHOWN);
	} else if (!count) {
		label(text, "events");
		pd_text_add(text, "none\n");
	}
}

/* The most frequent type that is less frequent than the one before, in the order of this list. */
static bool next_type(const struct stats *stats, uint64_t *count, uint32_t *type)
{
	uint64_t best = 0;
	uint32_t best_type = 0, candidate;

	for (size_t i = 0; stats_type_at(stats, i, &candidate); i++) {
		uint64_t found = stats_type(stats, candidate);

		if ((found < *count || (found == *count && candidate > *type)) && found > best) {
			best = found;
			best_type = candidate;
		}
	}
	*count = best;
	*type = best_type;
	return best > 0;
}

static void print_records(struct pd_text *text, const struct facts *facts)
{
	uint64_t count = UINT64_MAX;
	uint32_t type = 0;
	char room[32];
	size_t kinds = 0;
	uint32_t any;

	while (stats_type_at(&facts->stats, kinds, &any))
		kinds++;
	label(text, "records");
	pd_text_printf(text, "%" PRIu64, facts->stats.total);
	for (size_t i = 0; i < TYPES_SHOWN && next_type(&facts->stats, &count, &type); i++)
		pd_text_printf(text, "%s %" PRIu64 " %s", i ? "," : ":", count,
			       stats_type_name(type, room, sizeof(room)));
	if (kinds > TYPES_SHOWN)
		pd_text_printf(text, ", %zu more type%s", kinds - TYPES_SHOWN, plural(kinds - TYPES_SHOWN));
	pd_text_add(text, "\n");
}

static void print_time(struct pd_text *text, const struct facts *facts)
{
	uint64_t wall = facts_wall_clock(facts, facts->first_ns);

	label(text, "time");
	if (facts->first_ns == PD_NO_TIME) {
		pd_text_add(text, "no timestamps\n");
		return;
	}
	add_duration(text, facts->last_ns - facts->first_ns);
	pd_text_add(text, ", from ");
	add_seconds(text, facts->first_ns);
	pd_text_add(text, " to ");
	add_seconds(text, facts->last_ns);
	pd_text_printf(text, ", clock %s\n", facts_clock(facts));
	if (wall != PD_NO_TIME) {
		label(text, "started");
		add_date(text, (int64_t)(wall / 1000000000));
		pd_text_add(text, "\n");
	}
}

static void print_losses(struct pd_text *text, const struct facts *facts)
{
	bool damaged = pd_file_problem_count(facts->file, PD_DAMAGE) > 0;

	label(text, "lost");
	if (!facts->lost_records && !facts->lost_samples && !facts->throttle_count)
		pd_text_add(text, damaged ? "nothing while recording" : "nothing");
	else
		pd_text_printf(text, "%" PRIu64 " records, %" PRIu64 " samples; throttled %" PRIu64 " times",
			       facts->lost_records, facts->lost_samples, facts->throttle_count);
	pd_text_add(text, "\n");
}

static void print_compression(struct pd_text *text, const struct facts *facts)
{
	if (facts->compressed_bytes) {
		label(text, "compressed");
		add_size(text, facts->inflated_bytes);
		pd_text_add(text, " of records in ");
		add_size(text, facts->compressed_bytes);
		pd_text_printf(
			text,
			", ratio %.1f; for samply, go-perf, quipper and hotspot run perfdata convert --no-compress\n",
			(double)facts->inflated_bytes / (double)facts->compressed_bytes);
	}
	if (facts->trace_bytes) {
		label(text, "AUX data");
		add_size(text, facts->trace_bytes);
		pd_text_add(text, "\n");
	}
}

static void print_missing(struct pd_text *text, const struct facts *facts)
{
	const char *what;

	for (size_t i = 0; (what = facts_missing(facts, i)) != NULL; i++) {
		label(text, i ? "" : "missing");
		pd_text_printf(text, "%s\n", what);
	}
}

static void print_info(struct pd_text *text, const struct facts *facts, const char *name)
{
	print_file(text, facts->file, name);
	print_host(text, facts->file);
	print_cpu(text, facts->file);
	print_recorder(text, facts->file);
	print_events(text, facts);
	print_records(text, facts);
	print_time(text, facts);
	print_losses(text, facts);
	print_compression(text, facts);
	print_missing(text, facts);
}

static int info_opened(const struct values *values, struct input *input, struct pd_text *text)
{
	struct facts facts;
	int code;

	if (values->header || values->full)
		return input_print_header(input, values->full);
	code = facts_gather(&facts, input);
	if (values->json)
		info_json(text, &facts, input->name);
	else
		print_info(text, &facts, input->name);
	facts_fini(&facts);
	return code;
}

static int run(const struct call *call)
{
	const struct values *values = call->values;
	struct input_options wanted = values->input;
	struct input input;
	int code;

	if (values->json && (values->header || values->full)) {
		complain("--json cannot be combined with --header or -I; see perfdata dump --features --json");
		return CODE_USAGE;
	}
	wanted.verify = true;
	code = input_open(&input, &wanted, call, NULL, NULL);
	if (code != CODE_FINE)
		return code;
	return input_close(&input, info_opened(values, &input, call->out->text));
}

const struct command cmd_info = {
	.usage = "[OPTION]... [FILE]",
	.text = "Print a summary of FILE: file format, machine and command of the recording, events with their numbers of samples, "
		"duration, losses, and missing information.",
	.options = options,
	.examples = examples,
	.values_size = sizeof(struct values),
	.max_words = 1,
	.run = run,
};

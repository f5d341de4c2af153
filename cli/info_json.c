/* SPDX-License-Identifier: MIT */
/*
 * perfdata info --json: one object. What the file does not say is null or absent from its object.
 */
#include "info_json.h"

#include <inttypes.h>

static void add_feature(struct pd_json *json, const char *name, const struct pd_string *string)
{
	if (string)
		pd_json_str(json, name, string->value);
	else
		pd_json_string(json, name, NULL);
}

static void add_file(struct pd_json *json, struct pd_file *file, const char *name)
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

static void add_host(struct pd_json *json, struct pd_file *file)
{
	const struct pd_nrcpus *cpus = pd_file_nrcpus(file);
	const struct pd_total_mem *memory = pd_file_total_mem(file);

	pd_json_open(json, "host", '{');
	add_feature(json, "name", pd_file_hostname(file));
	add_feature(json, "kernel", pd_file_osrelease(file));
	add_feature(json, "arch", pd_file_arch(file));
	add_feature(json, "cpu", pd_file_cpudesc(file));
	add_feature(json, "cpuid", pd_file_cpuid(file));
	if (cpus) {
		pd_json_number(json, "cpus_online", cpus->online);
		pd_json_number(json, "cpus_available", cpus->available);
	}
	if (memory)
		pd_json_number(json, "memory_kib", memory->kib);
	pd_json_close(json, '}');
}

/* What simpleperf says of a recording, in its own words. */
static void add_meta(struct pd_json *json, const struct pd_simpleperf_meta_info *meta)
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

static void add_recorder(struct pd_json *json, struct pd_file *file)
{
	const struct pd_cmdline *line = pd_file_cmdline(file);

	pd_json_open(json, "recorder", '{');
	add_feature(json, "version", pd_file_version(file));
	add_meta(json, pd_file_simpleperf_meta_info(file));
	pd_json_open(json, "command", '[');
	for (size_t i = 0; line && i < line->arguments.count; i++)
		pd_json_str(json, NULL, PD_ITEM(pd_argument, line->arguments, i)->value);
	pd_json_close(json, ']');
	pd_json_close(json, '}');
}

static void add_event(struct pd_json *json, const struct facts *facts, size_t index)
{
	const struct pd_event *event = pd_file_event(facts->file, index);
	const struct stats_event *line = index < facts->stats.event_count ? &facts->stats.events[index] : NULL;
	bool by_frequency = PD_BITS(event->attr->flags, PD_ATTR_FREQ);
	const char *trait;

	pd_json_open(json, NULL, '{');
	pd_json_number(json, "index", index);
	pd_json_string(json, "name", event->name);
	pd_json_number(json, "type", event->attr->type);
	pd_json_number(json, "config", event->attr->config);
	pd_json_number(json, by_frequency ? "frequency" : "period", event->attr->sample_period);
	pd_json_number(json, "samples", line ? line->samples : 0);
	pd_json_number(json, "lost_samples", line ? line->lost_samples : 0);
	pd_json_number(json, "ids", event->ids.count);
	pd_json_open(json, "traits", '[');
	for (size_t i = 0; (trait = event_trait(event, i)) != NULL; i++)
		pd_json_string(json, NULL, trait);
	pd_json_close(json, ']');
	pd_json_close(json, '}');
}

static void add_events(struct pd_json *json, const struct facts *facts)
{
	pd_json_open(json, "events", '[');
	for (size_t i = 0; i < pd_file_event_count(facts->file); i++)
		add_event(json, facts, i);
	pd_json_close(json, ']');
}

static void add_records(struct pd_json *json, const struct facts *facts)
{
	char room[32];
	uint32_t type;

	pd_json_open(json, "records", '{');
	pd_json_number(json, "total", facts->stats.total);
	pd_json_open(json, "types", '{');
	for (size_t i = 0; stats_type_at(&facts->stats, i, &type); i++)
		pd_json_number(json, stats_type_name(type, room, sizeof(room)), stats_type(&facts->stats, type));
	pd_json_close(json, '}');
	pd_json_close(json, '}');
}

static void add_time(struct pd_json *json, const struct facts *facts)
{
	pd_json_open(json, "time", '{');
	pd_json_string(json, "clock", facts_clock(facts));
	pd_json_offset(json, "first_ns", facts->first_ns);
	pd_json_offset(json, "last_ns", facts->last_ns);
	pd_json_offset(json, "first_wall_clock_ns", facts_wall_clock(facts, facts->first_ns));
	pd_json_close(json, '}');
}

static void add_losses(struct pd_json *json, const struct facts *facts)
{
	pd_json_open(json, "lost", '{');
	pd_json_number(json, "records", facts->lost_records);
	pd_json_number(json, "samples", facts->lost_samples);
	pd_json_number(json, "throttled", facts->throttle_count);
	pd_json_close(json, '}');
	pd_json_open(json, "compressed", '{');
	pd_json_number(json, "stored_bytes", facts->compressed_bytes);
	pd_json_number(json, "inflated_bytes", facts->inflated_bytes);
	pd_json_close(json, '}');
	pd_json_number(json, "aux_bytes", facts->trace_bytes);
}

static void add_problems(struct pd_json *json, const struct facts *facts)
{
	const char *what;

	pd_json_open(json, "missing", '[');
	for (size_t i = 0; (what = facts_missing(facts, i)) != NULL; i++)
		pd_json_string(json, NULL, what);
	pd_json_close(json, ']');
	pd_json_open(json, "problems", '{');
	pd_json_number(json, "damage", pd_file_problem_count(facts->file, PD_DAMAGE));
	pd_json_number(json, "warning", pd_file_problem_count(facts->file, PD_WARNING));
	pd_json_number(json, "info", pd_file_problem_count(facts->file, PD_INFO));
	pd_json_close(json, '}');
}

void info_json(struct pd_text *text, const struct facts *facts, const char *name)
{
	struct pd_json json = { .text = text };

	pd_json_open(&json, NULL, '{');
	add_file(&json, facts->file, name);
	add_host(&json, facts->file);
	add_recorder(&json, facts->file);
	add_events(&json, facts);
	add_records(&json, facts);
	add_time(&json, facts);
	add_losses(&json, facts);
	add_problems(&json, facts);
	pd_json_close(&json, '}');
	pd_text_add(text, "\n");
}

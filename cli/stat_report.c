/* SPDX-License-Identifier: MIT */
/* perfdata stat report: counts out of the file of perf stat record. Like perf it prints each round when it ends. */
#include "stat.h"

#include "front/input.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	MOST_CELLS = 1 << 20,
	MOST_CPUS = 1 << 16,
	TASK_CLOCK = 1 /* software events up to this one are clocks */
};

struct cpus {
	int32_t *items;
	size_t count;
	bool known;
};

struct report {
	const struct stat_report_options *options;
	struct input input;
	struct stat_table table;
	struct stat_printer printer;
	struct cpus cpus;
	struct cpus *own; /* of each event */
	bool ready;       /* the table has its cells */
	size_t cells;
	uint64_t interval_ms;
	uint64_t aggregation;
	bool has_level;
	uint64_t unknown_counts;
};

/* ---- CPUs ---- */

static bool add_cpu(struct cpus *cpus, int32_t cpu)
{
	if (cpus->count == MOST_CPUS)
		return false;
	if (!(cpus->count & (cpus->count - 1))) {
		int32_t *items = realloc(cpus->items, (cpus->count ? cpus->count * 2 : 1) * sizeof(*items));

		if (!items)
			return false;
		cpus->items = items;
	}
	cpus->items[cpus->count++] = cpu;
	return true;
}

static void take_cpus(struct cpus *cpus, const struct pd_cpu_map_data *map)
{
	cpus->count = 0;
	cpus->known = true;
	for (size_t i = 0; i < map->mask32.count * 32; i++)
		if (map->mask32.items[i / 32] >> i % 32 & 1)
			add_cpu(cpus, (int32_t)i);
	for (size_t i = 0; i < map->mask64.count * 64; i++)
		if (map->mask64.items[i / 64] >> i % 64 & 1)
			add_cpu(cpus, (int32_t)i);
	for (size_t i = 0; i < map->cpus.count; i++)
		add_cpu(cpus, map->cpus.items[i] == UINT16_MAX ? -1 : map->cpus.items[i]);
	if (map->kind != PD_CPU_MAP_RANGE)
		return;
	if (map->any_cpu)
		add_cpu(cpus, -1);
	for (unsigned cpu = map->start_cpu; cpu <= map->end_cpu; cpu++)
		add_cpu(cpus, (int32_t)cpu);
}

/* ---- what records say ---- */

static bool take_threads(struct report *report, const struct pd_thread_map *map)
{
	size_t count = map->entries.count < MOST_CELLS ? map->entries.count : MOST_CELLS;
	struct stat_thread *threads = calloc(count + 1, sizeof(*threads));

	if (!threads)
		return false;
	for (size_t i = 0; i < count; i++) {
		const struct pd_thread_map_entry *entry = PD_ITEM(pd_thread_map_entry, map->entries, i);

		threads[i].tid = (int32_t)entry->pid;
		snprintf(threads[i].name, sizeof(threads[i].name), "%.*s", (int)entry->comm.length, entry->comm.data);
	}
	free(report->table.threads);
	report->table.threads = threads;
	report->table.thread_count = count;
	return true;
}

static void take_settings(struct report *report, const struct pd_stat_config *config)
{
	for (size_t i = 0; i < config->entries.count; i++) {
		const struct pd_stat_config_entry *entry = PD_ITEM(pd_stat_config_entry, config->entries, i);

		if (entry->tag == PD_STAT_CONFIG_AGGR_MODE)
			report->aggregation = entry->value;
		else if (entry->tag == PD_STAT_CONFIG_INTERVAL)
			report->interval_ms = entry->value;
		else if (entry->tag == PD_STAT_CONFIG_SCALE)
			report->table.scale = entry->value != 0;
		else if (entry->tag == PD_STAT_CONFIG_AGGR_LEVEL)
			report->has_level = true;
	}
}

/* Numbers of the ways to sum up, as perf has them until 6.3, then with caches, since 6.9 with clusters, too. */
static enum stat_by by_number(const struct report *report, struct pd_file *file)
{
	static const enum stat_by old[] = { STAT_BY_CPU,  STAT_GLOBAL,    STAT_BY_SOCKET, STAT_BY_DIE,
					    STAT_BY_CORE, STAT_BY_THREAD, STAT_GLOBAL,    STAT_BY_NODE };
	static const enum stat_by caches[] = { STAT_BY_CPU,  STAT_GLOBAL,    STAT_BY_SOCKET, STAT_BY_DIE, STAT_GLOBAL,
					       STAT_BY_CORE, STAT_BY_THREAD, STAT_GLOBAL,    STAT_BY_NODE };
	static const enum stat_by clusters[] = { STAT_BY_CPU, STAT_GLOBAL,  STAT_BY_SOCKET, STAT_BY_DIE, STAT_GLOBAL,
						 STAT_GLOBAL, STAT_BY_CORE, STAT_BY_THREAD, STAT_GLOBAL, STAT_BY_NODE };
	const struct pd_string *version = pd_file_version(file);
	unsigned major = 0, minor = 0;
	bool known = version && sscanf(version->value.data, "%u.%u", &major, &minor) == 2;
	bool newest = !known || major > 6 || (major == 6 && minor >= 9);
	size_t at = (size_t)report->aggregation;

	if (!report->has_level)
		return report->aggregation < 8 ? old[at] : STAT_GLOBAL;
	if (newest)
		return report->aggregation < 10 ? clusters[at] : STAT_GLOBAL;
	return report->aggregation < 9 ? caches[at] : STAT_GLOBAL;
}

/* ---- the table ---- */

static bool counts_cpus(const struct report *report)
{
	return report->cpus.count != 1 || report->cpus.items[0] != -1;
}

static bool use_cpus(struct report *report, struct stat_event *event, size_t index)
{
	const struct cpus *own = report->own ? &report->own[index] : NULL;
	const struct cpus *cpus = own && own->known && counts_cpus(report) ? own : &report->cpus;

	event->cpus = cpus->items;
	event->cpu_count = cpus->count;
	report->cells += report->table.thread_count * cpus->count;
	if (report->cells > MOST_CELLS) {
		complain("%s: too many threads and CPUs for a table of counts", report->input.name);
		return false;
	}
	return stat_event_fit(&report->table, event);
}

/* The clocks count ns, whether the file says it or not. */
static void name_clock(struct stat_event *event)
{
	if (event->attr.type != PD_TYPE_SOFTWARE || event->attr.config > TASK_CLOCK)
		return;
	event->unit = "msec";
	event->scale = 1e-6;
}

static bool make_ready(struct report *report)
{
	struct pd_file *file = report->input.file;
	struct stat_table *table = &report->table;
	enum stat_by asked;

	report->ready = true;
	table->by = by_number(report, file);
	if (stat_by_given(report->options->by, &asked) && counts_cpus(report))
		table->by = asked;
	else if (stat_by_given(report->options->by, &asked))
		complain("%s: counts are per thread and cannot be aggregated by CPU", report->input.name);
	table->interval = report->interval_ms != 0;
	table->runs = 1;
	table->event_count = pd_file_event_count(file);
	table->events = calloc(table->event_count + 1, sizeof(*table->events));
	if (!table->events || !stat_places_of_file(&table->places, file))
		return false;
	for (size_t i = 0; i < table->event_count; i++) {
		const struct pd_event *event = pd_file_event(file, i);

		table->events[i] = (struct stat_event){
			.name = event->name, .unit = event->unit, .attr = *event->attr, .scale = event->scale
		};
		name_clock(&table->events[i]);
		if (!use_cpus(report, &table->events[i], i))
			return false;
	}
	return true;
}

static void take_count(struct report *report, const struct pd_stat *stat)
{
	const struct pd_event *event = pd_file_event_by_id(report->input.file, stat->id);
	struct stat_event *own =
		event && event->index < report->table.event_count ? &report->table.events[event->index] : NULL;

	for (size_t i = 0; own && stat->thread < report->table.thread_count && i < own->cpu_count; i++) {
		struct stat_cell *cell = stat_cell(own, stat->thread, i);

		if (own->cpus[i] != (int32_t)stat->cpu)
			continue;
		own->supported = true;
		cell->all[STAT_VALUE] = stat->value;
		cell->all[STAT_ENABLED] = stat->time_enabled_ns;
		cell->all[STAT_RUNNING] = stat->time_running_ns;
		return;
	}
	report->unknown_counts++;
}

static bool take_own_cpus(struct report *report, const struct pd_event_update *update)
{
	const struct pd_event *event = update->cpus ? pd_file_event_by_id(report->input.file, update->id) : NULL;

	if (!event)
		return true;
	if (!report->own)
		report->own = calloc(pd_file_event_count(report->input.file) + 1, sizeof(*report->own));
	if (report->own)
		take_cpus(&report->own[event->index], update->cpus);
	return report->own;
}

static void end_round(struct report *report, const struct pd_stat_round *round)
{
	stat_table_round(&report->table, false);
	if (round->type == PD_STAT_ROUND_FINAL)
		stat_mean_add(&report->table.wall_ns, (double)round->time_ns);
	if (report->interval_ms && round->time_ns)
		stat_print_round(&report->printer, &report->table, round->time_ns);
	else
		stat_print_all(&report->printer, &report->table);
}

/* Counts before what they are counts of are none. */
static bool each(void *self, struct pd_stream *stream, const struct pd_record *record)
{
	struct report *report = self;
	bool of_counts = record->type == PD_RECORD_STAT || record->type == PD_RECORD_STAT_ROUND;
	const void *decoded;

	(void)stream;
	if (record->type < PD_RECORD_THREAD_MAP || record->type > PD_RECORD_EVENT_UPDATE ||
	    pd_record_decode(record, &decoded, NULL) != PD_OK)
		return true;
	if (of_counts && !report->ready && !make_ready(report)) {
		report->table.failed = true;
		return false;
	}
	if (record->type == PD_RECORD_STAT)
		take_count(report, decoded);
	else if (record->type == PD_RECORD_STAT_ROUND)
		end_round(report, decoded);
	else if (report->ready)
		return true;
	else if (record->type == PD_RECORD_THREAD_MAP)
		report->table.failed |= !take_threads(report, decoded);
	else if (record->type == PD_RECORD_CPU_MAP)
		take_cpus(&report->cpus, ((const struct pd_cpu_map *)decoded)->cpus);
	else if (record->type == PD_RECORD_STAT_CONFIG)
		take_settings(report, decoded);
	else
		report->table.failed |= !take_own_cpus(report, decoded);
	return !report->table.failed && output_spill(report->input.out);
}

/* ---- all ---- */

static bool make_title(struct report *report)
{
	const struct pd_cmdline *line = pd_file_cmdline(report->input.file);

	report->printer.title = pd_text_new();
	if (!report->printer.title)
		return false;
	pd_text_add(report->printer.title, line && line->arguments.count ? "'" : "'pipe");
	for (size_t i = 0; line && i < line->arguments.count; i++) {
		const struct pd_argument *argument = PD_ITEM(pd_argument, line->arguments, i);

		pd_text_add(report->printer.title, i ? " " : "");
		pd_text_escaped(report->printer.title, argument->value.data, argument->value.length);
	}
	pd_text_add(report->printer.title, "'");
	return !pd_text_failed(report->printer.title);
}

static int walk(struct report *report)
{
	int code;

	if (!make_title(report)) {
		complain("out of memory");
		return CODE_UNREADABLE;
	}
	code = input_walk(&report->input, each, report);
	if (report->table.failed) {
		complain("%s: not enough memory for the counts", report->input.name);
		return CODE_UNREADABLE;
	}
	if (report->unknown_counts)
		complain("%s: %" PRIu64 " counts refer to no event, thread or CPU of the file", report->input.name,
			 report->unknown_counts);
	if (code == CODE_FINE && !report->ready) {
		complain("%s: no counts: not written by stat record", report->input.name);
		return CODE_NOTHING;
	}
	return code;
}

int stat_report(const struct stat_report_options *options, const struct call *call)
{
	const struct input_options input = { .path = options->path, .quiet = options->quiet };
	struct report report = { .options = options, .aggregation = STAT_GLOBAL, .table.scale = true };
	int code = input_open(&report.input, &input, call, NULL, NULL);

	if (code != CODE_FINE)
		return code;
	report.printer = (struct stat_printer){ .text = call->out->text,
						.separator = options->separator,
						.json = options->json,
						.metric_only = options->metric_only,
						.big_numbers = true };
	code = walk(&report);
	stat_printer_fini(&report.printer);
	for (size_t i = 0; report.own && i < pd_file_event_count(report.input.file); i++)
		free(report.own[i].items);
	free(report.own);
	free(report.cpus.items);
	stat_table_fini(&report.table);
	return input_close(&report.input, code);
}

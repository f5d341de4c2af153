/* SPDX-License-Identifier: MIT */
// Counts out of a file of perf stat record. As perf does, each round is printed when it ends.
#include "count/count.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text/text.h"
#include "file/file.h"
#include "stream/each.h"

enum {
	MOST_CELLS = 1 << 20,
	MOST_CPUS = 1 << 16
};

struct cpus {
	int32_t *items;
	size_t count, capacity;
	bool known;
};

struct report {
	struct pd_stat_options options;
	struct pd_file *file;
	struct pd_stat_table table;
	struct pd_stat_printer printer;
	struct cpus cpus;
	struct cpus *own; // of each event
	size_t own_count;
	bool ready; // the table has its cells
	size_t cells;
	uint64_t interval_ms;
	uint64_t aggregation;
	bool has_level;
	uint64_t level;
	uint64_t unknown_counts;
};

static void warn(const struct report *report, const char *what)
{
	char message[1024];

	if (!report->options.warn)
		return;
	snprintf(message, sizeof(message), "%s: %s", pd_file_name(report->file), what);
	report->options.warn(report->options.self, message);
}

/* ---- CPUs ---- */

static bool add_cpu(struct cpus *cpus, int32_t cpu)
{
	if (cpus->count == MOST_CPUS || !PD_GROW(cpus->items, cpus->capacity, cpus->count + 1))
		return false;
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
	struct pd_stat_thread *threads = pd_alloc((count + 1) * sizeof(*threads));

	if (!threads)
		return false;
	for (size_t i = 0; i < count; i++) {
		const struct pd_thread_map_entry *entry = PD_ITEM(pd_thread_map_entry, map->entries, i);

		threads[i].tid = (int32_t)entry->pid;
		snprintf(threads[i].name, sizeof(threads[i].name), "%.*s", (int)entry->comm.length, entry->comm.data);
	}
	pd_free(report->table.threads);
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
			report->has_level = true, report->level = entry->value;
	}
}

/* Numbers of the ways to sum up, as perf has them until 6.3, then with caches, since 6.9 with clusters, too. */
static enum pd_stat_by by_number(const struct report *report, struct pd_file *file)
{
	static const enum pd_stat_by old[] = { PD_STAT_BY_CPU,  PD_STAT_GLOBAL,    PD_STAT_BY_SOCKET, PD_STAT_BY_DIE,
					       PD_STAT_BY_CORE, PD_STAT_BY_THREAD, PD_STAT_GLOBAL,    PD_STAT_BY_NODE };
	static const enum pd_stat_by caches[] = { PD_STAT_BY_CPU,    PD_STAT_GLOBAL,   PD_STAT_BY_SOCKET,
						  PD_STAT_BY_DIE,    PD_STAT_BY_CACHE, PD_STAT_BY_CORE,
						  PD_STAT_BY_THREAD, PD_STAT_GLOBAL,   PD_STAT_BY_NODE };
	static const enum pd_stat_by clusters[] = { PD_STAT_BY_CPU,  PD_STAT_GLOBAL,     PD_STAT_BY_SOCKET,
						    PD_STAT_BY_DIE,  PD_STAT_BY_CLUSTER, PD_STAT_BY_CACHE,
						    PD_STAT_BY_CORE, PD_STAT_BY_THREAD,  PD_STAT_GLOBAL,
						    PD_STAT_BY_NODE };
	const struct pd_string *version = pd_file_version(file);
	unsigned major = 0, minor = 0;
	bool known = version && sscanf(version->value.data, "%u.%u", &major, &minor) == 2;
	size_t at = (size_t)report->aggregation;

	if (!report->has_level)
		return report->aggregation < 8 ? old[at] : PD_STAT_GLOBAL;
	if (known && major == 6 && minor < 9)
		return report->aggregation < 9 ? caches[at] : PD_STAT_GLOBAL;
	return report->aggregation < 10 ? clusters[at] : PD_STAT_GLOBAL;
}

/* ---- the table ---- */

static bool counts_cpus(const struct report *report)
{
	return report->cpus.count != 1 || report->cpus.items[0] != -1;
}

static bool use_cpus(struct report *report, struct pd_stat_event *event, size_t index)
{
	const struct cpus *own = index < report->own_count ? &report->own[index] : NULL;
	const struct cpus *cpus = own && own->known && counts_cpus(report) ? own : &report->cpus;

	event->cpus = cpus->items;
	event->cpu_count = cpus->count;
	report->cells += report->table.thread_count * cpus->count;
	if (report->cells > MOST_CELLS) {
		warn(report, "too many threads and CPUs for a table of counts");
		return false;
	}
	return pd_stat_event_fit(&report->table, event);
}

/* The clocks count ns, whether the file says it or not. */
static void name_clock(struct pd_stat_event *event)
{
	if (!pd_attr_is_clock(&event->attr))
		return;
	event->unit = "msec";
	event->scale = 1e-6;
}

static bool make_ready(struct report *report)
{
	struct pd_file *file = report->file;
	struct pd_stat_table *table = &report->table;

	report->ready = true;
	table->by = by_number(report, file);
	table->cache_level = report->level <= PD_STAT_CACHE_LEVELS ? (unsigned)report->level : 0;
	if (report->options.by_given && counts_cpus(report)) {
		table->by = report->options.by;
		table->cache_level = report->options.cache_level;
	} else if (report->options.by_given) {
		warn(report, "counts are per thread and cannot be aggregated by CPU");
	}
	if (table->by == PD_STAT_BY_CLUSTER)
		warn(report, "no file has the clusters of its CPUs: each die is shown as one");
	table->interval = report->interval_ms != 0;
	table->runs = 1;
	table->events = pd_alloc((pd_file_event_count(file) + 1) * sizeof(*table->events));
	if (!table->events || !pd_stat_places_of_file(&table->places, file))
		return false;
	table->event_count = pd_file_event_count(file);
	for (size_t i = 0; i < table->event_count; i++) {
		const struct pd_event *event = pd_file_event(file, i);

		table->events[i] = (struct pd_stat_event){
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
	const struct pd_event *event = pd_file_event_by_id(report->file, stat->id);
	struct pd_stat_event *own =
		event && event->index < report->table.event_count ? &report->table.events[event->index] : NULL;

	for (size_t i = 0; own && stat->thread < report->table.thread_count && i < own->cpu_count; i++) {
		struct pd_stat_cell *cell = pd_stat_cell(own, stat->thread, i);

		if (own->cpus[i] != (int32_t)stat->cpu)
			continue;
		own->supported = true;
		cell->all[PD_STAT_VALUE] = stat->value;
		cell->all[PD_STAT_ENABLED] = stat->time_enabled_ns;
		cell->all[PD_STAT_RUNNING] = stat->time_running_ns;
		return;
	}
	report->unknown_counts++;
}

static bool take_own_cpus(struct report *report, const struct pd_event_update *update)
{
	const struct pd_event *event = update->cpus ? pd_file_event_by_id(report->file, update->id) : NULL;

	if (!event)
		return true;
	if (!report->own) {
		report->own_count = pd_file_event_count(report->file);
		report->own = pd_alloc((report->own_count + 1) * sizeof(*report->own));
	}
	if (report->own && event->index < report->own_count)
		take_cpus(&report->own[event->index], update->cpus);
	return report->own;
}

static void end_round(struct report *report, const struct pd_stat_round *round)
{
	pd_stat_table_round(&report->table, false);
	if (round->type == PD_STAT_ROUND_FINAL)
		pd_stat_mean_add(&report->table.wall_ns, (double)round->time_ns);
	if (report->interval_ms && round->time_ns)
		pd_stat_print_round(&report->printer, &report->table, round->time_ns);
	else
		pd_stat_print_all(&report->printer, &report->table);
}

// Counts before what they are counts of are none.
static bool take_record(struct report *report, const struct pd_record *record)
{
	bool of_counts = record->type == PD_RECORD_STAT || record->type == PD_RECORD_STAT_ROUND;
	const void *decoded;

	if (record->type < PD_RECORD_THREAD_MAP || record->type > PD_RECORD_EVENT_UPDATE ||
	    pd_record_decode(record, &decoded, NULL) != PD_OK)
		return true;
	if (of_counts && !report->ready && !make_ready(report))
		return false;
	if (record->type == PD_RECORD_STAT)
		take_count(report, decoded);
	else if (record->type == PD_RECORD_STAT_ROUND)
		end_round(report, decoded);
	else if (report->ready)
		return true;
	else if (record->type == PD_RECORD_THREAD_MAP)
		return take_threads(report, decoded);
	else if (record->type == PD_RECORD_CPU_MAP)
		take_cpus(&report->cpus, ((const struct pd_cpu_map *)decoded)->cpus);
	else if (record->type == PD_RECORD_STAT_CONFIG)
		take_settings(report, decoded);
	else
		return take_own_cpus(report, decoded);
	return !report->table.failed;
}

static enum pd_status report_record(void *self, struct pd_stream *stream, const struct pd_record *record,
				    struct pd_error *error)
{
	struct report *report = self;

	(void)stream;
	if (!take_record(report, record))
		return pd_fail(error, PD_ERROR_MEMORY, PD_NO_OFFSET, "%s: not enough memory for the counts",
			       pd_file_name(report->file));
	if (!pd_text_flush_large(report->printer.text))
		return pd_fail(error, PD_ERROR_OUTPUT, PD_NO_OFFSET, "text cannot be written");
	return PD_OK;
}

/* ---- all ---- */

// The title that is printed lives as long as the text.
static bool make_title(struct report *report, struct pd_text *title)
{
	const struct pd_cmdline *line = pd_file_cmdline(report->file);

	pd_text_add(title, line && line->arguments.count ? "'" : "'pipe");
	for (size_t i = 0; line && i < line->arguments.count; i++) {
		const struct pd_argument *argument = PD_ITEM(pd_argument, line->arguments, i);

		pd_text_add(title, i ? " " : "");
		pd_text_escaped(title, argument->value.data, argument->value.length);
	}
	pd_text_put(title, "'", sizeof("'"));
	report->options.title = (const char *)pd_text_bytes(title).data;
	return !pd_text_failed(title);
}

static enum pd_status read_all(struct report *report, struct pd_error *error)
{
	const struct pd_each each = { .trusts = true };
	struct pd_text *title = pd_text_new();
	char message[128];
	enum pd_status status;

	if (!title || !make_title(report, title)) {
		pd_text_free(title);
		return pd_fail_memory(error);
	}
	status = pd_each_record(report->file, &each, report_record, report, error);
	if (status >= 0 && report->unknown_counts) {
		snprintf(message, sizeof(message), "%" PRIu64 " counts refer to no event, thread or CPU of the file",
			 report->unknown_counts);
		warn(report, message);
	}
	if (status >= 0 && !report->ready)
		status = pd_fail(error, PD_ERROR_NO_MATCH, PD_NO_OFFSET, "%s: no counts: not written by stat record",
				 pd_file_name(report->file));
	pd_text_free(title);
	return status;
}

enum pd_status pd_stat_report(struct pd_file *file, const struct pd_stat_options *options, struct pd_text *text,
			      struct pd_error *error)
{
	struct report report = { .file = file, .aggregation = PD_STAT_GLOBAL, .table.scale = true };
	enum pd_status status;

	status = pd_stat_options_take(options, &report.options, error);
	if (status < 0)
		return status;
	report.printer = (struct pd_stat_printer){ .options = &report.options,
						   .text = text,
						   .separator = report.options.separator,
						   .json = report.options.json };
	status = read_all(&report, error);
	pd_stat_printer_fini(&report.printer);
	for (size_t i = 0; i < report.own_count; i++)
		pd_free(report.own[i].items);
	pd_free(report.own);
	pd_free(report.cpus.items);
	pd_stat_table_fini(&report.table);
	return status;
}

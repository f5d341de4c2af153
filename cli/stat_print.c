/* SPDX-License-Identifier: MIT */
/* Counts as text, CSV and JSON, column by column what perf stat prints. */
#include "stat_page.h"

#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	ROUNDS_PER_HEADING = 25,
	METRIC_WIDTH = 35,
	UNIT_WIDTH = 4,
	NAME_WIDTH = 32,
	SHORT_NAME_WIDTH = 25 /* of what was not counted */
};

/* ---- where ---- */

void stat_json_field(struct stat_page *page, const char *format, ...)
{
	char text[256];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	pd_text_printf(page->printer->text, "%s%s", page->json_open ? ", " : "", text);
	page->json_open = true;
}

void stat_json_name(struct stat_page *page, const char *key, const char *name)
{
	pd_text_printf(page->printer->text, "%s\"%s\" : ", page->json_open ? ", " : "", key);
	pd_text_json_string(page->printer->text, name, strlen(name));
	page->json_open = true;
}

static void group_name(const struct stat_table *table, const struct stat_place *place, char name[64])
{
	switch (table->by) {
	case STAT_BY_CORE:
		snprintf(name, 64, "S%d-D%d-C%d", place->socket, place->die, place->core);
		break;
	case STAT_BY_DIE:
		snprintf(name, 64, "S%d-D%d", place->socket, place->die);
		break;
	case STAT_BY_SOCKET:
		snprintf(name, 64, "S%d", place->socket);
		break;
	default:
		snprintf(name, 64, "N%d", place->node);
		break;
	}
}

/* The last number of a name has a width of its own, so that all stand below each other. */
static int group_width(const struct stat_table *table, const struct stat_place *place)
{
	switch (table->by) {
	case STAT_BY_CORE:
		return snprintf(NULL, 0, "S%d-D%d-C", place->socket, place->die) + 8;
	case STAT_BY_DIE:
		return snprintf(NULL, 0, "S%d-D", place->socket) + 8;
	default:
		return 1 + 5;
	}
}

void stat_print_place(struct stat_page *page, const struct stat_line *line)
{
	static const char *const keys[] = {
		[STAT_BY_SOCKET] = "socket", [STAT_BY_DIE] = "die", [STAT_BY_CORE] = "core", [STAT_BY_NODE] = "node"
	};
	struct pd_text *text = page->printer->text;
	const char *separator = page->printer->separator;
	char name[96];

	if (line->group) {
		group_name(page->table, &line->group->place, name);
		if (page->printer->json)
			stat_json_field(page, "\"%s\" : \"%s\", \"aggregate-number\" : %zu", keys[page->table->by],
					name, line->cpus);
		else if (separator)
			pd_text_printf(text, "%s%s%zu%s", name, separator, line->cpus, separator);
		else
			pd_text_printf(text, "%-*s %*zu ", group_width(page->table, &line->group->place), name, 4,
				       line->cpus);
	} else if (line->thread) {
		if (page->printer->json) {
			snprintf(name, sizeof(name), "%s-%" PRId32, line->thread->name, line->thread->tid);
			stat_json_name(page, "thread", name);
			return;
		}
		pd_text_printf(text, "%*s", separator ? 0 : 16 - (int)strlen(line->thread->name), "");
		pd_text_escaped(text, line->thread->name, strlen(line->thread->name));
		pd_text_printf(text, separator ? "-%" PRId32 : "-%-8" PRId32, line->thread->tid);
		pd_text_add(text, separator ? separator : " ");
	} else if (page->table->by == STAT_BY_CPU) {
		if (page->printer->json)
			stat_json_field(page, "\"cpu\" : \"%" PRId32 "\"", line->cpu);
		else if (separator)
			pd_text_printf(text, "CPU%" PRId32 "%s", line->cpu, separator);
		else
			pd_text_printf(text, "CPU%-7" PRId32 " ", line->cpu);
	}
}

/* ---- what ---- */

bool stat_line_is_missing(const struct stat_line *line)
{
	return !line->running || !line->enabled;
}

static const char *missing_word(const struct stat_line *line)
{
	return line->event->supported ? "<not counted>" : "<not supported>";
}

static void print_name(struct stat_page *page, const struct stat_line *line, int width)
{
	const struct stat_event *event = line->event;
	struct pd_text *text = page->printer->text;
	size_t length = strlen(event->name);

	pd_text_escaped(text, event->name, length);
	if (!page->printer->separator && length < (size_t)width)
		pd_text_printf(text, "%*s", width - (int)length, "");
	if (page->cgroups)
		pd_text_add(text, page->printer->separator ? page->printer->separator : " ");
	if (event->cgroup)
		pd_text_escaped(text, event->cgroup, strlen(event->cgroup));
}

static void print_value_json(struct stat_page *page, const struct stat_line *line)
{
	const struct stat_event *event = line->event;

	if (stat_line_is_missing(line))
		stat_json_field(page, "\"counter-value\" : \"%s\"", missing_word(line));
	else
		stat_json_field(page, "\"counter-value\" : \"%f\"", line->value * event->scale);
	stat_json_name(page, "unit", event->unit ? event->unit : "");
	stat_json_name(page, "event", event->name);
	if (page->cgroups)
		stat_json_name(page, "cgroup", event->cgroup ? event->cgroup : "");
}

static void print_number(struct stat_page *page, const struct stat_line *line)
{
	const struct stat_event *event = line->event;
	double value = line->value * event->scale;
	bool whole = floor(event->scale) == event->scale;
	bool big = page->printer->big_numbers;

	if (page->printer->separator)
		pd_text_printf(page->printer->text, whole ? "%.0f" : "%.2f", value);
	else if (whole)
		pd_text_printf(page->printer->text, big ? "%'18.0f" : "%18.0f", value);
	else
		pd_text_printf(page->printer->text, big ? "%'18.2f" : "%18.2f", value);
}

static void print_value(struct stat_page *page, const struct stat_line *line)
{
	struct pd_text *text = page->printer->text;
	const char *separator = page->printer->separator;
	const char *unit = line->event->unit ? line->event->unit : "";
	bool missing = stat_line_is_missing(line);

	if (missing)
		pd_text_printf(text, separator ? "%s" : "%18s", missing_word(line));
	else
		print_number(page, line);
	pd_text_add(text, separator ? separator : " ");
	pd_text_escaped(text, unit, strlen(unit));
	if (separator)
		pd_text_add(text, separator);
	else
		pd_text_printf(text, "%*s", page->unit_width - (int)strlen(unit) + 1, "");
	print_name(page, line, missing ? SHORT_NAME_WIDTH : NAME_WIDTH);
}

static double percent_running(const struct stat_line *line)
{
	return line->enabled ? 100.0 * line->running / line->enabled : 100.0;
}

/* Programs get whole percents, as from perf. */
static double whole_percent_running(const struct stat_line *line)
{
	return trunc(percent_running(line));
}

static void print_noise(struct stat_page *page, const struct stat_line *line)
{
	if (page->table->runs < 2)
		return;
	if (page->printer->json)
		stat_json_field(page, "\"variance\" : %.2f", line->noise);
	else if (page->printer->separator)
		pd_text_printf(page->printer->text, "%s%.2f%%", page->printer->separator, line->noise);
	else if (line->noise)
		pd_text_printf(page->printer->text, "  ( +-%6.2f%% )", line->noise);
}

static void print_running(struct stat_page *page, const struct stat_line *line)
{
	const char *separator = page->printer->separator;

	if (page->printer->json)
		stat_json_field(page, "\"event-runtime\" : %.0f, \"pcnt-running\" : %.2f", line->running,
				whole_percent_running(line));
	else if (separator)
		pd_text_printf(page->printer->text, "%s%.0f%s%.2f", separator, line->running, separator,
			       whole_percent_running(line));
	else if (line->running != line->enabled)
		pd_text_printf(page->printer->text, "  (%.2f%%)", percent_running(line));
}

/* ---- metrics ---- */

static void print_metric(struct stat_page *page, const struct stat_metric *metric)
{
	struct pd_text *text = page->printer->text;
	const char *separator = page->printer->separator;
	char value[64], *at = value;
	int length;

	if (page->printer->json) {
		stat_json_field(page, "\"metric-value\" : %f, \"metric-unit\" : \"%s\"", metric->value, metric->unit);
		return;
	}
	if (!metric->format) {
		if (separator)
			pd_text_printf(text, "%s%s", separator, separator);
		else
			pd_text_printf(text, "%*s", METRIC_WIDTH, "");
		return;
	}
	/* the formats are those of stat_metric.c: "%8.3f" and the like */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	length = snprintf(value, sizeof(value), metric->format, metric->value);
#pragma GCC diagnostic pop
	if (!separator) {
		pd_text_printf(text, " # %s %-*s", value, METRIC_WIDTH - 3 - length - 1, metric->unit);
		return;
	}
	at += strspn(at, " ");
	at[strspn(at, "-0123456789.")] = 0;
	pd_text_printf(text, "%s%s%s%s", separator, at, separator, metric->unit);
}

/* A second metric stands below the first, with the same place in front. */
static void next_line(struct stat_page *page, const struct stat_line *line)
{
	static const unsigned fields[] = {
		[STAT_BY_CPU] = 1,  [STAT_GLOBAL] = 0,    [STAT_BY_SOCKET] = 2, [STAT_BY_DIE] = 2,
		[STAT_BY_CORE] = 2, [STAT_BY_THREAD] = 1, [STAT_BY_NODE] = 1
	};
	struct pd_text *text = page->printer->text;

	if (page->printer->json) {
		pd_text_add(text, "}\n{");
		page->json_open = false;
		if (*page->prefix)
			stat_json_field(page, "%s", page->prefix);
		stat_print_place(page, line);
		return;
	}
	pd_text_add(text, "\n");
	pd_text_add(text, page->prefix);
	stat_print_place(page, line);
	if (page->printer->separator)
		for (unsigned i = 0; i < 3 + fields[page->table->by] + page->cgroups; i++)
			pd_text_add(text, page->printer->separator);
	else
		pd_text_printf(text, "%*s", page->table->by == STAT_BY_CPU ? 57 : 49, "");
}

static void print_metrics(struct stat_page *page, const struct stat_line *line)
{
	struct stat_metric metrics[STAT_METRICS_MOST] = { 0 };
	size_t count = 1;

	if (!stat_line_is_missing(line)) {
		count = stat_metrics(page->table, line->event, line->value * line->event->scale, line->slot, metrics);
		/* as perf has it for what has no metric */
		if (page->printer->json && !metrics[0].format && !*metrics[0].unit)
			snprintf(metrics[0].unit, sizeof(metrics[0].unit), "(null)");
	}
	for (size_t i = 0; i < count; i++) {
		if (i)
			next_line(page, line);
		print_metric(page, &metrics[i]);
	}
}

static void print_line(struct stat_page *page, const struct stat_line *line)
{
	struct pd_text *text = page->printer->text;
	bool behind = !page->printer->json && !page->printer->separator;

	page->json_open = false;
	if (page->printer->json) {
		pd_text_add(text, "{");
		if (*page->prefix)
			stat_json_field(page, "%s", page->prefix);
		stat_print_place(page, line);
		print_value_json(page, line);
	} else {
		pd_text_add(text, page->prefix);
		stat_print_place(page, line);
		print_value(page, line);
	}
	/* programs want numbers first, people metrics */
	if (!behind) {
		print_noise(page, line);
		print_running(page, line);
	}
	print_metrics(page, line);
	if (behind) {
		print_noise(page, line);
		print_running(page, line);
	}
	pd_text_add(text, page->printer->json ? "}\n" : "\n");
}

/* ---- all lines ---- */

void stat_line_take(struct stat_line *line, const struct stat_cell *cell)
{
	line->value = (double)cell->round[STAT_VALUE];
	line->enabled = (double)cell->round[STAT_ENABLED];
	line->running = (double)cell->round[STAT_RUNNING];
}

struct stat_line stat_line_of_all(const struct stat_event *event)
{
	const struct stat_mean *mean = &event->sums[STAT_VALUE];
	struct stat_line line = { .event = event,
				  .value = mean->mean,
				  .enabled = trunc(event->sums[STAT_ENABLED].mean),
				  .running = trunc(event->sums[STAT_RUNNING].mean) };

	if (mean->mean)
		line.noise = 100 * stat_mean_deviation(mean) / mean->mean;
	return line;
}

static void print_global(struct stat_page *page)
{
	for (size_t i = 0; i < page->table->event_count; i++) {
		struct stat_line line = stat_line_of_all(&page->table->events[i]);

		print_line(page, &line);
	}
}

static void print_by_cpu(struct stat_page *page)
{
	for (size_t i = 0; i < page->table->event_count; i++) {
		const struct stat_event *event = &page->table->events[i];

		for (size_t cpu = 0; cpu < event->cpu_count && page->table->thread_count; cpu++) {
			const struct stat_cell *cell = stat_cell(event, 0, cpu);
			struct stat_line line = { .event = event, .slot = cpu, .cpu = event->cpus[cpu] };

			stat_line_take(&line, cell);
			if (!cell->absent)
				print_line(page, &line);
		}
	}
}

struct stat_line stat_line_of_thread(const struct stat_table *table, const struct stat_event *event, size_t thread)
{
	struct stat_line line = { .event = event, .slot = thread, .thread = &table->threads[thread] };

	for (size_t cpu = 0; cpu < event->cpu_count; cpu++) {
		const struct stat_cell *cell = stat_cell(event, thread, cpu);

		line.value += (double)cell->round[STAT_VALUE];
		line.enabled += (double)cell->round[STAT_ENABLED];
		line.running += (double)cell->round[STAT_RUNNING];
	}
	return line;
}

static int larger_first(const void *a, const void *b)
{
	const struct stat_line *one = a, *other = b;

	if (one->value != other->value)
		return one->value > other->value ? -1 : 1;
	return one->slot < other->slot ? -1 : 1;
}

static void print_by_thread(struct stat_page *page)
{
	const struct stat_table *table = page->table;
	struct stat_line *lines = calloc(table->thread_count + 1, sizeof(*lines));

	for (size_t i = 0; i < table->event_count && lines; i++) {
		const struct stat_event *event = &table->events[i];
		size_t count = 0;

		for (size_t thread = 0; thread < table->thread_count; thread++) {
			struct stat_line line = stat_line_of_thread(table, event, thread);

			if (line.value || !table->all_threads)
				lines[count++] = line;
		}
		qsort(lines, count, sizeof(*lines), larger_first);
		for (size_t j = 0; j < count; j++)
			print_line(page, &lines[j]);
	}
	page->table->failed |= !lines;
	free(lines);
}

struct stat_line stat_line_of_group(const struct stat_event *event, const struct stat_group *group,
				    const struct stat_sum *sum)
{
	return (struct stat_line){ .event = event,
				   .slot = group->slot,
				   .group = group,
				   .cpus = sum->cpus,
				   .value = (double)sum->all[STAT_VALUE],
				   .enabled = (double)sum->all[STAT_ENABLED],
				   .running = (double)sum->all[STAT_RUNNING] };
}

static void print_by_group(struct stat_page *page)
{
	size_t count;
	struct stat_group *groups = stat_groups(page->table, &count);
	struct stat_sum *sums = groups ? stat_group_sums(page->table, groups, count) : NULL;

	for (size_t i = 0; sums && i < count * page->table->event_count; i++) {
		size_t slot = i / page->table->event_count;
		struct stat_line line =
			stat_line_of_group(&page->table->events[i % page->table->event_count], &groups[slot], &sums[i]);

		if (line.cpus)
			print_line(page, &line);
	}
	page->table->failed |= !sums;
	free(sums);
	free(groups);
}

static void print_counts(struct stat_page *page)
{
	switch (page->table->by) {
	case STAT_GLOBAL:
		print_global(page);
		break;
	case STAT_BY_CPU:
		print_by_cpu(page);
		break;
	case STAT_BY_THREAD:
		print_by_thread(page);
		break;
	default:
		print_by_group(page);
		break;
	}
}

static void print_lines(struct stat_page *page)
{
	/* numbers for people are written as these write them */
	bool local = !page->printer->separator && !page->printer->json;

	page->unit_width = UNIT_WIDTH;
	for (size_t i = 0; i < page->table->event_count; i++) {
		const struct stat_event *event = &page->table->events[i];

		page->cgroups |= event->cgroup != NULL;
		if (event->unit && (int)strlen(event->unit) > page->unit_width)
			page->unit_width = (int)strlen(event->unit);
	}
	if (local)
		setlocale(LC_NUMERIC, "");
	if (page->printer->metric_only)
		stat_print_only(page);
	else
		print_counts(page);
	if (local)
		setlocale(LC_NUMERIC, "C");
}

void stat_print_round(struct stat_printer *printer, struct stat_table *table, uint64_t time_ns)
{
	static const char *const headings[] = {
		[STAT_BY_CPU] = "#           time CPU                    counts unit events\n",
		[STAT_GLOBAL] = "#           time             counts unit events\n",
		[STAT_BY_SOCKET] = "#           time socket cpus             counts unit events\n",
		[STAT_BY_DIE] = "#           time die          cpus             counts unit events\n",
		[STAT_BY_CORE] = "#           time core            cpus             counts unit events\n",
		[STAT_BY_THREAD] = "#           time             comm-pid                  counts unit events\n",
		[STAT_BY_NODE] = "#           time node   cpus             counts unit events\n",
	};
	struct stat_page page = { .printer = printer, .table = table };
	uint64_t seconds = time_ns / 1000000000, ns = time_ns % 1000000000;

	if (printer->json)
		snprintf(page.prefix, sizeof(page.prefix), "\"interval\" : %" PRIu64 ".%09" PRIu64, seconds, ns);
	else
		snprintf(page.prefix, sizeof(page.prefix), "%6" PRIu64 ".%09" PRIu64 "%.8s", seconds, ns,
			 printer->separator ? printer->separator : " ");
	page.heading = !printer->json && !printer->separator && printer->rounds % ROUNDS_PER_HEADING == 0;
	if (page.heading && !printer->metric_only)
		pd_text_add(printer->text, headings[table->by]);
	printer->rounds++;
	print_lines(&page);
}

/* ---- times ---- */

/* Digits that a deviation leaves meaningful. */
static int digits(double deviation)
{
	return (deviation > 1 || deviation <= 0 ? 0 : (int)ceil(-log10(deviation))) + 2;
}

static void print_runs(const struct stat_printer *printer, double mean, int precision)
{
	pd_text_printf(printer->text, "%*s# Table of individual measurements:\n", 11, "");
	for (size_t i = 0; i < printer->run_count; i++) {
		double seconds = printer->run_seconds[i];
		int bars = 1 + (int)(fabs((seconds - mean) / seconds) * 20);

		pd_text_printf(printer->text, " %17.*f (%+.*f) ", precision, seconds, precision, seconds - mean);
		for (int j = 0; j < bars && j < 1000; j++)
			pd_text_add(printer->text, "#");
		pd_text_add(printer->text, "\n");
	}
	pd_text_printf(printer->text, "\n%*s# Final result:\n", 11, "");
}

static void print_times(const struct stat_printer *printer, const struct stat_table *table)
{
	double mean = table->wall_ns.mean / 1e9;
	double deviation = stat_mean_deviation(&table->wall_ns) / 1e9;
	int precision = digits(deviation);

	pd_text_add(printer->text, table->event_count ? "\n" : "");
	if (table->runs < 2) {
		pd_text_printf(printer->text, " %17.9f seconds time elapsed", mean);
	} else {
		if (printer->table)
			print_runs(printer, mean, precision);
		pd_text_printf(printer->text, " %17.*f +- %.*f seconds time elapsed", precision, mean, precision,
			       deviation);
		if (deviation)
			pd_text_printf(printer->text, "  ( +-%6.2f%% )", 100 * deviation / mean);
	}
	if (printer->has_usage)
		pd_text_printf(printer->text, "\n\n %17.9f seconds user\n %17.9f seconds sys\n", printer->user_seconds,
			       printer->system_seconds);
	pd_text_add(printer->text, "\n\n");
}

void stat_print_all(struct stat_printer *printer, struct stat_table *table)
{
	struct stat_page page = { .printer = printer, .table = table };
	struct pd_bytes title;

	if (printer->json || printer->separator) {
		if (printer->summary_word && printer->separator)
			snprintf(page.prefix, sizeof(page.prefix), "%16s%.8s", "summary", printer->separator);
		print_lines(&page);
		return;
	}
	title = pd_text_bytes(printer->title);
	pd_text_printf(printer->text, "\n Performance counter stats for %.*s", (int)title.size,
		       (const char *)title.data);
	if (table->runs > 1)
		pd_text_printf(printer->text, " (%u runs)", table->runs);
	pd_text_add(printer->text, ":\n\n");
	page.heading = true;
	print_lines(&page);
	print_times(printer, table);
}

void stat_printer_fini(struct stat_printer *printer)
{
	free(printer->columns);
	free(printer->run_seconds);
	pd_text_free(printer->title);
}

/* SPDX-License-Identifier: MIT */
/* Counts as text, CSV and JSON, column by column what perf stat prints. */
#include "count/page.h"

#include <inttypes.h>
#include <locale.h>
#include <math.h>
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

/* ---- options ---- */

enum pd_status pd_stat_options_take(const struct pd_stat_options *options, struct pd_stat_options *own,
				    struct pd_error *error)
{
	*own = (struct pd_stat_options){ .by = PD_STAT_GLOBAL };
	if (!options)
		return PD_OK;
	if (!options->size)
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "pd_stat_options.size is 0");
	memcpy(own, options, options->size < sizeof(*options) ? options->size : sizeof(*options));
	if (own->cache_level > PD_STAT_CACHE_LEVELS)
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "pd_stat_options.cache_level is more than %d",
			       PD_STAT_CACHE_LEVELS);
	return PD_OK;
}

/* ---- what ---- */

static const char *missing_word(const struct pd_stat_line *line)
{
	return line->event->supported ? "<not counted>" : "<not supported>";
}

static void print_name(struct pd_stat_page *page, const struct pd_stat_line *line, int width)
{
	const struct pd_stat_event *event = line->event;
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

static void print_value_json(struct pd_stat_page *page, const struct pd_stat_line *line)
{
	const struct pd_stat_event *event = line->event;

	if (pd_stat_line_is_missing(line))
		pd_stat_json_field(page, "\"counter-value\" : \"%s\"", missing_word(line));
	else
		pd_stat_json_field(page, "\"counter-value\" : \"%f\"", line->value * event->scale);
	pd_stat_json_name(page, "unit", event->unit ? event->unit : "");
	pd_stat_json_name(page, "event", event->name);
	if (page->cgroups)
		pd_stat_json_name(page, "cgroup", event->cgroup ? event->cgroup : "");
}

static void print_number(struct pd_stat_page *page, const struct pd_stat_line *line)
{
	const struct pd_stat_event *event = line->event;
	double value = line->value * event->scale;
	bool whole = floor(event->scale) == event->scale;
	bool big = page->printer->options->big_numbers;

	if (page->printer->separator)
		pd_text_printf(page->printer->text, whole ? "%.0f" : "%.2f", value);
	else if (whole)
		pd_text_printf(page->printer->text, big ? "%'18.0f" : "%18.0f", value);
	else
		pd_text_printf(page->printer->text, big ? "%'18.2f" : "%18.2f", value);
}

static void print_value(struct pd_stat_page *page, const struct pd_stat_line *line)
{
	struct pd_text *text = page->printer->text;
	const char *separator = page->printer->separator;
	const char *unit = line->event->unit ? line->event->unit : "";
	bool missing = pd_stat_line_is_missing(line);

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

static double percent_running(const struct pd_stat_line *line)
{
	return line->enabled ? 100.0 * line->running / line->enabled : 100.0;
}

/* Programs get whole percents, as from perf. */
static double whole_percent_running(const struct pd_stat_line *line)
{
	return trunc(percent_running(line));
}

static void print_noise(struct pd_stat_page *page, const struct pd_stat_line *line)
{
	if (page->table->runs < 2)
		return;
	if (page->printer->json)
		pd_stat_json_field(page, "\"variance\" : %.2f", line->noise);
	else if (page->printer->separator)
		pd_text_printf(page->printer->text, "%s%.2f%%", page->printer->separator, line->noise);
	else if (line->noise)
		pd_text_printf(page->printer->text, "  ( +-%6.2f%% )", line->noise);
}

static void print_running(struct pd_stat_page *page, const struct pd_stat_line *line)
{
	const char *separator = page->printer->separator;

	if (page->printer->json)
		pd_stat_json_field(page, "\"event-runtime\" : %.0f, \"pcnt-running\" : %.2f", line->running,
				   whole_percent_running(line));
	else if (separator)
		pd_text_printf(page->printer->text, "%s%.0f%s%.2f", separator, line->running, separator,
			       whole_percent_running(line));
	else if (line->running != line->enabled)
		pd_text_printf(page->printer->text, "  (%.2f%%)", percent_running(line));
}

/* ---- metrics ---- */

static void print_metric(struct pd_stat_page *page, const struct pd_stat_metric *metric)
{
	struct pd_text *text = page->printer->text;
	const char *separator = page->printer->separator;
	char value[64], *at = value;
	int length;

	if (page->printer->json) {
		pd_stat_json_field(page, "\"metric-value\" : %f, \"metric-unit\" : \"%s\"", metric->value,
				   metric->unit);
		return;
	}
	if (!metric->format) {
		if (separator)
			pd_text_printf(text, "%s%s", separator, separator);
		else
			pd_text_printf(text, "%*s", METRIC_WIDTH, "");
		return;
	}
	/* the formats are those of pd_stat_metric.c: "%8.3f" and the like */
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
static void next_line(struct pd_stat_page *page, const struct pd_stat_line *line)
{
	static const unsigned fields[] = { [PD_STAT_BY_CPU] = 1,  [PD_STAT_GLOBAL] = 0,     [PD_STAT_BY_SOCKET] = 2,
					   [PD_STAT_BY_DIE] = 2,  [PD_STAT_BY_CORE] = 2,    [PD_STAT_BY_THREAD] = 1,
					   [PD_STAT_BY_NODE] = 1, [PD_STAT_BY_CLUSTER] = 2, [PD_STAT_BY_CACHE] = 2 };
	struct pd_text *text = page->printer->text;

	if (page->printer->json) {
		pd_text_add(text, "}\n{");
		page->json_open = false;
		if (*page->prefix)
			pd_stat_json_field(page, "%s", page->prefix);
		pd_stat_print_place(page, line);
		return;
	}
	pd_text_add(text, "\n");
	pd_text_add(text, page->prefix);
	pd_stat_print_place(page, line);
	if (page->printer->separator)
		for (unsigned i = 0; i < 3 + fields[page->table->by] + page->cgroups; i++)
			pd_text_add(text, page->printer->separator);
	else
		pd_text_printf(text, "%*s", page->table->by == PD_STAT_BY_CPU ? 57 : 49, "");
}

static void print_metrics(struct pd_stat_page *page, const struct pd_stat_line *line)
{
	struct pd_stat_metric metrics[PD_STAT_METRICS_MOST] = { 0 };
	size_t count = 1;

	if (!pd_stat_line_is_missing(line)) {
		count = pd_stat_metrics(page->table, line->event, line->value * line->event->scale, line->slot,
					metrics);
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

static void print_line(struct pd_stat_page *page, const struct pd_stat_line *line)
{
	struct pd_text *text = page->printer->text;
	bool metrics_first = !page->printer->json && !page->printer->separator;

	page->json_open = false;
	if (page->printer->json) {
		pd_text_add(text, "{");
		if (*page->prefix)
			pd_stat_json_field(page, "%s", page->prefix);
		pd_stat_print_place(page, line);
		print_value_json(page, line);
	} else {
		pd_text_add(text, page->prefix);
		pd_stat_print_place(page, line);
		print_value(page, line);
	}
	/* programs want numbers first, people metrics */
	if (!metrics_first) {
		print_noise(page, line);
		print_running(page, line);
	}
	print_metrics(page, line);
	if (metrics_first) {
		print_noise(page, line);
		print_running(page, line);
	}
	pd_text_add(text, page->printer->json ? "}\n" : "\n");
}

/* ---- all lines ---- */

static void print_global(struct pd_stat_page *page)
{
	for (size_t i = 0; i < page->table->event_count; i++) {
		struct pd_stat_line line = pd_stat_line_of_all(&page->table->events[i]);

		print_line(page, &line);
	}
}

static void print_by_cpu(struct pd_stat_page *page)
{
	for (size_t i = 0; i < page->table->event_count; i++) {
		const struct pd_stat_event *event = &page->table->events[i];

		for (size_t cpu = 0; cpu < event->cpu_count && page->table->thread_count; cpu++) {
			struct pd_stat_place core;
			struct pd_stat_line line;

			if (pd_stat_line_of_cpu(page, event, cpu, &core, &line))
				print_line(page, &line);
		}
	}
}

static int larger_first(const void *a, const void *b)
{
	const struct pd_stat_line *one = a, *other = b;

	if (one->value != other->value)
		return one->value > other->value ? -1 : 1;
	return one->slot < other->slot ? -1 : 1;
}

static void print_by_thread(struct pd_stat_page *page)
{
	const struct pd_stat_table *table = page->table;
	struct pd_stat_line *lines = pd_alloc((table->thread_count + 1) * sizeof(*lines));

	for (size_t i = 0; i < table->event_count && lines; i++) {
		const struct pd_stat_event *event = &table->events[i];
		size_t count = 0;

		for (size_t thread = 0; thread < table->thread_count; thread++) {
			struct pd_stat_line line = pd_stat_line_of_thread(table, event, thread);

			if (line.value || !table->all_threads)
				lines[count++] = line;
		}
		qsort(lines, count, sizeof(*lines), larger_first);
		for (size_t j = 0; j < count; j++)
			print_line(page, &lines[j]);
	}
	page->table->failed |= !lines;
	pd_free(lines);
}

static void print_by_group(struct pd_stat_page *page)
{
	size_t count;
	struct pd_stat_group *groups = pd_stat_groups(page->table, &count);
	struct pd_stat_sum *sums = groups ? pd_stat_group_sums(page->table, groups, count) : NULL;

	for (size_t i = 0; sums && i < count * page->table->event_count; i++) {
		size_t slot = i / page->table->event_count;
		struct pd_stat_line line = pd_stat_line_of_group(&page->table->events[i % page->table->event_count],
								 &groups[slot], &sums[i]);

		if (line.cpus)
			print_line(page, &line);
	}
	page->table->failed |= !sums;
	pd_free(sums);
	pd_free(groups);
}

static void print_counts(struct pd_stat_page *page)
{
	switch (page->table->by) {
	case PD_STAT_GLOBAL:
		print_global(page);
		break;
	case PD_STAT_BY_CPU:
		print_by_cpu(page);
		break;
	case PD_STAT_BY_THREAD:
		print_by_thread(page);
		break;
	default:
		print_by_group(page);
		break;
	}
}

static void print_lines(struct pd_stat_page *page)
{
	/* numbers for people are written as these write them */
	bool local = !page->printer->separator && !page->printer->json;
	locale_t own = (locale_t)0, before = (locale_t)0;

	page->unit_width = UNIT_WIDTH;
	for (size_t i = 0; i < page->table->event_count; i++) {
		const struct pd_stat_event *event = &page->table->events[i];

		page->cgroups |= event->cgroup != NULL;
		if (event->unit && (int)strlen(event->unit) > page->unit_width)
			page->unit_width = (int)strlen(event->unit);
	}
	if (local && page->printer->options->locale)
		own = newlocale(LC_NUMERIC_MASK, page->printer->options->locale, (locale_t)0);
	if (own)
		before = uselocale(own);
	if (page->printer->options->metric_only)
		pd_stat_print_only(page);
	else
		print_counts(page);
	if (own) {
		uselocale(before);
		freelocale(own);
	}
}

void pd_stat_print_round(struct pd_stat_printer *printer, struct pd_stat_table *table, uint64_t time_ns)
{
	static const char *const headings[] = {
		[PD_STAT_BY_CPU] = "#           time CPU                    counts unit events\n",
		[PD_STAT_GLOBAL] = "#           time             counts unit events\n",
		[PD_STAT_BY_SOCKET] = "#           time socket cpus             counts unit events\n",
		[PD_STAT_BY_DIE] = "#           time die          cpus             counts unit events\n",
		[PD_STAT_BY_CORE] = "#           time core            cpus             counts unit events\n",
		[PD_STAT_BY_THREAD] = "#           time             comm-pid                  counts unit events\n",
		[PD_STAT_BY_NODE] = "#           time node   cpus             counts unit events\n",
		[PD_STAT_BY_CLUSTER] = "#           time cluster              ctrs             counts unit events\n",
		[PD_STAT_BY_CACHE] = "#           time cache                  ctrs             counts unit events\n",
	};
	struct pd_stat_page page = { .printer = printer, .table = table };
	uint64_t seconds = time_ns / 1000000000, ns = time_ns % 1000000000;

	if (printer->json)
		snprintf(page.prefix, sizeof(page.prefix), "\"interval\" : %" PRIu64 ".%09" PRIu64, seconds, ns);
	else
		snprintf(page.prefix, sizeof(page.prefix), "%6" PRIu64 ".%09" PRIu64 "%.8s", seconds, ns,
			 printer->separator ? printer->separator : " ");
	page.heading = !printer->json && !printer->separator && printer->rounds % ROUNDS_PER_HEADING == 0;
	if (page.heading && !printer->options->metric_only)
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

static void print_runs(const struct pd_stat_printer *printer, double mean, int precision)
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

static void print_times(const struct pd_stat_printer *printer, const struct pd_stat_table *table)
{
	double mean = table->wall_ns.mean / 1e9;
	double deviation = pd_stat_mean_deviation(&table->wall_ns) / 1e9;
	int precision = digits(deviation);

	pd_text_add(printer->text, table->event_count ? "\n" : "");
	if (table->runs < 2) {
		pd_text_printf(printer->text, " %17.9f seconds time elapsed", mean);
	} else {
		if (printer->options->run_table)
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

void pd_stat_print_all(struct pd_stat_printer *printer, struct pd_stat_table *table)
{
	struct pd_stat_page page = { .printer = printer, .table = table };

	if (printer->json || printer->separator) {
		if (printer->options->summary_word && printer->separator)
			snprintf(page.prefix, sizeof(page.prefix), "%16s%.8s", "summary", printer->separator);
		print_lines(&page);
		return;
	}
	pd_text_printf(printer->text, "\n Performance counter stats for %s",
		       printer->options->title ? printer->options->title : "");
	if (table->runs > 1)
		pd_text_printf(printer->text, " (%u runs)", table->runs);
	pd_text_add(printer->text, ":\n\n");
	page.heading = true;
	print_lines(&page);
	print_times(printer, table);
}

void pd_stat_printer_fini(struct pd_stat_printer *printer)
{
	pd_free(printer->columns);
	pd_free(printer->run_seconds);
}

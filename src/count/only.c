/* SPDX-License-Identifier: MIT */
/*
 * What follows from counts, without the counts: a line for each place, a column for each metric of an event. A column is
 * there once one place has its value, and stays; rates and shares of CPUs, which go by time rather than by event, have none.
 */
#include "count/page.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	LEAST_WIDTH = 20,
	NAME_CAPACITY = 256
};

struct only {
	struct pd_stat_page *page;
	size_t column_count;
	struct pd_stat_metric *columns; /* two for each event, by number; without a unit: not there */
	bool is_measuring;              /* nothing is printed: which columns are there? */
	bool row_open;
	size_t row_slot, next_column;
	bool failed;
};

static bool is_column(const struct pd_stat_metric *metric)
{
	return metric->format && *metric->unit && !strstr(metric->unit, "/sec") &&
	       strcmp(metric->unit, "CPUs utilized") != 0;
}

/* ---- columns ---- */

static bool is_alone(const struct only *only, size_t column)
{
	size_t count = 0;

	for (size_t i = 0; i < only->column_count; i++)
		count += !strcmp(only->columns[i].unit, only->columns[column].unit);
	return count < 2;
}

/* The unit says what the value is; of which event where that is not clear. */
static void name_column(const struct only *only, size_t column, char name[NAME_CAPACITY])
{
	const struct pd_stat_event *event = &only->page->table->events[column / PD_STAT_METRICS_MOST];
	const char *unit = only->columns[column].unit;

	if (strncmp(unit, "of all", 6) != 0 && is_alone(only, column))
		snprintf(name, NAME_CAPACITY, "%s", unit);
	else
		snprintf(name, NAME_CAPACITY, "%.100s%s%.100s %s", event->name, event->cgroup ? " " : "",
			 event->cgroup ? event->cgroup : "", unit);
}

static int width_of(const char *name)
{
	int length = (int)strlen(name);

	return length < LEAST_WIDTH ? LEAST_WIDTH : length;
}

static void print_cell(struct only *only, size_t column, const char *value)
{
	struct pd_text *text = only->page->printer->text;
	char name[NAME_CAPACITY];

	name_column(only, column, name);
	if (only->page->printer->json) {
		pd_stat_json_name(only->page, name, value);
	} else if (only->page->printer->separator) {
		pd_text_add(text, value);
		pd_text_add(text, only->page->printer->separator);
	} else {
		pd_text_printf(text, "%*s ", width_of(name), value);
	}
}

/* ---- rows ---- */

/* What has no value in this row. */
static void print_empty_until(struct only *only, size_t column)
{
	for (; only->next_column < column; only->next_column++)
		if (*only->columns[only->next_column].unit)
			print_cell(only, only->next_column, "");
}

static void print_value(struct only *only, size_t column, const struct pd_stat_metric *metric)
{
	char text[64], *at = text, *end;

	/* the formats are those of pd_stat_metric.c: "%8.3f" and the like */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	snprintf(text, sizeof(text), metric->format, metric->value);
#pragma GCC diagnostic pop
	at += strspn(at, " ");
	end = at + strlen(at);
	while (end > at && end[-1] == ' ')
		*--end = 0;
	if (only->page->printer->json || only->page->printer->separator)
		at[strspn(at, "-0123456789.")] = 0;
	print_empty_until(only, column);
	print_cell(only, column, at);
	only->next_column = column + 1;
}

static void begin_line(struct only *only, const struct pd_stat_line *line)
{
	struct pd_stat_page *page = only->page;

	page->json_open = false;
	if (page->printer->json)
		pd_text_add(page->printer->text, "{");
	if (page->printer->json && *page->prefix)
		pd_stat_json_field(page, "%s", page->prefix);
	else
		pd_text_add(page->printer->text, page->prefix);
	pd_stat_print_place(page, line);
}

static void end_row(struct only *only)
{
	if (!only->row_open)
		return;
	print_empty_until(only, only->column_count);
	pd_text_add(only->page->printer->text, only->page->printer->json ? "}\n" : "\n");
	only->row_open = false;
}

/* ---- the heading ---- */

static const char *place_words(enum pd_stat_by by)
{
	static const char *const words[] = { [PD_STAT_BY_CPU] = "cpu",
					     [PD_STAT_GLOBAL] = "",
					     [PD_STAT_BY_SOCKET] = "socket,cpus",
					     [PD_STAT_BY_DIE] = "die,cpus",
					     [PD_STAT_BY_CORE] = "core,cpus",
					     [PD_STAT_BY_THREAD] = "comm-pid",
					     [PD_STAT_BY_NODE] = "node,cpus",
					     [PD_STAT_BY_CLUSTER] = "cluster,ctrs",
					     [PD_STAT_BY_CACHE] = "cache,ctrs" };

	return words[by];
}

static void print_words(struct pd_text *text, const char *words, const char *separator)
{
	for (const char *at = words; *at; at += strcspn(at, ","), at += *at == ',')
		pd_text_printf(text, "%.*s%s", (int)strcspn(at, ","), at, separator);
}

/* How much stands in front of the columns of text. */
static int place_width(struct only *only, const struct pd_stat_line *line)
{
	struct pd_text *text = only->page->printer->text, *scratch = pd_text_new();
	int width = 0;

	only->failed |= !scratch;
	if (!scratch)
		return 0;
	only->page->printer->text = scratch;
	begin_line(only, line);
	width = (int)pd_text_bytes(scratch).size;
	only->page->printer->text = text;
	pd_text_free(scratch);
	return width;
}

static void print_heading(struct only *only, const struct pd_stat_line *line)
{
	struct pd_stat_page *page = only->page;
	struct pd_text *text = page->printer->text;
	const char *separator = page->printer->separator, *time = *page->prefix ? "#           time" : "";

	if (page->printer->json)
		return;
	if (separator)
		print_words(text, *page->prefix ? "time" : "", separator);
	if (separator)
		print_words(text, place_words(page->table->by), separator);
	else
		pd_text_printf(text, "%-*s", place_width(only, line), time);
	for (size_t i = 0; i < only->column_count; i++) {
		char name[NAME_CAPACITY];

		if (!*only->columns[i].unit)
			continue;
		name_column(only, i, name);
		print_cell(only, i, name);
	}
	pd_text_add(text, "\n");
}

/* ---- a line: an event in a place ---- */

static void note_metric(struct only *only, size_t column, const struct pd_stat_metric *metric)
{
	if (*only->columns[column].unit)
		return;
	only->columns[column] = *metric;
	only->page->heading = true;
}

static void take_line(struct only *only, const struct pd_stat_line *line)
{
	struct pd_stat_table *table = only->page->table;
	size_t column = (size_t)(line->event - table->events) * PD_STAT_METRICS_MOST;
	struct pd_stat_metric metrics[PD_STAT_METRICS_MOST] = { 0 };
	size_t count = 0;

	if (!pd_stat_line_is_missing(line))
		count = pd_stat_metrics(table, line->event, line->value * line->event->scale, line->slot, metrics);
	if (!only->is_measuring && (!only->row_open || only->row_slot != line->slot)) {
		end_row(only);
		if (only->page->heading)
			print_heading(only, line);
		only->page->heading = false;
		only->row_open = true;
		only->row_slot = line->slot;
		only->next_column = 0;
		begin_line(only, line);
	}
	for (size_t i = 0; i < count; i++) {
		if (is_column(&metrics[i]) && only->is_measuring)
			note_metric(only, column + i, &metrics[i]);
		else if (is_column(&metrics[i]))
			print_value(only, column + i, &metrics[i]);
	}
}

/* ---- all lines, those of a place one after another ---- */

static void take_all(struct only *only)
{
	for (size_t i = 0; i < only->page->table->event_count; i++) {
		struct pd_stat_line line = pd_stat_line_of_all(&only->page->table->events[i]);

		take_line(only, &line);
	}
}

static void take_cpus(struct only *only)
{
	const struct pd_stat_table *table = only->page->table;
	size_t most = 0;

	for (size_t i = 0; i < table->event_count; i++)
		most = table->events[i].cpu_count > most ? table->events[i].cpu_count : most;
	for (size_t cpu = 0; cpu < most && table->thread_count; cpu++) {
		for (size_t i = 0; i < table->event_count; i++) {
			const struct pd_stat_event *event = &table->events[i];
			struct pd_stat_place core;
			struct pd_stat_line line;

			/* what is on a few CPUs only is of packages, and has no metrics */
			if (event->cpu_count == most && pd_stat_line_of_cpu(only->page, event, cpu, &core, &line))
				take_line(only, &line);
		}
	}
}

static void take_threads(struct only *only)
{
	const struct pd_stat_table *table = only->page->table;

	for (size_t thread = 0; thread < table->thread_count; thread++) {
		bool any = !table->all_threads;

		for (size_t i = 0; i < table->event_count; i++)
			any |= pd_stat_line_of_thread(table, &table->events[i], thread).value != 0;
		for (size_t i = 0; i < table->event_count && any; i++) {
			struct pd_stat_line line = pd_stat_line_of_thread(table, &table->events[i], thread);

			take_line(only, &line);
		}
	}
}

static void take_groups(struct only *only)
{
	const struct pd_stat_table *table = only->page->table;
	size_t count;
	struct pd_stat_group *groups = pd_stat_groups(table, &count);
	struct pd_stat_sum *sums = groups ? pd_stat_group_sums(table, groups, count) : NULL;

	for (size_t i = 0; sums && i < count * table->event_count; i++) {
		struct pd_stat_line line = pd_stat_line_of_group(&table->events[i % table->event_count],
								 &groups[i / table->event_count], &sums[i]);

		if (line.cpus)
			take_line(only, &line);
	}
	only->failed |= !sums;
	/* the last row is of a group */
	end_row(only);
	pd_free(sums);
	pd_free(groups);
}

static void take_lines(struct only *only)
{
	switch (only->page->table->by) {
	case PD_STAT_GLOBAL:
		take_all(only);
		break;
	case PD_STAT_BY_CPU:
		take_cpus(only);
		break;
	case PD_STAT_BY_THREAD:
		take_threads(only);
		break;
	default:
		take_groups(only);
		break;
	}
	end_row(only);
}

void pd_stat_print_only(struct pd_stat_page *page)
{
	struct pd_stat_printer *printer = page->printer;
	struct only only = { .page = page,
			     .column_count = page->table->event_count * PD_STAT_METRICS_MOST,
			     .is_measuring = true };
	bool any = false;

	if (!printer->columns)
		printer->columns = pd_alloc((only.column_count + 1) * sizeof(*printer->columns));
	only.columns = printer->columns;
	if (!only.columns) {
		page->table->failed = true;
		return;
	}
	take_lines(&only);
	for (size_t i = 0; i < only.column_count; i++)
		any |= *only.columns[i].unit != 0;
	only.is_measuring = false;
	if (any)
		take_lines(&only);
	else if (!printer->warned && printer->options->warn)
		printer->options->warn(
			printer->options->self,
			"no metric can be computed from these events: metrics need hardware counters such "
			"as cycles and instructions; perfdata list hw lists those of this machine");
	printer->warned |= !any;
	page->table->failed |= only.failed;
}

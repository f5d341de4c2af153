/* SPDX-License-Identifier: MIT */
/*
 * Tables of perfdata top: those of perfdata report, with another head, of a sum that grows and fades.
 */
#include "top.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static bool is_ours(const char *name)
{
	/* Lines are asked of symbols, which do not live as long as a sum; slices of time of a whole recording. */
	return strcmp(name, "srcline") != 0 && strcmp(name, "srcfile") != 0 && strcmp(name, "time") != 0;
}

static bool set_columns(struct report *report, const struct look *look)
{
	struct column keys[COLUMNS_MOST];
	size_t count = 0;

	report->children = look->children;
	report->graph = look->graph;
	report->threads = 1; /* whoever watches costs little */
	if (report->children)
		columns_add_number(report, COLUMN_CHILDREN);
	columns_add_number(report, COLUMN_OVERHEAD);
	if (look->samples)
		columns_add_number(report, COLUMN_SAMPLES);
	if (look->period)
		columns_add_number(report, COLUMN_PERIOD);
	if (!columns_parse(report, look->sort, keys, &count))
		return false;
	for (size_t i = 0; i < report->key_count; i++) {
		if (is_ours(report->keys[i]->name))
			continue;
		complain("sort key '%s' is not supported by top", report->keys[i]->name);
		return false;
	}
	return columns_append_all(report->columns, &report->column_count, keys, count) &&
	       columns_append_all(report->order, &report->order_count, keys, count);
}

bool table_by(const struct look *look, uint32_t *by_out)
{
	struct report *report = calloc(1, sizeof(*report));
	bool done;

	if (!report) {
		complain("out of memory");
		return false;
	}
	done = set_columns(report, look);
	*by_out = report_by(report);
	free(report);
	return done;
}

/* ---- rows ---- */

static bool has_text(const struct report *report, const struct row *row, const char *text)
{
	for (size_t i = 0; i < report->key_count; i++)
		if (strcasestr(report->values[i].items[row_value(report, row, i)].text, text))
			return true;
	return false;
}

/* Leaves out what is not to be seen, so that columns are as wide as what is. */
static void keep_shown(const struct report *report, const struct look *look, struct table *table, size_t most)
{
	size_t kept = 0;

	for (size_t i = 0; i < table->row_count && (!most || kept < most); i++) {
		const struct row *row = &table->rows[i];
		uint64_t weight = look->children ? row->amounts->children_period : row->amounts->period;

		if (percent_of(weight, table->totals[0]) < look->least)
			continue;
		if (!*look->filter || has_text(report, row, look->filter))
			table->rows[kept++] = *row;
	}
	table->row_count = kept;
}

static bool build(struct report *report, const struct look *look, const struct shown *shown, struct output *out,
		  size_t most)
{
	report->input.file = shown->file;
	report->input.out = out;
	report->out = out->text;
	report->escape = true;
	report->profile = (struct pd_profile *)(uintptr_t)shown->profile;
	report->symbols = shown->symbols;
	report->select = *look->select;
	report->least = look->least;
	report->max_stack = look->max_stack;
	report->graph = look->graph;
	report->scratch = pd_text_new();
	if (!report->scratch || !set_columns(report, look) || !tables_make(report, false, true) || !rows_build(report))
		return false;
	for (size_t i = 0; i < report->table_count; i++)
		keep_shown(report, look, &report->tables[i], most);
	return true;
}

/* ---- text ---- */

static void add_head(const struct look *look, const struct state *state, const struct shown *shown,
		     struct pd_text *text)
{
	double rate = state->seconds > 0 ? (double)state->samples / state->seconds : 0;
	size_t count = pd_file_event_count(shown->file);
	const char *name = "";

	for (size_t i = 0; i < count && !*name; i++)
		if (look->event == ALL_EVENTS || look->event == i)
			name = pd_file_event(shown->file, i)->name;
	pd_text_printf(text,
		       "perfdata top: %.0f samples/s, kernel %.1f%%, lost %" PRIu64
		       " (%.2f%%), [%s %s], %s, %zu CPU%s, "
		       "%zu threads\n",
		       rate, percent_of(state->kernel_samples, state->samples), state->lost,
		       percent_of(state->lost, state->lost + state->all_samples), state->rate, name, state->whom,
		       state->cpus, state->cpus == 1 ? "" : "s", state->threads);
	pd_text_printf(text, "%s\n", state->notice ? state->notice : "");
}

static size_t count_lines(struct pd_text *text)
{
	struct pd_bytes bytes = pd_text_bytes(text);
	size_t lines = 0;

	for (size_t i = 0; i < bytes.size; i++)
		lines += bytes.data[i] == '\n';
	return lines;
}

static bool add_rows(struct report *report, const struct table *table, const struct row **rows, size_t lines)
{
	struct drawing drawn;
	bool done;

	for (size_t i = 0; i < table->row_count; i++)
		rows[i] = &table->rows[i];
	done = drawing_start(&drawn, report, table, rows, table->row_count);
	while (done && drawn.next < drawn.count) {
		done = drawing_next(&drawn);
		/* graphs can be long */
		if (lines && report->graph.kind != GRAPH_NONE && count_lines(report->out) >= lines)
			break;
	}
	drawing_end(&drawn);
	return done;
}

static bool add_table(struct report *report, struct table *table, size_t lines)
{
	const struct row **rows = malloc((table->row_count + 1) * sizeof(*rows));
	bool done;

	report_text_header(report, table);
	done = rows && add_rows(report, table, rows, lines);
	free(rows);
	return done;
}

bool table_text(const struct look *look, const struct state *state, const struct shown *shown, size_t lines,
		struct output *out)
{
	struct report *report = calloc(1, sizeof(*report));
	size_t most = lines && (!look->entries || look->entries > lines) ? lines : look->entries;
	bool several = look->event == ALL_EVENTS, done;

	if (!report)
		return false;
	add_head(look, state, shown, out->text);
	done = build(report, look, shown, out, most);
	for (size_t i = 0; i < report->table_count && done; i++) {
		struct table *table = &report->tables[i];

		if (!several && table->first_event != look->event)
			continue;
		if (several && report->table_count > 1)
			pd_text_printf(out->text, "# event '%s'\n", table->name);
		done = add_table(report, table, lines);
	}
	if (several)
		pd_text_add(out->text, "\n");
	report_fini(report);
	free(report);
	return done;
}

/* ---- JSON ---- */

bool table_json(const struct look *look, const struct state *state, const struct shown *shown, struct output *out)
{
	struct report *report = calloc(1, sizeof(*report));
	struct pd_json json = { .text = out->text };
	struct timespec now;
	bool done;

	if (!report)
		return false;
	clock_gettime(CLOCK_REALTIME, &now);
	pd_json_open(&json, NULL, '{');
	pd_json_double(&json, "time", (double)now.tv_sec + (double)now.tv_nsec / 1e9);
	pd_json_double(&json, "seconds", state->seconds);
	pd_json_number(&json, "samples", state->samples);
	pd_json_number(&json, "kernel_samples", state->kernel_samples);
	pd_json_number(&json, "all_samples", state->all_samples);
	pd_json_number(&json, "all_lost", state->lost);
	pd_json_number(&json, "cpus", state->cpus);
	pd_json_number(&json, "threads", state->threads);
	done = build(report, look, shown, out, look->entries) && report_json_members(report, &json);
	pd_json_close(&json, '}');
	pd_text_add(out->text, "\n");
	report_fini(report);
	free(report);
	return done;
}

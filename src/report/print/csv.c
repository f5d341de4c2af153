/* SPDX-License-Identifier: MIT */
/* Reports as CSV, by RFC 4180: a line for each row and event. */
#include "report/print/print.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Without what a terminal would obey. The text is there until the next call; empty if there is no memory. */
static const char *escaped(struct pd_report *report, const char *text)
{
	pd_text_clear(report->scratch.text);
	pd_text_escaped(report->scratch.text, text, strlen(text));
	pd_text_printf(report->scratch.text, "%c", 0);
	return pd_text_failed(report->scratch.text) ? "" : (const char *)pd_text_bytes(report->scratch.text).data;
}

/* Spreadsheets take a cell that begins so for a formula, also where it is quoted, and an apostrophe for the sign that it is text.
 * Numbers may have a sign. */
static bool is_formula(const char *text)
{
	char *end;

	if (!*text || !strchr("=+-@\t\r", *text))
		return false;
	strtod(text, &end);
	return *end != 0;
}

/* Quoted where it must be, by RFC 4180. */
static void add_quoted(struct pd_report *report, const char *text)
{
	struct pd_text *out = report->out;
	const char *mark = is_formula(text) ? "'" : "";

	if (report->print.escape)
		text = escaped(report, text);
	if (!strpbrk(text, ",\"\r\n")) {
		pd_text_printf(out, "%s%s", mark, text);
		return;
	}
	pd_text_printf(out, "\"%s", mark);
	for (; *text; text++)
		pd_text_printf(out, *text == '"' ? "\"\"" : "%c", *text);
	pd_text_add(out, "\"");
}

/* Of the columns that are shown: means of weights, and shares in percent of each part of an access. */
static void add_accesses(const struct pd_report *report, const struct table *table, const struct row *row, size_t event)
{
	for (size_t i = 0; i < report->columns.count; i++) {
		enum column_kind kind = report->columns.items[i].kind;

		if (column_is_weight(kind))
			pd_text_printf(report->out, ",%.1f", pd_row_mean_weight(table, row, event, kind));
		for (size_t part = 0; column_is_access(kind) && part < pd_access_column(kind)->count; part++)
			pd_text_printf(report->out, ",%.4f",
				       pd_percent(pd_row_access(table, row, event, kind, part), table->totals[event]));
	}
}

static void add_access_names(const struct pd_report *report)
{
	for (size_t i = 0; i < report->columns.count; i++) {
		enum column_kind kind = report->columns.items[i].kind;

		if (column_is_weight(kind))
			pd_text_printf(report->out, ",weight%d", kind - COLUMN_WEIGHT1 + 1);
		for (size_t part = 0; column_is_access(kind) && part < pd_access_column(kind)->count; part++)
			pd_text_printf(report->out, ",%s_%s", pd_access_column(kind)->name,
				       pd_access_column(kind)->parts[part].name);
	}
}

static void add_csv_row(struct pd_report *report, const struct table *table, const struct row *row, size_t event)
{
	const struct pd_report_amounts *amounts = &row->amounts[event];
	struct pd_text *out = report->out;

	add_quoted(report, pd_file_event(report->file, table->head.first_event + event)->name);
	if (report->children)
		pd_text_printf(out, ",%.4f", pd_percent(amounts->children_period, table->totals[event]));
	pd_text_printf(out, ",%.4f,%" PRIu64 ",%" PRIu64, pd_percent(amounts->period, table->totals[event]),
		       amounts->samples, amounts->period);
	for (unsigned kind = COLUMN_MEAN; report->percentiles && kind <= COLUMN_MAX; kind++)
		pd_text_printf(out, ",%" PRIu64, pd_row_number(table, row, event, (enum column_kind)kind));
	if (report->by_latency)
		pd_text_printf(out, ",%.4f", pd_percent(amounts->latency, table->latencies[event]));
	if (report->by_latency && report->children)
		pd_text_printf(out, ",%.4f", pd_percent(amounts->children_latency, table->latencies[event]));
	add_accesses(report, table, row, event);
	for (size_t i = 0; i < report->key_count; i++) {
		char cell[PD_REPORT_CELL_BYTES];
		const char *text = pd_value_text(report, i, row, cell);

		pd_text_add(out, ",");
		if (report->keys[i]->has_level && !report->keys[i]->head.of_branch)
			text += 4;
		add_quoted(report, text + strspn(text, " "));
	}
	pd_text_add(out, "\r\n");
}

static void add_csv_header(const struct pd_report *report)
{
	struct pd_text *out = report->out;

	pd_text_add(out, report->children ? "event,children,overhead,samples,period" : "event,overhead,samples,period");
	pd_text_add(out, report->percentiles ? ",mean,p50,p95,p99,max" : "");
	if (report->by_latency)
		pd_text_add(out, report->children ? ",latency,children_latency" : ",latency");
	add_access_names(report);
	for (size_t i = 0; i < report->key_count; i++)
		pd_text_printf(out, ",%s", report->keys[i]->head.json);
	pd_text_add(out, "\r\n");
}

static enum pd_status add_table(struct pd_report *report, const struct table *table)
{
	enum pd_status status = PD_OK;

	for (size_t i = 0; i < table->head.row_count && status == PD_OK; i++) {
		bool small = pd_row_is_small(report, table, &table->rows[i]);

		for (size_t k = 0; k < table->head.event_count && !small; k++)
			add_csv_row(report, table, &table->rows[i], k);
		status = pd_print_flush_large(report->out);
	}
	return status;
}

enum pd_status pd_report_csv(struct pd_report *report, const struct pd_report_text_options *options,
			     struct pd_text *text, struct pd_error *error)
{
	enum pd_status status = PD_OK;

	pd_print_start(report, options, text);
	add_csv_header(report);
	for (size_t i = 0; i < report->table_count && status == PD_OK; i++)
		status = add_table(report, &report->tables[i]);
	return pd_print_end(status, text, error);
}

/* SPDX-License-Identifier: MIT */
/* Reports for programs: JSON with everything, CSV with a line for each row and event. */
#include "report.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t weight_of(const struct report *report, const struct row *row)
{
	return report->children ? row->amounts->children_period : row->amounts->period;
}

static bool is_hidden(const struct report *report, const struct table *table, const struct row *row)
{
	return percent_of(weight_of(report, row), table->totals[0]) < report->least;
}

/* A cell without what only tables need: the number in front of a name, the level in front of a function. */
static void add_value(struct pd_json *json, const struct report *report, size_t key, const struct row *row)
{
	char room[VALUE_TEXT_BYTES];
	const char *name = report->keys[key]->json, *text = value_text(report, key, row, room);

	if (strcmp(name, "symbol") == 0 || strcmp(name, "symbol_from") == 0 || strcmp(name, "symbol_to") == 0) {
		char level[32];

		snprintf(level, sizeof(level), "level%s", name + strlen("symbol"));
		pd_json_string(json, level, (char[]){ text[1], 0 });
		text += 4;
	} else if (strcmp(name, "tid") == 0 || strcmp(name, "pid") == 0) {
		pd_json_number(json, name, report->values[key].items[row_value(report, row, key)].a);
		name = "thread_comm";
		text = strchr(text, ':') ? strchr(text, ':') + 1 : text;
	}
	pd_json_string(json, name, text);
}

static bool add_row(struct pd_json *json, struct report *report, const struct table *table, const struct row *row)
{
	bool done = true;

	pd_json_open(json, NULL, '{');
	for (size_t i = 0; i < report->key_count; i++)
		add_value(json, report, i, row);
	pd_json_open(json, "amounts", '[');
	for (size_t i = 0; i < table->event_count; i++) {
		const struct amounts *amounts = &row->amounts[i];

		pd_json_open(json, NULL, '{');
		pd_json_double(json, "overhead", percent_of(amounts->period, table->totals[i]));
		pd_json_number(json, "samples", amounts->samples);
		pd_json_number(json, "period", amounts->period);
		if (report->children) {
			pd_json_double(json, "children", percent_of(amounts->children_period, table->totals[i]));
			pd_json_number(json, "children_samples", amounts->children_samples);
			pd_json_number(json, "children_period", amounts->children_period);
		}
		pd_json_close(json, '}');
	}
	pd_json_close(json, ']');
	if (report->graph.kind != GRAPH_NONE) {
		pd_json_open(json, "callgraph", '[');
		done = graph_json(report, table, row, json);
		pd_json_close(json, ']');
	}
	pd_json_close(json, '}');
	return done;
}

static bool add_table(struct pd_json *json, struct report *report, const struct table *table)
{
	static const char *const units[] = { "samples", "events", "ns" }; /* of the period */

	pd_json_open(json, NULL, '{');
	pd_json_string(json, "name", table->name);
	pd_json_open(json, "events", '[');
	for (size_t i = 0; i < table->event_count; i++) {
		const struct pd_event *event = pd_file_event(report->input.file, table->first_event + i);

		pd_json_open(json, NULL, '{');
		pd_json_string(json, "event", event->name);
		pd_json_number(json, "samples", table->samples[i]);
		pd_json_number(json, "period", table->totals[i]);
		pd_json_string(json, "unit", units[pd_event_unit(event)]);
		pd_json_close(json, '}');
	}
	pd_json_close(json, ']');
	pd_json_open(json, "rows", '[');
	for (size_t i = 0; i < table->row_count; i++) {
		if (is_hidden(report, table, &table->rows[i]))
			continue;
		if (!add_row(json, report, table, &table->rows[i]))
			return false;
		if (!output_spill(report->input.out))
			return true;
	}
	pd_json_close(json, ']');
	pd_json_close(json, '}');
	return true;
}

static void add_trust(struct pd_json *json, const struct report *report)
{
	const struct pd_profile_losses *losses = pd_profile_losses(report->profile);
	struct trust trust = trust_of(report);

	pd_json_open(json, "trust", '{');
	pd_json_number(json, "samples", trust.samples);
	pd_json_number(json, "lost", losses->lost);
	pd_json_number(json, "lost_samples", losses->lost_samples);
	pd_json_number(json, "throttled", losses->throttles);
	pd_json_number(json, "cut_stacks", trust.cut);
	pd_json_number(json, "copied_stacks", trust.copied);
	pd_json_number(json, "unknown_functions", trust.unknown);
	pd_json_number(json, "damaged", losses->damaged);
	pd_json_number(json, "unknown_events", losses->unknown_event);
	pd_json_close(json, '}');
}

bool report_json_members(struct report *report, struct pd_json *json)
{
	add_trust(json, report);
	pd_json_open(json, "tables", '[');
	for (size_t i = 0; i < report->table_count; i++)
		if (!add_table(json, report, &report->tables[i]))
			return false;
	pd_json_close(json, ']');
	return true;
}

bool report_json(struct report *report)
{
	struct pd_json json = { .text = report->out };

	pd_json_open(&json, NULL, '{');
	if (!report_json_members(report, &json))
		return false;
	pd_json_close(&json, '}');
	pd_text_add(report->out, "\n");
	return true;
}

/* ---- CSV ---- */

/* Without what a terminal would obey. The text is there until the next call; empty if there is no memory. */
static const char *escaped(struct report *report, const char *text)
{
	pd_text_clear(report->scratch);
	pd_text_escaped(report->scratch, text, strlen(text));
	pd_text_printf(report->scratch, "%c", 0);
	return pd_text_failed(report->scratch) ? "" : (const char *)pd_text_bytes(report->scratch).data;
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
static void add_quoted(struct report *report, const char *text)
{
	struct pd_text *out = report->out;
	const char *mark = is_formula(text) ? "'" : "";

	if (report->escape)
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

static void add_csv_row(struct report *report, const struct table *table, const struct row *row, size_t event)
{
	const struct amounts *amounts = &row->amounts[event];
	struct pd_text *out = report->out;

	add_quoted(report, pd_file_event(report->input.file, table->first_event + event)->name);
	if (report->children)
		pd_text_printf(out, ",%.4f", percent_of(amounts->children_period, table->totals[event]));
	pd_text_printf(out, ",%.4f,%" PRIu64 ",%" PRIu64, percent_of(amounts->period, table->totals[event]),
		       amounts->samples, amounts->period);
	for (size_t i = 0; i < report->key_count; i++) {
		char room[VALUE_TEXT_BYTES];
		const char *text = value_text(report, i, row, room);

		pd_text_add(out, ",");
		if (strcmp(report->keys[i]->json, "symbol") == 0)
			text += 4;
		add_quoted(report, text + strspn(text, " "));
	}
	pd_text_add(out, "\r\n");
}

bool report_csv(struct report *report)
{
	struct pd_text *out = report->out;

	pd_text_add(out, report->children ? "event,children,overhead,samples,period" : "event,overhead,samples,period");
	for (size_t i = 0; i < report->key_count; i++)
		pd_text_printf(out, ",%s", report->keys[i]->json);
	pd_text_add(out, "\r\n");
	for (size_t t = 0; t < report->table_count; t++) {
		const struct table *table = &report->tables[t];

		for (size_t i = 0; i < table->row_count; i++) {
			for (size_t k = 0; k < table->event_count && !is_hidden(report, table, &table->rows[i]); k++)
				add_csv_row(report, table, &table->rows[i], k);
			if (!output_spill(report->input.out))
				return true;
		}
	}
	return true;
}

/* SPDX-License-Identifier: MIT */
/* Reports as JSON: everything that is known of each row. */
#include "report/print/print.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text/json.h"
#include "report/keys/field_keys.h"
#include "report/print/graph.h"
#include "unwind/unwinder.h"

/* A cell without what only tables need: the number in front of a name, the level in front of a function. */
static void add_value(struct pd_json *json, const struct pd_report *report, const struct table *table, size_t key,
		      const struct row *row)
{
	char cell[PD_REPORT_CELL_BYTES];
	const char *name = report->keys[key]->head.json, *text = pd_value_text(report, key, row, cell);

	if (key_is_field(report->keys[key])) {
		name = pd_key_field_name(report, report->keys[key], table);
		if (!name)
			return;
	} else if (report->keys[key]->has_level) {
		char level[32];

		snprintf(level, sizeof(level), "level%s", name + strlen("symbol"));
		pd_json_string(json, level, (char[]){ text[1], 0 });
		text += 4;
	} else if (report->keys[key]->has_number) {
		pd_json_number(json, name, report->values[key].items[row_value(report, row, key)].a);
		name = "thread_comm";
		text = strchr(text, ':') ? strchr(text, ':') + 1 : text;
	}
	pd_json_string(json, name, text);
}

static void add_latency(struct pd_json *json, const struct pd_report *report, const struct pd_report_amounts *amounts,
			uint64_t total)
{
	pd_json_double(json, "latency", pd_percent(amounts->latency, total));
	if (report->children)
		pd_json_double(json, "children_latency", pd_percent(amounts->children_latency, total));
}

/* Of the columns that are shown, shares in percent of each part. */
static void add_accesses(struct pd_json *json, const struct pd_report *report, const struct table *table,
			 const struct row *row, size_t event)
{
	for (size_t i = 0; i < report->columns.count; i++) {
		enum column_kind kind = report->columns.items[i].kind;
		const struct access_column *column;

		if (column_is_weight(kind))
			pd_json_double(json, (const char *[]){ "weight1", "weight2", "weight3" }[kind - COLUMN_WEIGHT1],
				       pd_row_mean_weight(table, row, event, kind));
		if (!column_is_access(kind))
			continue;
		column = pd_access_column(kind);
		pd_json_open(json, column->name, '{');
		for (size_t part = 0; part < column->count; part++)
			pd_json_double(json, column->parts[part].name,
				       pd_percent(pd_row_access(table, row, event, kind, part), table->totals[event]));
		pd_json_close(json, '}');
	}
}

static bool add_row(struct pd_json *json, struct pd_report *report, const struct table *table, const struct row *row)
{
	static const char *const names[] = { "mean", "p50", "p95", "p99", "max" };
	bool done = true;

	pd_json_open(json, NULL, '{');
	for (size_t i = 0; i < report->key_count; i++)
		add_value(json, report, table, i, row);
	pd_json_open(json, "amounts", '[');
	for (size_t i = 0; i < table->head.event_count; i++) {
		const struct pd_report_amounts *amounts = &row->amounts[i];

		pd_json_open(json, NULL, '{');
		pd_json_double(json, "overhead", pd_percent(amounts->period, table->totals[i]));
		pd_json_number(json, "samples", amounts->samples);
		pd_json_number(json, "period", amounts->period);
		for (unsigned k = 0; report->percentiles && k < sizeof(names) / sizeof(names[0]); k++)
			pd_json_number(json, names[k],
				       pd_row_number(table, row, i, (enum column_kind)(COLUMN_MEAN + k)));
		add_accesses(json, report, table, row, i);
		if (report->children) {
			pd_json_double(json, "children", pd_percent(amounts->children_period, table->totals[i]));
			pd_json_number(json, "children_samples", amounts->children_samples);
			pd_json_number(json, "children_period", amounts->children_period);
		}
		if (report->by_latency)
			add_latency(json, report, amounts, table->latencies[i]);
		pd_json_close(json, '}');
	}
	pd_json_close(json, ']');
	if (has_graphs(report)) {
		pd_json_open(json, "callgraph", '[');
		done = pd_graph_json(report, table, row, json);
		pd_json_close(json, ']');
	}
	pd_json_close(json, '}');
	return done;
}

static enum pd_status add_table(struct pd_json *json, struct pd_report *report, const struct table *table)
{
	static const char *const units[] = { "samples", "events", "ns" }; /* of the period */
	enum pd_status status = PD_OK;

	pd_json_open(json, NULL, '{');
	pd_json_string(json, "name", table->name);
	pd_json_open(json, "events", '[');
	for (size_t i = 0; i < table->head.event_count; i++) {
		const struct pd_event *event = pd_file_event(report->file, table->head.first_event + i);

		pd_json_open(json, NULL, '{');
		pd_json_string(json, "event", event->name);
		pd_json_number(json, "samples", table->samples[i]);
		pd_json_number(json, "period", table->totals[i]);
		pd_json_string(json, "unit", units[pd_event_unit(event)]);
		pd_json_close(json, '}');
	}
	pd_json_close(json, ']');
	pd_json_open(json, "rows", '[');
	for (size_t i = 0; i < table->head.row_count && status == PD_OK; i++) {
		if (pd_row_is_small(report, table, &table->rows[i]))
			continue;
		if (!add_row(json, report, table, &table->rows[i]))
			return PD_ERROR_MEMORY;
		status = pd_print_flush_large(json->text);
	}
	pd_json_close(json, ']');
	pd_json_close(json, '}');
	return status;
}

static void add_unwinding(struct pd_json *json, const struct pd_unwinder *unwinder)
{
	uint64_t sums[PD_UNWIND_ENDS];

	pd_unwinder_sums(unwinder, sums);
	pd_json_open(json, "unwound_stacks", '{');
	for (size_t end = 0; end < PD_UNWIND_ENDS; end++)
		pd_json_number(json, pd_unwind_end_name((enum pd_unwind_end)end), sums[end]);
	pd_json_close(json, '}');
}

static void add_quality(struct pd_json *json, const struct pd_report *report)
{
	const struct pd_profile_losses *losses = pd_profile_losses(report->profile);
	struct pd_report_quality quality;

	pd_report_quality(report, &quality);
	pd_json_open(json, "trust", '{');
	pd_json_number(json, "samples", quality.samples);
	pd_json_number(json, "lost", losses->lost);
	pd_json_number(json, "lost_samples", losses->lost_samples);
	pd_json_number(json, "throttled", losses->throttles);
	pd_json_number(json, "cut_stacks", quality.cut_stacks);
	pd_json_number(json, "copied_stacks", quality.copied_stacks);
	if (quality.unwinder)
		add_unwinding(json, quality.unwinder);
	pd_json_number(json, "unknown_functions", quality.unresolved);
	pd_json_number(json, "damaged", losses->damaged);
	pd_json_number(json, "unknown_events", losses->unknown_event);
	pd_json_close(json, '}');
}

static enum pd_status add_members(struct pd_report *report, struct pd_json *json)
{
	enum pd_status status = PD_OK;

	add_quality(json, report);
	pd_json_open(json, "tables", '[');
	for (size_t i = 0; i < report->table_count && status == PD_OK; i++)
		status = add_table(json, report, &report->tables[i]);
	pd_json_close(json, ']');
	return status;
}

enum pd_status pd_report_json_members(struct pd_report *report, struct pd_text *text, struct pd_error *error)
{
	struct pd_json json = { .text = text };

	pd_print_start(report, NULL, text);
	return pd_print_end(add_members(report, &json), text, error);
}

enum pd_status pd_report_json(struct pd_report *report, struct pd_text *text, struct pd_error *error)
{
	struct pd_json json = { .text = text };
	enum pd_status status;

	pd_print_start(report, NULL, text);
	pd_json_open(&json, NULL, '{');
	status = add_members(report, &json);
	pd_json_close(&json, '}');
	pd_text_add(text, "\n");
	return pd_print_end(status, text, error);
}

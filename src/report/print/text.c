/* SPDX-License-Identifier: MIT */
/* Reports as text, as perf report --stdio prints them. */
#include "report/print/print.h"

#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "report/print/graph.h"

enum {
	ROWS_AHEAD = 16,
	ROWS_NOT_FOLDED = 10
};

/* 1275 is 1K, and 1000 is still 1000, as in perf: what stands on top only says how much there is. */
static void add_count(struct pd_text *out, uint64_t count)
{
	static const char units[] = " KMGTPE";
	size_t unit = 0;

	for (; count > 1000 && unit + 2 < sizeof(units); unit++)
		count /= 1000;
	pd_text_printf(out, "%" PRIu64 "%c", count, units[unit]);
}

static void add_title(const struct pd_report *report, const struct table *table)
{
	uint64_t samples = 0, total = 0;

	for (size_t i = 0; i < table->head.event_count; i++) {
		samples += table->samples[i];
		total += table->totals[i];
	}
	pd_text_add(report->out, "# Samples: ");
	add_count(report->out, samples);
	pd_text_add(report->out, table->head.group ? " of events '" : " of event '");
	if (report->print.escape)
		pd_text_escaped(report->out, table->name, strlen(table->name));
	else
		pd_text_add(report->out, table->name);
	pd_text_add(report->out, "'");
	if (report->print.time)
		pd_text_printf(report->out, " (time slices: %s)", report->print.time);
	if (report->options.mem_mode)
		pd_text_printf(report->out, "\n# Total weight : %" PRIu64 "\n# Sort order   : %s\n", total,
			       report->sort_text);
	else
		pd_text_printf(report->out, "\n# Event count (approx.): %" PRIu64 "\n", total);
	if (report->options.socket)
		pd_text_printf(report->out, "# Processor Socket: %s\n", report->options.socket);
	if (report->by_latency)
		pd_text_add(
			report->out,
			"# Latency: share of the wall time: the weight of each sample divided by the number of threads that ran then\n");
	pd_text_add(report->out, "#\n");
}

/* Some rows are shown however small they are. */
static bool is_folded(const struct pd_report *report, size_t index, double percent)
{
	return index >= ROWS_NOT_FOLDED && percent < report->print.fold_percent;
}

/* Those that are large enough; NULL if there is no memory. */
static const struct row **shown_rows(const struct pd_report *report, const struct table *table, size_t *count_out)
{
	const struct row **rows = pd_alloc((table->head.row_count + 1) * sizeof(*rows));

	*count_out = 0;
	for (size_t i = 0; rows && i < table->head.row_count; i++) {
		const struct pd_report_amounts *amounts = table->rows[i].amounts;
		uint64_t weight = report->children ? amounts->children_period : amounts->period;
		double percent;

		if (i + ROWS_AHEAD < table->head.row_count)
			__builtin_prefetch(table->rows[i + ROWS_AHEAD].amounts);
		percent = pd_percent(weight, table->totals[0]);
		if (percent >= report->options.least_percent && !is_folded(report, i, percent))
			rows[(*count_out)++] = &table->rows[i];
	}
	return rows;
}

static void add_folded(const struct pd_report *report, size_t count)
{
	if (count)
		pd_text_printf(report->out, "# %zu more row%s below %g %%; --percent-limit 0 shows all\n", count,
			       count == 1 ? "" : "s", report->print.fold_percent);
}

static size_t count_lines(const struct pd_text *text)
{
	struct pd_bytes bytes = pd_text_bytes(text);
	size_t lines = 0;

	for (size_t i = 0; i < bytes.size; i++)
		lines += bytes.data[i] == '\n';
	return lines;
}

/* max_lines: not spilled, and ends when the text has as many; 0: no limit. */
static enum pd_status add_rows(struct pd_report *report, const struct table *table, const struct row *const *rows,
			       size_t count, bool flushes, size_t max_lines)
{
	struct drawing drawing;
	bool done = pd_drawing_start(&drawing, report, table, rows, count);
	enum pd_status status = PD_OK;

	while (done && status == PD_OK && drawing.next < drawing.count) {
		done = pd_drawing_next(&drawing);
		if (flushes)
			status = pd_print_flush_large(report->out);
		/* Graphs can be long. */
		else if (max_lines && has_graphs(report) && count_lines(report->out) >= max_lines)
			break;
	}
	pd_drawing_end(&drawing);
	return done ? status : PD_ERROR_MEMORY;
}

static enum pd_status add_tree(struct pd_report *report, struct table *table)
{
	double least = report->options.least_percent, fold = report->print.fold_percent;

	memset(report->print.widths, 0, sizeof(report->print.widths));
	pd_text_widths(report, table);
	return pd_text_hierarchy(report, table, least > fold ? least : fold);
}

static enum pd_status add_flat(struct pd_report *report, struct table *table)
{
	const struct row **rows;
	enum pd_status status;
	size_t count;

	pd_text_widths(report, table);
	if (!report->print.quiet)
		pd_text_header(report, table);
	rows = shown_rows(report, table, &count);
	status = rows ? add_rows(report, table, rows, count, true, 0) : PD_ERROR_MEMORY;
	pd_free(rows);
	if (report->print.fold_percent > 0)
		add_folded(report, table->head.row_count - count);
	return status;
}

static enum pd_status add_table(struct pd_report *report, struct table *table)
{
	enum pd_status status;

	if (!report->print.quiet)
		add_title(report, table);
	if (report->options.total_cycles && report->by_branch)
		return pd_text_blocks(report, table);
	status = report->options.hierarchy ? add_tree(report, table) : add_flat(report, table);
	pd_text_add(report->out, "\n\n");
	return status;
}

static void add_elided(const struct pd_report *report)
{
	static const char *const names[] = { "comm", "dso", "sym" };
	static const char *const titles[] = { "comm", "dso", "symbol" };

	for (size_t i = 0; i < report->key_count; i++)
		for (size_t k = 0; report->elided[i] && k < 3; k++)
			if (strcmp(report->keys[i]->head.name, names[k]) == 0) {
				pd_text_printf(report->out, "# %s: ", titles[k]);
				pd_text_cell(report, report->out, report->elided[i], strlen(report->elided[i]));
				pd_text_add(report->out, "\n");
			}
}

enum pd_status pd_report_text_top(struct pd_report *report, const struct pd_report_text_options *options,
				  struct pd_text *text, struct pd_error *error)
{
	struct pd_report_quality quality;

	pd_print_start(report, options, text);
	pd_report_quality(report, &quality);
	if (!report->print.quiet) {
		pd_quality_print(&quality, text);
		pd_text_add(text, "#\n");
	}
	add_elided(report);
	if (!report->print.quiet)
		pd_text_printf(text, "#\n# Total Lost Samples: %" PRIu64 "\n#\n",
			       pd_profile_losses(report->profile)->lost_samples);
	return pd_print_end(PD_OK, text, error);
}

enum pd_status pd_report_text(struct pd_report *report, const struct pd_report_text_options *options,
			      struct pd_text *text, struct pd_error *error)
{
	enum pd_status status = PD_OK;

	pd_print_start(report, options, text);
	for (size_t i = 0; i < report->table_count && status == PD_OK; i++)
		status = add_table(report, &report->tables[i]);
	return pd_print_end(status, text, error);
}

enum pd_status pd_report_text_table(struct pd_report *report, size_t index, size_t max_lines,
				    const struct pd_report_text_options *options, struct pd_text *text,
				    struct pd_error *error)
{
	struct table *table = &report->tables[index];
	const struct row **rows = pd_alloc((table->head.row_count + 1) * sizeof(*rows));
	enum pd_status status = PD_ERROR_MEMORY;

	pd_print_start(report, options, text);
	pd_text_widths(report, table);
	pd_text_header(report, table);
	for (size_t i = 0; rows && i < table->head.row_count; i++)
		rows[i] = &table->rows[i];
	if (rows)
		status = add_rows(report, table, rows, table->head.row_count, false, max_lines);
	pd_free(rows);
	return pd_print_end(status, text, error);
}

enum pd_status pd_report_text_graph(struct pd_report *report, size_t table, size_t row,
				    const struct pd_report_text_options *options, struct pd_text *text,
				    struct pd_error *error)
{
	const struct table *of = &report->tables[table];
	bool done = true;

	pd_print_start(report, options, text);
	if (has_graphs(report) && pd_graph_is_shown(report, of, &of->rows[row])) {
		if (!report->scratch.known)
			report->scratch.known = pd_graph_scratch(report);
		done = report->scratch.known && pd_graphs_prepare(report) &&
		       pd_graph_print(report, of, &of->rows[row], report->scratch.known, text);
	}
	return pd_print_end(done ? PD_OK : PD_ERROR_MEMORY, text, error);
}

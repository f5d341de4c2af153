/* SPDX-License-Identifier: MIT */
/*
 * Tables as perf report --stdio prints them: columns as wide as their widest cell, or with a separator.
 */
#include "report.h"

#include "parts.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
	NUMBER_WIDTH = 12,
	PERCENT_WIDTH = 8,
	WORTH_A_PART = 1 << 13, /* rows */
	ROWS_AT_ONCE = 128,
	ROWS_AHEAD = 16,
	ROWS_NOT_FOLDED = 10
};

/* ---- cells ---- */

static const char *text_at(const struct report *report, const struct column *column, const struct row *row, char *room,
			   size_t *length_out)
{
	const char *text = value_text(report, column->key, row, room);

	*length_out = text == room ? strlen(text) :
				     report->values[column->key].items[row_value(report, row, column->key)].length;
	return text;
}

static const char *header_of(const struct report *report, const struct column *column)
{
	switch (column->kind) {
	case COLUMN_OVERHEAD:
		return column->beside ? "Self" : "Overhead";
	case COLUMN_CHILDREN:
		return "Children";
	case COLUMN_KERNEL:
		return "sys";
	case COLUMN_USER:
		return "usr";
	case COLUMN_SAMPLES:
		return "Samples";
	case COLUMN_PERIOD:
		return "Period";
	default:
		return report->keys[column->key]->header;
	}
}

static size_t number_width(const struct column *column)
{
	return column->kind == COLUMN_SAMPLES || column->kind == COLUMN_PERIOD ? NUMBER_WIDTH : PERCENT_WIDTH;
}

enum {
	UNKNOWN_OBJECT_WIDTH = 16 /* as wide as an address, in perf */
};

/* perf leaves room for an address where an object is not known, if nothing was said of widths and objects. */
static bool has_wide_unknown(const struct report *report, const struct column *column)
{
	for (size_t i = 0; i < report->column_count; i++)
		if (report->widths[i])
			return false;
	return strcmp(report->keys[column->key]->name, "dso") == 0 && !report->separator && !report->select.dsos.given;
}

struct widening {
	const struct report *report;
	const struct table *table;
	size_t parts;
	size_t widths[PARTS_MOST][COLUMNS_MOST];
};

static size_t widest(const struct widening *widening, const struct column *column, size_t begin, size_t end)
{
	const struct report *report = widening->report;
	bool wide_unknown = has_wide_unknown(report, column);
	size_t width = 0;

	for (size_t i = begin; i < end; i++) {
		char room[VALUE_TEXT_BYTES];
		size_t length;
		const char *text = text_at(report, column, &widening->table->rows[i], room, &length);

		if (wide_unknown && length < UNKNOWN_OBJECT_WIDTH && strcmp(text, "[unknown]") == 0)
			length = UNKNOWN_OBJECT_WIDTH;
		width = length > width ? length : width;
	}
	return width;
}

/* A CPU that is not known is wider than perf lets it be. */
static bool fits_rows(const struct report *report, size_t column)
{
	return report->columns[column].kind == COLUMN_KEY && !report->widths[column] &&
	       strcmp(report->keys[report->columns[column].key]->name, "cpu") != 0;
}

static void widen_rows(struct widening *widening, size_t part, size_t begin, size_t end)
{
	const struct report *report = widening->report;

	/* lengths are known without the texts */
	for (unsigned stage = 0; stage + 1 < EXPECT_STAGES; stage++)
		for (size_t i = begin; i < end; i++)
			values_expect(report, &widening->table->rows[i], stage);
	for (size_t i = 0; i < report->column_count; i++) {
		size_t width = fits_rows(report, i) ? widest(widening, &report->columns[i], begin, end) : 0;

		if (width > widening->widths[part][i])
			widening->widths[part][i] = width;
	}
}

static void widen_part(void *self, size_t part)
{
	struct widening *widening = self;
	size_t count = widening->table->row_count, end = part_begin(count, widening->parts, part + 1);

	for (size_t i = part_begin(count, widening->parts, part); i < end; i += ROWS_AT_ONCE)
		widen_rows(widening, part, i, end - i < ROWS_AT_ONCE ? end : i + ROWS_AT_ONCE);
}

/* Without looking at rows. */
static size_t least_width(const struct report *report, const struct table *table, size_t index)
{
	const struct column *column = &report->columns[index];
	size_t width = strlen(header_of(report, column)), wanted = report->widths[index], least = width;

	if (column->kind != COLUMN_KEY) {
		if (table->group || !wanted)
			least = number_width(column) * table->event_count;
		return wanted > least ? wanted : least;
	}
	if (!fits_rows(report, index))
		return wanted ? wanted : width;
	least = report->keys[column->key]->width;
	return width > least ? width : least;
}

/* As wide as the widest of all rows, shown or not, unless a width was asked for. */
static void find_widths(const struct report *report, struct table *table)
{
	struct widening widening = { .report = report, .table = table };

	widening.parts = part_count(thread_count(report->threads), table->row_count, WORTH_A_PART);
	parts_do(widening.parts, widen_part, &widening);
	for (size_t i = 0; i < report->column_count; i++) {
		table->widths[i] = least_width(report, table, i);
		for (size_t k = 0; k < widening.parts; k++)
			if (widening.widths[k][i] > table->widths[i])
				table->widths[i] = widening.widths[k][i];
	}
}

/* Tables have millions of cells, so what they consist of is printed without formats. */
static void add_spaces(struct pd_text *out, size_t count)
{
	static const char spaces[] = "                                                                ";
	const size_t most = sizeof(spaces) - 1;

	for (; count > most; count -= most)
		pd_text_add(out, spaces);
	pd_text_add(out, spaces + most - count);
}

/* A number to the right, as " %*" PRIu64. */
static void add_right(struct pd_text *out, uint64_t number, int width)
{
	char text[24];
	char *at = text + sizeof(text) - 1;

	*at = 0;
	do
		*--at = (char)('0' + number % 10);
	while (number /= 10);
	add_spaces(out,
		   1 + (text + sizeof(text) - 1 - at < width ? (size_t)(width - (text + sizeof(text) - 1 - at)) : 0));
	pd_text_add(out, at);
}

/* As " %*.2f%%". */
static void add_percent(struct pd_text *out, double percent, int width)
{
	double hundredths = percent >= 0 && percent < 999 ? percent * 100 : 0;
	unsigned number = (unsigned)hundredths;
	double rest = hundredths - number;
	char text[8] = "", *at = text + 6;

	/* Close to the middle printf says which way it goes. */
	if (!(percent >= 0 && percent < 999) || (rest > 0.4999 && rest < 0.5001)) {
		pd_text_printf(out, " %*.2f%%", width, percent);
		return;
	}
	number += rest > 0.5;
	text[6] = '%';
	for (unsigned digits = 0; digits < 3 || number; digits++, number /= 10) {
		if (digits == 2)
			*--at = '.';
		*--at = (char)('0' + number % 10);
	}
	add_spaces(out, 1 + (text + 6 - at < width ? (size_t)(width - (text + 6 - at)) : 0));
	pd_text_add(out, at);
}

static void add_letters(struct pd_text *out, const char *text, size_t length)
{
	if (!text[length])
		pd_text_add(out, text);
	else
		pd_text_printf(out, "%.*s", (int)length, text);
}

static void add_plain(const struct report *report, struct pd_text *out, const char *text, size_t length)
{
	if (report->escape)
		pd_text_escaped(out, text, length);
	else
		add_letters(out, text, length);
}

/* The separator does not stand inside of a cell. */
static void add_text(const struct report *report, struct pd_text *out, const char *text, size_t length)
{
	const char *end = text + length, *at;

	while (report->separator && (at = memchr(text, *report->separator, (size_t)(end - text))) != NULL) {
		add_plain(report, out, text, (size_t)(at - text));
		pd_text_add(out, ".");
		text = at + 1;
	}
	add_plain(report, out, text, (size_t)(end - text));
}

/* Returns the bytes that take no room on the screen. */
static size_t add_share(const struct report *report, struct pd_text *out, double percent, int width)
{
	const char *color = report->color ? share_color(percent) : NULL;

	if (color)
		pd_text_add(out, color);
	add_percent(out, percent, width);
	if (color)
		pd_text_add(out, SHARE_COLOR_END);
	return color ? strlen(color) + strlen(SHARE_COLOR_END) : 0;
}

/* A number has a blank in front of it, and with a separator nothing else. Returns as add_share. */
static size_t add_number(const struct report *report, struct pd_text *out, const struct table *table, size_t index,
			 const struct row *row, size_t event)
{
	const struct column *column = &report->columns[index];
	const struct amounts *amounts = &row->amounts[event];
	uint64_t period = period_in(amounts, column->kind);
	uint64_t number = column->kind == COLUMN_SAMPLES ? amounts->samples : period;
	int width = (int)(report->widths[index] ? report->widths[index] : number_width(column));

	if (column->kind != COLUMN_SAMPLES && column->kind != COLUMN_PERIOD)
		return add_share(report, out, percent_of(period, table->totals[event]),
				 report->separator || width < 2 ? 0 : width - 2);
	add_right(out, number, report->separator ? 0 : width - 1);
	return 0;
}

/* Callers were not asked for or not recorded. As perf: once, also for a group, and never without blanks. */
static void add_not_known(struct pd_text *out, size_t width)
{
	pd_text_printf(out, " %*s", (int)width - 1, "N/A");
}

static bool is_padded(const struct report *report, size_t column)
{
	return column + 1 < report->column_count || report->columns[column].kind != COLUMN_KEY ||
	       !report->keys[report->columns[column].key]->ragged;
}

/* Returns how many letters it has. */
static size_t add_key(const struct report *report, struct pd_text *out, const struct table *table, size_t index,
		      const struct row *row)
{
	const struct column *column = &report->columns[index];
	char room[VALUE_TEXT_BYTES];
	size_t length, blanks = 0;
	const char *text = text_at(report, column, row, room, &length);

	if (report->widths[index] && length > report->widths[index])
		length = report->widths[index];
	if (report->keys[column->key]->right && length < table->widths[index])
		blanks = table->widths[index] - length;
	add_spaces(out, blanks);
	add_text(report, out, text, length);
	return blanks + length;
}

static void add_cell(const struct report *report, struct pd_text *out, const struct table *table, size_t index,
		     const struct row *row)
{
	const struct column *column = &report->columns[index];
	size_t before = pd_text_bytes(out).size, length;

	if (column->kind == COLUMN_KEY) {
		length = add_key(report, out, table, index, row);
	} else if (column->kind == COLUMN_CHILDREN && !report->children) {
		add_not_known(out, report->widths[index] ? report->widths[index] : PERCENT_WIDTH);
		length = pd_text_bytes(out).size - before;
	} else {
		for (size_t i = 0; i < table->event_count; i++)
			before += add_number(report, out, table, index, row, i);
		length = pd_text_bytes(out).size - before;
	}
	if (is_padded(report, index) && length < table->widths[index])
		add_spaces(out, table->widths[index] - length);
}

/* ---- lines ---- */

static void add_header(const struct report *report, const struct table *table)
{
	bool first = true;

	for (size_t i = 0; i < report->column_count; i++) {
		const struct column *column = &report->columns[i];
		const char *text = header_of(report, column);

		if (column->elided)
			continue;
		pd_text_add(report->out, first ? "# " : report->separator ? report->separator : "  ");
		first = false;
		if (column->kind == COLUMN_KEY)
			pd_text_printf(report->out, "%-*.*s", (int)table->widths[i], (int)table->widths[i], text);
		else
			pd_text_printf(report->out, "%*s", (int)table->widths[i], text);
	}
	pd_text_add(report->out, "\n");
	if (report->separator)
		return;
	first = true;
	for (size_t i = 0; i < report->column_count; i++) {
		if (report->columns[i].elided)
			continue;
		pd_text_add(report->out, first ? "# " : "  ");
		first = false;
		for (size_t k = 0; k < table->widths[i]; k++)
			pd_text_add(report->out, ".");
	}
	pd_text_add(report->out, "\n#\n");
}

void report_text_row(const struct report *report, const struct table *table, const struct row *row, struct pd_text *out)
{
	bool first = true;

	for (size_t i = 0; i < report->column_count; i++) {
		if (report->columns[i].elided)
			continue;
		if (!report->separator)
			pd_text_add(out, "  ");
		else if (!first)
			pd_text_add(out, report->separator);
		first = false;
		add_cell(report, out, table, i, row);
	}
	pd_text_add(out, "\n");
}

/* 1275 is 1K: what stands on top only says how much there is. */
static void add_count(struct pd_text *out, uint64_t count)
{
	static const char units[] = " KMGTPE";
	size_t unit = 0;

	for (; count > 999 && unit + 2 < sizeof(units); unit++)
		count /= 1000;
	pd_text_printf(out, "%" PRIu64 "%c", count, units[unit]);
}

static void add_title(const struct report *report, const struct table *table)
{
	uint64_t samples = 0, total = 0;

	for (size_t i = 0; i < table->event_count; i++) {
		samples += table->samples[i];
		total += table->totals[i];
	}
	pd_text_add(report->out, "# Samples: ");
	add_count(report->out, samples);
	pd_text_add(report->out, table->group ? " of events '" : " of event '");
	if (report->escape)
		pd_text_escaped(report->out, table->name, strlen(table->name));
	else
		pd_text_add(report->out, table->name);
	pd_text_add(report->out, "'");
	if (report->time)
		pd_text_printf(report->out, " (time slices: %s)", report->time);
	pd_text_printf(report->out, "\n# Event count (approx.): %" PRIu64 "\n#\n", total);
}

void report_text_header(const struct report *report, struct table *table)
{
	find_widths(report, table);
	add_header(report, table);
}

/* Some rows are shown however small they are. */
static bool is_folded(const struct report *report, size_t index, double percent)
{
	return index >= ROWS_NOT_FOLDED && percent < report->fold;
}

/* Those that are large enough; NULL if there is no memory. */
static const struct row **shown_rows(const struct report *report, const struct table *table, size_t *count_out)
{
	const struct row **rows = malloc((table->row_count + 1) * sizeof(*rows));

	*count_out = 0;
	for (size_t i = 0; rows && i < table->row_count; i++) {
		const struct amounts *amounts = table->rows[i].amounts;
		uint64_t weight = report->children ? amounts->children_period : amounts->period;
		double percent;

		if (i + ROWS_AHEAD < table->row_count)
			__builtin_prefetch(table->rows[i + ROWS_AHEAD].amounts);
		percent = percent_of(weight, table->totals[0]);
		if (percent >= report->least && !is_folded(report, i, percent))
			rows[(*count_out)++] = &table->rows[i];
	}
	return rows;
}

static void add_folded(const struct report *report, size_t count)
{
	if (count)
		pd_text_printf(report->out, "# %zu more row%s below %g %%; --percent-limit 0 shows all\n", count,
			       plural(count), report->fold);
}

static bool add_rows(struct report *report, const struct table *table, const struct row *const *rows, size_t count)
{
	struct drawing drawing;
	bool done = drawing_start(&drawing, report, table, rows, count);

	while (done && drawing.next < drawing.count) {
		done = drawing_next(&drawing);
		if (!output_spill(report->input.out))
			break;
	}
	drawing_end(&drawing);
	return done;
}

static bool add_table(struct report *report, struct table *table)
{
	const struct row **rows;
	size_t count;
	bool done;

	if (!report->quiet) {
		add_title(report, table);
		report_text_header(report, table);
	} else {
		find_widths(report, table);
	}
	rows = shown_rows(report, table, &count);
	done = rows && add_rows(report, table, rows, count);
	free(rows);
	if (report->fold > 0)
		add_folded(report, table->row_count - count);
	pd_text_add(report->out, "\n\n");
	return done;
}

static void add_top(const struct report *report)
{
	const struct pd_profile_losses *losses = pd_profile_losses(report->profile);
	static const char *const names[] = { "comm", "dso", "sym" };
	static const char *const titles[] = { "comm", "dso", "symbol" };

	if (!report->quiet)
		pd_text_add(report->out, "#\n");
	for (size_t i = 0; i < report->key_count; i++)
		for (size_t k = 0; report->elided[i] && k < 3; k++)
			if (strcmp(report->keys[i]->name, names[k]) == 0) {
				pd_text_printf(report->out, "# %s: ", titles[k]);
				add_text(report, report->out, report->elided[i], strlen(report->elided[i]));
				pd_text_add(report->out, "\n");
			}
	if (!report->quiet)
		pd_text_printf(report->out, "#\n# Total Lost Samples: %" PRIu64 "\n#\n", losses->lost_samples);
}

bool report_text(struct report *report)
{
	struct trust trust = trust_of(report);

	if (!report->quiet)
		trust_print(&trust, report->out);
	add_top(report);
	if (!report->separator)
		output_clip(report->input.out);
	for (size_t i = 0; i < report->table_count; i++)
		if (!add_table(report, &report->tables[i]))
			return false;
	return true;
}

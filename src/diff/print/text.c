/* SPDX-License-Identifier: MIT */
/* A comparison as perf diff prints it: the numbers to the right of their columns, with a separator to the left. */
#include "diff/diff.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text/text.h"
#include "report/keys/values.h"

enum {
	HEADER_BYTES = 48,
	FORMULA_BYTES = 160,
	CYCLES_WIDTH = 70,
	UNKNOWN_OBJECT_WIDTH = 16 /* as wide as an address */
};

struct block_list {
	struct block_pair *pairs;
	size_t count;
};

struct print {
	const struct pd_diff *diff;
	struct pd_diff_text_options options;
	const struct diff_event *event;
	struct pd_text *out;
	bool first;                /* column of the line */
	struct block_list *blocks; /* by side, of the row that is printed, if blocks are compared */
	size_t line;               /* of the row */
	size_t widths[PD_REPORT_KEYS_MAX];
};

enum number_kind {
	NUMBER_BASELINE,
	NUMBER_BASE_PERIOD,
	NUMBER_VALUE,
	NUMBER_FORMULA,
	NUMBER_PERIOD
};

/* ---- columns ---- */

static const char *value_name(const struct pd_diff *diff)
{
	static const char *const names[] = { "Delta Abs", "Delta", "Ratio", "Weighted diff",
					     "[Program Block Range] Cycles Diff" };

	return names[diff->options.method];
}

/* Puts the name of a column into header and returns its width. */
static size_t head_number(const struct print *print, enum number_kind kind, size_t side, char header[HEADER_BYTES])
{
	static const struct {
		const char *name;
		size_t width;
	} kinds[] = { { "Baseline", 8 }, { "Base period", 14 }, { NULL, 14 }, { "Formula", 70 }, { "Period", 14 } };
	const struct pd_diff *diff = print->diff;
	const char *name = kinds[kind].name ? kinds[kind].name : value_name(diff);
	bool share = diff->options.method == PD_DIFF_DELTA || diff->options.method == PD_DIFF_DELTA_ABS;
	size_t width = kinds[kind].width, length;

	if (kind == NUMBER_VALUE && share)
		width = 7;
	else if (kind == NUMBER_VALUE && diff->options.method == PD_DIFF_CYCLES)
		width = CYCLES_WIDTH;

	if (diff->side_count > 2)
		length = (size_t)snprintf(header, HEADER_BYTES, "%s/%zu", name, side);
	else
		length = (size_t)snprintf(header, HEADER_BYTES, "%s", name);
	return length > width ? length : width;
}

static size_t width_of_key(const struct print *print, size_t key)
{
	const struct key *about = print->diff->keys[key];
	const struct diff_event *event = print->event;
	size_t width = strlen(about->head.header);
	bool wide_unknown = about->unknown_is_address && print->diff->wide_unknown && !print->options.separator;

	if (about->width > width)
		width = about->width;
	for (size_t i = 0; !about->fixed_width && i < event->head.row_count; i++) {
		const char *cell = event->rows[event->order[i]].cells[key];
		size_t length = strlen(cell);

		if (wide_unknown && length < UNKNOWN_OBJECT_WIDTH && strcmp(cell, "[unknown]") == 0)
			length = UNKNOWN_OBJECT_WIDTH;
		width = length > width ? length : width;
	}
	return width;
}

/* ---- header ---- */

static void add_dots(struct pd_text *out, size_t count)
{
	while (count--)
		pd_text_add(out, ".");
}

static void begin_head(struct print *print)
{
	const char separator[] = { print->options.separator, 0 };

	pd_text_add(print->out, print->first ? "# " : *separator ? separator : "  ");
	print->first = false;
}

static void head_column(struct print *print, bool dots, enum number_kind kind, size_t side)
{
	char header[HEADER_BYTES];
	size_t width = head_number(print, kind, side, header);

	begin_head(print);
	if (dots)
		add_dots(print->out, width);
	else
		pd_text_printf(print->out, "%*s", (int)width, header);
}

static void head_line(struct print *print, bool dots)
{
	print->first = true;
	for (size_t side = 0; side < print->diff->side_count; side++) {
		head_column(print, dots, side ? NUMBER_VALUE : NUMBER_BASELINE, side);
		if (side && print->options.show_formula)
			head_column(print, dots, NUMBER_FORMULA, side);
		if (print->options.show_period)
			head_column(print, dots, side ? NUMBER_PERIOD : NUMBER_BASE_PERIOD, side);
	}
	for (size_t i = 0; i < print->diff->key_count; i++) {
		if (print->diff->elided[i])
			continue;
		begin_head(print);
		if (dots)
			add_dots(print->out, print->widths[i]);
		else
			pd_text_printf(print->out, "%-*s", (int)print->widths[i], print->diff->keys[i]->head.header);
	}
	pd_text_add(print->out, "\n");
}

static void add_plain(const struct print *print, const char *text, size_t length)
{
	if (print->options.escape)
		pd_text_escaped(print->out, text, length);
	else
		pd_text_printf(print->out, "%.*s", (int)length, text);
}

static void list_files(const struct print *print)
{
	pd_text_add(print->out, "# Data files:\n");
	for (size_t side = 0; side < print->diff->side_count; side++) {
		const char *name = print->diff->runs[pd_diff_run_at(print->diff, side, 0)].name;

		pd_text_printf(print->out, "#  [%zu] ", side);
		add_plain(print, name, strlen(name));
		pd_text_add(print->out, side ? " \n" : " (Baseline)\n");
	}
	pd_text_add(print->out, "#\n");
}

static void print_head(struct print *print, bool first_event)
{
	if (print->options.quiet)
		return;
	pd_text_printf(print->out, "%s# Event '", first_event ? "" : "\n");
	add_plain(print, print->event->head.name, strlen(print->event->head.name));
	pd_text_add(print->out, "'\n#\n");
	if (print->diff->side_count > 2)
		list_files(print);
	head_line(print, false);
	if (!print->options.separator) {
		head_line(print, true);
		pd_text_add(print->out, "#\n");
	}
}

/* ---- rows ---- */

static void begin_cell(struct print *print)
{
	if (!print->options.separator)
		pd_text_add(print->out, "  ");
	else if (!print->first)
		pd_text_char(print->out, print->options.separator);
	print->first = false;
}

static void format_value(const struct print *print, uint32_t row, size_t run, char text[FORMULA_BYTES])
{
	enum pd_diff_method method = print->diff->options.method;
	struct diff_value value = pd_diff_value(print->diff, print->event, row, run);

	if (method == PD_DIFF_RATIO || method == PD_DIFF_WDIFF) {
		if (!run_sum(print->event, 0, row).present)
			strcpy(text, "N/A");
		else if (method == PD_DIFF_RATIO)
			snprintf(text, FORMULA_BYTES, "%14.6f", value.number);
		else
			snprintf(text, FORMULA_BYTES, "%14" PRId64, value.whole);
	} else {
		snprintf(text, FORMULA_BYTES, "%+4.2f%%", value.number);
	}
}

static void format_formula(const struct print *print, uint32_t row, size_t run, char text[FORMULA_BYTES])
{
	const struct pd_diff_options *options = &print->diff->options;
	struct pd_diff_sum old = run_sum(print->event, 0, row), new = run_sum(print->event, run, row);

	switch (options->method) {
	case PD_DIFF_CYCLES:
		break;
	case PD_DIFF_RATIO:
		snprintf(text, FORMULA_BYTES, "%" PRIu64 " / %" PRIu64, new.period, old.period);
		break;
	case PD_DIFF_WDIFF:
		snprintf(text, FORMULA_BYTES, "(%" PRIu64 " * %" PRId64 ") - (%" PRIu64 " * %" PRId64 ")", new.period,
			 options->new_weight, old.period, options->old_weight);
		break;
	default:
		snprintf(text, FORMULA_BYTES, "(%" PRIu64 " * 100 / %" PRIu64 ") - (%" PRIu64 " * 100 / %" PRIu64 ")",
			 new.period, print->event->runs[run].total.period, old.period,
			 print->event->runs[0].total.period);
	}
}

static void format_number(const struct print *print, enum number_kind kind, uint32_t row, size_t run,
			  char text[FORMULA_BYTES])
{
	struct pd_diff_sum old = run_sum(print->event, 0, row), new = run_sum(print->event, run, row);
	bool separated = print->options.separator != 0;

	*text = 0;
	if (kind == NUMBER_BASELINE && old.present)
		snprintf(text, FORMULA_BYTES, separated ? "%.2f" : "%6.2f%%",
			 diff_percent(old.period, print->event->baseline));
	else if (kind == NUMBER_BASE_PERIOD)
		snprintf(text, FORMULA_BYTES, "%" PRIu64, old.period);
	else if (kind == NUMBER_PERIOD && new.present)
		snprintf(text, FORMULA_BYTES, "%" PRIu64, new.period);
	else if (kind == NUMBER_VALUE && new.present)
		format_value(print, row, run, text);
	else if (kind == NUMBER_FORMULA && new.present)
		format_formula(print, row, run, text);
}

static void add_number(struct print *print, enum number_kind kind, uint32_t row, size_t side)
{
	size_t run = pd_diff_run_at(print->diff, side, 0);
	bool is_weighted = print->diff->options.method == PD_DIFF_WDIFF;
	char header[HEADER_BYTES], text[FORMULA_BYTES];
	int width = (int)head_number(print, kind, side, header);

	format_number(print, kind, row, run, text);
	begin_cell(print);
	/* as perf: below a header that is wider than 14, weighted differences stand to the left */
	if (print->options.separator || (is_weighted && kind == NUMBER_VALUE && strcmp(text, "N/A") != 0))
		width = -width;
	pd_text_printf(print->out, "%*s", width, text);
}

/* The separator does not stand inside of a cell. */
static void add_text(const struct print *print, const char *text)
{
	const char *at;

	while (print->options.separator && (at = strchr(text, print->options.separator)) != NULL) {
		add_plain(print, text, (size_t)(at - text));
		pd_text_add(print->out, ".");
		text = at + 1;
	}
	add_plain(print, text, strlen(text));
}

/* A range can be longer than a number. */
static void add_block(struct print *print, size_t side)
{
	const struct block_list *list = &print->blocks[side];
	const struct block_pair *pair = print->line < list->count ? &list->pairs[print->line] : NULL;
	char number[32] = "";
	size_t length, width = 0;

	if (pair)
		width = strlen(pair->range) + (size_t)snprintf(number, sizeof(number), " %4" PRId64, pair->difference);
	length = width < CYCLES_WIDTH ? CYCLES_WIDTH - width : 0;
	begin_cell(print);
	if (!print->options.separator)
		pd_text_printf(print->out, "%*s", (int)length, "");
	if (pair)
		add_text(print, pair->range);
	pd_text_add(print->out, number);
	if (print->options.separator)
		pd_text_printf(print->out, "%*s", (int)length, "");
}

static void add_value(struct print *print, uint32_t row, size_t side)
{
	if (print->blocks)
		add_block(print, side);
	else
		add_number(print, NUMBER_VALUE, row, side);
}

static bool is_last(const struct pd_diff *diff, size_t key)
{
	while (++key < diff->key_count)
		if (!diff->elided[key])
			return false;
	return true;
}

static void add_key(struct print *print, uint32_t row, size_t key)
{
	const struct key *about = print->diff->keys[key];
	const char *cell = print->event->rows[row].cells[key];
	size_t length = strlen(cell), blanks = length < print->widths[key] ? print->widths[key] - length : 0;

	begin_cell(print);
	if (about->right)
		pd_text_printf(print->out, "%*s", (int)blanks, "");
	add_text(print, cell);
	if (!about->right && !(about->unpadded && is_last(print->diff, key)))
		pd_text_printf(print->out, "%*s", (int)blanks, "");
}

static void print_line(struct print *print, uint32_t row)
{
	print->first = true;
	for (size_t side = 0; side < print->diff->side_count; side++) {
		if (side)
			add_value(print, row, side);
		else
			add_number(print, NUMBER_BASELINE, row, side);
		if (side && print->options.show_formula)
			add_number(print, NUMBER_FORMULA, row, side);
		if (print->options.show_period)
			add_number(print, side ? NUMBER_PERIOD : NUMBER_BASE_PERIOD, row, side);
	}
	for (size_t i = 0; i < print->diff->key_count; i++)
		if (!print->diff->elided[i])
			add_key(print, row, i);
	pd_text_add(print->out, "\n");
}

static void free_blocks(struct print *print)
{
	for (size_t side = 0; print->blocks && side < print->diff->side_count; side++)
		pd_free(print->blocks[side].pairs);
	pd_free(print->blocks);
	print->blocks = NULL;
}

/* A line for each pair of blocks; as perf, none for what has no blocks. False if there is no memory. */
static bool print_blocks(struct print *print, uint32_t row)
{
	const struct pd_diff *diff = print->diff;
	size_t lines = 1;
	bool done = true;

	if (!print->event->rows[row].blocks)
		return true;
	print->blocks = pd_alloc((diff->side_count + 1) * sizeof(*print->blocks));
	for (size_t side = 1; print->blocks && done && side < diff->side_count; side++) {
		struct block_list *list = &print->blocks[side];

		done = pd_diff_pair_blocks(&print->event->rows[row], pd_diff_run_at(diff, side, 0), &list->pairs,
					   &list->count);
		lines = list->count > lines ? list->count : lines;
	}
	done &= print->blocks != NULL;
	for (print->line = 0; done && print->line < lines; print->line++)
		print_line(print, row);
	free_blocks(print);
	return done;
}

static bool print_row(struct print *print, uint32_t row)
{
	if (print->diff->options.method == PD_DIFF_CYCLES)
		return print_blocks(print, row);
	print_line(print, row);
	return true;
}

enum pd_status pd_diff_text(const struct pd_diff *diff, const struct pd_diff_text_options *options,
			    struct pd_text *text, struct pd_error *error)
{
	struct print print = { .diff = diff, .out = text };

	if (options)
		memcpy(&print.options, options, options->size < sizeof(*options) ? options->size : sizeof(*options));
	for (size_t i = 0; i < diff->event_count; i++) {
		print.event = &diff->events[i];
		for (size_t k = 0; k < diff->key_count; k++)
			print.widths[k] = width_of_key(&print, k);
		print_head(&print, i == 0);
		for (size_t k = 0; k < print.event->head.row_count; k++) {
			if (!print_row(&print, print.event->order[k]))
				return pd_diff_no_memory(error);
			if (!pd_text_flush_large(text))
				break;
		}
	}
	return pd_diff_end(text, error);
}

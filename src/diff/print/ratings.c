/* SPDX-License-Identifier: MIT */
/* Tables with ratings as text: for each event and side what was measured, how it was tested, and the rows. */
#include "diff/diff.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/text/text.h"
#include "report/keys/values.h"

enum {
	FEW_RUNS = 3 /* less say little of what differs between them */
};

struct print {
	const struct pd_diff *diff;
	struct pd_diff_text_options options;
	struct pd_text *out;
	size_t event, side;
};

static void add_plain(const struct print *print, const char *text)
{
	if (print->options.escape)
		pd_text_escaped(print->out, text, strlen(text));
	else
		pd_text_add(print->out, text);
}

/* ---- header ---- */

static void list_runs(const struct print *print, size_t side)
{
	const char *between = " ";

	pd_text_add(print->out, side ? "# New:" : "# Old:");
	for (size_t i = 0; i < print->diff->run_count; i++) {
		if (print->diff->runs[i].side != side)
			continue;
		pd_text_add(print->out, between);
		add_plain(print, print->diff->runs[i].name);
		between = ", ";
	}
	pd_text_add(print->out, "\n");
}

static void describe_test(const struct print *print)
{
	size_t old = pd_diff_own_runs(print->diff, 0), new = pd_diff_own_runs(print->diff, print->side);
	size_t tested = pd_diff_tested(print->diff, print->event, print->side);
	double variation = print->diff->options.variation;

	pd_text_printf(print->out, "# %zu and %zu runs; %zu rows tested, %zu too small not shown\n", old, new, tested,
		       pd_diff_event(print->diff, print->event)->row_count - tested);
	if (old < 2 || new < 2)
		pd_text_printf(
			print->out,
			"# Run-to-run variation unknown, %g %% assumed: no change can be called real; record 3 or "
			"more runs of each\n",
			variation < 0 ? 0 :
			variation > 0 ? variation * 100 :
					5);
	else if (old < FEW_RUNS || new < FEW_RUNS)
		pd_text_add(
			print->out,
			"# 2 runs say little of run-to-run variation: it is mostly that of all rows; record 3 or more\n");
}

/* What all rows together did; everything grew if the machine was slower. */
static void describe_total(const struct print *print)
{
	enum pd_unit unit = print->diff->events[print->event].unit;
	char old[AMOUNT_BYTES], new[AMOUNT_BYTES];
	struct pd_diff_change change;

	if (!pd_diff_total_change(print->diff, print->event, print->side, &change))
		return;
	pd_diff_amount(old, unit, change.old_amount);
	pd_diff_amount(new, unit, change.new_amount);
	pd_text_add(print->out, "# Amounts per ");
	add_plain(print, pd_diff_per_words(print->diff));
	pd_text_printf(print->out, "; total: %s, then %s: %+.2f%% (%+.2f .. %+.2f), %s\n", old, new,
		       change.change * 100, change.low * 100, change.high * 100, pd_diff_rating_name(change.rating));
}

static void add_names(const struct print *print)
{
	bool first = true;

	for (size_t i = 0; i < print->diff->key_count; i++) {
		if (print->diff->elided[i])
			continue;
		pd_text_printf(print->out, "%s%s", first ? "  " : "; ", print->diff->keys[i]->head.header);
		first = false;
	}
}

static void print_head(const struct print *print)
{
	const struct diff_event *event = &print->diff->events[print->event];

	if (print->options.quiet)
		return;
	pd_text_add(print->out, print->event || print->side > 1 ? "\n# Event '" : "# Event '");
	add_plain(print, event->head.name);
	pd_text_add(print->out, "'\n");
	list_runs(print, 0);
	list_runs(print, print->side);
	describe_test(print);
	describe_total(print);
	pd_text_add(print->out,
		    print->diff->per ?
			    "#\n#      Old         New     Growth       95 % interval  Of total  Rating   Runs needed" :
			    "#\n#    Old      New    Change       95 % interval  Rating   Runs needed");
	add_names(print);
	pd_text_add(print->out, "\n#\n");
}

/* ---- rows ---- */

static void add_cells(const struct print *print, size_t row, const char *between)
{
	for (size_t i = 0; i < print->diff->key_count; i++) {
		if (print->diff->elided[i])
			continue;
		pd_text_add(print->out, between);
		add_plain(print, pd_diff_cell(print->diff, print->event, row, i));
		between = "; ";
	}
}

static void add_notes(const struct print *print, size_t row, const struct pd_diff_change *change)
{
	const char *name;

	for (size_t i = 0; (name = pd_diff_joined(print->diff, print->event, row, i)) != NULL; i++) {
		pd_text_add(print->out, i ? ", " : " (with ");
		add_plain(print, name);
	}
	if (pd_diff_joined(print->diff, print->event, row, 0))
		pd_text_add(print->out, ")");
	name = pd_diff_inlined_into(print->diff, print->event, row);
	if (name) {
		pd_text_add(print->out, " (inlined into ");
		add_plain(print, name);
		pd_text_add(print->out, " now)");
	}
	if (change->because == SIZE_MAX)
		return;
	pd_text_add(print->out, change->change < 0 ? " (share fell because" : " (share grew because");
	add_cells(print, change->because, " ");
	pd_text_add(print->out, change->change < 0 ? " grew)" : " fell)");
}

/* Growth is of the row, the last number of the old total. What is new grew without limit. */
static void add_amounts(const struct print *print, const struct pd_diff_change *change)
{
	enum pd_unit unit = print->diff->events[print->event].unit;
	double base = change->old_share;
	char old[AMOUNT_BYTES], new[AMOUNT_BYTES];

	pd_diff_amount(old, unit, change->old_amount);
	pd_diff_amount(new, unit, change->new_amount);
	pd_text_printf(print->out, "  %10s  %10s", old, new);
	if (base > 0)
		pd_text_printf(print->out, "  %+8.2f%%  %+7.2f .. %+7.2f", 100 * change->change / base,
			       100 * change->low / base, 100 * change->high / base);
	else
		pd_text_printf(print->out, "  %9s  %18s", "new", "");
	pd_text_printf(print->out, "  %+7.2f%%", 100 * change->change);
}

static void add_shares(const struct print *print, const struct pd_diff_change *change)
{
	pd_text_printf(print->out, "  %6.2f%%  %6.2f%%  %+7.2f%%  %+7.2f .. %+7.2f", change->old_share * 100,
		       change->new_share * 100, change->change * 100, change->low * 100, change->high * 100);
}

static void print_row(const struct print *print, size_t row)
{
	struct pd_diff_change change;
	char needed[24] = "-";

	if (!pd_diff_change(print->diff, print->event, row, print->side, &change) || change.rating == PD_DIFF_UNTESTED)
		return;
	if (change.runs_needed)
		snprintf(needed, sizeof(needed), "%zu", change.runs_needed);
	if (print->diff->per)
		add_amounts(print, &change);
	else
		add_shares(print, &change);
	pd_text_printf(print->out, "  %-7s  %11s", pd_diff_rating_name(change.rating), needed);
	add_cells(print, row, "  ");
	add_notes(print, row, &change);
	pd_text_add(print->out, "\n");
}

static bool is_unchanged(const struct print *print)
{
	const struct diff_event *event = &print->diff->events[print->event];

	for (size_t i = 0; i < event->head.row_count; i++) {
		struct pd_diff_change change;

		if (!pd_diff_change(print->diff, print->event, i, print->side, &change) || change.change != 0)
			return false;
	}
	return true;
}

static void print_table(const struct print *print)
{
	size_t count = pd_diff_event(print->diff, print->event)->row_count;

	print_head(print);
	if (is_unchanged(print)) {
		if (!print->options.quiet)
			pd_text_add(print->out, "# No row changed.\n");
		return;
	}
	for (size_t i = 0; i < count; i++) {
		print_row(print, i);
		if (!pd_text_flush_large(print->out))
			return;
	}
}

enum pd_status pd_diff_rating_text(const struct pd_diff *diff, const struct pd_diff_text_options *options,
				   struct pd_text *text, struct pd_error *error)
{
	struct print print = { .diff = diff, .out = text };

	if (!diff->options.ratings)
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "pd_diff_options.ratings is not set");
	if (options)
		memcpy(&print.options, options, options->size < sizeof(*options) ? options->size : sizeof(*options));
	for (print.event = 0; print.event < diff->event_count; print.event++)
		for (print.side = 1; print.side < diff->side_count; print.side++)
			print_table(&print);
	return pd_diff_end(text, error);
}

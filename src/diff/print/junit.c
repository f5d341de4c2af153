/* SPDX-License-Identifier: MIT */
/* A comparison as results of tests, as programs for continuous integration read them: a row is a test. */
#include "diff/gate.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/text/text.h"

/* XML has no way to write most control characters. */
static void add_plain(struct pd_text *out, const char *name)
{
	for (size_t length = strlen(name); length;) {
		size_t size = pd_text_plain(name, length);

		if (strchr("<>&\"'", *name))
			pd_text_printf(out, "&#%d;", *name);
		else
			pd_text_escaped(out, name, size ? size : 1);
		name += size ? size : 1;
		length -= size ? size : 1;
	}
}

static void add_cells(const struct pd_diff *diff, struct pd_text *out, size_t event, size_t row)
{
	const char *cell;

	for (size_t i = 0; (cell = pd_diff_cell(diff, event, row, i)) != NULL; i++) {
		pd_text_add(out, i ? " " : "");
		add_plain(out, cell);
	}
}

static void add_change(const struct pd_diff *diff, struct pd_text *out, size_t event,
		       const struct pd_diff_change *change)
{
	char old[AMOUNT_BYTES], new[AMOUNT_BYTES];

	if (diff->per) {
		pd_diff_amount(old, diff->events[event].unit, change->old_amount);
		pd_diff_amount(new, diff->events[event].unit, change->new_amount);
		pd_text_printf(out, "%s to %s per ", old, new);
		add_plain(out, pd_diff_per_words(diff));
	} else {
		pd_text_printf(out, "%.2f%% to %.2f%%", change->old_share * 100, change->new_share * 100);
	}
	pd_text_printf(out, ": %+.2f points of all (%+.2f .. %+.2f), %s", change->change * 100, change->low * 100,
		       change->high * 100, pd_diff_rating_name(change->rating));
}

static void add_case(const struct pd_diff *diff, struct pd_text *out, size_t event, size_t row,
		     const struct pd_diff_change *change, enum pd_diff_outcome outcome)
{
	pd_text_add(out, "\t\t<testcase classname=\"");
	add_plain(out, diff->events[event].head.name);
	pd_text_add(out, "\" name=\"");
	add_cells(diff, out, event, row);
	if (outcome == PD_DIFF_PASSES) {
		pd_text_add(out, "\"/>\n");
		return;
	}
	pd_text_add(out, outcome == PD_DIFF_FAILS ? "\">\n\t\t\t<failure message=\"" :
						    "\">\n\t\t\t<skipped message=\"accepted: ");
	add_change(diff, out, event, change);
	pd_text_add(out, "\"/>\n\t\t</testcase>\n");
}

struct counts {
	size_t all, failed, accepted;
};

static struct counts count_cases(const struct pd_diff *diff, const struct pd_diff_gate *gate, size_t event, size_t side)
{
	struct counts counts = { 0 };
	struct pd_diff_change change;

	for (size_t i = 0; pd_diff_change(diff, event, i, side, &change); i++) {
		enum pd_diff_outcome outcome = pd_diff_gate_outcome(diff, gate, event, i, side);

		counts.all += change.rating != PD_DIFF_UNTESTED;
		counts.failed += outcome == PD_DIFF_FAILS;
		counts.accepted += outcome == PD_DIFF_ACCEPTED;
	}
	return counts;
}

/* False if writing failed. */
static bool add_suite(const struct pd_diff *diff, const struct pd_diff_gate *gate, struct pd_text *out, size_t event,
		      size_t side)
{
	struct counts counts = count_cases(diff, gate, event, side);
	size_t run = pd_diff_run_at(diff, side, 0);
	struct pd_diff_change change;

	pd_text_add(out, "\t<testsuite name=\"");
	add_plain(out, diff->events[event].head.name);
	pd_text_add(out, " of ");
	add_plain(out, run == SIZE_MAX ? "" : diff->runs[run].name);
	pd_text_printf(out, "\" tests=\"%zu\" failures=\"%zu\" errors=\"0\" skipped=\"%zu\">\n", counts.all,
		       counts.failed, counts.accepted);
	for (size_t i = 0; pd_diff_change(diff, event, i, side, &change); i++) {
		if (change.rating != PD_DIFF_UNTESTED)
			add_case(diff, out, event, i, &change, pd_diff_gate_outcome(diff, gate, event, i, side));
		if (!pd_text_flush_large(out))
			return false;
	}
	pd_text_add(out, "\t</testsuite>\n");
	return true;
}

enum pd_status pd_diff_junit(const struct pd_diff *diff, const struct pd_diff_gate *gate, struct pd_text *text,
			     struct pd_error *error)
{
	bool done = true;

	if (!diff->options.ratings)
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "pd_diff_options.ratings is not set");
	pd_text_add(text, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"perfdata diff\">\n");
	for (size_t event = 0; event < diff->event_count; event++)
		for (size_t side = 1; side < diff->side_count && done; side++)
			done = add_suite(diff, gate, text, event, side);
	pd_text_add(text, "</testsuites>\n");
	return pd_diff_end(text, error);
}

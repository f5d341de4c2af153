/* SPDX-License-Identifier: MIT */
/* A comparison as Markdown, for reports of builds: rows that are noise are only counted. */
#include "diff/diff.h"

#include <string.h>

#include "base/error.h"
#include "base/text/text.h"
#include "report/keys/values.h"

/* Names are of the recording: nothing in them is a mark, and no character is one that hides others. */
static void add_plain(struct pd_text *out, const char *name)
{
	for (size_t length = strlen(name); length;) {
		size_t size = pd_text_plain(name, length);

		if (*name == '<' || *name == '>' || *name == '&')
			pd_text_printf(out, "&#%d;", *name);
		else if (strchr("\\`*_{}[]()#+-.!|~:@$", *name))
			pd_text_printf(out, "\\%c", *name);
		else
			pd_text_escaped(out, name, size ? size : 1);
		name += size ? size : 1;
		length -= size ? size : 1;
	}
}

static void add_total(const struct pd_diff *diff, struct pd_text *out, size_t event, size_t side)
{
	char old[AMOUNT_BYTES], new[AMOUNT_BYTES];
	struct pd_diff_change change;

	if (!pd_diff_total_change(diff, event, side, &change))
		return;
	pd_diff_amount(old, diff->events[event].unit, change.old_amount);
	pd_diff_amount(new, diff->events[event].unit, change.new_amount);
	pd_text_add(out, "Amounts per ");
	add_plain(out, pd_diff_per_words(diff));
	pd_text_printf(out, "; total: %s, then %s: %+.2f %% (%+.2f to %+.2f), %s.\n\n", old, new, change.change * 100,
		       change.low * 100, change.high * 100, pd_diff_rating_name(change.rating));
}

static void add_head(const struct pd_diff *diff, struct pd_text *out, size_t event, size_t side)
{
	pd_text_add(out, "### ");
	add_plain(out, diff->events[event].head.name);
	pd_text_printf(out, ": %zu and %zu runs, %zu rows tested\n\n", pd_diff_own_runs(diff, 0),
		       pd_diff_own_runs(diff, side), pd_diff_tested(diff, event, side));
	if (pd_diff_own_runs(diff, 0) < 2 || pd_diff_own_runs(diff, side) < 2)
		pd_text_add(out, "Run-to-run variation is unknown: record 3 or more runs of each.\n\n");
	add_total(diff, out, event, side);
}

static void add_columns(const struct pd_diff *diff, struct pd_text *out)
{
	pd_text_printf(out, "| Old | New | %s | 95 %% interval | Rating |", diff->per ? "Growth" : "Change");
	for (size_t i = 0; i < diff->key_count; i++)
		pd_text_printf(out, " %s |", diff->keys[i]->head.header);
	pd_text_add(out, "\n| ---: | ---: | ---: | :---: | --- |");
	for (size_t i = 0; i < diff->key_count; i++)
		pd_text_add(out, " --- |");
	pd_text_add(out, "\n");
}

static void add_amounts(const struct pd_diff *diff, struct pd_text *out, size_t event,
			const struct pd_diff_change *change)
{
	double base = change->old_share;
	char old[AMOUNT_BYTES], new[AMOUNT_BYTES];

	pd_diff_amount(old, diff->events[event].unit, change->old_amount);
	pd_diff_amount(new, diff->events[event].unit, change->new_amount);
	pd_text_printf(out, "| %s | %s |", old, new);
	if (base > 0)
		pd_text_printf(out, " %+.2f %% | %+.2f to %+.2f |", 100 * change->change / base,
			       100 * change->low / base, 100 * change->high / base);
	else
		pd_text_add(out, " new | |");
}

static void add_row(const struct pd_diff *diff, struct pd_text *out, size_t event, size_t row,
		    const struct pd_diff_change *change)
{
	const char *inlined = pd_diff_inlined_into(diff, event, row);

	if (diff->per)
		add_amounts(diff, out, event, change);
	else
		pd_text_printf(out, "| %.2f %% | %.2f %% | %+.2f %% | %+.2f to %+.2f |", change->old_share * 100,
			       change->new_share * 100, change->change * 100, change->low * 100, change->high * 100);
	pd_text_printf(out, " %s |", pd_diff_rating_name(change->rating));
	for (size_t i = 0; i < diff->key_count; i++) {
		pd_text_add(out, " ");
		add_plain(out, pd_diff_cell(diff, event, row, i));
		if (inlined && diff->keys[i]->has_level) {
			pd_text_add(out, " (inlined into ");
			add_plain(out, inlined);
			pd_text_add(out, " now)");
		}
		pd_text_add(out, " |");
	}
	pd_text_add(out, "\n");
}

/* False if writing failed. */
static bool add_table(const struct pd_diff *diff, struct pd_text *out, size_t event, size_t side)
{
	struct pd_diff_change change;
	size_t shown = 0;

	add_head(diff, out, event, side);
	for (size_t i = 0; pd_diff_change(diff, event, i, side, &change); i++) {
		if (change.rating < PD_DIFF_MAYBE)
			continue;
		if (!shown++)
			add_columns(diff, out);
		add_row(diff, out, event, i, &change);
		if (!pd_text_flush_large(out))
			return false;
	}
	pd_text_printf(out, "%s%zu rows are noise.\n\n", shown ? "\n" : "", pd_diff_tested(diff, event, side) - shown);
	return true;
}

enum pd_status pd_diff_markdown(const struct pd_diff *diff, struct pd_text *text, struct pd_error *error)
{
	bool done = true;

	if (!diff->options.ratings)
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "pd_diff_options.ratings is not set");
	for (size_t i = 0; i < diff->warning_count; i++) {
		pd_text_add(text, "- ");
		add_plain(text, diff->warnings[i]);
		pd_text_add(text, i + 1 < diff->warning_count ? "\n" : "\n\n");
	}
	for (size_t event = 0; event < diff->event_count; event++)
		for (size_t side = 1; side < diff->side_count && done; side++)
			done = add_table(diff, text, event, side);
	return pd_diff_end(text, error);
}

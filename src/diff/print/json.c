/* SPDX-License-Identifier: MIT */
/* A comparison as JSON. Shares and changes are of 1, as in the library. */
#include "diff/diff.h"

#include <string.h>

#include <perfdata/json.h>

#include "base/error.h"
#include "base/text/text.h"
#include "report/keys/values.h"

static void add_runs(const struct pd_diff *diff, struct pd_json *json, size_t event, size_t side, const char *name)
{
	pd_json_open(json, name, '[');
	for (size_t i = 0; i < diff->run_count; i++) {
		const struct run_sums *sums = &diff->events[event].runs[i];

		if (diff->runs[i].side != side)
			continue;
		pd_json_open(json, NULL, '{');
		pd_json_string(json, "file", diff->runs[i].name);
		pd_json_number(json, "samples", sums->total.samples);
		pd_json_number(json, "period", sums->total.period);
		pd_json_bool(json, "copy", diff->runs[i].copy);
		pd_json_close(json, '}');
	}
	pd_json_close(json, ']');
}

static void add_names(const struct pd_diff *diff, struct pd_json *json, size_t event, size_t row)
{
	const char *name;

	for (size_t i = 0; i < diff->key_count; i++)
		pd_json_string(json, diff->keys[i]->head.json, pd_diff_cell(diff, event, row, i));
	name = pd_diff_inlined_into(diff, event, row);
	if (name)
		pd_json_string(json, "inlined_into", name);
	if (!pd_diff_joined(diff, event, row, 0))
		return;
	pd_json_open(json, "joined", '[');
	for (size_t i = 0; (name = pd_diff_joined(diff, event, row, i)) != NULL; i++)
		pd_json_string(json, NULL, name);
	pd_json_close(json, ']');
}

static void add_change(struct pd_json *json, const struct pd_diff_change *change, bool amounts)
{
	pd_json_double(json, "old_share", change->old_share);
	pd_json_double(json, "new_share", change->new_share);
	pd_json_double(json, "change", change->change);
	if (amounts) {
		pd_json_double(json, "old_amount", change->old_amount);
		pd_json_double(json, "new_amount", change->new_amount);
	}
	pd_json_string(json, "rating", change->rating ? pd_diff_rating_name(change->rating) : NULL);
	if (!change->rating)
		return;
	pd_json_double(json, "low", change->low);
	pd_json_double(json, "high", change->high);
	pd_json_double(json, "p", change->p);
	pd_json_double(json, "q", change->q);
	if (change->runs_needed)
		pd_json_number(json, "runs_needed", change->runs_needed);
	if (change->because != SIZE_MAX)
		pd_json_number(json, "because_of_row", change->because);
}

/* False if writing failed. */
static bool add_table(const struct pd_diff *diff, struct pd_json *json, size_t event, size_t side)
{
	struct pd_diff_change change;

	pd_json_open(json, NULL, '{');
	pd_json_string(json, "event", diff->events[event].head.name);
	add_runs(diff, json, event, 0, "old");
	add_runs(diff, json, event, side, "new");
	if (pd_diff_total_change(diff, event, side, &change)) {
		pd_json_string(json, "per", pd_diff_per_words(diff));
		pd_json_string(json, "unit", diff->events[event].unit == PD_UNIT_NS ? "ns" : "events");
		pd_json_open(json, "total", '{');
		add_change(json, &change, true);
		pd_json_close(json, '}');
	}
	pd_json_number(json, "tested", pd_diff_tested(diff, event, side));
	pd_json_open(json, "rows", '[');
	for (size_t i = 0; pd_diff_change(diff, event, i, side, &change); i++) {
		pd_json_open(json, NULL, '{');
		add_names(diff, json, event, i);
		add_change(json, &change, diff->per != PER_NOTHING);
		pd_json_close(json, '}');
		if (!pd_text_flush_large(json->text))
			return false;
	}
	pd_json_close(json, ']');
	pd_json_close(json, '}');
	return true;
}

enum pd_status pd_diff_json(const struct pd_diff *diff, struct pd_text *text, struct pd_error *error)
{
	struct pd_json json = { .text = text };
	bool done = true;

	if (!diff->options.ratings)
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "pd_diff_options.ratings is not set");
	pd_json_open(&json, NULL, '{');
	pd_json_open(&json, "warnings", '[');
	for (size_t i = 0; i < diff->warning_count; i++)
		pd_json_string(&json, NULL, diff->warnings[i]);
	pd_json_close(&json, ']');
	pd_json_open(&json, "tables", '[');
	for (size_t event = 0; event < diff->event_count; event++)
		for (size_t side = 1; side < diff->side_count && done; side++)
			done = add_table(diff, &json, event, side);
	pd_json_close(&json, ']');
	pd_json_close(&json, '}');
	pd_text_add(text, "\n");
	return pd_diff_end(text, error);
}

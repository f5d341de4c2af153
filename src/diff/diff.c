/* SPDX-License-Identifier: MIT */
/* Comparisons: options, recordings as they are added, and what is read of the result. */
#include "diff/diff.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "blocks/blocks.h"
#include "report/keys/field_keys.h"
#include "report/report.h"

/* ---- options ---- */

static bool parse_weights(const char *text, struct pd_diff_options *options)
{
	char *end;

	if (*text != ':')
		return false;
	options->old_weight = strtoll(text + 1, &end, 10);
	if (end == text + 1 || *end != ',')
		return false;
	text = end;
	options->new_weight = strtoll(text + 1, &end, 10);
	return end != text + 1 && !*end && options->old_weight && options->new_weight;
}

enum pd_status pd_diff_method_parse(const char *word, struct pd_diff_options *options, struct pd_error *error)
{
	static const char *const names[] = { [PD_DIFF_DELTA_ABS] = "delta-abs",
					     [PD_DIFF_DELTA] = "delta",
					     [PD_DIFF_RATIO] = "ratio",
					     [PD_DIFF_CYCLES] = "cycles" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (names[i] && strcmp(word, names[i]) == 0) {
			options->method = (enum pd_diff_method)i;
			return PD_OK;
		}
	if (strncmp(word, "wdiff", 5) != 0 || (word[5] && word[5] != ':'))
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET,
			       "'%s' is none of delta-abs, delta, ratio, cycles and wdiff:OLD,NEW", word);
	options->method = PD_DIFF_WDIFF;
	if (!parse_weights(word + 5, options))
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET,
			       "'%s' lacks two weights other than 0: wdiff:OLD,NEW", word);
	return PD_OK;
}

enum pd_status pd_diff_new(const struct pd_diff_options *options, struct pd_diff **diff_out, struct pd_error *error)
{
	enum pd_status status;
	struct pd_diff *diff;

	if (options && !options->size)
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "pd_diff_options.size is not set");
	diff = pd_alloc(sizeof(*diff));
	if (!diff)
		return pd_diff_no_memory(error);
	if (options)
		memcpy(&diff->options, options, options->size < sizeof(*options) ? options->size : sizeof(*options));
	diff->options.ratings |= diff->options.per != NULL;
	/* as perf: blocks of a function are together */
	diff->options.by_baseline |= diff->options.method == PD_DIFF_CYCLES;
	if (!diff->options.order)
		diff->options.order = 1;
	diff->seed = pd_hash_secret();
	diff->scratch = pd_text_new();
	status = diff->scratch ? pd_diff_take_per(diff, diff->options.per, error) : pd_diff_no_memory(error);
	if (status == PD_OK)
		*diff_out = diff;
	else
		pd_diff_free(diff);
	return status;
}

static void event_fini(const struct pd_diff *diff, struct diff_event *event)
{
	for (size_t i = 0; event->runs && i < diff->run_capacity; i++)
		pd_free(event->runs[i].items);
	pd_free(event->runs);
	pd_free(event->rows);
	pd_free(event->order);
	pd_free(event->changes);
	pd_free(event->tested);
	pd_free(event->totals);
	pd_index_fini(&event->index);
}

void pd_diff_free(struct pd_diff *diff)
{
	if (!diff)
		return;
	for (size_t i = 0; i < diff->event_count; i++)
		event_fini(diff, &diff->events[i]);
	pd_free(diff->events);
	pd_free(diff->runs);
	pd_free(diff->warnings);
	pd_arena_fini(&diff->texts);
	pd_text_free(diff->scratch);
	pd_free(diff);
}

void pd_diff_ask(const struct pd_diff *diff, struct pd_report_options *options)
{
	(void)diff;
	if (!options->sort)
		options->sort = "dso,sym";
	options->view = PD_REPORT_SAMPLES;
	options->no_children = true;
	options->no_groups = true;
	options->all_in_one_table = false;
	options->graph = (struct pd_report_graph){ .kind = PD_REPORT_GRAPH_NONE };
}

/* ---- recordings ---- */

/* Room for another run, in all events too. False if there is no memory. */
static bool grow_runs(struct pd_diff *diff)
{
	size_t capacity = diff->run_capacity ? diff->run_capacity * 2 : 8;
	struct diff_run *runs;

	if (diff->run_count < diff->run_capacity)
		return true;
	runs = pd_realloc(diff->runs, capacity * sizeof(*runs));
	if (!runs)
		return false;
	diff->runs = runs;
	for (size_t i = 0; i < diff->event_count; i++) {
		struct run_sums *sums = pd_alloc(capacity * sizeof(*sums));

		if (!sums)
			return false;
		memcpy(sums, diff->events[i].runs, diff->run_capacity * sizeof(*sums));
		pd_free(diff->events[i].runs);
		diff->events[i].runs = sums;
	}
	diff->run_capacity = capacity;
	return true;
}

static void take_keys(struct pd_diff *diff, const struct pd_report *report)
{
	memcpy(diff->keys, report->keys, sizeof(diff->keys));
	diff->key_count = report->key_count;
	for (size_t i = 0; i < report->columns.count; i++)
		if (report->columns.items[i].kind == COLUMN_KEY)
			diff->elided[report->columns.items[i].key] = report->columns.items[i].elided;
	diff->wide_unknown = !report->options.by_dso;
}

/* Keys that are fields live as long as their report, and their names mean nothing without it. */
static bool can_compare(const struct pd_report *report, struct pd_error *error)
{
	for (size_t i = 0; i < report->key_count; i++)
		if (key_is_field(report->keys[i])) {
			pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET,
				"the sort key %s is a field of tracepoints, which cannot be compared",
				report->keys[i]->head.name);
			return false;
		}
	return true;
}

static bool has_same_keys(const struct pd_diff *diff, const struct pd_report *report)
{
	return diff->key_count == report->key_count &&
	       memcmp(diff->keys, report->keys, diff->key_count * sizeof(diff->keys[0])) == 0;
}

enum pd_status pd_diff_begin_run(struct pd_diff *diff, size_t side, const char *name, struct pd_error *error)
{
	struct diff_run run = { .side = side };

	if (diff->finished || side > diff->side_count || (!diff->run_count && side))
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "side %zu cannot have another run", side);
	run.name = pd_arena_text(&diff->texts, name, strlen(name));
	if (!run.name || !grow_runs(diff))
		return pd_diff_no_memory(error);
	diff->runs[diff->run_count++] = run;
	if (side == diff->side_count)
		diff->side_count++;
	return PD_OK;
}

static bool take_all(struct pd_diff *diff, struct pd_file *file, const struct pd_report *report)
{
	return (diff->run_count > 1 || pd_diff_take_events(diff, file)) && pd_diff_take_rows(diff, file, report) &&
	       pd_diff_check_run(diff, file, pd_profile_losses(report->profile));
}

enum pd_status pd_diff_add(struct pd_diff *diff, size_t side, const char *name, struct pd_file *file,
			   const struct pd_report *report, struct pd_error *error)
{
	bool first = !diff->run_count;
	enum pd_status status;

	if (!can_compare(report, error))
		return PD_ERROR_ARGUMENT;
	if (!first && !has_same_keys(diff, report))
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "%s: other sort keys", name);
	status = pd_diff_begin_run(diff, side, name, error);
	if (status < 0)
		return status;
	status = pd_diff_read_blocks(diff, file, report, error);
	if (status < 0)
		return status;
	if (first)
		take_keys(diff, report);
	status = take_all(diff, file, report) ? pd_diff_divide_run(diff, error) : pd_diff_no_memory(error);
	pd_blocks_free(diff->blocks);
	diff->blocks = NULL;
	return status;
}
enum pd_status pd_diff_finish(struct pd_diff *diff, struct pd_error *error)
{
	if (diff->side_count < 2)
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "nothing to compare with");
	if (diff->options.order >= diff->side_count)
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "there is no side %zu", diff->options.order);
	for (size_t i = 0; i < diff->event_count; i++)
		if ((diff->options.join_names &&
		     !(pd_diff_join(diff, &diff->events[i]) && pd_diff_join_places(diff, &diff->events[i]))) ||
		    (diff->options.ratings && !pd_diff_test(diff, &diff->events[i])) ||
		    !pd_diff_sort(diff, &diff->events[i]))
			return pd_diff_no_memory(error);
	diff->finished = true;
	return PD_OK;
}

/* ---- results ---- */

size_t pd_diff_side_count(const struct pd_diff *diff)
{
	return diff->side_count;
}

size_t pd_diff_run_count(const struct pd_diff *diff, size_t side)
{
	size_t count = 0;

	for (size_t i = 0; i < diff->run_count; i++)
		count += diff->runs[i].side == side;
	return count;
}

const struct pd_diff_event *pd_diff_event(const struct pd_diff *diff, size_t index)
{
	return index < diff->event_count ? &diff->events[index].head : NULL;
}

static const struct diff_event *event_with(const struct pd_diff *diff, size_t event, size_t row)
{
	return event < diff->event_count && row < diff->events[event].head.row_count ? &diff->events[event] : NULL;
}

bool pd_diff_sum(const struct pd_diff *diff, size_t event, size_t row, size_t side, size_t run,
		 struct pd_diff_sum *sum_out)
{
	const struct diff_event *found = event_with(diff, event, row);
	size_t at = pd_diff_run_at(diff, side, run);

	if (!found || at == SIZE_MAX)
		return false;
	*sum_out = run_sum(found, at, found->order[row]);
	return true;
}

bool pd_diff_total(const struct pd_diff *diff, size_t event, size_t side, size_t run, struct pd_diff_sum *total_out)
{
	size_t at = pd_diff_run_at(diff, side, run);

	if (event >= diff->event_count || at == SIZE_MAX)
		return false;
	*total_out = diff->events[event].runs[at].total;
	return true;
}

const char *pd_diff_cell(const struct pd_diff *diff, size_t event, size_t row, size_t key)
{
	const struct diff_event *found = event_with(diff, event, row);

	return found && key < diff->key_count ? found->rows[found->order[row]].cells[key] : NULL;
}

const char *pd_diff_joined(const struct pd_diff *diff, size_t event, size_t row, size_t index)
{
	const struct diff_event *found = event_with(diff, event, row);
	uint32_t next = found ? found->rows[found->order[row]].next_joined : 0;

	for (; next && index; index--)
		next = found->rows[next - 1].next_joined;
	for (size_t i = 0; next && i < diff->key_count; i++)
		if (diff->keys[i]->has_level)
			return found->rows[next - 1].cells[i];
	return next ? found->rows[next - 1].cells[0] : NULL;
}

const char *pd_diff_inlined_into(const struct pd_diff *diff, size_t event, size_t row)
{
	const struct diff_event *found = event_with(diff, event, row);
	size_t number = found ? found->order[row] : 0;

	for (size_t run = 0; found && run < diff->run_count; run++)
		if (diff->runs[run].side && run_sum(found, run, number).present)
			return NULL;
	return found ? found->rows[number].inlined_into : NULL;
}

/* ---- ratings ---- */

bool pd_diff_change(const struct pd_diff *diff, size_t event, size_t row, size_t side,
		    struct pd_diff_change *change_out)
{
	const struct diff_event *found = event_with(diff, event, row);

	if (!found || !found->changes || !side || side >= diff->side_count)
		return false;
	*change_out = found->changes[(side - 1) * found->row_count + found->order[row]];
	/* what is known by number is asked for by place */
	for (size_t i = 0; change_out->because != SIZE_MAX; i++)
		if (i == found->head.row_count) {
			change_out->because = SIZE_MAX;
		} else if (found->order[i] == change_out->because) {
			change_out->because = i;
			break;
		}
	return true;
}

bool pd_diff_total_change(const struct pd_diff *diff, size_t event, size_t side, struct pd_diff_change *change_out)
{
	if (event >= diff->event_count || !diff->per || !diff->events[event].totals || !side ||
	    side >= diff->side_count)
		return false;
	*change_out = diff->events[event].totals[side - 1];
	return true;
}

size_t pd_diff_tested(const struct pd_diff *diff, size_t event, size_t side)
{
	return event < diff->event_count && diff->events[event].tested && side && side < diff->side_count ?
		       diff->events[event].tested[side - 1] :
		       0;
}

const char *pd_diff_rating_name(enum pd_diff_rating rating)
{
	static const char *const names[] = { "-", "noise", "maybe", "real" };

	return (size_t)rating < sizeof(names) / sizeof(names[0]) ? names[rating] : "-";
}

const char *pd_diff_warning(const struct pd_diff *diff, size_t index)
{
	return index < diff->warning_count ? diff->warnings[index] : NULL;
}

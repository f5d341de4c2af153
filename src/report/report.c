/* SPDX-License-Identifier: MIT */
/* Reports: from options to a plan, from a profile to tables, and what is read of these. */
#include "report/report.h"
#include "type/type.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"

enum pd_status pd_report_no_memory(struct pd_error *error)
{
	return pd_fail(error, PD_ERROR_MEMORY, PD_NO_OFFSET, "out of memory");
}

/* ---- filters ---- */

static enum pd_choice choose_sample(const void *filter, const struct pd_candidate *candidate)
{
	return pd_select_choose(filter, candidate);
}

static bool has_place(const void *filter, const struct pd_place *place)
{
	return pd_select_has_place(filter, place);
}

void pd_report_select(struct pd_report_options *options, const struct pd_select *select)
{
	options->choose = choose_sample;
	options->has_place = pd_select_by_place(select) ? has_place : NULL;
	options->filter = select;
	options->by_dso = pd_select_has_list(select, PD_SELECT_DSOS);
	options->only_comm = pd_select_only(select, PD_SELECT_COMMS);
	options->only_dso = pd_select_only(select, PD_SELECT_DSOS);
	options->only_symbol = pd_select_only(select, PD_SELECT_SYMBOLS);
}

/* ---- the plan ---- */

static bool is_pipe(struct pd_file *file)
{
	return pd_file_header(file)->mode == PD_MODE_PIPE;
}

static bool has_chains(struct pd_file *file)
{
	for (size_t i = 0; i < pd_file_event_count(file); i++)
		if (pd_file_event(file, i)->attr->sample_type & PD_MASK(PD_SAMPLE_TYPE_CALLCHAIN))
			return true;
	return false;
}

static enum pd_status check_branches(const struct pd_report *report, struct pd_file *file, struct pd_error *error)
{
	if ((report->options.view != PD_REPORT_BRANCHES && !report->options.branch_history) ||
	    pd_branches_recorded(file))
		return PD_OK;
	return pd_fail(error, PD_ERROR_NO_MATCH, PD_NO_OFFSET, "no branch stacks were recorded (perfdata record -b)");
}

static enum pd_status choose_view(struct pd_report *report, struct pd_file *file, struct pd_error *error)
{
	if (report->options.mem_mode && report->options.view == PD_REPORT_BRANCHES)
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "branches have no memory accesses");
	if (report->options.branch_history && report->options.view == PD_REPORT_BRANCHES)
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET,
			       "branches are either in call chains or counted instead of samples");
	report->by_branch = report->options.view == PD_REPORT_BRANCHES ||
			    (report->options.view == PD_REPORT_AUTO && !report->options.mem_mode &&
			     !report->options.branch_history && file && pd_branches_are_default(file));
	return !file || is_pipe(file) ? PD_OK : check_branches(report, file, error);
}

/* A pipe says only while it is read what its events have. As perf: nothing is added up there unless requested. */
static void choose_chains(struct pd_report *report, struct pd_file *file)
{
	bool pipe = file && is_pipe(file), recorded = !file || pipe || has_chains(file);
	bool chains = !report->by_branch && (recorded || report->options.branch_history);

	report->children = recorded && chains && !pipe && !report->options.no_children && !report->options.hierarchy &&
			   !report->options.mem_mode;
	if (!chains)
		report->graph.kind = PD_REPORT_GRAPH_NONE;
	/* As perf: with callees' shares the chains go the other way. */
	if (!report->graph.order_given)
		report->graph.caller = chains && !report->options.no_children;
}

static bool has_key(const struct pd_report *report, const char *name)
{
	bool has = false;

	for (size_t i = 0; i < report->key_count; i++)
		has = has || strcmp(report->keys[i]->head.name, name) == 0;
	return has;
}

static enum pd_status plan_parents(struct pd_report *report, struct pd_file *file, struct pd_error *error)
{
	bool shown = has_key(report, "parent");

	if (shown && file && !is_pipe(file) && !has_chains(file))
		return pd_fail(error, PD_ERROR_NO_MATCH, PD_NO_OFFSET,
			       "the sort key parent needs call chains (perfdata record -g)");
	return pd_parents_plan(report, shown, error);
}

enum pd_status pd_report_new(struct pd_file *file, const struct pd_report_options *options,
			     struct pd_report **report_out, struct pd_error *error)
{
	struct pd_report *report;
	enum pd_status status;

	if (options && !options->size)
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "pd_report_options.size is not set");
	report = pd_alloc(sizeof(*report));
	if (!report)
		return pd_report_no_memory(error);
	if (options)
		memcpy(&report->options, options, options->size < sizeof(*options) ? options->size : sizeof(*options));
	report->graph = report->options.graph;
	report->graph.by_address |= report->options.branch_history;
	if (!report->options.slice_ns)
		report->options.slice_ns = 100000000;
	report->planned_for = file;
	status = choose_view(report, file, error);
	if (status == PD_OK) {
		choose_chains(report, file);
		status = pd_columns_plan(report, file, error);
	}
	if (status == PD_OK)
		status = plan_parents(report, file, error);
	report->options.sort = report->options.fields = report->options.parent = report->options.ignored_callees = NULL;
	if (status == PD_OK)
		*report_out = report;
	else
		pd_report_free(report);
	return status;
}

/* Where rows say nothing of a place, callers are in the row of the sample. */
static bool callers_have_rows(const struct pd_report *report)
{
	bool any = false;

	for (size_t i = 0; i < report->key_count; i++)
		any = any || report->keys[i]->of_frame;
	return report->children && any;
}

/* Whether callers that are merged can have rows all the same: each is another place then, and no other frame is at it. */
static bool can_keep_merged(const struct pd_report *report)
{
	return callers_have_rows(report) && has_key(report, "dso") && has_key(report, "sym");
}

/* Callers that are too small for graphs need not be told apart. Only the trees of single events say of every node how large it
 * is; what a filter of places leaves of an event is not known before. */
static double merge_below(const struct pd_report *report)
{
	const struct pd_report_options *options = &report->options;
	struct pd_file *file = report->planned_for;
	bool possible = file && !is_pipe(file) && !(report_by(report) & PD_BY_PARALLELISM) &&
			(options->no_groups || !pd_file_group_desc(file));

	if (!possible || options->all_in_one_table || options->hide_unresolved || options->has_place ||
	    report->by_branch || (callers_have_rows(report) && !can_keep_merged(report)) || report->graph.by_address ||
	    report->has_parent || report->has_ignored || report->graph.kind != PD_REPORT_GRAPH_TREE)
		return 0;
	return report->graph.least_percent;
}

/* Places that no row says anything of need not be told apart but for whether they have a function. */
static bool shows_places(const struct pd_report *report)
{
	bool any = report->by_branch || report->options.has_place || report->options.symbol_part ||
		   report->has_parent || report->has_ignored;

	for (size_t i = 0; i < report->key_count; i++)
		any = any || report->keys[i]->of_frame;
	return any;
}

void pd_report_ask(const struct pd_report *report, struct pd_profile_options *options)
{
	options->by = report_by(report);
	options->weights = report->options.mem_mode;
	if (!report->by_branch && (report->children || has_graphs(report) || report->has_parent))
		options->by |= PD_BY_CHAIN;
	if (report->graph.by_address)
		options->by |= PD_BY_ADDRESS;
	if (report->options.branch_history)
		options->by |= PD_BY_BRANCHES;
	options->outermost_first = report->graph.caller;
	/* The innermost callers can be left out while reading. */
	options->max_stack =
		report->graph.caller && !report->options.branch_history ? 0 : (unsigned)report->options.max_stack;
	options->slice_ns = report->options.slice_ns;
	options->merge_below = merge_below(report);
	options->places_as_one = !shows_places(report);
	if (can_keep_merged(report))
		options->keep_merged = report->graph.caller && report->options.max_stack ?
					       (unsigned)report->options.max_stack :
					       UINT_MAX;
}

const struct pd_report_key *pd_report_sort_key(const struct pd_report *report, size_t index)
{
	return index < report->key_count ? &report->keys[index]->head : NULL;
}

bool pd_report_shows_branches(const struct pd_report *report)
{
	return report->by_branch;
}

/* ---- building ---- */

/* All events are known. */
static enum pd_status check_view(struct pd_report *report, struct pd_error *error)
{
	/* As perf: not of branches that the recorder makes call chains of. */
	report->branch_notes = report->options.branch_history && pd_branches_are_default(report->file);
	if (!report->planned_for)
		return PD_OK;
	if (!has_chains(report->file) && !report->options.branch_history)
		report->graph.kind = PD_REPORT_GRAPH_NONE;
	return check_branches(report, report->file, error);
}

enum pd_status pd_report_build(struct pd_report *report, struct pd_file *file, const struct pd_profile *profile,
			       struct pd_symbols *symbols, struct pd_error *error)
{
	enum pd_status status;

	report->file = file;
	report->profile = profile;
	report->symbols = symbols;
	pd_columns_elide(report);
	pd_columns_drop_latency(report);
	status = check_view(report, error);
	if (status < 0)
		return status;
	report->scratch.text = pd_text_new();
	if (!report->scratch.text || !pd_tables_create(report) || !pd_rows_build(report))
		return pd_report_no_memory(error);
	return PD_OK;
}

static void scratch_fini(struct scratch *scratch)
{
	pd_text_free(scratch->text);
	pd_free(scratch->flags);
	pd_free(scratch->clones);
	pd_free(scratch->places);
	pd_free(scratch->lines);
	pd_arena_fini(&scratch->line_texts);
	pd_free(scratch->matches);
	pd_free(scratch->stacks);
	pd_free(scratch->chains);
	pd_free(scratch->known);
}

enum pd_status pd_report_read(struct pd_file *file, const struct pd_report_options *options,
			      const struct pd_symbols_options *names, struct pd_report **report_out,
			      struct pd_error *error)
{
	struct pd_profile_options wanted = { .size = sizeof(wanted) };
	struct pd_report *report;
	enum pd_status status = pd_report_new(file, options, &report, error);

	if (status < 0)
		return status;
	pd_report_ask(report, &wanted);
	wanted.threads = report->options.threads;
	wanted.choose = report->options.choose;
	wanted.self = (void *)report->options.filter;
	status = pd_profile_read(file, &wanted, &report->own_profile, error);
	if (status >= 0)
		status =
			pd_symbols_new(file, pd_profile_state(report->own_profile), names, &report->own_symbols, error);
	if (status >= 0)
		status = pd_profile_name(report->own_profile, report->own_symbols, error);
	if (status >= 0)
		status = pd_report_build(report, file, report->own_profile, report->own_symbols, error);
	if (status >= 0)
		*report_out = report;
	else
		pd_report_free(report);
	return status;
}

void pd_report_free(struct pd_report *report)
{
	if (!report)
		return;
	for (size_t i = 0; i < report->table_count; i++)
		pd_table_fini(&report->tables[i]);
	pd_free(report->tables);
	pd_parents_fini(report);
	pd_types_free(report->types);
	pd_trace_free(report->trace);
	pd_free(report->fields);
	pd_arena_fini(&report->field_texts);
	pd_free(report->sort_text);
	for (size_t i = 0; i < PD_REPORT_KEYS_MAX; i++)
		pd_value_table_fini(&report->values[i]);
	pd_value_sets_fini(&report->whos);
	pd_value_sets_fini(&report->places);
	scratch_fini(&report->scratch);
	pd_symbols_free(report->own_symbols);
	pd_profile_free(report->own_profile);
	pd_free(report);
}

/* ---- results ---- */

const struct pd_report_table *pd_report_table(const struct pd_report *report, size_t index)
{
	return index < report->table_count ? &report->tables[index].head : NULL;
}

static bool has_row(const struct pd_report *report, size_t table, size_t row)
{
	return table < report->table_count && row < report->tables[table].head.row_count;
}

const struct pd_report_amounts *pd_report_row(const struct pd_report *report, size_t table, size_t row)
{
	return has_row(report, table, row) ? report->tables[table].rows[row].amounts : NULL;
}

const char *pd_report_cell(const struct pd_report *report, size_t table, size_t row, size_t key,
			   char cell[PD_REPORT_CELL_BYTES])
{
	if (!has_row(report, table, row) || key >= report->key_count)
		return NULL;
	return pd_value_text(report, key, &report->tables[table].rows[row], cell);
}

static bool has_text(const struct pd_report *report, const struct row *row, const char *text)
{
	for (size_t i = 0; i < report->key_count; i++) {
		char cell[PD_REPORT_CELL_BYTES];

		if (strcasestr(pd_value_text(report, i, row, cell), text))
			return true;
	}
	return false;
}

void pd_report_narrow(struct pd_report *report, const char *filter, size_t max_rows)
{
	for (size_t i = 0; i < report->table_count; i++) {
		struct table *table = &report->tables[i];
		size_t kept = 0;

		for (size_t k = 0; k < table->head.row_count && (!max_rows || kept < max_rows); k++)
			if (!pd_row_is_small(report, table, &table->rows[k]) &&
			    (!*filter || has_text(report, &table->rows[k], filter)))
				table->rows[kept++] = table->rows[k];
		table->head.row_count = kept;
	}
}

/* SPDX-License-Identifier: MIT */
#include "table/scan.h"

#include "base/error.h"

// ---- opening ----

static bool is_from_records(enum pd_table_id id)
{
	return id == PD_TABLE_samples || id == PD_TABLE_records || id == PD_TABLE_counts || id == PD_TABLE_losses ||
	       id == PD_TABLE_TRACEPOINT;
}

// Conditions are on the names that rows have, which are harmless.
static bool fits_event(const struct pd_scan *scan, const struct pd_event *event)
{
	const struct pd_tables *strings = &scan->set->strings;
	const char *name = pd_tables_text_of(strings, pd_table_event_name(scan->set, event));
	const struct pd_event *own = scan->table->event;

	if (own && pd_table_event_name(scan->set, own) != pd_table_event_name(scan->set, event))
		return false;
	return !scan->limits.event || strcmp(name, scan->limits.event) == 0;
}

static bool list_events(struct pd_scan *scan)
{
	size_t count = pd_file_event_count(scan->set->file);

	if (!scan->limits.event && !scan->table->event)
		return true;
	scan->event_fits = pd_alloc((count + 1) * sizeof(*scan->event_fits));
	for (size_t i = 0; scan->event_fits && i < count; i++)
		scan->event_fits[i] = fits_event(scan, pd_file_event(scan->set->file, i));
	return scan->event_fits != NULL;
}

static bool list_columns(struct pd_scan *scan, const bool *wanted)
{
	size_t all = scan->table->table.column_count + 1;

	scan->columns = pd_alloc(all * sizeof(*scan->columns));
	scan->cells = pd_alloc(all * sizeof(*scan->cells));
	if (!scan->columns || !scan->cells)
		return false;
	for (size_t i = 0; i < scan->table->table.column_count; i++)
		if (wanted[i])
			scan->columns[scan->column_count++] = i;
	return true;
}

// Both the set and the query may want a part of the time.
static void join_limits(struct pd_scan *scan)
{
	const struct pd_window *window = &scan->set->window;
	struct pd_scan_limits *limits = &scan->limits;

	if (window->from_ns > limits->from_ns)
		limits->from_ns = window->from_ns;
	if (window->to_ns && (!limits->to_ns || window->to_ns < limits->to_ns))
		limits->to_ns = window->to_ns;
}

static enum pd_status open_scan(struct pd_scan *scan, const bool *wanted, enum pd_order order, struct pd_error *error)
{
	const struct pd_scan_limits *limits = &scan->limits;
	enum pd_table_id id = scan->table->id;
	// a key has one row at most
	size_t capacity = limits->has_key || limits->nothing ? 1 : PD_COLUMNS_CAPACITY;
	enum pd_status status = PD_OK;

	if (!pd_columns_init(&scan->batch, &scan->table->table, wanted, capacity) || !list_columns(scan, wanted) ||
	    !list_events(scan))
		return pd_fail_memory(error);
	join_limits(scan);
	if (!pd_scan_note_needs(scan))
		return pd_fail_memory(error);
	if (id == PD_TABLE_stacks || id == PD_TABLE_frames || id == PD_TABLE_samples || id == PD_TABLE_TRACEPOINT)
		status = pd_table_open_symbols(scan->set, error);
	if (status >= 0 && is_from_records(id))
		status = pd_walk_new(scan->set->known, order, limits->from_ns, limits->to_ns, &scan->walk, error);
	return status;
}

enum pd_status pd_scan_open(struct pd_table_set *set, const struct pd_table *table, const bool *wanted,
			    const struct pd_scan_limits *limits, enum pd_order order, struct pd_scan **scan_out,
			    struct pd_error *error)
{
	struct pd_scan *scan = pd_alloc(sizeof(*scan));
	enum pd_status status;

	if (!scan)
		return pd_fail_memory(error);
	scan->set = set;
	scan->table = pd_table_full(table);
	scan->limits = *limits;
	scan->ended = limits->nothing;
	status = open_scan(scan, wanted, order, error);
	if (status < 0)
		pd_scan_close(scan);
	else
		*scan_out = scan;
	return status;
}

void pd_scan_close(struct pd_scan *scan)
{
	if (!scan)
		return;
	pd_walk_free(scan->walk);
	pd_columns_fini(&scan->batch);
	pd_free(scan->columns);
	pd_free(scan->cells);
	pd_free(scan->event_fits);
	pd_free(scan->places);
	pd_free(scan);
}

// ---- reading ----

static enum pd_status add_record(struct pd_scan *scan, const struct pd_record *record, struct pd_error *error)
{
	const struct pd_scan_limits *limits = &scan->limits;

	if (record->time_ns != PD_NO_TIME &&
	    (record->time_ns < limits->from_ns || (limits->to_ns && record->time_ns > limits->to_ns)))
		return PD_OK;
	if (scan->event_fits && (!record->event || !scan->event_fits[record->event->index]))
		return PD_OK;
	switch (scan->table->id) {
	case PD_TABLE_records:
		pd_scan_record(scan, record);
		break;
	case PD_TABLE_counts:
		pd_scan_count(scan, record);
		break;
	case PD_TABLE_losses:
		pd_scan_loss(scan, record);
		break;
	default:
		return record->type == PD_RECORD_SAMPLE ? pd_scan_sample(scan, record, error) : PD_OK;
	}
	return PD_OK;
}

static enum pd_status add_next(struct pd_scan *scan, struct pd_error *error)
{
	const struct pd_record *record;
	enum pd_status status;

	switch (scan->table->id) {
	case PD_TABLE_stacks:
		return pd_scan_stacks(scan, error);
	case PD_TABLE_frames:
		return pd_scan_frames(scan, error);
	case PD_TABLE_maps:
		return pd_scan_maps(scan, error);
	case PD_TABLE_tasks:
		return pd_scan_tasks(scan, error);
	case PD_TABLE_events:
		return pd_scan_events(scan, error);
	case PD_TABLE_features:
		return pd_scan_features(scan, error);
	default:
		break;
	}
	status = pd_walk_next(scan->walk, &record, error);
	if (status != PD_OK)
		return status;
	status = add_record(scan, record, error);
	// nothing but losses and the like is wanted
	if (status >= 0 && scan->table->id == PD_TABLE_losses && record->type == PD_RECORD_SAMPLE)
		pd_walk_pass(scan->walk);
	return status;
}

enum pd_status pd_scan_next(struct pd_scan *scan, const struct pd_columns **batch_out, struct pd_error *error)
{
	enum pd_status status = PD_OK;

	pd_columns_clear(&scan->batch);
	while (!scan->ended && status == PD_OK && !pd_columns_is_full(&scan->batch))
		status = add_next(scan, error);
	if (status < 0)
		return status;
	if (!pd_scan_end_samples(scan) || scan->batch.failed || scan->set->strings.failed)
		return pd_fail_memory(error);
	scan->ended |= status == PD_END;
	*batch_out = &scan->batch;
	return scan->batch.rows ? PD_OK : PD_END;
}

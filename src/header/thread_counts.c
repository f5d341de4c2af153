/* SPDX-License-Identifier: MIT */
/* What threads counted until they ended, from READ records: a line for each thread, a column for each event. */
#include <perfdata/record_stats.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/lookup/u64_map.h"
#include "base/memory.h"
#include "file/file.h"
#include "stream/each.h"

enum {
	VALUES_MOST = 1 << 24, // threads times events
	WIDTH_MOST = 256       // of a column, so that a long name of an event makes no long rows
};

struct thread_row {
	int32_t pid, tid;
	uint64_t *values; // by column
	size_t value_count;
};

struct thread_counts {
	struct thread_row *rows; // in the order of their first record
	size_t row_count, row_capacity;
	struct pd_u64_map row_of;    // pid and tid to the index of a row, plus one
	struct pd_u64_map column_of; // index of an event to that of a column; both plus one
	const struct pd_event **events;
	size_t event_count, event_capacity;
};

// A new column, from 1; 0 without memory.
static uint64_t add_column(struct thread_counts *counts, const struct pd_event *event)
{
	if (!PD_GROW(counts->events, counts->event_capacity, counts->event_count + 1) ||
	    !pd_u64_map_add(&counts->column_of, event->index + 1, counts->event_count + 1))
		return 0;
	counts->events[counts->event_count++] = event;
	return counts->event_count;
}

static uint64_t add_row(struct thread_counts *counts, const struct pd_read *read, uint64_t key)
{
	if (!PD_GROW(counts->rows, counts->row_capacity, counts->row_count + 1) ||
	    !pd_u64_map_add(&counts->row_of, key, counts->row_count + 1))
		return 0;
	counts->rows[counts->row_count++] = (struct thread_row){ .pid = (int32_t)read->pid, .tid = (int32_t)read->tid };
	return counts->row_count;
}

static enum pd_status add_value(struct thread_row *row, size_t column, uint64_t value, struct pd_error *error)
{
	if (column >= row->value_count) {
		uint64_t *values = pd_realloc(row->values, (column + 1) * sizeof(*values));

		if (!values)
			return pd_fail_memory(error);
		memset(values + row->value_count, 0, (column + 1 - row->value_count) * sizeof(*values));
		row->values = values;
		row->value_count = column + 1;
	}
	row->values[column] += value;
	return PD_OK;
}

static enum pd_status take_record(void *self, struct pd_stream *stream, const struct pd_record *record,
				  struct pd_error *error)
{
	struct thread_counts *counts = self;
	const struct pd_read *read;
	const void *decoded;
	uint64_t key, row, column;

	(void)stream;
	if (record->type != PD_RECORD_READ || !record->event || pd_record_decode(record, &decoded, NULL) != PD_OK)
		return PD_OK;
	read = decoded;
	if (!read->counts)
		return PD_OK;
	key = (uint64_t)read->pid << 32 | read->tid;
	row = pd_u64_map_find(&counts->row_of, key);
	column = pd_u64_map_find(&counts->column_of, record->event->index + 1);
	if ((!row && !(row = add_row(counts, read, key))) || (!column && !(column = add_column(counts, record->event))))
		return pd_fail_memory(error);
	if ((uint64_t)counts->row_count * counts->event_count > VALUES_MOST)
		return pd_fail(error, PD_ERROR_LIMIT, record->offset, "more than %d counts of threads", VALUES_MOST);
	return add_value(&counts->rows[row - 1], column - 1, read->counts->value, error);
}

// ---- as a table ----

static int wider(int width, int other)
{
	return other > width ? other : width;
}

static uint64_t value_of(const struct thread_row *row, size_t column)
{
	return column < row->value_count ? row->values[column] : 0;
}

static int width_of_name(const char *name)
{
	size_t length = strlen(name);

	return length < WIDTH_MOST ? (int)length : WIDTH_MOST;
}

static void print_column_name(struct pd_text *text, const char *name, int width)
{
	pd_text_printf(text, "  %*s", width - width_of_name(name), "");
	pd_text_escaped(text, name, strlen(name));
}

// How wide the columns are that every table has, and that of each event.
struct thread_widths {
	int pid, tid;
	int *counts;
};

static bool measure(const struct thread_counts *counts, struct thread_widths *widths)
{
	*widths = (struct thread_widths){ 3, 3, pd_alloc((counts->event_count + 1) * sizeof(*widths->counts)) };
	if (!widths->counts)
		return false;
	memset(widths->counts, 0, (counts->event_count + 1) * sizeof(*widths->counts));
	for (size_t i = 0; i < counts->row_count; i++) {
		const struct thread_row *row = &counts->rows[i];

		widths->pid = wider(widths->pid, snprintf(NULL, 0, "%" PRId32, row->pid));
		widths->tid = wider(widths->tid, snprintf(NULL, 0, "%" PRId32, row->tid));
		for (size_t c = 0; c < counts->event_count; c++)
			widths->counts[c] = wider(widths->counts[c], snprintf(NULL, 0, "%" PRIu64, value_of(row, c)));
	}
	return true;
}

static void print_thread(struct pd_text *text, const struct thread_widths *widths, const struct thread_row *row)
{
	pd_text_printf(text, "  %*" PRId32 "  %*" PRId32, widths->pid, row->pid, widths->tid, row->tid);
}

// A row for each thread.
static void print_table(struct pd_text *text, const struct thread_counts *counts, struct thread_widths *widths)
{
	pd_text_printf(text, "# %*s  %*s", widths->pid, "PID", widths->tid, "TID");
	for (size_t c = 0; c < counts->event_count; c++) {
		widths->counts[c] = wider(widths->counts[c], width_of_name(counts->events[c]->name));
		print_column_name(text, counts->events[c]->name, widths->counts[c]);
	}
	pd_text_add(text, "\n");
	for (size_t i = 0; i < counts->row_count; i++) {
		print_thread(text, widths, &counts->rows[i]);
		for (size_t c = 0; c < counts->event_count; c++)
			pd_text_printf(text, "  %*" PRIu64, widths->counts[c], value_of(&counts->rows[i], c));
		pd_text_add(text, "\n");
		if (!pd_text_flush_large(text))
			break;
	}
}

// A row for each event of each thread. As in perf their lines do not end.
static void print_raw_table(struct pd_text *text, const struct thread_counts *counts, struct thread_widths *widths)
{
	int name = (int)strlen("Name"), number = (int)strlen("Raw"), count = (int)strlen("Count");

	for (size_t c = 0; c < counts->event_count; c++) {
		name = wider(name, width_of_name(counts->events[c]->name));
		number = wider(number, snprintf(NULL, 0, "%zx", counts->events[c]->index));
		count = wider(count, widths->counts[c]);
	}
	pd_text_printf(text, "# %*s  %*s  %*s  %*s  %*s\n", widths->pid, "PID", widths->tid, "TID", name, "Name",
		       number, "Raw", count, "Count");
	for (size_t i = 0; i < counts->row_count; i++) {
		for (size_t c = 0; c < counts->event_count; c++) {
			print_thread(text, widths, &counts->rows[i]);
			print_column_name(text, counts->events[c]->name, name);
			pd_text_printf(text, "  %*zx  %*" PRIu64, number, counts->events[c]->index, count,
				       value_of(&counts->rows[i], c));
		}
		if (!pd_text_flush_large(text))
			break;
	}
}

static enum pd_status print(struct pd_text *text, struct pd_file *file,
			    void (*table)(struct pd_text *text, const struct thread_counts *counts,
					  struct thread_widths *widths),
			    struct pd_error *error)
{
	const struct pd_each each = { .order = PD_ORDER_TIME, .trusts = true };
	struct thread_counts counts = { .row_of.seed = pd_file_secret(file) };
	struct thread_widths widths = { 0 };
	enum pd_status status = pd_each_record(file, &each, take_record, &counts, error);

	if (status >= 0 && measure(&counts, &widths))
		table(text, &counts, &widths);
	if (status >= 0 && (!widths.counts || pd_text_failed(text)))
		status = pd_fail_memory(error);
	pd_free(widths.counts);
	for (size_t i = 0; i < counts.row_count; i++)
		pd_free(counts.rows[i].values);
	pd_free(counts.rows);
	pd_free(counts.events);
	pd_u64_map_fini(&counts.row_of);
	pd_u64_map_fini(&counts.column_of);
	return status < 0 ? status : PD_OK;
}

enum pd_status pd_print_thread_counts(struct pd_text *text, struct pd_file *file, struct pd_error *error)
{
	return print(text, file, print_table, error);
}

enum pd_status pd_print_thread_counts_raw(struct pd_text *text, struct pd_file *file, struct pd_error *error)
{
	return print(text, file, print_raw_table, error);
}

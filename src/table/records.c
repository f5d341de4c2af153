/* SPDX-License-Identifier: MIT */
/* Rows of records, counter values and losses. */
#include "table/scan.h"

#include "format/text/print.h"
#include "format/traits.h"
#include "stream/read/stream.h"

#include <inttypes.h>
#include <stdio.h>

static void put_type(struct pd_scan *scan, size_t column, const struct pd_record *record)
{
	const char *name = pd_record_name(record->type);
	char number[16];

	snprintf(number, sizeof(number), "%" PRIu32, record->type);
	pd_scan_put_string(scan, column, name ? name : number);
}

static void put_event(struct pd_scan *scan, size_t column, const struct pd_event *event)
{
	if (event)
		pd_put_number(&scan->batch, column, pd_table_event_name(scan->set, event));
}

static void put_time(struct pd_scan *scan, size_t column, uint64_t time_ns)
{
	if (time_ns != PD_NO_TIME)
		pd_put_number(&scan->batch, column, time_ns);
}

// ---- records ----

// As pd_json_record has them.
static void put_fields(struct pd_scan *scan, size_t column, const struct pd_record *record, bool is_error)
{
	struct pd_printer printer = { .arch = pd_file_machine(scan->set->file) };
	struct pd_error error;
	const void *decoded;
	enum pd_status status = pd_record_decode(record, &decoded, &error);

	if (status < 0) {
		scan->batch.failed |= status == PD_ERROR_MEMORY;
		if (is_error)
			pd_put_text(&scan->batch, column, error.message, strlen(error.message));
		return;
	}
	if (is_error)
		return;
	printer.text = pd_put_begin(&scan->batch, column);
	printer.scope = *pd_record_scope(record);
	pd_json_struct(&printer, pd_record_layout(record->type), decoded);
	pd_put_end(&scan->batch, column);
}

static void put_thread(struct pd_scan *scan, size_t column, const struct pd_record *record, enum pd_column_what what)
{
	struct pd_thread_id thread;

	pd_record_thread(record, &thread);
	if (what == PD_COL_RECORD_CPU || what == PD_COL_LOSS_CPU || what == PD_COL_COUNT_CPU)
		pd_scan_put_known(scan, column, thread.cpu, thread.cpu != UINT32_MAX);
	else if (what == PD_COL_RECORD_PID || what == PD_COL_LOSS_PID || what == PD_COL_COUNT_PID)
		pd_scan_put_known(scan, column, thread.pid, thread.known);
	else
		pd_scan_put_known(scan, column, thread.tid, thread.known);
}

static void put_record_cell(struct pd_scan *scan, size_t column, const struct pd_record *record)
{
	enum pd_column_what what = scan->table->sources[column].what;
	struct pd_columns *batch = &scan->batch;

	switch (what) {
	case PD_COL_RECORD_RECORD:
		pd_put_number(batch, column, record->place);
		break;
	case PD_COL_RECORD_OFFSET:
		pd_put_number(batch, column, record->offset);
		break;
	case PD_COL_RECORD_INNER:
		if (record->inner_offset != PD_NO_OFFSET)
			pd_put_number(batch, column, record->inner_offset);
		break;
	case PD_COL_RECORD_PART:
		pd_put_number(batch, column, record->part);
		break;
	case PD_COL_RECORD_TYPE:
		put_type(scan, column, record);
		break;
	case PD_COL_RECORD_SIZE:
		pd_put_number(batch, column, record->bytes.size);
		break;
	case PD_COL_RECORD_MISC:
		pd_put_number(batch, column, record->misc);
		break;
	case PD_COL_RECORD_MODE:
		if (record->misc & 7)
			pd_scan_put_string(scan, column, pd_names_text(&pd_names_cpumode, record->misc & 7));
		break;
	case PD_COL_RECORD_TIME:
		put_time(scan, column, record->time_ns);
		break;
	case PD_COL_RECORD_EVENT:
		put_event(scan, column, record->event);
		break;
	case PD_COL_RECORD_TAIL:
		if (record->tail_size)
			pd_put_number(batch, column, record->tail_size);
		break;
	case PD_COL_RECORD_FIELDS:
	case PD_COL_RECORD_ERROR:
		put_fields(scan, column, record, what == PD_COL_RECORD_ERROR);
		break;
	default:
		put_thread(scan, column, record, what);
		break;
	}
}

void pd_scan_record(struct pd_scan *scan, const struct pd_record *record)
{
	if (scan->limits.has_type && record->type != scan->limits.type)
		return;
	for (size_t i = 0; i < scan->column_count; i++)
		put_record_cell(scan, scan->columns[i], record);
	pd_columns_end_row(&scan->batch);
}

// ---- counter values ----

struct count_row {
	const struct pd_record *record;
	const struct pd_event *event;
	const struct pd_counts *counts;
	uint64_t value, id, lost, format;
};

static void put_count_cell(struct pd_scan *scan, size_t column, const struct count_row *row)
{
	struct pd_columns *batch = &scan->batch;
	enum pd_column_what what = scan->table->sources[column].what;

	switch (what) {
	case PD_COL_COUNT_RECORD:
		pd_put_number(batch, column, row->record->place);
		break;
	case PD_COL_COUNT_TIME:
		put_time(scan, column, row->record->time_ns);
		break;
	case PD_COL_COUNT_TYPE:
		put_type(scan, column, row->record);
		break;
	case PD_COL_COUNT_EVENT:
		put_event(scan, column, row->event);
		break;
	case PD_COL_COUNT_ID:
		if (PD_BITS(row->format, PD_READ_FORMAT_ID))
			pd_put_number(batch, column, row->id);
		break;
	case PD_COL_COUNT_VALUE:
		pd_put_number(batch, column, row->value);
		break;
	case PD_COL_COUNT_ENABLED:
		if (PD_BITS(row->format, PD_READ_FORMAT_TOTAL_TIME_ENABLED))
			pd_put_number(batch, column, row->counts->time_enabled_ns);
		break;
	case PD_COL_COUNT_RUNNING:
		if (PD_BITS(row->format, PD_READ_FORMAT_TOTAL_TIME_RUNNING))
			pd_put_number(batch, column, row->counts->time_running_ns);
		break;
	case PD_COL_COUNT_LOST:
		if (PD_BITS(row->format, PD_READ_FORMAT_LOST))
			pd_put_number(batch, column, row->lost);
		break;
	default:
		put_thread(scan, column, row->record, what);
		break;
	}
}

static void add_count(struct pd_scan *scan, struct count_row *row)
{
	const struct pd_event *event = NULL;

	if (PD_BITS(row->format, PD_READ_FORMAT_ID))
		event = pd_file_event_by_id(scan->set->file, row->id);
	row->event = event ? event : row->record->event;
	for (size_t i = 0; i < scan->column_count; i++)
		put_count_cell(scan, scan->columns[i], row);
	pd_columns_end_row(&scan->batch);
}

static void add_counts(struct pd_scan *scan, const struct pd_record *record, const struct pd_counts *counts)
{
	struct count_row row = { .record = record,
				 .counts = counts,
				 .format = pd_record_scope(record)->words[PD_WORD_READ_FORMAT] };

	if (!PD_BITS(row.format, PD_READ_FORMAT_GROUP)) {
		row.value = counts->value;
		row.id = counts->id;
		row.lost = counts->lost;
		add_count(scan, &row);
		return;
	}
	for (size_t i = 0; i < counts->members.count && scan->batch.rows < PD_COLUMNS_CAPACITY; i++) {
		const struct pd_count *count = PD_ITEM(pd_count, counts->members, i);

		row.value = count->value;
		row.id = count->id;
		row.lost = count->lost;
		add_count(scan, &row);
	}
}

void pd_scan_count(struct pd_scan *scan, const struct pd_record *record)
{
	const struct pd_sample *sample;
	const struct pd_read *read;
	struct pd_brief brief;

	if (record->type == PD_RECORD_READ) {
		read = pd_scan_decode(scan, record);
		if (read && read->counts)
			add_counts(scan, record, read->counts);
		return;
	}
	if (record->type != PD_RECORD_SAMPLE || !record->event ||
	    !(record->event->attr->sample_type & PD_MASK(PD_SAMPLE_TYPE_READ)) || !pd_record_brief(record, &brief) ||
	    !pd_scan_wants_sample(scan, record, &brief, NULL))
		return;
	sample = pd_scan_decode(scan, record);
	if (sample && sample->read)
		add_counts(scan, record, sample->read);
}

// ---- losses ----

// Records of a loss may say how much it was.
static const struct pd_field *lost_field(const struct pd_record *record)
{
	const struct pd_layout *layout = pd_record_layout(record->type);
	size_t count = 0;
	const struct pd_field *fields = layout ? layout->fields(&count) : NULL;

	for (size_t i = 0; i < count; i++)
		if (strcmp(fields[i].name, "lost") == 0)
			return &fields[i];
	return NULL;
}

static void put_lost(struct pd_scan *scan, size_t column, const struct pd_record *record)
{
	const struct pd_field *field = lost_field(record);
	const void *decoded = field ? pd_scan_decode(scan, record) : NULL;

	if (decoded)
		pd_put_number(&scan->batch, column, pd_member(decoded, field->offset, field->size));
}

static bool is_loss(struct pd_scan *scan, const struct pd_record *record)
{
	const uint64_t flags = PD_MASK(PD_AUX_TRUNCATED) | PD_MASK(PD_AUX_PARTIAL) | PD_MASK(PD_AUX_COLLISION);
	const struct pd_aux *aux = record->type == PD_RECORD_AUX ? pd_scan_decode(scan, record) : NULL;

	return pd_record_is(record->type, PD_TRAIT_LOSS) || (aux && (aux->flags & flags));
}

static void put_loss_cell(struct pd_scan *scan, size_t column, const struct pd_record *record)
{
	enum pd_column_what what = scan->table->sources[column].what;

	switch (what) {
	case PD_COL_LOSS_RECORD:
		pd_put_number(&scan->batch, column, record->place);
		break;
	case PD_COL_LOSS_TIME:
		put_time(scan, column, record->time_ns);
		break;
	case PD_COL_LOSS_TYPE:
		put_type(scan, column, record);
		break;
	case PD_COL_LOSS_EVENT:
		put_event(scan, column, record->event);
		break;
	case PD_COL_LOSS_LOST:
		put_lost(scan, column, record);
		break;
	default:
		put_thread(scan, column, record, what);
		break;
	}
}

void pd_scan_loss(struct pd_scan *scan, const struct pd_record *record)
{
	if (!is_loss(scan, record))
		return;
	for (size_t i = 0; i < scan->column_count; i++)
		put_loss_cell(scan, scan->columns[i], record);
	pd_columns_end_row(&scan->batch);
}

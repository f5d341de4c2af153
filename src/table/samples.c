/* SPDX-License-Identifier: MIT */
/* Rows of samples and tracepoints. What of a sample is decoded and looked up depends on the columns that are wanted. */
#include "table/scan.h"

#include "base/error.h"
#include "interval/raw.h"
#include "stream/read/stream.h"
#include "trace/trace.h"
#include "unwind/unwinder.h"

enum {
	NEEDS_FULL = 1,   // all fields decoded
	NEEDS_VIEW = 2,   // of the thread
	NEEDS_IP = 4,     // the frame of ip
	NEEDS_STACK = 8,  // the stack
	NEEDS_NAME = 16,  // of the thread
	NEEDS_FIELDS = 32 // some fields, if they are not known in brief
};

struct row {
	const struct pd_record *record;
	struct pd_brief brief;
	bool has_brief;
	bool is_truncated;            // its callers are not all known
	const struct pd_sample *full; // or NULL
	const struct pd_thread_view *view;
	struct pd_moment when; // if it has a view
	uint32_t ip, stack;
};

// A field that the brief form has, too.
struct brief_field {
	size_t field_offset, offset, size;
};

#define BRIEF(name)                                                                \
	{                                                                          \
		offsetof(struct pd_sample, name), offsetof(struct pd_brief, name), \
			sizeof(((struct pd_brief *)NULL)->name)                    \
	}

static const struct brief_field *find_brief(const struct pd_field *field)
{
	static const struct brief_field fields[] = { BRIEF(ip),  BRIEF(addr),    BRIEF(pid),   BRIEF(tid),
						     BRIEF(cpu), BRIEF(time_ns), BRIEF(period) };

	for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++)
		if (fields[i].field_offset == field->offset)
			return &fields[i];
	return NULL;
}

#undef BRIEF

static uint32_t need_of(const struct pd_column_source *source)
{
	switch (source->what) {
	case PD_COL_FIELD:
		return NEEDS_FIELDS | (find_brief(source->field) ? 0 : NEEDS_FULL);
	case PD_COL_TRACE:
		return NEEDS_FULL;
	case PD_COL_SAMPLE_COMM:
	case PD_COL_TRACE_COMM:
		return NEEDS_VIEW | NEEDS_NAME;
	case PD_COL_SAMPLE_FUNCTION:
	case PD_COL_SAMPLE_OBJECT:
		return NEEDS_VIEW | NEEDS_IP;
	case PD_COL_SAMPLE_STACK:
	case PD_COL_TRACE_STACK:
		return NEEDS_VIEW | NEEDS_STACK;
	default:
		return 0;
	}
}

bool pd_scan_note_needs(struct pd_scan *scan)
{
	if (scan->table->id != PD_TABLE_samples && scan->table->id != PD_TABLE_TRACEPOINT)
		return true;
	for (size_t i = 0; i < scan->column_count; i++)
		scan->needs |= need_of(&scan->table->sources[scan->columns[i]]);
	if (scan->set->options.choose)
		scan->needs |= NEEDS_VIEW;
	if (scan->set->choose_place)
		scan->needs |= NEEDS_VIEW | NEEDS_IP;
	// who chooses by the place has to know it at once, and stacks are many addresses by themselves
	if (!(scan->needs & NEEDS_IP) || scan->needs & NEEDS_STACK || scan->set->choose_place)
		return true;
	scan->places = pd_alloc(sizeof(*scan->places));
	return scan->places != NULL;
}

// ---- cells ----

static void put_brief(struct pd_columns *batch, const struct pd_scan_cell *cell, const struct pd_brief *brief)
{
	const uint8_t *from = (const uint8_t *)brief + cell->offset;
	uint64_t value;
	uint32_t half;

	if (cell->size == sizeof(half)) {
		memcpy(&half, from, sizeof(half));
		value = half;
	} else {
		memcpy(&value, from, sizeof(value));
		if (value == PD_NO_TIME && cell->offset == offsetof(struct pd_brief, time_ns))
			return;
	}
	pd_put_number(batch, cell->column, value);
}

static void put_trace(struct pd_scan *scan, size_t column, const struct row *row)
{
	const char *name = scan->table->sources[column].trace_name;
	enum pd_column_type type = scan->table->table.columns[column].type;
	const struct pd_event *event = row->record->event;
	struct pd_raw_number number;
	struct pd_text *text;
	uint64_t value;

	if (type == PD_COLUMN_TEXT) {
		text = pd_text_new();
		if (text && pd_trace_print_field(scan->set->trace, event, row->full->raw, name, text) && !text->failed)
			pd_put_text(&scan->batch, column, text->data, text->size);
		scan->batch.failed |= !text || text->failed;
		pd_text_free(text);
		return;
	}
	if (pd_raw_number_find(scan->set->trace, event, name, &number, NULL) < 0 ||
	    !pd_raw_number_read(row->full->raw, &number, &value))
		return;
	if (type == PD_COLUMN_S32 && number.size < 4)
		value = number.size == 1 ? (uint64_t)(int8_t)value : (uint64_t)(int16_t)value;
	pd_put_number(&scan->batch, column, value);
}

// The string of a function, or of an object, which may be unknown.
static bool name_of_frame(const struct pd_table_set *set, uint32_t number, bool is_object, uint32_t *name_out)
{
	const struct pd_tables *tables = &set->strings;
	const struct pd_table_frame *frame = &tables->frames[number];

	*name_out = is_object ? tables->objects[frame->object].name :
				pd_tables_function_of(tables, frame->first_line)->name;
	return !is_object || frame->object;
}

static void put_frame(struct pd_scan *scan, size_t column, uint32_t number, bool is_object)
{
	uint32_t name = 0;

	if (name_of_frame(scan->set, number, is_object, &name))
		pd_put_number(&scan->batch, column, name);
}

static void put_thread(struct pd_scan *scan, size_t column, const struct row *row, enum pd_column_what what)
{
	uint32_t value = what == PD_COL_TRACE_CPU ? row->brief.cpu :
			 what == PD_COL_TRACE_PID ? row->brief.pid :
						    row->brief.tid;

	pd_scan_put_known(scan, column, value, row->has_brief && value != UINT32_MAX);
}

static void put_mode(struct pd_scan *scan, size_t column, const struct pd_record *record)
{
	pd_scan_put_string(scan, column, pd_names_text(&pd_names_cpumode, record->misc & 7));
}

// What needs no more than the record.
static bool put_of_record(struct pd_scan *scan, size_t column, const struct pd_record *record, enum pd_column_what what)
{
	switch (what) {
	case PD_COL_SAMPLE_RECORD:
	case PD_COL_TRACE_RECORD:
		pd_put_number(&scan->batch, column, record->place);
		return true;
	case PD_COL_SAMPLE_OFFSET:
		pd_put_number(&scan->batch, column, record->offset);
		return true;
	case PD_COL_SAMPLE_EVENT:
		if (record->event)
			pd_put_number(&scan->batch, column, pd_table_event_name(scan->set, record->event));
		return true;
	case PD_COL_SAMPLE_MODE:
		put_mode(scan, column, record);
		return true;
	case PD_COL_TRACE_TIME:
		if (record->time_ns != PD_NO_TIME)
			pd_put_number(&scan->batch, column, record->time_ns);
		return true;
	default:
		return false;
	}
}

static void put_cell(struct pd_scan *scan, size_t column, const struct row *row)
{
	const struct pd_column_source *source = &scan->table->sources[column];

	if (put_of_record(scan, column, row->record, source->what))
		return;
	if (!row->has_brief) {
		if (source->what == PD_COL_FIELD && row->full)
			pd_scan_put_field(scan, column, pd_record_scope(row->record), row->full);
		return;
	}
	switch (source->what) {
	case PD_COL_FIELD:
		if (row->full)
			pd_scan_put_field(scan, column, pd_record_scope(row->record), row->full);
		break;
	case PD_COL_TRACE:
		if (row->full)
			put_trace(scan, column, row);
		break;
	case PD_COL_TRACE_COMM:
	case PD_COL_SAMPLE_COMM:
		// a thread that has exited has the number -1
		if (row->record->event->attr->sample_type & PD_MASK(PD_SAMPLE_TYPE_TID))
			pd_put_number(&scan->batch, column, pd_table_comm(scan->set, row->view->owner));
		break;
	case PD_COL_SAMPLE_FUNCTION:
	case PD_COL_SAMPLE_OBJECT:
		put_frame(scan, column, row->ip, source->what == PD_COL_SAMPLE_OBJECT);
		break;
	case PD_COL_SAMPLE_STACK:
	case PD_COL_TRACE_STACK:
		pd_put_number(&scan->batch, column, pd_table_stack_id(scan->set, row->stack));
		break;
	case PD_COL_SAMPLE_VALUE:
		pd_put_number(&scan->batch, column,
			      pd_event_unit(row->record->event) == PD_UNIT_SAMPLES ? 1 : row->brief.period);
		break;
	default:
		put_thread(scan, column, row, source->what);
		break;
	}
}

// ---- rows ----

static bool fits(const struct pd_scan_limits *limits, const struct row *row)
{
	return (!limits->has_pid || row->brief.pid == limits->pid) &&
	       (!limits->has_tid || row->brief.tid == limits->tid) &&
	       (!limits->has_cpu || row->brief.cpu == limits->cpu);
}

static void unwind(struct pd_scan *scan, struct row *row)
{
	struct pd_unwound unwound;

	if (!scan->set->unwinder || !row->full ||
	    !pd_unwinder_decoded(scan->set->unwinder, row->record, row->full, &unwound))
		return;
	row->brief.callchain = unwound.chain;
	row->is_truncated = unwound.end != PD_UNWIND_OUTERMOST;
}

// By frame: steps through the tables are misses of the cache. False if there is no memory.
static bool list_frame_names(struct pd_table_set *set)
{
	size_t count = set->strings.frame_count;

	if (!PD_GROW(set->frame_names, set->frame_name_capacity, count))
		return false;
	for (; set->frame_name_count < count; set->frame_name_count++) {
		uint32_t frame = (uint32_t)set->frame_name_count;
		struct pd_frame_name *name = &set->frame_names[frame];

		name_of_frame(set, frame, false, &name->function);
		name->has_object = name_of_frame(set, frame, true, &name->object);
	}
	return true;
}

static void end_samples_of(struct pd_scan *scan, size_t column, bool is_object, const uint32_t *frames)
{
	const struct pd_scan_places *places = scan->places;

	for (size_t i = 0; i < places->count; i++) {
		const struct pd_frame_name *name = &scan->set->frame_names[frames[i]];

		pd_put_late(&scan->batch, column, places->rows[i], is_object ? name->object : name->function,
			    !is_object || name->has_object);
	}
}

bool pd_scan_end_samples(struct pd_scan *scan)
{
	struct pd_scan_places *places = scan->places;
	uint32_t frames[PD_STACKS_AT_ONCE];

	if (!places || !places->count)
		return true;
	if (!pd_places_frames(&scan->set->places, places->asks, places->count, frames) || !list_frame_names(scan->set))
		return false;
	for (size_t i = 0; i < scan->column_count; i++) {
		enum pd_column_what what = scan->table->sources[scan->columns[i]].what;

		if (what == PD_COL_SAMPLE_FUNCTION || what == PD_COL_SAMPLE_OBJECT)
			end_samples_of(scan, scan->columns[i], what == PD_COL_SAMPLE_OBJECT, frames);
	}
	places->count = 0;
	return true;
}

static bool find_frame(struct pd_scan *scan, struct row *row)
{
	struct pd_code_address address = {
		row->view->view.maps, row->brief.ip, row->brief.pid, row->brief.cpumode, 0, row->when
	};
	struct pd_scan_places *later = scan->places;

	if (!later) {
		row->ip = pd_places_frame(&scan->set->places, address);
		return row->ip != PD_NO_FRAME && !scan->set->strings.failed;
	}
	if (later->count == PD_STACKS_AT_ONCE && !pd_scan_end_samples(scan))
		return false;
	later->rows[later->count] = scan->batch.rows;
	pd_places_ask(&scan->set->places, address, &later->asks[later->count++]);
	return true;
}

static bool find_places(struct pd_scan *scan, struct row *row)
{
	if (!(scan->needs & NEEDS_STACK))
		return find_frame(scan, row);
	unwind(scan, row);
	return pd_places_stack(&scan->set->places, &row->brief, row->view->view.maps, row->when,
			       scan->set->options.max_stack, row->is_truncated, &row->ip, &row->stack);
}

static bool needs_full(const struct pd_scan *scan, const struct pd_record *record)
{
	if (!record->event)
		return false;
	if (scan->needs & NEEDS_FULL)
		return true;
	return scan->set->unwinder && scan->needs & NEEDS_STACK && pd_unwinder_wants(record->event->attr);
}

// Samples that are not known cannot be chosen.
static bool is_choosy(const struct pd_table_set *set)
{
	return set->options.choose || set->choose_place;
}

static bool wants_place(const struct pd_table_set *set, uint32_t frame)
{
	return set->choose_place(set->options.self, &set->strings.frames[frame].place);
}

// Cells of samples that wait together, and are put once these have ended.
static bool is_late(const struct pd_scan *scan, enum pd_column_what what)
{
	return scan->places && (what == PD_COL_SAMPLE_FUNCTION || what == PD_COL_SAMPLE_OBJECT);
}

// Which fields samples have is the same for all of an event, and of others that sample the same.
static void list_cells(struct pd_scan *scan, const struct pd_event *event)
{
	scan->cells_of = event;
	scan->cell_count = 0;
	for (size_t i = 0; i < scan->column_count; i++) {
		const struct pd_column_source *source = &scan->table->sources[scan->columns[i]];
		const struct pd_field *field = source->what == PD_COL_FIELD ? source->field : NULL;
		const struct brief_field *brief = event && field ? find_brief(field) : NULL;

		if (event && field && field->when.op == PD_WHEN_MASKED && field->when.word == PD_WORD_SAMPLE_TYPE &&
		    (event->attr->sample_type & field->when.mask) != field->when.want)
			continue;
		if (is_late(scan, source->what))
			continue;
		scan->cells[scan->cell_count++] =
			(struct pd_scan_cell){ scan->columns[i], brief ? brief->offset : 0, brief ? brief->size : 0 };
	}
}

static void put_cells(struct pd_scan *scan, const struct row *row)
{
	const struct pd_event *event = row->record->event, *before = scan->cells_of;

	if (!event || !before || (event != before && event->attr->sample_type != before->attr->sample_type))
		list_cells(scan, event);
	for (size_t i = 0; i < scan->cell_count; i++) {
		const struct pd_scan_cell *cell = &scan->cells[i];

		if (cell->size && row->has_brief)
			put_brief(&scan->batch, cell, &row->brief);
		else
			put_cell(scan, cell->column, row);
	}
	pd_columns_end_row(&scan->batch);
}

enum pd_status pd_scan_sample(struct pd_scan *scan, const struct pd_record *record, struct pd_error *error)
{
	struct row row;

	// not all of it is set to zero: that takes as long as all of what is read
	row.record = record;
	row.full = NULL;
	row.view = NULL;
	row.is_truncated = false;
	row.ip = row.stack = 0;
	row.has_brief = record->event && pd_record_brief(record, &row.brief);
	if (row.has_brief ? !fits(&scan->limits, &row) : is_choosy(scan->set))
		return PD_OK;
	if (row.has_brief && scan->needs & NEEDS_VIEW) {
		row.when = pd_record_moment(record);
		row.view = pd_places_view(&scan->set->places, row.brief.pid, row.brief.tid, row.when);
		if (!row.view)
			return pd_fail_memory(error);
	}
	if (row.has_brief && !pd_scan_wants_sample(scan, record, &row.brief, row.view ? row.view->view.comm : NULL))
		return PD_OK;
	// fields of an event that is not known are those of the others; of a damaged sample there are none
	if (row.has_brief ? needs_full(scan, record) : scan->needs & NEEDS_FIELDS)
		row.full = pd_scan_decode(scan, record);
	row.has_brief &= row.full || !needs_full(scan, record);
	if (row.has_brief && scan->needs & (NEEDS_IP | NEEDS_STACK) && !find_places(scan, &row))
		return pd_fail_memory(error);
	if (scan->set->choose_place && !(row.has_brief && wants_place(scan->set, row.ip)))
		return PD_OK;
	put_cells(scan, &row);
	return PD_OK;
}

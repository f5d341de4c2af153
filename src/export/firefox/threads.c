/* SPDX-License-Identifier: MIT */
/* Threads of the Firefox Profiler: their samples, and what happened to them as markers. */
#include <inttypes.h>
#include <string.h>

#include <perfdata/format.h>

#include "base/text/text.h"
#include "export/firefox/firefox.h"
#include "file/file.h"

enum marker {
#define MARKER(NAME, name, support, member, label, format) MARKER_##NAME,
#include "export/firefox/marker.def"
	MARKER_COUNT
};

static const struct {
	const char *name;
	enum pd_support support;
	const char *member, *label, *format;
} markers[] = {
#define MARKER(NAME, name, support, member, label, format) { name, PD_SUPPORT_##support, member, label, format },
#include "export/firefox/marker.def"
};

struct marker_value {
	uint64_t time_ns, kind, value;
};

// ---- keeping markers ----

// Markers may come before the first sample.
void pd_firefox_prepare(struct pd_export *self)
{
	struct pd_firefox *firefox = self->sink;

	if (!firefox->prepared) {
		pd_tracks_init(&firefox->tracks, self);
		firefox->markers_of.seed = firefox->counter_of.seed = self->tables.seed;
	}
	firefox->prepared = true;
}

static struct pd_firefox_markers *markers_of(struct pd_export *self, uint32_t pid, uint32_t tid)
{
	struct pd_firefox *firefox = self->sink;
	uint64_t key = (uint64_t)pid << 32 | tid, known = pd_u64_map_find(&firefox->markers_of, key);

	if (known)
		return &firefox->markers[known - 1];
	if (!PD_GROW(firefox->markers, firefox->marker_capacity, firefox->marker_count + 1) ||
	    !pd_u64_map_add(&firefox->markers_of, key, firefox->marker_count + 1)) {
		self->failed = true;
		return NULL;
	}
	firefox->markers[firefox->marker_count] = (struct pd_firefox_markers){ .pid = pid, .tid = tid };
	return &firefox->markers[firefox->marker_count++];
}

static void add_marker(struct pd_export *self, const struct pd_record *record, uint32_t pid, uint32_t tid,
		       enum marker kind, uint64_t value)
{
	struct pd_firefox *firefox = self->sink;
	struct pd_firefox_markers *kept = markers_of(self, pid, tid);
	struct pd_spool *spool = &firefox->tracks.spool;

	if (!kept)
		return;
	if (!firefox->has_base || record->time_ns < firefox->base_ns)
		firefox->base_ns = record->time_ns;
	firefox->has_base = true;
	pd_spool_put(spool, &kept->track, record->time_ns);
	pd_spool_put(spool, &kept->track, kind);
	pd_spool_put(spool, &kept->track, value);
	kept->count++;
	kept->kinds[kind]++;
	pd_tracks_check(&firefox->tracks, self);
}

static void add_comm(struct pd_export *self, const struct pd_record *record)
{
	const struct pd_comm *comm = pd_as_comm(record);

	if (comm)
		add_marker(self, record, comm->pid, comm->tid, MARKER_COMM,
			   pd_tables_string(&self->tables, comm->comm.data, comm->comm.length));
	self->result.damaged += !comm;
}

static void add_task(struct pd_export *self, const struct pd_record *record)
{
	const struct pd_task *task = record->type == PD_RECORD_FORK ? pd_as_fork(record) : pd_as_exit(record);

	if (task && record->type == PD_RECORD_FORK)
		add_marker(self, record, task->ppid, task->ptid, MARKER_FORK, task->tid);
	else if (task)
		add_marker(self, record, task->pid, task->tid, MARKER_EXIT, task->pid);
	self->result.damaged += !task;
}

static enum marker switch_kind(const struct pd_record *record)
{
	if (!(record->misc & PD_MASK(PD_MISC_SWITCH_OUT)))
		return MARKER_SWITCH_IN;
	return record->misc & PD_MASK(PD_MISC_SWITCH_OUT_PREEMPT) ? MARKER_PREEMPTED : MARKER_SWITCH_OUT;
}

static void add_lost(struct pd_export *self, const struct pd_record *record, const struct pd_thread_id *thread)
{
	const struct pd_lost *lost = record->type == PD_RECORD_LOST ? pd_as_lost(record) : NULL;
	const struct pd_lost_samples *samples = record->type == PD_RECORD_LOST_SAMPLES ? pd_as_lost_samples(record) :
											 NULL;

	add_marker(self, record, thread->pid, thread->tid, lost ? MARKER_LOST : MARKER_LOST_SAMPLES,
		   lost    ? lost->lost :
		   samples ? samples->lost :
			     0);
}

static void add_other(struct pd_export *self, const struct pd_record *record)
{
	uint32_t type = record->type;
	struct pd_thread_id thread;

	pd_record_thread(record, &thread);
	if (type == PD_RECORD_SWITCH || type == PD_RECORD_SWITCH_CPU_WIDE)
		add_marker(self, record, thread.pid, thread.tid, switch_kind(record), thread.cpu);
	else if (type == PD_RECORD_LOST || type == PD_RECORD_LOST_SAMPLES)
		add_lost(self, record, &thread);
	else if (type == PD_RECORD_THROTTLE || type == PD_RECORD_UNTHROTTLE)
		add_marker(self, record, thread.pid, thread.tid,
			   type == PD_RECORD_THROTTLE ? MARKER_THROTTLE : MARKER_UNTHROTTLE, thread.cpu);
}

void pd_firefox_record(struct pd_export *self, const struct pd_record *record)
{
	// what was found at the start is no event
	if (record->time_ns == PD_NO_TIME || !record->time_ns)
		return;
	pd_firefox_prepare(self);
	if (record->type == PD_RECORD_COMM)
		add_comm(self, record);
	else if (record->type == PD_RECORD_FORK || record->type == PD_RECORD_EXIT)
		add_task(self, record);
	else
		add_other(self, record);
}

void pd_firefox_fini_markers(struct pd_export *self)
{
	struct pd_firefox *firefox = self->sink;

	for (size_t i = 0; i < firefox->marker_count; i++)
		pd_spool_track_fini(&firefox->markers[i].track);
	pd_free(firefox->markers);
	pd_u64_map_fini(&firefox->markers_of);
}

// ---- markers of a thread ----

void pd_firefox_put_schemas(struct pd_export *self)
{
	PD_TEXT_LITERAL(self->text, ",\"markerSchema\":[");
	for (size_t i = 0; i < MARKER_COUNT; i++)
		pd_text_printf(
			self->text,
			"%s{\"name\":\"%s\",\"display\":[\"marker-chart\",\"marker-table\",\"timeline-overview\"],"
			"\"fields\":[{\"key\":\"%s\",\"label\":\"%s\",\"format\":\"%s\"}]}",
			i ? "," : "", markers[i].name, markers[i].member, markers[i].label, markers[i].format);
	pd_text_char(self->text, ']');
}

typedef void marker_cell_fn(struct pd_export *self, const struct marker_value *marker);

static void put_marker_time(struct pd_export *self, const struct marker_value *marker)
{
	const struct pd_firefox *firefox = self->sink;

	pd_firefox_milliseconds(self, marker->time_ns - firefox->base_ns);
}

static void put_marker_name(struct pd_export *self, const struct marker_value *marker)
{
	pd_text_u64(self->text, pd_tables_text(&self->tables, markers[marker->kind].name));
}

static void put_marker_data(struct pd_export *self, const struct marker_value *marker)
{
	PD_TEXT_LITERAL(self->text, "{\"type\":\"");
	pd_text_add(self->text, markers[marker->kind].name);
	PD_TEXT_LITERAL(self->text, "\"");
	pd_firefox_key(self, markers[marker->kind].member);
	if (marker->kind == MARKER_COMM)
		pd_firefox_string(self, (uint32_t)marker->value);
	else
		pd_text_u64(self->text, marker->value);
	pd_text_char(self->text, '}');
}

static void put_marker_column(struct pd_export *self, const struct pd_firefox_markers *kept, const char *key,
			      marker_cell_fn *cell)
{
	struct pd_firefox *firefox = self->sink;
	struct marker_value marker;
	struct pd_spool_reader reader;
	bool comma = false;

	pd_firefox_key(self, key);
	pd_text_char(self->text, '[');
	if (kept)
		pd_spool_begin(&reader, &firefox->tracks.spool, &kept->track);
	while (kept && pd_spool_get(&reader, &marker.time_ns) && pd_spool_get(&reader, &marker.kind) &&
	       pd_spool_get(&reader, &marker.value) && !self->text->sink_failed) {
		if (comma)
			pd_text_char(self->text, ',');
		comma = true;
		cell(self, &marker);
		pd_export_flush(self);
	}
	pd_text_char(self->text, ']');
}

static void put_markers(struct pd_export *self, const struct pd_firefox_markers *kept)
{
	size_t count = kept ? kept->count : 0;

	pd_firefox_key(self, "markers");
	PD_TEXT_LITERAL(self->text, "{\"length\":");
	pd_text_u64(self->text, count);
	put_marker_column(self, kept, "name", put_marker_name);
	put_marker_column(self, kept, "startTime", put_marker_time);
	put_marker_column(self, kept, "data", put_marker_data);
	pd_firefox_same(self, "endTime", count, "null");
	pd_firefox_same(self, "phase", count, "0");
	pd_firefox_same(self, "category", count, "3");
	pd_text_char(self->text, '}');
}

// ---- samples of a thread ----

enum column {
	STACK,
	TIME,
	WEIGHT,
	CPU_DELTA
};

static void put_cell(struct pd_export *self, enum column column, const struct pd_tracked_sample *sample, bool first)
{
	const struct pd_firefox *firefox = self->sink;

	switch (column) {
	case STACK:
		pd_text_u64(self->text, firefox->rows->last[sample->stack]);
		break;
	case TIME:
		pd_firefox_milliseconds(self, sample->time_ns - firefox->base_ns);
		break;
	case WEIGHT:
		pd_text_u64(self->text, sample->value);
		break;
	case CPU_DELTA:
		if (first)
			PD_TEXT_LITERAL(self->text, "null");
		else
			pd_text_u64(self->text, sample->value);
		break;
	}
}

static void put_sample_column(struct pd_export *self, const struct pd_track *track, const char *key, enum column column,
			      bool milliseconds)
{
	struct pd_firefox *firefox = self->sink;
	struct pd_tracked_sample sample;
	struct pd_spool_reader reader;
	bool comma = false;

	pd_firefox_key(self, key);
	pd_text_char(self->text, '[');
	pd_spool_begin(&reader, &firefox->tracks.spool, &track->samples);
	while (pd_track_next(&reader, &sample) && !self->text->sink_failed) {
		if (comma)
			pd_text_char(self->text, ',');
		if (milliseconds)
			pd_firefox_milliseconds(self, sample.value);
		else
			put_cell(self, column, &sample, !comma);
		comma = true;
		pd_export_flush(self);
	}
	pd_text_char(self->text, ']');
}

static void put_samples(struct pd_export *self, const struct pd_track *track)
{
	const struct pd_event *event = pd_file_event(self->file, track->event);
	bool time = pd_event_unit(event) == PD_UNIT_NS;

	pd_firefox_key(self, "samples");
	PD_TEXT_LITERAL(self->text, "{\"length\":");
	pd_text_u64(self->text, track->count);
	pd_text_add(self->text, time ? ",\"weightType\":\"tracing-ms\"" : ",\"weightType\":\"samples\"");
	put_sample_column(self, track, "stack", STACK, false);
	put_sample_column(self, track, "time", TIME, false);
	put_sample_column(self, track, "weight", WEIGHT, time);
	if (time && pd_attr_is_clock(event->attr))
		put_sample_column(self, track, "threadCPUDelta", CPU_DELTA, false);
	pd_text_char(self->text, '}');
}

// ---- threads ----

static uint32_t process_name(struct pd_export *self, const struct pd_owner *owner)
{
	const struct pd_moment end = { PD_NEVER, UINT64_MAX };
	char unknown[PD_THREAD_NAME_BYTES];

	return pd_tables_text(&self->tables, pd_state_comm(self->state, owner->pid, end, unknown));
}

// A thread has a number, and with another event it is another one.
static void put_numbers(struct pd_text *text, const struct pd_owner *owner, const struct pd_track *track)
{
	PD_TEXT_LITERAL(text, ",\"pid\":\"");
	pd_text_s64(text, (int32_t)owner->pid);
	PD_TEXT_LITERAL(text, "\",\"tid\":");
	if (!track->first_of_thread)
		pd_text_char(text, '"');
	pd_text_s64(text, (int32_t)owner->tid);
	if (track->first_of_thread)
		return;
	pd_text_char(text, '.');
	pd_text_u64(text, track->event);
	pd_text_char(text, '"');
}

// Threads of a process are told apart by their numbers, and events of a thread, too.
static void put_names(struct pd_export *self, const struct pd_track *track)
{
	const struct pd_owner *owner = pd_export_thread(self, track->thread);
	bool events = self->events_used > 1;
	const char *event = pd_file_event(self->file, track->event)->name;
	struct pd_text *name = pd_text_new();

	if (name) {
		pd_text_add(name, pd_tables_text_of(&self->tables, pd_export_comm(self, track->thread)));
		if (events)
			pd_export_put_event(name, event);
	}
	self->failed |= !name || name->failed;
	if (!self->failed) {
		PD_TEXT_LITERAL(self->text, "{\"name\":");
		pd_firefox_string(self, pd_tables_string(&self->tables, name->data, name->size));
	}
	pd_text_free(name);
	pd_firefox_key(self, "isMainThread");
	pd_text_add(self->text, owner->pid == owner->tid && track->first_of_thread ? "true" : "false");
	pd_firefox_key(self, "processName");
	pd_firefox_string(self, process_name(self, owner));
	put_numbers(self->text, owner, track);
}

static void put_thread(struct pd_export *self, const struct pd_track *track)
{
	struct pd_firefox *firefox = self->sink;
	const struct pd_owner *owner = pd_export_thread(self, track->thread);
	uint64_t known = pd_u64_map_find(&firefox->markers_of, (uint64_t)owner->pid << 32 | owner->tid);
	struct pd_firefox_markers *kept = known && track->first_of_thread ? &firefox->markers[known - 1] : NULL;

	put_names(self, track);
	if (kept)
		kept->shown = true;
	PD_TEXT_LITERAL(self->text,
			",\"processType\":\"default\",\"processStartupTime\":0,\"processShutdownTime\":null,"
			"\"registerTime\":");
	pd_firefox_milliseconds(self, track->first_ns - firefox->base_ns);
	PD_TEXT_LITERAL(self->text, ",\"unregisterTime\":null,\"pausedRanges\":[]");
	put_samples(self, track);
	put_markers(self, kept);
	pd_text_char(self->text, '}');
}

// What happened to threads that have no samples has no place.
static void note_dropped(struct pd_export *self)
{
	const struct pd_firefox *firefox = self->sink;

	for (size_t i = 0; i < firefox->marker_count; i++)
		for (size_t kind = 0; kind < MARKER_COUNT && !firefox->markers[i].shown; kind++)
			self->dropped[markers[kind].support] += firefox->markers[i].kinds[kind];
}

void pd_firefox_put_threads(struct pd_export *self, const struct pd_rows *rows)
{
	struct pd_firefox *firefox = self->sink;

	firefox->rows = rows;
	PD_TEXT_LITERAL(self->text, ",\n\"threads\":[");
	for (size_t i = 0; i < firefox->tracks.count && !self->failed; i++) {
		if (i)
			pd_text_char(self->text, ',');
		pd_text_char(self->text, '\n');
		put_thread(self, &firefox->tracks.items[i]);
	}
	pd_text_char(self->text, ']');
	note_dropped(self);
}

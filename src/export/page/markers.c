/* SPDX-License-Identifier: MIT */
/* What happens at one moment: threads get names, begin and end; the kernel throttles and loses. */
#include "export/page/page.h"

enum marker {
#define MARKER(NAME, name, value) MARKER_##NAME,
#include "export/page/marker.def"
	MARKER_COUNT
};

static void add_marker(struct pd_export *self, const struct pd_record *record, uint32_t task, enum marker kind,
		       uint64_t value)
{
	struct pd_page *page = self->sink;
	struct pd_page_markers *markers = &page->markers;
	uint64_t before = markers->count ? markers->last_ns : 0;
	struct pd_thread_id thread;

	if (markers->count == PD_PAGE_MARKERS_MOST) {
		markers->cut++;
		return;
	}
	pd_record_thread(record, &thread);
	if (record->time_ns > before)
		markers->last_ns = record->time_ns;
	if (markers->last_ns < page->base_ns)
		page->base_ns = markers->last_ns;
	pd_spool_put(&page->spool, &markers->time, markers->last_ns - before);
	pd_spool_put(&page->spool, &markers->kind, kind);
	pd_spool_put(&page->spool, &markers->task, task + 1);
	pd_spool_put(&page->spool, &markers->cpu, pd_page_cpu(thread.cpu));
	pd_spool_put(&page->spool, &markers->value, value);
	markers->count++;
	if (page->spool.status < 0)
		pd_export_stop(self, page->spool.status, &page->spool.error);
}

static void add_comm(struct pd_export *self, const struct pd_record *record)
{
	const struct pd_comm *comm = pd_as_comm(record);

	if (comm)
		add_marker(self, record, pd_page_task(self, comm->pid, comm->tid), MARKER_COMM,
			   pd_tables_string(&self->tables, comm->comm.data, comm->comm.length));
	self->result.damaged += !comm;
}

static void add_task(struct pd_export *self, const struct pd_record *record)
{
	const struct pd_task *task = record->type == PD_RECORD_FORK ? pd_as_fork(record) : pd_as_exit(record);

	if (task && record->type == PD_RECORD_FORK)
		add_marker(self, record, pd_page_task(self, task->ppid, task->ptid), MARKER_FORK,
			   (uint64_t)pd_page_task(self, task->pid, task->tid) + 1);
	else if (task)
		add_marker(self, record, pd_page_task(self, task->pid, task->tid), MARKER_EXIT, 0);
	self->result.damaged += !task;
}

static uint32_t task_of(struct pd_export *self, const struct pd_record *record)
{
	struct pd_thread_id thread;

	pd_record_thread(record, &thread);
	return thread.known ? pd_page_task(self, thread.pid, thread.tid) : UINT32_MAX;
}

static void add_loss(struct pd_export *self, const struct pd_record *record)
{
	struct pd_page *page = self->sink;
	const struct pd_lost *lost = record->type == PD_RECORD_LOST ? pd_as_lost(record) : NULL;
	const struct pd_lost_samples *samples = record->type == PD_RECORD_LOST_SAMPLES ? pd_as_lost_samples(record) :
											 NULL;

	page->truth.lost += lost ? lost->lost : 0;
	page->truth.lost_samples += samples ? samples->lost : 0;
	if (record->time_ns != PD_NO_TIME && record->time_ns)
		add_marker(self, record, UINT32_MAX, lost ? MARKER_LOST : MARKER_LOST_SAMPLES,
			   lost    ? lost->lost :
			   samples ? samples->lost :
				     0);
}

void pd_page_take_record(struct pd_export *self, const struct pd_record *record)
{
	struct pd_page *page = self->sink;
	uint32_t type = record->type;

	if (!pd_page_prepare(self))
		return;
	page->truth.throttled += type == PD_RECORD_THROTTLE;
	if (type == PD_RECORD_LOST || type == PD_RECORD_LOST_SAMPLES)
		add_loss(self, record);
	// what was found at the start is no event
	else if (record->time_ns == PD_NO_TIME || !record->time_ns)
		return;
	else if (type == PD_RECORD_COMM)
		add_comm(self, record);
	else if (type == PD_RECORD_FORK || type == PD_RECORD_EXIT)
		add_task(self, record);
	else if (type == PD_RECORD_THROTTLE || type == PD_RECORD_UNTHROTTLE)
		add_marker(self, record, task_of(self, record),
			   type == PD_RECORD_THROTTLE ? MARKER_THROTTLE : MARKER_UNTHROTTLE, 0);
}

static void put_track(struct pd_export *self, const char *name, enum pd_page_code code,
		      const struct pd_spool_track *track)
{
	struct pd_page *page = self->sink;
	struct pd_page_column column;
	struct pd_spool_reader reader;
	uint64_t value, time_ns = 0;

	pd_page_begin(&column, &page->blocks, name, code);
	pd_spool_begin(&reader, &page->spool, track);
	while (pd_spool_get(&reader, &value)) {
		time_ns += value;
		pd_page_put(&column, code == PD_PAGE_RISING ? pd_page_time(page, time_ns) : value);
	}
	pd_page_end(&column);
}

void pd_page_put_markers(struct pd_export *self)
{
	struct pd_page *page = self->sink;
	struct pd_page_markers *markers = &page->markers;

	put_track(self, "markers.time", PD_PAGE_RISING, &markers->time);
	put_track(self, "markers.kind", PD_PAGE_BYTES, &markers->kind);
	put_track(self, "markers.task", PD_PAGE_STEPS, &markers->task);
	put_track(self, "markers.cpu", PD_PAGE_NUMBERS, &markers->cpu);
	put_track(self, "markers.value", PD_PAGE_NUMBERS, &markers->value);
	if (page->spool.status < 0)
		pd_export_stop(self, page->spool.status, &page->spool.error);
}

/* SPDX-License-Identifier: MIT */
/* What formats share: names, units, and counts of what they have no field for. */
#include "base/text/text.h"
#include "export/export.h"

static const struct {
	uint64_t part;
	uint32_t type;
	const char *text;
} supportable[] = {
#define SAMPLE_PART(NAME, bit, text) { PD_MASK(PD_SAMPLE_TYPE_##bit), 0, text },
#define RECORDS(NAME, record_type, text) { 0, PD_RECORD_##record_type, text },
#include "export/support.def"
};

uint32_t pd_export_comm(struct pd_export *self, uint32_t thread)
{
	const struct pd_owner *owner = pd_export_thread(self, thread);
	char unknown[PD_THREAD_NAME_BYTES];

	if (owner->comm)
		return pd_tables_text(&self->tables, owner->comm);
	return pd_tables_text(&self->tables,
			      pd_state_comm(self->state, owner->tid, (struct pd_moment){ 0, 0 }, unknown));
}

size_t pd_export_events_used(const struct pd_export *self)
{
	size_t used = 0;

	for (size_t i = 0; i < self->event_count; i++)
		used += self->sums[i].samples != 0;
	return used;
}

const char *pd_export_unit(const struct pd_event *event)
{
	static const char *const units[] = { "samples", "count", "nanoseconds" };

	return units[pd_event_unit(event)];
}

const char *pd_export_name(const struct pd_export *self)
{
	return self->options.name ? self->options.name : "perf.data";
}

void pd_export_note_parts(struct pd_export *self, const struct pd_event *event, uint64_t samples)
{
	uint64_t parts = event->attr->sample_type;

	for (size_t i = 0; i < PD_SUPPORT_COUNT; i++)
		if ((parts & supportable[i].part) && !(self->supports >> i & 1))
			self->dropped[i] += samples;
}

void pd_export_note_records(struct pd_export *self, uint32_t type, uint64_t records)
{
	for (size_t i = 0; i < PD_SUPPORT_COUNT; i++)
		if (!supportable[i].part && supportable[i].type == type && !(self->supports >> i & 1))
			self->dropped[i] += records;
}

void pd_export_stop(struct pd_export *self, enum pd_status status, const struct pd_error *error)
{
	if (self->wrong < 0)
		return;
	self->wrong = status;
	self->wrong_why = *error;
}

void pd_export_flush(struct pd_export *self)
{
	pd_text_flush_large(self->text);
}

bool pd_export_dropped(const struct pd_export *export_, size_t index, struct pd_export_dropped *dropped_out)
{
	for (size_t i = 0; i < PD_SUPPORT_COUNT; i++) {
		if (!export_->dropped[i] || index--)
			continue;
		*dropped_out = (struct pd_export_dropped){ supportable[i].text, export_->dropped[i] };
		return true;
	}
	return false;
}

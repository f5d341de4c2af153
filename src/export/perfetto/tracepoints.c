/* SPDX-License-Identifier: MIT */
/*
 * What tracepoints recorded, in a trace of Perfetto. Switches and wakeups are events of ftrace, from which its readers make slices of CPUs
 * and states of threads; all others are instants of their threads, with the fields as text.
 */
#include <string.h>

#include "base/text/text.h"
#include "export/perfetto/perfetto.h"
#include "export/write/proto.h"

enum {
	PACKET_FTRACE = 1,
	PACKET_TRACK_EVENT = 11,
	PACKET_FLAGS = 13,
	NEEDS_STATE = 2,
	TYPE_INSTANT = 3
};

static const struct pd_tracepoint events[] = {
	{ "sched:sched_switch", { "prev_pid", "?prev_prio", "prev_state", "next_pid", "?next_prio" } },
	{ "sched:sched_waking", { "pid", "?prio", "?success", "?target_cpu" } },
	{ "sched:sched_wakeup", { "pid", "?prio", "?success", "?target_cpu" } },
	{ "sched:sched_wakeup_new", { "pid", "?prio", "?success", "?target_cpu" } },
};

// The messages of these events: their fields by those above, and by name.
static const struct message {
	unsigned field;
	uint8_t numbers[PD_TRACEPOINT_FIELDS];
	struct {
		const char *name;
		unsigned field;
	} strings[2];
} messages[] = {
	{ 4, { 2, 3, 4, 6, 7 }, { { "prev_comm", 1 }, { "next_comm", 5 } } },
	{ 20, { 2, 3, 4, 5 }, { { "comm", 1 } } },
	{ 17, { 2, 3, 4, 5 }, { { "comm", 1 } } },
	{ 114, { 2, 3, 4, 5 }, { { "comm", 1 } } },
};

// ---- events of ftrace ----

static void put_fields(struct pd_export *self, struct pd_tracepoints *switches,
		       const struct pd_tracepoint_sample *recorded)
{
	const struct message *message = &messages[recorded->which];

	for (size_t i = 0; i < 2 && message->strings[i].name; i++) {
		struct pd_bytes comm = pd_tracepoint_string(switches, recorded, message->strings[i].name);
		uint32_t string = pd_tables_string(&self->tables, (const char *)comm.data, comm.size);

		pd_proto_table_string(self->text, message->strings[i].field, &self->tables, string);
	}
	for (unsigned i = 0; i < PD_TRACEPOINT_FIELDS && message->numbers[i]; i++)
		if (pd_tracepoints_has(switches, recorded->event, i))
			pd_proto_given(self->text, message->numbers[i], recorded->values[i]);
}

static void put_ftrace(struct pd_export *self, struct pd_tracepoints *switches, const struct pd_perfetto_now *now,
		       const struct pd_tracepoint_sample *recorded)
{
	size_t packet = pd_perfetto_open(self->text, now, PD_PERFETTO_TRACKS),
	       bundle = pd_proto_open(self->text, PACKET_FTRACE);
	size_t event, inside;

	pd_proto_given(self->text, 1, recorded->brief.cpu);
	event = pd_proto_open(self->text, 2);
	pd_proto_given(self->text, 1, recorded->brief.time_ns);
	pd_proto_given(self->text, 2, recorded->brief.tid);
	inside = pd_proto_open(self->text, messages[recorded->which].field);
	put_fields(self, switches, recorded);
	pd_proto_close(self->text, inside);
	pd_proto_close(self->text, event);
	pd_proto_close(self->text, bundle);
	pd_proto_close(self->text, packet);
}

// False if it is another event, or cannot be read.
static bool put_switch(struct pd_export *self, struct pd_perfetto_tracepoints *tracepoints,
		       const struct pd_export_sample *sample, const struct pd_perfetto_now *now)
{
	struct pd_tracepoint_sample recorded;
	struct pd_error error;
	enum pd_status status = PD_OK;

	if (tracepoints->lacks_formats || sample->event != sample->record->event)
		return false;
	if (!tracepoints->begun)
		status = pd_tracepoints_init(&tracepoints->switches, self->file, events,
					     sizeof(events) / sizeof(events[0]), &error);
	tracepoints->begun |= status == PD_OK;
	if (status == PD_OK)
		status = pd_tracepoints_take(&tracepoints->switches, sample->record, &recorded, &error);
	self->failed |= status == PD_ERROR_MEMORY;
	tracepoints->lacks_formats = status < 0;
	if (status != PD_OK || recorded.brief.cpu == UINT32_MAX)
		return false;
	put_ftrace(self, &tracepoints->switches, now, &recorded);
	return true;
}

// ---- instants ----

static void put_text(struct pd_export *self, const struct pd_text *trace)
{
	size_t annotation = pd_proto_open(self->text, 4), string;

	string = pd_proto_open(self->text, 6);
	pd_text_harmless_bytes(self->text, trace->data, trace->size);
	pd_proto_close(self->text, string);
	pd_proto_string(self->text, 10, "fields");
	pd_proto_close(self->text, annotation);
}

static void put_instant(struct pd_export *self, const struct pd_export_sample *sample, const struct pd_text *trace,
			const struct pd_perfetto_now *now, uint64_t track)
{
	uint32_t name = pd_tables_text(&self->tables, sample->event->name);
	size_t packet = pd_perfetto_open(self->text, now, PD_PERFETTO_TRACKS + 1 + sample->event->index), event;

	pd_proto_number(self->text, PACKET_FLAGS, NEEDS_STATE);
	event = pd_proto_open(self->text, PACKET_TRACK_EVENT);
	put_text(self, trace);
	pd_proto_number(self->text, 9, TYPE_INSTANT);
	pd_proto_number(self->text, 11, track);
	pd_proto_string(self->text, 22, "tracepoint");
	pd_proto_table_string(self->text, 23, &self->tables, name);
	pd_proto_number(self->text, 56, sample->stack);
	pd_proto_close(self->text, event);
	pd_proto_close(self->text, packet);
}

void pd_perfetto_put_tracepoint(struct pd_export *self, struct pd_perfetto_tracepoints *tracepoints,
				const struct pd_export_sample *sample, const struct pd_perfetto_now *now,
				uint64_t track)
{
	const struct pd_text *trace;

	if (!(sample->event->attr->sample_type & PD_MASK(PD_SAMPLE_TYPE_RAW)) ||
	    put_switch(self, tracepoints, sample, now) || self->failed)
		return;
	trace = pd_export_trace_of(&tracepoints->trace, self, sample);
	if (trace)
		put_instant(self, sample, trace, now, track);
}

void pd_perfetto_tracepoints_fini(struct pd_perfetto_tracepoints *tracepoints)
{
	if (tracepoints->begun)
		pd_tracepoints_fini(&tracepoints->switches);
	pd_export_trace_fini(&tracepoints->trace);
}

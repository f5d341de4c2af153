/* SPDX-License-Identifier: MIT */
/*
 * Counts what can be wrong with a recording, record by record.
 */
#include "doctor/doctor.h"

#include <string.h>

/* Samples that interrupt others on their way into the buffer may be this much out of order. */
static const uint64_t harmless_ns = 1000000;

static bool grow_events(struct pd_doctor_counts *counts, struct pd_file *file)
{
	size_t count = pd_file_event_count(file);

	if (count <= counts->event_count)
		return true;
	if (!PD_GROW(counts->events, counts->event_capacity, count))
		return false;
	memset(counts->events + counts->event_count, 0, (count - counts->event_count) * sizeof(*counts->events));
	counts->event_count = count;
	return true;
}

static void note_time(struct pd_doctor_counts *counts, const struct pd_brief *brief, const struct pd_event *event)
{
	uint64_t time = brief->time_ns, *last;

	if (!counts->first_ns || time < counts->first_ns)
		counts->first_ns = time;
	if (time > counts->last_ns)
		counts->last_ns = time;
	if (brief->cpu >= PD_DOCTOR_CPUS || PD_BITS(event->attr->flags, PD_ATTR_WRITE_BACKWARD))
		return;
	last = &counts->cpu_time_ns[brief->cpu];
	if (time + harmless_ns < *last) {
		counts->backwards++;
		if (*last - time > counts->backwards_max_ns)
			counts->backwards_max_ns = *last - time;
	}
	*last = time;
}

/* Both times must be there, or one of them is 0 for want of a place; a task that never ran has 0 too. */
static void note_reading(struct pd_doctor_event *line, const struct pd_event *event, const struct pd_counts *counts)
{
	const uint64_t times = PD_MASK(PD_READ_FORMAT_TOTAL_TIME_ENABLED) | PD_MASK(PD_READ_FORMAT_TOTAL_TIME_RUNNING);

	if (counts && counts->time_running_ns && (event->attr->read_format & times) == times) {
		line->enabled_ns = counts->time_enabled_ns;
		line->running_ns = counts->time_running_ns;
	}
}

static void note_parts(struct pd_doctor_event *line, const struct pd_event *event, const struct pd_sample *sample)
{
	if (!sample)
		return;
	note_reading(line, event, sample->read);
	line->copied += pd_sample_needs_unwinding(sample);
	if (sample->user_stack && sample->user_stack->size) {
		line->dumps++;
		line->dump_bytes = sample->user_stack->size;
		line->full_dumps += sample->user_stack->dyn_size >= sample->user_stack->size;
	}
}

static void note_sample(struct pd_doctor_counts *counts, const struct pd_record *record)
{
	const struct pd_event *event = record->event;
	struct pd_doctor_event *line;
	struct pd_brief brief;

	counts->samples++;
	if (!event || event->index >= counts->event_count) {
		counts->unknown_event++;
		return;
	}
	if (!pd_record_brief(record, &brief)) {
		counts->damaged++;
		return;
	}
	line = &counts->events[event->index];
	line->samples++;
	line->period += brief.period;
	line->kernel += brief.cpumode == PD_CPUMODE_KERNEL;
	line->guest += brief.cpumode == PD_CPUMODE_GUEST_KERNEL || brief.cpumode == PD_CPUMODE_GUEST_USER;
	if (brief.time_ns == PD_NO_TIME)
		line->timeless++;
	else
		note_time(counts, &brief, event);
	if (event->attr->sample_type & (PD_MASK(PD_SAMPLE_TYPE_STACK_USER) | PD_MASK(PD_SAMPLE_TYPE_READ)))
		note_parts(line, event, pd_as_sample(record));
}

static void note_lost(struct pd_doctor_counts *counts, const struct pd_record *record)
{
	const struct pd_lost *lost = pd_as_lost(record);

	counts->lost += lost ? lost->lost : 0;
}

static void note_lost_samples(struct pd_doctor_counts *counts, const struct pd_record *record)
{
	const struct pd_lost_samples *lost = pd_as_lost_samples(record);

	counts->lost_samples += lost ? lost->lost : 0;
}

static struct pd_throttled *counter_of(struct pd_doctor_counts *counts, const struct pd_throttle *at)
{
	for (size_t i = 0; i < counts->counter_count; i++) {
		if (counts->counters[i].id == at->id && counts->counters[i].stream_id == at->stream_id)
			return &counts->counters[i];
	}
	if (counts->counter_count == PD_DOCTOR_COUNTERS)
		return NULL;
	counts->counters[counts->counter_count] = (struct pd_throttled){ at->id, at->stream_id, 0 };
	return &counts->counters[counts->counter_count++];
}

static void note_throttle(struct pd_doctor_counts *counts, const struct pd_record *record)
{
	const struct pd_throttle *at = pd_as_throttle(record);
	struct pd_throttled *counter = at ? counter_of(counts, at) : NULL;

	counts->throttles++;
	if (counter && !counter->since_ns)
		counter->since_ns = at->time_ns;
}

static void note_unthrottle(struct pd_doctor_counts *counts, const struct pd_record *record)
{
	const struct pd_throttle *at = pd_as_unthrottle(record);
	struct pd_throttled *counter = at ? counter_of(counts, at) : NULL;

	if (counter && counter->since_ns && at->time_ns > counter->since_ns)
		counts->throttled_ns += at->time_ns - counter->since_ns;
	if (counter)
		counter->since_ns = 0;
}

static void note_aux(struct pd_doctor_counts *counts, const struct pd_record *record)
{
	const uint64_t bad = PD_MASK(PD_AUX_TRUNCATED) | PD_MASK(PD_AUX_PARTIAL) | PD_MASK(PD_AUX_COLLISION);
	const struct pd_aux *aux = pd_as_aux(record);

	counts->aux++;
	counts->aux_truncated += aux && (aux->flags & bad);
}

static void note_read(struct pd_doctor_counts *counts, const struct pd_record *record)
{
	const struct pd_read *read = pd_as_read(record);

	if (read && record->event && record->event->index < counts->event_count)
		note_reading(&counts->events[record->event->index], record->event, read->counts);
}

static void (*const note_by_type[])(struct pd_doctor_counts *, const struct pd_record *) = {
	[PD_RECORD_LOST] = note_lost,
	[PD_RECORD_THROTTLE] = note_throttle,
	[PD_RECORD_UNTHROTTLE] = note_unthrottle,
	[PD_RECORD_READ] = note_read,
	[PD_RECORD_SAMPLE] = note_sample,
	[PD_RECORD_AUX] = note_aux,
	[PD_RECORD_LOST_SAMPLES] = note_lost_samples,
};

enum pd_status pd_doctor_take(struct pd_doctor *doctor, const struct pd_record *record, struct pd_error *error)
{
	struct pd_doctor_counts *counts = &doctor->counts;

	pd_stats_count(counts->stats, record);
	if (!grow_events(counts, doctor->file))
		return pd_fail_memory(error);
	if (record->type < sizeof(note_by_type) / sizeof(note_by_type[0]) && note_by_type[record->type])
		note_by_type[record->type](counts, record);
	else if (!pd_record_layout(record->type))
		counts->unknown_records++;
	return PD_OK;
}

void pd_doctor_end_counts(struct pd_doctor_counts *counts)
{
	// what is still stopped at the end was so until then
	for (size_t i = 0; i < counts->counter_count; i++) {
		uint64_t since = counts->counters[i].since_ns;

		if (since && counts->last_ns > since)
			counts->throttled_ns += counts->last_ns - since;
	}
}

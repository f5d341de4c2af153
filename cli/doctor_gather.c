/* SPDX-License-Identifier: MIT */
/*
 * Counts what can be wrong with a recording, in one walk over its records.
 */
#include "doctor.h"

#include <stdlib.h>
#include <string.h>

/* Samples that interrupt others on their way into the buffer may be this much out of order. */
static const uint64_t harmless_ns = 1000000;

static bool grow_events(struct counts *counts, struct pd_file *file)
{
	size_t count = pd_file_event_count(file);
	struct event_count *events;

	if (count <= counts->event_count)
		return true;
	events = realloc(counts->events, count * sizeof(*events));
	if (!events)
		return false;
	memset(events + counts->event_count, 0, (count - counts->event_count) * sizeof(*events));
	counts->events = events;
	counts->event_count = count;
	return true;
}

static void see_time(struct counts *counts, const struct pd_brief *brief, const struct pd_event *event)
{
	uint64_t time = brief->time_ns, *last;

	if (!counts->first_ns || time < counts->first_ns)
		counts->first_ns = time;
	if (time > counts->last_ns)
		counts->last_ns = time;
	if (brief->cpu >= CPUS_WATCHED || PD_BITS(event->attr->flags, PD_ATTR_WRITE_BACKWARD))
		return;
	last = &counts->cpu_time_ns[brief->cpu];
	if (time + harmless_ns < *last) {
		counts->backwards++;
		if (*last - time > counts->backwards_most_ns)
			counts->backwards_most_ns = *last - time;
	}
	*last = time;
}

/* Both times must be there, or one of them is 0 for want of a place; a task that never ran has 0 too. */
static void see_reading(struct event_count *line, const struct pd_event *event, const struct pd_counts *counts)
{
	const uint64_t times = PD_MASK(PD_READ_FORMAT_TOTAL_TIME_ENABLED) | PD_MASK(PD_READ_FORMAT_TOTAL_TIME_RUNNING);

	if (counts && counts->time_running_ns && (event->attr->read_format & times) == times) {
		line->enabled_ns = counts->time_enabled_ns;
		line->running_ns = counts->time_running_ns;
	}
}

static void see_parts(struct event_count *line, const struct pd_event *event, const struct pd_sample *sample)
{
	if (!sample)
		return;
	see_reading(line, event, sample->read);
	line->copied += pd_sample_needs_unwinding(sample);
	if (sample->user_stack && sample->user_stack->size) {
		line->dumps++;
		line->dump_bytes = sample->user_stack->size;
		line->full_dumps += sample->user_stack->dyn_size >= sample->user_stack->size;
	}
}

static void see_sample(struct counts *counts, const struct pd_record *record)
{
	const struct pd_event *event = record->event;
	struct event_count *line;
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
		see_time(counts, &brief, event);
	if (event->attr->sample_type & (PD_MASK(PD_SAMPLE_TYPE_STACK_USER) | PD_MASK(PD_SAMPLE_TYPE_READ)))
		see_parts(line, event, pd_as_sample(record));
}

static void see_lost(struct counts *counts, const struct pd_record *record)
{
	const struct pd_lost *lost = pd_as_lost(record);

	counts->lost += lost ? lost->lost : 0;
}

static void see_lost_samples(struct counts *counts, const struct pd_record *record)
{
	const struct pd_lost_samples *lost = pd_as_lost_samples(record);

	counts->lost_samples += lost ? lost->lost : 0;
}

static struct throttle *counter_of(struct counts *counts, const struct pd_throttle *at)
{
	for (size_t i = 0; i < counts->counter_count; i++) {
		if (counts->counters[i].id == at->id && counts->counters[i].stream_id == at->stream_id)
			return &counts->counters[i];
	}
	if (counts->counter_count == COUNTERS_WATCHED)
		return NULL;
	counts->counters[counts->counter_count] = (struct throttle){ at->id, at->stream_id, 0 };
	return &counts->counters[counts->counter_count++];
}

static void see_throttle(struct counts *counts, const struct pd_record *record)
{
	const struct pd_throttle *at = pd_as_throttle(record);
	struct throttle *counter = at ? counter_of(counts, at) : NULL;

	counts->throttles++;
	if (counter && !counter->since_ns)
		counter->since_ns = at->time_ns;
}

static void see_unthrottle(struct counts *counts, const struct pd_record *record)
{
	const struct pd_throttle *at = pd_as_unthrottle(record);
	struct throttle *counter = at ? counter_of(counts, at) : NULL;

	if (counter && counter->since_ns && at->time_ns > counter->since_ns)
		counts->throttled_ns += at->time_ns - counter->since_ns;
	if (counter)
		counter->since_ns = 0;
}

static void see_aux(struct counts *counts, const struct pd_record *record)
{
	const uint64_t bad = PD_MASK(PD_AUX_TRUNCATED) | PD_MASK(PD_AUX_PARTIAL) | PD_MASK(PD_AUX_COLLISION);
	const struct pd_aux *aux = pd_as_aux(record);

	counts->aux++;
	counts->aux_truncated += aux && (aux->flags & bad);
}

static void see_read(struct counts *counts, const struct pd_record *record)
{
	const struct pd_read *read = pd_as_read(record);

	if (read && record->event && record->event->index < counts->event_count)
		see_reading(&counts->events[record->event->index], record->event, read->counts);
}

static void (*const see_by_type[])(struct counts *, const struct pd_record *) = {
	[PD_RECORD_LOST] = see_lost,
	[PD_RECORD_THROTTLE] = see_throttle,
	[PD_RECORD_UNTHROTTLE] = see_unthrottle,
	[PD_RECORD_READ] = see_read,
	[PD_RECORD_SAMPLE] = see_sample,
	[PD_RECORD_AUX] = see_aux,
	[PD_RECORD_LOST_SAMPLES] = see_lost_samples,
};

struct walk {
	struct counts *counts;
	struct pd_file *file;
	bool failed;
};

static bool see_record(void *self, struct pd_stream *stream, const struct pd_record *record)
{
	struct walk *walk = self;
	struct counts *counts = walk->counts;

	(void)stream;
	stats_count(&counts->stats, record);
	if (!grow_events(counts, walk->file)) {
		walk->failed = true;
		return false;
	}
	if (record->type < sizeof(see_by_type) / sizeof(see_by_type[0]) && see_by_type[record->type])
		see_by_type[record->type](counts, record);
	else if (!pd_record_layout(record->type))
		counts->unknown_records++;
	return true;
}

int counts_gather(struct counts *counts, struct input *input)
{
	struct walk walk = { .counts = counts, .file = input->file };
	int code;

	stats_init(&counts->stats, input->file);
	code = input_walk(input, see_record, &walk);
	/* What is still stopped at the end was so until then. */
	for (size_t i = 0; i < counts->counter_count; i++) {
		uint64_t since = counts->counters[i].since_ns;

		if (since && counts->last_ns > since)
			counts->throttled_ns += counts->last_ns - since;
	}
	if (!walk.failed && !counts->stats.failed)
		return code;
	complain("out of memory");
	return CODE_UNREADABLE;
}

void counts_fini(struct counts *counts)
{
	stats_fini(&counts->stats);
	free(counts->events);
}

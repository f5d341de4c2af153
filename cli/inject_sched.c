/* SPDX-License-Identifier: MIT */
/*
 * What sched_stat events tell of a thread (how long it slept, waited, ran) comes when it is over, on whatever processor;
 * where the thread was is in the call chain of the sched_switch by which it went. Here the two become one sample.
 */
#include "inject.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* The last switch of a thread. */
struct left {
	uint32_t tid;
	bool used;
	uint8_t *bytes; /* of the record */
	size_t size, room;
	uint16_t misc;
	const struct pd_event *event;
};

enum role {
	OTHER = 1,
	SWITCH,
	EXIT,
	STAT
};

/* What an event is here. */
struct part {
	uint8_t role;                  /* 0: not known yet */
	uint32_t pid_offset, pid_size; /* of the thread, in the raw data of a STAT */
};

struct sched {
	struct pd_trace *trace;
	struct part *parts; /* by index of the event */
	size_t part_count;
	struct left *lefts; /* by hash of the thread */
	size_t left_count, left_room;
	uint64_t joined, without;
};

/* ---- events ---- */

static uint8_t role_of(const char *name)
{
	static const char stat[] = "sched:sched_stat_";

	if (!strcmp(name, "sched:sched_switch"))
		return SWITCH;
	if (!strcmp(name, "sched:sched_process_exit"))
		return EXIT;
	return !strncmp(name, stat, sizeof(stat) - 1) ? STAT : OTHER;
}

/* A sched_stat without a field pid says nothing of a thread. */
static void find_pid(struct sched *sched, const struct pd_event *event, struct part *part)
{
	struct pd_trace_field field;

	for (size_t i = 0; pd_trace_field_at(sched->trace, event, i, &field); i++) {
		if (!strcmp(field.name, "pid") && (field.size == 4 || field.size == 8)) {
			part->pid_offset = field.offset;
			part->pid_size = field.size;
			return;
		}
	}
}

static const struct part *part_of(struct inject *inject, const struct pd_event *event)
{
	struct sched *sched = inject->sched;
	struct part *part;

	if (event->index >= sched->part_count) {
		size_t count = 2 * event->index + 16;
		struct part *more = realloc(sched->parts, count * sizeof(*more));

		if (!more) {
			inject_no_memory(inject);
			return NULL;
		}
		memset(more + sched->part_count, 0, (count - sched->part_count) * sizeof(*more));
		sched->parts = more;
		sched->part_count = count;
	}
	part = &sched->parts[event->index];
	if (!part->role) {
		part->role = role_of(event->name ? event->name : "");
		if (part->role == STAT)
			find_pid(sched, event, part);
	}
	return part;
}

/* ---- threads ---- */

static struct left *slot_of(const struct sched *sched, uint32_t tid)
{
	size_t at = (tid * UINT32_C(2654435769)) & (sched->left_room - 1);

	while (sched->lefts[at].used && sched->lefts[at].tid != tid)
		at = (at + 1) & (sched->left_room - 1);
	return &sched->lefts[at];
}

static bool grow(struct sched *sched)
{
	struct sched wider = *sched;

	wider.left_room = sched->left_room ? 2 * sched->left_room : 256;
	wider.lefts = calloc(wider.left_room, sizeof(*wider.lefts));
	if (!wider.lefts)
		return false;
	for (size_t i = 0; i < sched->left_room; i++) {
		if (sched->lefts[i].used)
			*slot_of(&wider, sched->lefts[i].tid) = sched->lefts[i];
	}
	free(sched->lefts);
	*sched = wider;
	return true;
}

/* A thread that ended keeps its place, without a switch: its number comes again. */
static bool keep_switch(struct inject *inject, const struct pd_record *record, uint32_t tid)
{
	struct sched *sched = inject->sched;
	struct left *left;

	if (2 * sched->left_count >= sched->left_room && !grow(sched))
		return inject_no_memory(inject);
	left = slot_of(sched, tid);
	if (record->bytes.size > left->room) {
		uint8_t *more = realloc(left->bytes, record->bytes.size);

		if (!more)
			return inject_no_memory(inject);
		left->bytes = more;
		left->room = record->bytes.size;
	}
	sched->left_count += !left->used;
	left->used = true;
	left->tid = tid;
	left->size = record->bytes.size;
	left->misc = record->misc;
	left->event = record->event;
	memcpy(left->bytes, record->bytes.data, left->size);
	return true;
}

static void forget_switch(struct sched *sched, uint32_t tid)
{
	struct left *left = sched->left_room ? slot_of(sched, tid) : NULL;

	if (left && left->used)
		left->size = 0;
}

/* ---- samples ---- */

/* The thread that a sched_stat is about. */
static bool read_thread(const struct inject *inject, const struct part *part, struct pd_bytes raw, uint32_t *tid_out)
{
	bool big = pd_file_header(inject->input.file)->big_endian;
	uint64_t value = 0;

	if (!part->pid_size || part->pid_offset > raw.size || part->pid_size > raw.size - part->pid_offset)
		return false;
	for (size_t i = 0; i < part->pid_size; i++)
		value = value << 8 | raw.data[part->pid_offset + (big ? i : part->pid_size - 1 - i)];
	*tid_out = (uint32_t)value;
	return true;
}

static bool same_fields(const struct pd_attr *a, const struct pd_attr *b)
{
	return a->sample_type == b->sample_type && a->read_format == b->read_format &&
	       a->branch_sample_type == b->branch_sample_type && a->sample_regs_user == b->sample_regs_user &&
	       a->sample_regs_intr == b->sample_regs_intr;
}

static enum verdict_of_inject join(struct inject *inject, struct pd_stream *stream, const struct pd_record *record,
				   const struct left *left, uint64_t time_ns, uint64_t period)
{
	struct pd_record was = *record;
	struct pd_sample changed;
	const void *decoded;

	if (!same_fields(left->event->attr, record->event->attr)) {
		inject->status = PD_ERROR_UNSUPPORTED;
		strcpy(inject->error.message,
		       "sched_switch and sched_stat events were not recorded with the same fields");
		return INJECT_FAILED;
	}
	/* The record of then, as if it came now: its fields are those of this one. */
	was.bytes = (struct pd_bytes){ left->bytes, left->size };
	was.misc = left->misc;
	was.event = left->event;
	if (!inject_keep(inject, pd_record_decode(&was, &decoded, &inject->error)))
		return INJECT_FAILED;
	changed = *(const struct pd_sample *)decoded;
	changed.time_ns = time_ns;
	changed.period = period;
	inject->sched->joined++;
	return inject_keep(inject, pd_writer_pass_changed(inject->target.writer, stream, &was, left->misc, &changed,
							  &inject->error)) ?
		       INJECT_PASSED :
		       INJECT_FAILED;
}

static enum verdict_of_inject take_stat(struct inject *inject, struct pd_stream *stream, const struct pd_record *record,
					const struct part *part)
{
	const struct pd_sample *sample = pd_as_sample(record);
	const struct left *left = NULL;
	uint32_t tid;

	if (sample && inject->sched->left_room && read_thread(inject, part, sample->raw, &tid))
		left = slot_of(inject->sched, tid);
	if (left && left->used && left->size)
		return join(inject, stream, record, left, sample->time_ns, sample->period);
	inject->sched->without++;
	return INJECT_DROP;
}

enum verdict_of_inject sched_record(struct inject *inject, struct pd_stream *stream, const struct pd_record *record)
{
	const struct part *part;
	struct pd_brief brief;

	if (record->type != PD_RECORD_SAMPLE || !record->event)
		return INJECT_PASS;
	part = part_of(inject, record->event);
	if (!part)
		return INJECT_FAILED;
	if (part->role == OTHER)
		return INJECT_PASS;
	if (part->role == STAT)
		return take_stat(inject, stream, record, part);
	/* What is damaged was told. */
	if (!pd_record_brief(record, &brief))
		return INJECT_DROP;
	if (part->role == EXIT)
		forget_switch(inject->sched, brief.tid);
	else if (!keep_switch(inject, record, brief.tid))
		return INJECT_FAILED;
	return INJECT_DROP;
}

/* ---- the begin and the end ---- */

int sched_open(struct inject *inject)
{
	inject->sched = calloc(1, sizeof(*inject->sched));
	if (inject->sched &&
	    inject_keep(inject, pd_trace_new(inject->input.file, NULL, &inject->sched->trace, &inject->error)))
		return CODE_FINE;
	complain("%s", inject->sched ? inject->error.message : "out of memory");
	return CODE_UNREADABLE;
}

void sched_close(struct inject *inject)
{
	struct sched *sched = inject->sched;

	if (!sched)
		return;
	for (size_t i = 0; i < sched->left_room; i++)
		free(sched->lefts[i].bytes);
	free(sched->lefts);
	free(sched->parts);
	pd_trace_free(sched->trace);
	free(sched);
	inject->sched = NULL;
}

void sched_count(const struct inject *inject, struct pd_text *text)
{
	const struct sched *sched = inject->sched;

	if (sched)
		pd_text_printf(text, "; %" PRIu64 " sched_stat sample%s merged with switches, %" PRIu64 " without one",
			       sched->joined, plural(sched->joined), sched->without);
}

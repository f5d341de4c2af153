/* SPDX-License-Identifier: MIT */
/*
 * What sched_stat events tell of a thread (how long it slept, waited, ran) comes when it is over, on whatever processor;
 * where the thread was is in the call chain of the sched_switch by which it went. Here the two become one sample.
 */
#include "edit/inject/inject.h"

#include <string.h>

#include <perfdata/trace.h>

#include "base/lookup/hash.h"

// The last switch of a thread.
struct left {
	uint32_t tid;
	uint8_t *bytes; // of the record
	size_t size, capacity;
	uint16_t misc;
	const struct pd_event *event;
};

enum role {
	OTHER = 1,
	SWITCH,
	EXIT,
	STAT
};

// What an event is here.
struct part {
	uint8_t role;                  // 0: not known yet
	uint32_t pid_offset, pid_size; // of the thread, in the raw data of a STAT
};

struct pd_inject_sched {
	struct pd_trace *trace;
	struct part *parts; // by index of the event
	size_t part_count;
	struct left *lefts;
	size_t left_count, left_capacity;
	struct pd_index index; // of lefts, by thread
	uint64_t seed;
};

// ---- events ----

static uint8_t role_of(const char *name)
{
	static const char stat[] = "sched:sched_stat_";

	if (!strcmp(name, "sched:sched_switch"))
		return SWITCH;
	if (!strcmp(name, "sched:sched_process_exit"))
		return EXIT;
	return !strncmp(name, stat, sizeof(stat) - 1) ? STAT : OTHER;
}

// A sched_stat without a field pid says nothing of a thread.
static void find_pid(struct pd_inject_sched *sched, const struct pd_event *event, struct part *part)
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

static const struct part *part_of(struct pd_inject *inject, const struct pd_event *event)
{
	struct pd_inject_sched *sched = inject->sched;
	size_t capacity = sched->part_count;
	struct part *part;

	if (event->index >= capacity) {
		if (!PD_GROW(sched->parts, capacity, event->index + 1)) {
			pd_inject_no_memory(inject);
			return NULL;
		}
		memset(sched->parts + sched->part_count, 0, (capacity - sched->part_count) * sizeof(*sched->parts));
		sched->part_count = capacity;
	}
	part = &sched->parts[event->index];
	if (!part->role) {
		part->role = role_of(event->name ? event->name : "");
		if (part->role == STAT)
			find_pid(sched, event, part);
	}
	return part;
}

// ---- threads ----

static struct left *find_left(const struct pd_inject_sched *sched, uint32_t tid)
{
	uint64_t hash = pd_hash_u64(sched->seed, tid);
	size_t at = (size_t)hash;
	uint32_t i;

	while ((i = pd_index_next(&sched->index, hash, &at)) != PD_INDEX_END)
		if (sched->lefts[i].tid == tid)
			return &sched->lefts[i];
	return NULL;
}

static struct left *add_left(struct pd_inject_sched *sched, uint32_t tid)
{
	if (!PD_GROW(sched->lefts, sched->left_capacity, sched->left_count + 1) ||
	    !pd_index_add(&sched->index, pd_hash_u64(sched->seed, tid), (uint32_t)sched->left_count))
		return NULL;
	sched->lefts[sched->left_count] = (struct left){ .tid = tid };
	return &sched->lefts[sched->left_count++];
}

// A thread that ended keeps its entry, without a switch: its number comes again.
static bool keep_switch(struct pd_inject *inject, const struct pd_record *record, uint32_t tid)
{
	struct left *left = find_left(inject->sched, tid);

	if (!left)
		left = add_left(inject->sched, tid);
	if (!left || !PD_GROW(left->bytes, left->capacity, record->bytes.size))
		return pd_inject_no_memory(inject);
	left->size = record->bytes.size;
	left->misc = record->misc;
	left->event = record->event;
	memcpy(left->bytes, record->bytes.data, left->size);
	return true;
}

static void forget_switch(struct pd_inject_sched *sched, uint32_t tid)
{
	struct left *left = find_left(sched, tid);

	if (left)
		left->size = 0;
}

// ---- samples ----

// The thread that a sched_stat is about.
static bool read_thread(const struct pd_inject *inject, const struct part *part, struct pd_bytes raw, uint32_t *tid_out)
{
	bool big = pd_file_header(inject->file)->big_endian;
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

static enum pd_inject_action join(struct pd_inject *inject, struct pd_stream *stream, const struct pd_record *record,
				  const struct left *left, uint64_t time_ns, uint64_t period)
{
	struct pd_record was = *record;
	struct pd_sample changed;
	const void *decoded;

	if (!same_fields(left->event->attr, record->event->attr)) {
		inject->status = pd_fail(&inject->error, PD_ERROR_UNSUPPORTED, PD_NO_OFFSET,
					 "sched_switch and sched_stat events were not recorded with the same fields");
		return PD_INJECT_FAILED;
	}
	// The record of then, as if it came now: its fields are those of this one.
	was.bytes = (struct pd_bytes){ left->bytes, left->size };
	was.misc = left->misc;
	was.event = left->event;
	if (!pd_inject_keep(inject, pd_record_decode(&was, &decoded, &inject->error)))
		return PD_INJECT_FAILED;
	changed = *(const struct pd_sample *)decoded;
	changed.time_ns = time_ns;
	changed.period = period;
	inject->result.joined_count++;
	return pd_inject_keep(inject, pd_writer_pass_changed(inject->writer, stream, &was, left->misc, &changed,
							     &inject->error)) ?
		       PD_INJECT_PASSED :
		       PD_INJECT_FAILED;
}

static enum pd_inject_action take_stat(struct pd_inject *inject, struct pd_stream *stream,
				       const struct pd_record *record, const struct part *part)
{
	const struct pd_sample *sample = pd_as_sample(record);
	const struct left *left = NULL;
	uint32_t tid;

	if (sample && read_thread(inject, part, sample->raw, &tid))
		left = find_left(inject->sched, tid);
	if (left && left->size)
		return join(inject, stream, record, left, sample->time_ns, sample->period);
	inject->result.unjoined_count++;
	return PD_INJECT_DROP;
}

enum pd_inject_action pd_inject_sched_record(struct pd_inject *inject, struct pd_stream *stream,
					     const struct pd_record *record)
{
	const struct part *part;
	struct pd_brief brief;

	if (record->type != PD_RECORD_SAMPLE || !record->event)
		return PD_INJECT_PASS;
	part = part_of(inject, record->event);
	if (!part)
		return PD_INJECT_FAILED;
	if (part->role == OTHER)
		return PD_INJECT_PASS;
	if (part->role == STAT)
		return take_stat(inject, stream, record, part);
	// What is damaged was reported.
	if (!pd_record_brief(record, &brief))
		return PD_INJECT_DROP;
	if (part->role == EXIT)
		forget_switch(inject->sched, brief.tid);
	else if (!keep_switch(inject, record, brief.tid))
		return PD_INJECT_FAILED;
	return PD_INJECT_DROP;
}

// ---- start and end ----

enum pd_status pd_inject_sched_open(struct pd_inject *inject, struct pd_error *error)
{
	inject->sched = pd_alloc(sizeof(*inject->sched));
	if (!inject->sched)
		return pd_fail_memory(error);
	inject->sched->seed = pd_file_secret(inject->file);
	return pd_trace_new(inject->file, NULL, &inject->sched->trace, error);
}

void pd_inject_sched_close(struct pd_inject *inject)
{
	struct pd_inject_sched *sched = inject->sched;

	if (!sched)
		return;
	for (size_t i = 0; i < sched->left_count; i++)
		pd_free(sched->lefts[i].bytes);
	pd_free(sched->lefts);
	pd_index_fini(&sched->index);
	pd_free(sched->parts);
	pd_trace_free(sched->trace);
	pd_free(sched);
	inject->sched = NULL;
}

/* SPDX-License-Identifier: MIT */
/*
 * Where threads wait: for each time that a thread slept a sample of the event offcpu-time, whose period is how long, in ns,
 * and whose call chain is where it went to sleep.
 *
 * An event with rings of its own takes a sample with a call chain at each switch away from a thread (the software event
 * context-switches), and a SWITCH record at each switch to one. Nothing of that is written: a sample is kept until its
 * thread runs again, then it gets the time and the period. A thread that was switched away from while it could have run
 * (SWITCH_OUT_PREEMPT) did not wait for anything and has no sample, as perf has it.
 *
 * Rings are read one after another, so what comes later may be older: a switch to a thread that is not known to sleep is
 * remembered until its switch away comes.
 */
#include "record/inside.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/cursor.h"
#include "base/lookup/u64_map.h"
#include "format/record.h"

enum {
	CONTEXT_SWITCHES = 3, // of PERF_TYPE_SOFTWARE
	BPF_OUTPUT = 10,
	// of samples, as pd_offcpu_set_attr asks for them; after the header: id, ip, pid and tid, time, CPU, period, chain
	AT_IP = 16,
	AT_TID = 28,
	AT_TIME = 32,
	AT_PERIOD = 48,
	AT_CHAIN = 56,
	// of the sample_id at the end of other records, from the end: pid and tid, time, CPU, id
	TRAILER = 32,
	TRAILER_TID = 28,
	TRAILER_TIME = 24,
	// of FORK and EXIT
	AT_TASK_TID = 16,
	CPUMODE_BITS = 7
};

static const uint64_t context_user = (uint64_t)PD_CONTEXT_USER;

enum what {
	SWITCHED_OUT,
	PREEMPTED,
	SWITCHED_IN,
	FORKED,
	EXITED
};

// Something that was in a ring.
struct happened {
	uint64_t time_ns;
	uint32_t tid;
	enum what what;
	size_t place, size; // of the sample, in the bytes of this pass
	size_t order;
};

// A thread that sleeps, or ran once.
struct sleeper {
	uint32_t tid;
	bool exits;
	uint64_t in_ns;  // of a switch to it whose switch away has not come; 0: none
	uint64_t out_ns; // it sleeps since; 0: it does not
	uint8_t *sample;
	size_t size, capacity;
};

struct pd_offcpu {
	bool everything; // samples come from CPUs, so threads that end are switched away from once more
	bool whole_chains;
	struct happened *happened;
	size_t count, capacity;
	uint8_t *bytes; // samples of this pass
	size_t byte_count, byte_capacity;
	struct sleeper *sleepers;
	size_t sleeper_count, sleeper_capacity;
	struct pd_u64_map by_tid; // their numbers, + 1
	uint64_t last_ns;
	uint64_t lag_ns; // how much the clock of the samples is behind CLOCK_MONOTONIC, at most
	bool clock_known;
	struct {
		uint8_t *data;
		size_t size, capacity;
	} out; // samples that are done
	uint64_t samples;
};

// ---- attr ----

void pd_offcpu_set_attr(struct pd_attr *attr, bool inherit)
{
	*attr = (struct pd_attr){
		.size = attr->size,
		.type = PD_TYPE_SOFTWARE,
		.config = CONTEXT_SWITCHES,
		.sample_period = 1,
		.sample_type = PD_MASK(PD_SAMPLE_TYPE_IDENTIFIER) | PD_MASK(PD_SAMPLE_TYPE_IP) |
			       PD_MASK(PD_SAMPLE_TYPE_TID) | PD_MASK(PD_SAMPLE_TYPE_TIME) |
			       PD_MASK(PD_SAMPLE_TYPE_CPU) | PD_MASK(PD_SAMPLE_TYPE_PERIOD) |
			       PD_MASK(PD_SAMPLE_TYPE_CALLCHAIN),
		.read_format = attr->read_format,
		.sample_max_stack = attr->sample_max_stack,
		.clockid = attr->clockid,
		.flags = (attr->flags & (PD_MASK(PD_ATTR_USE_CLOCKID) | PD_MASK(PD_ATTR_EXCLUDE_CALLCHAIN_KERNEL) |
					 PD_MASK(PD_ATTR_EXCLUDE_CALLCHAIN_USER))) |
			 PD_MASK(PD_ATTR_SAMPLE_ID_ALL) | PD_MASK(PD_ATTR_CONTEXT_SWITCH) | PD_MASK(PD_ATTR_TASK) |
			 (inherit ? PD_MASK(PD_ATTR_INHERIT) : 0),
	};
}

void pd_offcpu_file_attr(struct pd_attr *attr)
{
	attr->config = BPF_OUTPUT;
	attr->flags &= ~(PD_MASK(PD_ATTR_CONTEXT_SWITCH) | PD_MASK(PD_ATTR_TASK));
}

enum pd_status pd_offcpu_new(const struct pd_recorder_options *options, struct pd_offcpu **offcpu_out,
			     struct pd_error *error)
{
	struct pd_offcpu *offcpu = pd_alloc(sizeof(*offcpu));

	if (!offcpu)
		return pd_fail_memory(error);
	offcpu->everything = options->targets.all || options->targets.cpus;
	offcpu->whole_chains = options->sampling.call_graph > PD_CALL_GRAPH_NONE || options->sampling.kernel_callchains;
	*offcpu_out = offcpu;
	return PD_OK;
}

void pd_offcpu_free(struct pd_offcpu *offcpu)
{
	if (!offcpu)
		return;
	for (size_t i = 0; i < offcpu->sleeper_count; i++)
		pd_free(offcpu->sleepers[i].sample);
	pd_free(offcpu->sleepers);
	pd_u64_map_fini(&offcpu->by_tid);
	pd_free(offcpu->happened);
	pd_free(offcpu->bytes);
	pd_free(offcpu->out.data);
	pd_free(offcpu);
}

// ---- threads ----

// Threads that ended leave no trace, so that memory is that of threads that live.
static bool drop_ended(struct pd_offcpu *offcpu)
{
	size_t living = 0;

	pd_u64_map_fini(&offcpu->by_tid);
	for (size_t i = 0; i < offcpu->sleeper_count; i++) {
		struct sleeper *sleeper = &offcpu->sleepers[i];

		if (sleeper->exits) {
			pd_free(sleeper->sample);
			continue;
		}
		offcpu->sleepers[living++] = *sleeper;
	}
	offcpu->sleeper_count = living;
	for (size_t i = 0; i < living; i++)
		if (!pd_u64_map_add(&offcpu->by_tid, offcpu->sleepers[i].tid, i + 1))
			return false;
	return PD_GROW(offcpu->sleepers, offcpu->sleeper_capacity, living < 32 ? 64 : 2 * living);
}

static struct sleeper *find(struct pd_offcpu *offcpu, uint32_t tid)
{
	uint64_t number = pd_u64_map_find(&offcpu->by_tid, tid);

	if (!number) {
		if (offcpu->sleeper_count == offcpu->sleeper_capacity && !drop_ended(offcpu))
			return NULL;
		number = offcpu->sleeper_count + 1;
		if (!pd_u64_map_add(&offcpu->by_tid, tid, number))
			return NULL;
		offcpu->sleepers[offcpu->sleeper_count++] = (struct sleeper){ .tid = tid };
	}
	return &offcpu->sleepers[number - 1];
}

// ---- samples ----

static void store_u64(uint8_t *at, uint64_t value)
{
	memcpy(at, &value, sizeof(value));
}

static void store_u16(uint8_t *at, uint16_t value)
{
	memcpy(at, &value, sizeof(value));
}

// Of the kernel nothing is left but where there is no user space: as perf has it, unless call graphs were asked for.
static size_t cut_chain(uint8_t *sample, size_t size)
{
	uint64_t count = pd_load_u64(sample + AT_CHAIN, false), from = 0;
	uint8_t *chain = sample + AT_CHAIN + 8;

	while (from < count && pd_load_u64(chain + 8 * from, false) != context_user)
		from++;
	if (!from || from + 1 >= count)
		return size;
	memmove(chain, chain + 8 * from, (size_t)(8 * (count - from)));
	store_u64(sample + AT_CHAIN, count - from);
	return size - (size_t)(8 * from);
}

// The address and the level are those of the first entry of the chain.
static void set_place(uint8_t *sample)
{
	uint64_t count = pd_load_u64(sample + AT_CHAIN, false);
	uint64_t marker = count > 1 ? pd_load_u64(sample + AT_CHAIN + 8, false) : 0;
	uint16_t misc = pd_load_u16(sample + 4, false) & (uint16_t)~CPUMODE_BITS;

	if (marker < PD_CONTEXT_MAX)
		return;
	store_u64(sample + AT_IP, pd_load_u64(sample + AT_CHAIN + 16, false));
	store_u16(sample + 4, misc | (marker == context_user ? PD_CPUMODE_USER : PD_CPUMODE_KERNEL));
}

static bool put_sample(struct pd_offcpu *offcpu, const uint8_t *sample, size_t size, uint64_t out_ns, uint64_t in_ns)
{
	uint8_t *copy;

	if (!PD_GROW(offcpu->out.data, offcpu->out.capacity, offcpu->out.size + size))
		return false;
	copy = offcpu->out.data + offcpu->out.size;
	memcpy(copy, sample, size);
	store_u64(copy + AT_TIME, in_ns);
	store_u64(copy + AT_PERIOD, in_ns - out_ns);
	if (!offcpu->whole_chains)
		size = cut_chain(copy, size);
	set_place(copy);
	store_u16(copy + 6, (uint16_t)size);
	offcpu->out.size += size;
	offcpu->samples++;
	return true;
}

static bool fall_asleep(struct pd_offcpu *offcpu, struct sleeper *sleeper, const struct happened *at)
{
	const uint8_t *sample = offcpu->bytes + at->place;
	uint64_t in_ns = sleeper->in_ns;

	sleeper->in_ns = sleeper->out_ns = 0;
	if (sleeper->exits) {
		// for the last time
		return true;
	}
	if (in_ns > at->time_ns)
		return put_sample(offcpu, sample, at->size, at->time_ns, in_ns);
	if (!PD_GROW(sleeper->sample, sleeper->capacity, at->size))
		return false;
	memcpy(sleeper->sample, sample, at->size);
	sleeper->size = at->size;
	sleeper->out_ns = at->time_ns;
	return true;
}

static bool wake_up(struct pd_offcpu *offcpu, struct sleeper *sleeper, uint64_t now)
{
	uint64_t out_ns = sleeper->out_ns;

	sleeper->out_ns = 0;
	sleeper->in_ns = out_ns && out_ns <= now ? 0 : now;
	return sleeper->in_ns || now == out_ns || put_sample(offcpu, sleeper->sample, sleeper->size, out_ns, now);
}

static bool take_one(struct pd_offcpu *offcpu, const struct happened *at)
{
	struct sleeper *sleeper = at->tid ? find(offcpu, at->tid) : NULL;

	// the idle thread waits for nothing
	if (!at->tid)
		return true;
	if (!sleeper)
		return false;
	switch (at->what) {
	case SWITCHED_OUT:
		return fall_asleep(offcpu, sleeper, at);
	case PREEMPTED:
		sleeper->out_ns = 0;
		return true;
	case SWITCHED_IN:
		return wake_up(offcpu, sleeper, at->time_ns);
	case FORKED:
		sleeper->exits = false;
		sleeper->in_ns = sleeper->out_ns = 0;
		return true;
	case EXITED:
		sleeper->exits = true;
		sleeper->in_ns = sleeper->out_ns = 0;
		return true;
	}
	return true;
}

// ---- from rings ----

static bool append_event(struct pd_offcpu *offcpu, const struct happened *at)
{
	if (!PD_GROW(offcpu->happened, offcpu->capacity, offcpu->count + 1))
		return false;
	offcpu->happened[offcpu->count] = *at;
	offcpu->happened[offcpu->count].order = offcpu->count;
	offcpu->count++;
	if (at->time_ns > offcpu->last_ns)
		offcpu->last_ns = at->time_ns;
	return true;
}

static bool take_sample(struct pd_offcpu *offcpu, const uint8_t *record, size_t size)
{
	struct happened at = { .what = SWITCHED_OUT, .place = offcpu->byte_count, .size = size };

	if (size < AT_CHAIN + 8 || pd_load_u64(record + AT_CHAIN, false) != (size - AT_CHAIN - 8) / 8)
		return true;
	at.time_ns = pd_load_u64(record + AT_TIME, false);
	at.tid = pd_load_u32(record + AT_TID, false);
	if (!PD_GROW(offcpu->bytes, offcpu->byte_capacity, offcpu->byte_count + size))
		return false;
	memcpy(offcpu->bytes + offcpu->byte_count, record, size);
	offcpu->byte_count += size;
	return append_event(offcpu, &at);
}

static bool take_record(struct pd_offcpu *offcpu, const uint8_t *record, size_t size)
{
	const uint16_t out = PD_MASK(PD_MISC_SWITCH_OUT), preempted = PD_MASK(PD_MISC_SWITCH_OUT_PREEMPT);
	uint32_t type = pd_load_u32(record, false);
	uint16_t misc = pd_load_u16(record + 4, false);
	struct happened at = { 0 };

	if (type == PD_RECORD_SAMPLE)
		return take_sample(offcpu, record, size);
	if (size < 8 + TRAILER)
		return true;
	at.time_ns = pd_load_u64(record + size - TRAILER_TIME, false);
	at.tid = pd_load_u32(record + size - TRAILER_TID, false);
	switch (type) {
	case PD_RECORD_SWITCH:
	case PD_RECORD_SWITCH_CPU_WIDE:
		// that it went away the sample said
		if ((misc & out) && !(misc & preempted))
			return true;
		at.what = misc & out ? PREEMPTED : SWITCHED_IN;
		return append_event(offcpu, &at);
	case PD_RECORD_FORK:
	case PD_RECORD_EXIT:
		at.what = type == PD_RECORD_FORK ? FORKED : EXITED;
		at.tid = pd_load_u32(record + AT_TASK_TID, false);
		return append_event(offcpu, &at);
	default:
		return true;
	}
}

enum pd_status pd_offcpu_take(struct pd_offcpu *offcpu, const struct pd_ring_view *view, struct pd_error *error)
{
	uint8_t *joined = NULL;
	enum pd_status status = PD_OK;
	const struct pd_bytes *first = &view->pieces[0];
	size_t total = first->size + view->pieces[1].size;

	for (size_t at = 0; at + PD_RECORD_HEADER_SIZE <= total && status >= 0;) {
		const uint8_t *record = at < first->size ? first->data + at : view->pieces[1].data + (at - first->size);
		size_t size = pd_load_u16(record + 6, false);

		if (size < PD_RECORD_HEADER_SIZE || size > total - at)
			return pd_fail(error, PD_ERROR_FORMAT, PD_NO_OFFSET,
				       "the kernel handed over a record of %zu bytes", size);
		// one that goes around the end of the ring
		if (at < first->size && at + size > first->size) {
			joined = pd_alloc(size);
			if (joined) {
				memcpy(joined, record, first->size - at);
				memcpy(joined + (first->size - at), view->pieces[1].data, size - (first->size - at));
			}
			record = joined;
		}
		if (!record || !take_record(offcpu, record, size))
			status = pd_fail_memory(error);
		at += size;
	}
	pd_free(joined);
	return status;
}

static int compare(const void *a, const void *b)
{
	const struct happened *x = a, *y = b;

	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

enum pd_status pd_offcpu_flush(struct pd_offcpu *offcpu, struct pd_bytes *records_out, struct pd_error *error)
{
	uint64_t lag_ns = pd_now_ns() - offcpu->last_ns;
	bool done = true;

	// what comes soonest tells best
	if (offcpu->count && (!offcpu->clock_known || (int64_t)(lag_ns - offcpu->lag_ns) < 0)) {
		offcpu->lag_ns = lag_ns;
		offcpu->clock_known = true;
	}
	offcpu->out.size = 0;
	if (offcpu->count)
		qsort(offcpu->happened, offcpu->count, sizeof(*offcpu->happened), compare);
	for (size_t i = 0; i < offcpu->count && done; i++)
		done = take_one(offcpu, &offcpu->happened[i]);
	offcpu->count = offcpu->byte_count = 0;
	*records_out = (struct pd_bytes){ offcpu->out.data, offcpu->out.size };
	return done ? PD_OK : pd_fail_memory(error);
}

enum pd_status pd_offcpu_end(struct pd_offcpu *offcpu, struct pd_bytes *records_out, struct pd_error *error)
{
	uint64_t now = pd_now_ns() - offcpu->lag_ns;
	bool done = true;

	if (now < offcpu->last_ns)
		now = offcpu->last_ns;
	offcpu->out.size = 0;
	for (size_t i = 0; i < offcpu->sleeper_count && done; i++) {
		struct sleeper *sleeper = &offcpu->sleepers[i];

		if (sleeper->out_ns && sleeper->out_ns < now)
			done = put_sample(offcpu, sleeper->sample, sleeper->size, sleeper->out_ns, now);
		// the rest belongs to the next file
		if (sleeper->out_ns)
			sleeper->out_ns = now;
	}
	*records_out = (struct pd_bytes){ offcpu->out.data, offcpu->out.size };
	return done ? PD_OK : pd_fail_memory(error);
}

uint64_t pd_offcpu_samples(const struct pd_offcpu *offcpu)
{
	return offcpu->samples;
}

/* SPDX-License-Identifier: MIT */
/*
 * What each thread does at the moment, since when, and what it did before in sums. A change ends one interval and begins the
 * next, so there is never a gap: the sums of a thread are its life.
 */
#include "interval/interval.h"

#include <string.h>

static const struct pd_interval_kind kinds[] = {
#define KIND(NAME, name, class, code, doc) { PD_KIND_##NAME, name, PD_INTERVAL_##class, code, doc },
#include "interval/kinds.def"
};

const struct pd_interval_kind *pd_interval_kind(size_t index)
{
	return index < PD_KIND_COUNT ? &kinds[index] : NULL;
}

// ---- lives ----

// Each CPU has an idle thread, all with tid 0.
static uint64_t key_of(uint32_t tid, uint32_t cpu)
{
	return tid ? tid : UINT64_C(1) << 32 | cpu;
}

struct pd_interval_life *pd_life_begin(struct pd_intervals *intervals, uint32_t tid, uint32_t cpu,
				       struct pd_error *error)
{
	struct pd_interval_life *life;

	if (intervals->life_count >= intervals->options.thread_limit) {
		pd_fail(error, PD_ERROR_LIMIT, PD_NO_OFFSET, "more than %zu threads", intervals->options.thread_limit);
		return NULL;
	}
	if (!PD_GROW(intervals->lives, intervals->life_capacity, intervals->life_count + 1) ||
	    !(life = pd_arena_alloc(&intervals->arena, sizeof(*life))) ||
	    !pd_u64_map_set(&intervals->current, key_of(tid, cpu), (uintptr_t)life)) {
		pd_fail_memory(error);
		return NULL;
	}
	life->thread = (struct pd_interval_thread){ .pid = tid ? UINT32_MAX : 0,
						    .tid = tid,
						    .cpu = tid ? UINT32_MAX : cpu,
						    .begin_ns = intervals->last_ns,
						    .end_ns = intervals->last_ns,
						    .sums = { life->sums, PD_KIND_COUNT, sizeof(life->sums[0]) } };
	life->since_ns = intervals->last_ns;
	life->losses = intervals->losses;
	life->waker = UINT32_MAX;
	life->kind = PD_KIND_NONE;
	intervals->lives[intervals->life_count++] = life;
	return life;
}

struct pd_interval_life *pd_life_find(struct pd_intervals *intervals, uint32_t tid, uint32_t cpu,
				      struct pd_error *error)
{
	uint64_t found = pd_u64_map_find(&intervals->current, key_of(tid, cpu));
	struct pd_interval_life *life = (struct pd_interval_life *)(uintptr_t)found; // NOLINT: it was a pointer

	return life ? life : pd_life_begin(intervals, tid, cpu, error);
}

bool pd_life_set_running(struct pd_intervals *intervals, uint32_t cpu, struct pd_interval_life *life)
{
	size_t capacity = intervals->cpu_count;

	if (cpu >= PD_INTERVAL_CPUS)
		return true;
	if (cpu >= capacity) {
		if (!PD_GROW(intervals->cpus, capacity, cpu + 1))
			return false;
		memset(intervals->cpus + intervals->cpu_count, 0,
		       (capacity - intervals->cpu_count) * sizeof(intervals->cpus[0]));
		intervals->cpu_count = capacity;
	}
	intervals->cpus[cpu] = (struct pd_interval_cpu){ life, true };
	return true;
}

// ---- intervals ----

static void add_up(struct pd_intervals *intervals, struct pd_interval_life *life, const struct pd_interval *interval)
{
	struct pd_interval_sum *sum = &life->sums[interval->kind->index];
	uint64_t length_ns = interval->end_ns - interval->begin_ns;

	sum->count++;
	sum->total_ns += length_ns;
	if (length_ns > sum->max_ns)
		sum->max_ns = length_ns;
	if (interval->flags & PD_INTERVAL_LOST || interval->kind->of == PD_INTERVAL_UNKNOWN)
		life->thread.uncertain_ns += length_ns;
	life->thread.end_ns = interval->end_ns;
	intervals->counts.intervals++;
	intervals->counts.mismatched += interval->kind->of == PD_INTERVAL_UNKNOWN;
	intervals->counts.lost += (interval->flags & PD_INTERVAL_LOST) != 0;
	intervals->counts.began_before += (interval->flags & PD_INTERVAL_BEGAN_BEFORE) != 0;
	intervals->counts.not_ended += (interval->flags & PD_INTERVAL_NOT_ENDED) != 0;
}

static enum pd_status close_interval(struct pd_intervals *intervals, struct pd_interval_life *life,
				     enum pd_interval_number was, unsigned flags, struct pd_error *error)
{
	const struct pd_interval interval = {
		.kind = pd_interval_kind(was),
		.pid = life->thread.pid,
		.tid = life->thread.tid,
		.cpu = life->thread.cpu,
		.waker = life->waker,
		.begin_ns = life->since_ns,
		.end_ns = intervals->last_ns,
		.flags = flags | (life->losses != intervals->losses ? PD_INTERVAL_LOST : 0U),
	};

	add_up(intervals, life, &interval);
	return intervals->options.interval ? intervals->options.interval(intervals->options.self, &interval, error) :
					     PD_OK;
}

// The first event of a thread says what it did until then, from the begin of the recording on.
static unsigned begin_before(struct pd_intervals *intervals, struct pd_interval_life *life)
{
	life->since_ns = intervals->first_ns;
	life->losses = 0;
	life->thread.begin_ns = intervals->first_ns;
	return PD_INTERVAL_BEGAN_BEFORE;
}

enum pd_status pd_life_began(struct pd_intervals *intervals, const struct pd_interval_life *life,
			     struct pd_error *error)
{
	const struct pd_interval interval = {
		.kind = pd_interval_kind(life->kind),
		.pid = life->thread.pid,
		.tid = life->thread.tid,
		.cpu = life->thread.cpu,
		.waker = UINT32_MAX,
		.begin_ns = life->since_ns,
		.end_ns = life->since_ns,
	};

	if (!intervals->options.began || !interval.kind)
		return PD_OK;
	return intervals->options.began(intervals->options.self, &interval, error);
}

enum pd_status pd_life_change(struct pd_intervals *intervals, struct pd_interval_life *life,
			      enum pd_interval_number was, enum pd_interval_number next, struct pd_error *error)
{
	enum pd_status status = PD_OK;

	if (was < PD_KIND_COUNT)
		status = close_interval(intervals, life, was,
					life->kind == PD_KIND_NONE ? begin_before(intervals, life) : 0, error);
	life->kind = (uint8_t)next;
	life->since_ns = intervals->last_ns;
	life->losses = intervals->losses;
	life->waker = UINT32_MAX;
	if (next == PD_KIND_GONE)
		life->thread.exited = true;
	return status < 0 ? status : pd_life_began(intervals, life, error);
}

enum pd_status pd_life_end(struct pd_intervals *intervals, struct pd_interval_life *life, struct pd_error *error)
{
	if (life->kind >= PD_KIND_COUNT)
		return PD_OK;
	return close_interval(intervals, life, (enum pd_interval_number)life->kind, PD_INTERVAL_NOT_ENDED, error);
}

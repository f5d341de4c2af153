/* SPDX-License-Identifier: MIT */
/*
 * From an event to the next state of its threads. Each state that a thread is in before an event is either one that fits,
 * or something between was not recorded: then the time between is unknown, and counted as that.
 */
#include "interval/interval.h"

#include <string.h>

#include <perfdata/run.h>

enum {
	THREAD_LIMIT = 4 << 20,
	ARENA_LIMIT = 1 << 30
};

// An event, as far as it is the same for all.
struct event {
	uint32_t pid, tid, cpu; // of the thread in whose context it was recorded
};

static bool runs(const struct pd_interval_life *life)
{
	return life->kind == PD_KIND_ON_CPU || life->kind == PD_KIND_IDLE;
}

// ---- threads ----

// What ran on a CPU where something else runs now: when it ended was not recorded.
static enum pd_status evict(struct pd_intervals *intervals, uint32_t cpu, const struct pd_interval_life *life,
			    struct pd_error *error)
{
	struct pd_interval_life *other = pd_life_running(intervals, cpu);

	if (!other || other == life || !runs(other))
		return PD_OK;
	return pd_life_change(intervals, other, PD_KIND_UNKNOWN, other->thread.tid ? PD_KIND_UNKNOWN : PD_KIND_BUSY,
			      error);
}

// A tid comes again after its thread exited, and what began it was not recorded.
static struct pd_interval_life *revive(struct pd_intervals *intervals, uint32_t tid, uint32_t cpu,
				       struct pd_error *error)
{
	struct pd_interval_life *life = pd_life_find(intervals, tid, cpu, error);

	if (!life || life->kind != PD_KIND_GONE)
		return life;
	life = pd_life_begin(intervals, tid, cpu, error);
	if (life)
		life->kind = PD_KIND_UNKNOWN;
	return life;
}

// What a thread that is switched out did until now. The first one of its CPU ran from the beginning.
static enum pd_interval_number until_out(const struct pd_intervals *intervals, const struct pd_interval_life *life,
					 uint32_t cpu)
{
	if (life->kind == PD_KIND_NONE && pd_life_switched(intervals, cpu))
		return life->thread.tid ? PD_KIND_UNKNOWN : PD_KIND_NONE;
	if (life->kind == PD_KIND_NONE)
		return life->thread.tid ? PD_KIND_ON_CPU : PD_KIND_IDLE;
	if (!runs(life) || (cpu != UINT32_MAX && life->thread.cpu != UINT32_MAX && life->thread.cpu != cpu))
		return PD_KIND_UNKNOWN;
	return (enum pd_interval_number)life->kind;
}

static enum pd_status switch_out(struct pd_intervals *intervals, const struct event *event, uint32_t tid,
				 enum pd_interval_number next, struct pd_error *error)
{
	struct pd_interval_life *life = revive(intervals, tid, event->cpu, error);
	enum pd_status status = life ? evict(intervals, event->cpu, life, error) : PD_ERROR_MEMORY;
	enum pd_interval_number was;

	if (!life || status < 0)
		return life ? status : error->status;
	was = until_out(intervals, life, event->cpu);
	// the last thing known of it is elsewhere
	if (was == PD_KIND_UNKNOWN && pd_life_running(intervals, life->thread.cpu) == life)
		pd_life_set_running(intervals, life->thread.cpu, NULL);
	if (tid && event->tid == tid && event->pid != UINT32_MAX)
		life->thread.pid = event->pid;
	life->thread.cpu = event->cpu;
	status = pd_life_change(intervals, life, was, tid ? next : PD_KIND_BUSY, error);
	if (status >= 0 && !pd_life_set_running(intervals, event->cpu, NULL))
		status = pd_fail_memory(error);
	return status;
}

// What a thread that is switched in did until now.
static enum pd_interval_number until_in(struct pd_intervals *intervals, const struct pd_interval_life *life)
{
	switch (life->kind) {
	case PD_KIND_NONE:
		return life->thread.tid ? PD_KIND_OFF_CPU : PD_KIND_NONE;
	case PD_KIND_ON_CPU:
	case PD_KIND_IDLE:
		return PD_KIND_UNKNOWN;
	case PD_KIND_BUSY:
		return PD_KIND_BUSY;
	default:
		intervals->counts.unwoken += pd_interval_kind(life->kind)->of == PD_INTERVAL_BLOCKED;
		return (enum pd_interval_number)life->kind;
	}
}

static enum pd_status switch_in(struct pd_intervals *intervals, const struct event *event, uint32_t tid,
				struct pd_error *error)
{
	struct pd_interval_life *life = revive(intervals, tid, event->cpu, error);
	enum pd_status status = life ? evict(intervals, event->cpu, life, error) : PD_ERROR_MEMORY;

	if (!life || status < 0)
		return life ? status : error->status;
	if (runs(life) && pd_life_running(intervals, life->thread.cpu) == life)
		pd_life_set_running(intervals, life->thread.cpu, NULL);
	status = pd_life_change(intervals, life, until_in(intervals, life), tid ? PD_KIND_ON_CPU : PD_KIND_IDLE, error);
	life->thread.cpu = event->cpu;
	if (status >= 0 && !pd_life_set_running(intervals, event->cpu, life))
		status = pd_fail_memory(error);
	intervals->counts.switches++;
	return status;
}

static enum pd_status wake(struct pd_intervals *intervals, const struct event *event, uint32_t tid,
			   struct pd_error *error)
{
	struct pd_interval_life *life = tid ? pd_life_find(intervals, tid, event->cpu, error) : NULL;
	enum pd_interval_number was;
	enum pd_status status;

	if (!life)
		return tid ? error->status : PD_OK;
	was = life->kind == PD_KIND_NONE ? PD_KIND_OFF_CPU : (enum pd_interval_number)life->kind;
	// what runs or can run is woken in vain
	if (was >= PD_KIND_COUNT ||
	    (pd_interval_kind(was)->of != PD_INTERVAL_BLOCKED && pd_interval_kind(was)->of != PD_INTERVAL_UNKNOWN))
		return PD_OK;
	status = pd_life_change(intervals, life, was, PD_KIND_RUNNABLE, error);
	life->waker = event->tid;
	intervals->counts.wakeups++;
	return status;
}

// A thread ends. Only what runs can do so.
static enum pd_status end_thread(struct pd_intervals *intervals, struct pd_interval_life *life, struct pd_error *error)
{
	if (life->kind == PD_KIND_GONE || life->kind == PD_KIND_NONE)
		return PD_OK;
	if (pd_life_running(intervals, life->thread.cpu) == life)
		pd_life_set_running(intervals, life->thread.cpu, NULL);
	return pd_life_change(intervals, life, life->kind == PD_KIND_ON_CPU ? PD_KIND_ON_CPU : PD_KIND_UNKNOWN,
			      PD_KIND_GONE, error);
}

static enum pd_status begin_thread(struct pd_intervals *intervals, const struct event *event, uint32_t tid,
				   struct pd_error *error)
{
	uint64_t found = tid ? pd_u64_map_find(&intervals->current, tid) : 0;
	struct pd_interval_life *life = (struct pd_interval_life *)(uintptr_t)found; // NOLINT: it was a pointer
	enum pd_status status = life ? end_thread(intervals, life, error) : PD_OK;

	if (!tid || status < 0)
		return status;
	life = pd_life_begin(intervals, tid, event->cpu, error);
	if (!life)
		return error->status;
	life->kind = PD_KIND_RUNNABLE;
	life->waker = event->tid;
	intervals->counts.wakeups++;
	return pd_life_began(intervals, life, error);
}

// ---- records ----

// Whether a record with this time can be taken, in order.
static bool advance(struct pd_intervals *intervals, uint64_t time_ns)
{
	if (time_ns == PD_NO_TIME) {
		intervals->counts.unreadable++;
		return false;
	}
	if (!intervals->first_ns)
		intervals->first_ns = time_ns;
	if (time_ns < intervals->last_ns) {
		intervals->counts.out_of_order++;
		return false;
	}
	intervals->last_ns = time_ns;
	return true;
}

// What an event of the file is here; NULL: an error.
static const struct pd_switch_event *event_of(struct pd_intervals *intervals, const struct pd_event *event,
					      struct pd_error *error)
{
	size_t count = intervals->event_count, capacity = intervals->event_capacity;
	struct pd_switch_event *found;

	if (event->index >= count) {
		if (!PD_GROW(intervals->events, capacity, event->index + 1)) {
			pd_fail_memory(error);
			return NULL;
		}
		memset(intervals->events + count, 0, (capacity - count) * sizeof(*intervals->events));
		intervals->event_count = intervals->event_capacity = capacity;
	}
	found = &intervals->events[event->index];
	if (found->role == PD_ROLE_UNREAD && pd_switch_event_read(intervals->trace, event, found, error) < 0)
		return NULL;
	return found;
}

static enum pd_status take_tracepoint(struct pd_intervals *intervals, const struct pd_switch_event *what,
				      const struct event *event, struct pd_bytes raw, struct pd_error *error)
{
	uint64_t tid = 0, next = 0, state = 0;
	enum pd_status status;

	if (!pd_raw_number_read(raw, &what->pid, &tid) ||
	    (what->role == PD_ROLE_SWITCH &&
	     (!pd_raw_number_read(raw, &what->next, &next) || !pd_raw_number_read(raw, &what->state, &state)))) {
		intervals->counts.unreadable++;
		return PD_OK;
	}
	if (what->role == PD_ROLE_WAKE)
		return wake(intervals, event, (uint32_t)tid, error);
	if (what->role == PD_ROLE_NEW)
		return begin_thread(intervals, event, (uint32_t)tid, error);
	status = switch_out(intervals, event, (uint32_t)tid, pd_switch_state(what, state), error);
	return status < 0 ? status : switch_in(intervals, event, (uint32_t)next, error);
}

static enum pd_status take_sample(struct pd_intervals *intervals, const struct pd_record *record,
				  struct pd_error *error)
{
	const struct pd_switch_event *what;
	const struct pd_sample *sample;
	const void *decoded;
	struct event event;
	enum pd_status status;

	if (!record->event)
		return PD_OK;
	what = event_of(intervals, record->event, error);
	if (!what)
		return error->status;
	if (what->role == PD_ROLE_NONE) {
		advance(intervals, record->time_ns);
		return PD_OK;
	}
	status = pd_record_decode(record, &decoded, error);
	if (status == PD_ERROR_MEMORY)
		return status;
	sample = status < 0 ? NULL : decoded;
	if (!sample || !sample->raw.data) {
		intervals->counts.unreadable++;
		return PD_OK;
	}
	if (!advance(intervals, record->time_ns))
		return PD_OK;
	event = (struct event){ UINT32_MAX, UINT32_MAX, UINT32_MAX };
	if (record->event->attr->sample_type & PD_MASK(PD_SAMPLE_TYPE_TID))
		event.pid = sample->pid, event.tid = sample->tid;
	if (record->event->attr->sample_type & PD_MASK(PD_SAMPLE_TYPE_CPU))
		event.cpu = sample->cpu;
	return take_tracepoint(intervals, what, &event, sample->raw, error);
}

// Tracepoints tell more than SWITCH records, which follow them where both are recorded.
static bool has_tracepoint(struct pd_intervals *intervals)
{
	const struct pd_event *event;

	if (intervals->decided)
		return intervals->by_tracepoint;
	for (size_t i = 0; !intervals->by_tracepoint && (event = pd_file_event(intervals->file, i)) != NULL; i++)
		intervals->by_tracepoint = event->name && !strncmp(event->name, "sched:sched_switch", 18);
	intervals->decided = true;
	return intervals->by_tracepoint;
}

// Whether a tracepoint has said it already. Some kernels record nothing in the context of some threads, of which the idle ones are some: so
// not that another thread follows them either.
static bool is_known(const struct pd_intervals *intervals, const struct pd_interval_life *life,
		     const struct event *event, uint16_t misc)
{
	bool running = runs(life) && (event->cpu == UINT32_MAX || pd_life_running(intervals, event->cpu) == life);

	return running == !(misc & PD_MASK(PD_MISC_SWITCH_OUT));
}

// SWITCH records: what runs is the thread of the record, whatever ran before.
static enum pd_status take_switch(struct pd_intervals *intervals, const struct pd_record *record,
				  struct pd_error *error)
{
	struct pd_interval_life *life;
	struct pd_thread_id id;
	struct event event;

	pd_record_thread(record, &id);
	if (!id.known) {
		intervals->counts.unreadable++;
		return PD_OK;
	}
	if (!advance(intervals, record->time_ns))
		return PD_OK;
	// one that has exited has no number any more
	if (id.tid == UINT32_MAX)
		return PD_OK;
	event = (struct event){ id.pid, id.tid, id.cpu };
	life = pd_life_find(intervals, id.tid, id.cpu, error);
	if (!life)
		return error->status;
	// its exit is recorded before its last switch
	if (life->kind == PD_KIND_GONE)
		return PD_OK;
	if (has_tracepoint(intervals) && is_known(intervals, life, &event, record->misc))
		return PD_OK;
	if (!(record->misc & PD_MASK(PD_MISC_SWITCH_OUT)))
		return switch_in(intervals, &event, id.tid, error);
	return switch_out(intervals, &event, id.tid,
			  record->misc & PD_MASK(PD_MISC_SWITCH_OUT_PREEMPT) ? PD_KIND_PREEMPTED : PD_KIND_OFF_CPU,
			  error);
}

static enum pd_status take_task(struct pd_intervals *intervals, const struct pd_record *record, struct pd_error *error)
{
	const struct pd_task *fork = pd_as_fork(record);
	const struct pd_task *exit = fork ? NULL : pd_as_exit(record);
	struct event event = { UINT32_MAX, UINT32_MAX, UINT32_MAX };
	uint64_t found;

	// those that ran when the recorder started are described by forks without a time
	if ((!fork && !exit) || !record->time_ns || !advance(intervals, record->time_ns))
		return PD_OK;
	if (fork) {
		event.tid = fork->ptid;
		return begin_thread(intervals, &event, fork->tid, error);
	}
	found = exit->tid ? pd_u64_map_find(&intervals->current, exit->tid) : 0;
	return found ? end_thread(intervals, (struct pd_interval_life *)(uintptr_t)found, error) : PD_OK; // NOLINT
}

static enum pd_status take_loss(struct pd_intervals *intervals, const struct pd_record *record, struct pd_error *error)
{
	const struct pd_lost *lost = pd_as_lost(record);
	const struct pd_lost_samples *samples = lost ? NULL : pd_as_lost_samples(record);
	uint64_t count = lost ? lost->lost : samples ? samples->lost : 0;

	intervals->counts.lost_records += count;
	intervals->losses += count != 0;
	(void)error;
	return PD_OK;
}

typedef enum pd_status take_fn(struct pd_intervals *intervals, const struct pd_record *record, struct pd_error *error);

// What says something of threads; only_without: where there are no tracepoints.
static const struct {
	uint32_t type;
	take_fn *take;
	bool only_without;
} takers[] = {
	{ PD_RECORD_SAMPLE, take_sample, false },
	{ PD_RECORD_SWITCH, take_switch, false },
	{ PD_RECORD_SWITCH_CPU_WIDE, take_switch, false },
	{ PD_RECORD_FORK, take_task, true },
	{ PD_RECORD_EXIT, take_task, true },
	{ PD_RECORD_LOST, take_loss, false },
	{ PD_RECORD_LOST_SAMPLES, take_loss, false },
};

enum pd_status pd_intervals_take(struct pd_intervals *intervals, const struct pd_record *record, struct pd_error *error)
{
	struct pd_error own;

	if (!error)
		error = &own;
	for (size_t i = 0; i < sizeof(takers) / sizeof(takers[0]); i++) {
		if (takers[i].type != record->type)
			continue;
		return takers[i].only_without && has_tracepoint(intervals) ? PD_OK :
									     takers[i].take(intervals, record, error);
	}
	return pd_trace_take(intervals->trace, record, error);
}

// ---- from the begin to the end ----

enum pd_status pd_intervals_new(struct pd_file *file, const struct pd_intervals_options *options,
				struct pd_intervals **intervals_out, struct pd_error *error)
{
	struct pd_intervals *intervals;
	enum pd_status status;

	if (options && !options->size)
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "pd_intervals_options.size is 0");
	intervals = pd_alloc(sizeof(*intervals));
	if (!intervals)
		return pd_fail_memory(error);
	if (options)
		memcpy(&intervals->options, options,
		       options->size < sizeof(*options) ? options->size : sizeof(*options));
	if (!intervals->options.thread_limit)
		intervals->options.thread_limit = THREAD_LIMIT;
	intervals->file = file;
	intervals->arena.limit = (size_t)ARENA_LIMIT * 2;
	intervals->current.seed = pd_hash_secret();
	status = pd_trace_new(file, NULL, &intervals->trace, error);
	if (status < 0)
		pd_intervals_free(intervals);
	else
		*intervals_out = intervals;
	return status;
}

void pd_intervals_free(struct pd_intervals *intervals)
{
	if (!intervals)
		return;
	pd_trace_free(intervals->trace);
	pd_u64_map_fini(&intervals->current);
	pd_arena_fini(&intervals->arena);
	pd_free(intervals->lives);
	pd_free(intervals->cpus);
	pd_free(intervals->events);
	pd_free(intervals);
}

enum pd_status pd_intervals_finish(struct pd_intervals *intervals, struct pd_error *error)
{
	enum pd_status status = PD_OK;

	if (intervals->finished)
		return PD_OK;
	intervals->finished = true;
	for (size_t i = 0; status >= 0 && i < intervals->life_count; i++)
		status = pd_life_end(intervals, intervals->lives[i], error);
	return status;
}

static enum pd_status take_record(void *self, struct pd_stream *stream, const struct pd_record *record,
				  struct pd_error *error)
{
	(void)stream;
	return pd_intervals_take(self, record, error);
}

enum pd_status pd_intervals_read(struct pd_file *file, const struct pd_intervals_options *options,
				 struct pd_intervals **intervals_out, struct pd_error *error)
{
	const struct pd_run_options run = { .size = sizeof(run), .threads = 1, .order = PD_ORDER_TIME };
	struct pd_sink sink = { .size = sizeof(sink), .record = take_record };
	struct pd_intervals *intervals;
	enum pd_status status = pd_intervals_new(file, options, &intervals, error);

	if (status < 0)
		return status;
	sink.self = intervals;
	status = pd_run(file, &run, &sink, error);
	if (status >= 0)
		status = pd_intervals_finish(intervals, error);
	if (status >= 0 && !intervals->counts.switches)
		status = pd_fail(
			error, PD_ERROR_NO_SAMPLES, PD_NO_OFFSET,
			"no context switches: record sched:sched_switch (perfdata sched record), or --switch-events");
	if (status < 0)
		pd_intervals_free(intervals);
	else
		*intervals_out = intervals;
	return status < 0 ? status : PD_OK;
}

const struct pd_interval_thread *pd_intervals_thread(const struct pd_intervals *intervals, size_t index)
{
	return index < intervals->life_count ? &intervals->lives[index]->thread : NULL;
}

void pd_intervals_counts(const struct pd_intervals *intervals, struct pd_interval_counts *counts_out)
{
	*counts_out = intervals->counts;
}

/* SPDX-License-Identifier: MIT */
/*
 * Each thread keeps its last wait with those of its wakers, as copies: who is woken gets those of the waker behind its own. So
 * memory does not grow with the number of wakeups.
 */
#include "pairs/why.h"

#include <stdlib.h>
#include <string.h>

#include <perfdata/run.h>

enum {
	SWITCH,
	SHOWN = 5,
	MOST = 10000,
	ARENA_LIMIT = 2047 << 20,
	MIGRATE = 1,
	IN_INTERRUPT = 0x08 | 0x10 // common_flags: of a device or timer, and what it left for later
};

// Indexes of kinds of intervals.
enum {
#define KIND(NAME, name, class, code, doc) KIND_##NAME,
#include "interval/kinds.def"
};

static const struct pd_tracepoint points[] = {
	[SWITCH] = { "sched:sched_switch", { "prev_pid", "next_pid" } },
	[MIGRATE] = { "sched:sched_migrate_task", { "pid", "dest_cpu" } },
	{ "sched:sched_waking", { "pid", "?common_flags", "?target_cpu" } },
	{ "sched:sched_wakeup", { "pid", "?common_flags", "?target_cpu" } },
	{ "sched:sched_wakeup_new", { "pid", "?common_flags", "?target_cpu" } },
};

// ---- threads ----

static struct pd_why_thread *thread_of(struct pd_why *why, uint32_t tid, struct pd_error *error)
{
	struct pd_sched_thread *thread = pd_sched_find(&why->sched, -1, (int32_t)tid, error);

	if (!thread)
		return NULL;
	if (!thread->own)
		thread->own = pd_arena_alloc(&why->sched.arena, sizeof(struct pd_why_thread));
	if (!thread->own)
		pd_fail_memory(error);
	return thread->own;
}

// ---- sums ----

static bool add_sum(struct pd_why_sums *sums, uint32_t tid, uint32_t other, enum pd_why_reason reason, uint64_t ns)
{
	// sums either have no other, or all the same reason
	uint64_t key = (uint64_t)tid << 32 | (uint32_t)(other + (uint32_t)reason);
	uint64_t number = pd_u64_map_find(&sums->map, key);

	if (!number) {
		if (!PD_GROW(sums->all, sums->capacity, sums->count + 1) ||
		    !pd_u64_map_set(&sums->map, key, sums->count + 1))
			return false;
		sums->all[sums->count++] = (struct pd_why_sum){ .tid = tid, .other = other, .reason = reason };
		number = sums->count;
	}
	sums->all[number - 1].count++;
	sums->all[number - 1].total_ns += ns;
	return true;
}

static bool add_part(struct pd_why *why, uint32_t tid, enum pd_why_reason reason, uint64_t from_ns, uint64_t to_ns)
{
	return to_ns <= from_ns || add_sum(&why->spent, tid, 0, reason, to_ns - from_ns);
}

static uint64_t at_least(uint64_t time_ns, uint64_t begin_ns)
{
	return time_ns > begin_ns ? time_ns : begin_ns;
}

// From the end of a wait to its begin: who ran meanwhile, or waited for a CPU, so that it was not ended earlier.
static bool add_spent(struct pd_why *why, const struct pd_why_wait *wait)
{
	const struct pd_why_link *link = &wait->links[0];
	uint64_t begin_ns = link->begin_ns, until_ns = link->woken_ns;
	bool done = add_part(why, link->tid, PD_WHY_RUNNABLE, link->woken_ns, link->in_ns);

	for (size_t i = 1; done && until_ns > begin_ns; i++) {
		const struct pd_why_link *before = i < wait->depth ? &wait->links[i] : NULL;
		uint64_t in_ns = before ? at_least(before->in_ns, begin_ns) : begin_ns;
		uint64_t ready_ns = before ? at_least(before->woken_ns, begin_ns) : begin_ns;
		uint32_t actor = link->preempted ? link->tid : link->waker;

		if (link->interrupt)
			return add_part(why, link->tid, PD_WHY_INTERRUPT, begin_ns, until_ns);
		if (actor == UINT32_MAX || i == PD_WHY_DEPTH)
			return add_part(why, link->tid, PD_WHY_UNKNOWN, begin_ns, until_ns);
		done = add_part(why, actor, PD_WHY_RAN, in_ns, until_ns) &&
		       add_part(why, actor, PD_WHY_RUNNABLE, ready_ns, in_ns);
		until_ns = ready_ns;
		link = before;
		if (!before)
			break;
	}
	return done;
}

// ---- waits ----

// A thread runs again.
static bool end_wait(struct pd_why *why, struct pd_why_thread *thread, uint64_t in_ns)
{
	struct pd_why_wait *wait = &thread->wait;
	struct pd_why_link *link = &wait->links[0];

	// the last call chain may be that of another wait
	if (thread->out_ns < thread->in_ns)
		thread->stack.count = 0;
	thread->in_ns = in_ns;
	if (!wait->depth || link->in_ns)
		return true;
	link->in_ns = in_ns;
	wait->total_ns = in_ns - link->begin_ns;
	if (!wait->total_ns || (why->options.tid && link->tid != why->options.tid) || in_ns < why->options.from_ns ||
	    (why->options.to_ns && link->begin_ns > why->options.to_ns))
		return true;
	pd_histogram_add(why->lengths, wait->total_ns);
	why->wait_count++;
	why->wait_ns += wait->total_ns;
	if (!pd_why_keep(why, wait, &thread->stack))
		return false;
	if (link->preempted)
		return add_sum(&why->preempted, link->tid, link->waker, PD_WHY_RUNNABLE, wait->total_ns);
	return add_spent(why, wait);
}

static struct pd_why_link *begin_wait(struct pd_why_thread *thread, const struct pd_interval *interval)
{
	thread->wait.total_ns = 0;
	thread->wait.depth = 1;
	thread->wait.links[0] = (struct pd_why_link){ .tid = interval->tid,
						      .waker = UINT32_MAX,
						      .cpu = UINT32_MAX,
						      .kind = (uint8_t)interval->kind->index,
						      .flags = (uint8_t)interval->flags,
						      .begin_ns = interval->begin_ns,
						      .woken_ns = interval->end_ns };
	return &thread->wait.links[0];
}

// Who is preempted does not need to be woken; what it waited for before stays of interest. A switch without a tracepoint does not
// say who ran then.
static void take_preemption(struct pd_why_thread *thread, const struct pd_interval *interval)
{
	size_t kept = thread->wait.depth < PD_WHY_DEPTH ? thread->wait.depth : PD_WHY_DEPTH - 1;
	struct pd_why_link *link = thread->wait.links;

	memmove(link + 1, link, kept * sizeof(*link));
	begin_wait(thread, interval);
	thread->wait.depth = 1 + kept;
	link->preempted = true;
	link->woken_ns = interval->begin_ns;
	link->waker = thread->out_ns >= thread->in_ns ? thread->next : UINT32_MAX;
}

// Who was created, or was woken before it was met, waits for nothing but a CPU.
static void take_start(struct pd_why_thread *thread, const struct pd_interval *interval)
{
	struct pd_why_link *link = begin_wait(thread, interval);

	link->woken_ns = interval->begin_ns;
	link->waker = interval->waker;
	link->cpu = interval->cpu;
	link->interrupt = !interval->waker;
}

// The end of the wait of a thread that was woken; others begin one with it.
static void take_runnable(struct pd_why_thread *thread, const struct pd_interval *interval)
{
	bool waits = thread->wait.depth && !thread->wait.links[0].in_ns;

	if (waits)
		thread->wait.links[0].flags |= interval->flags & PD_INTERVAL_LOST;
	else if (interval->kind->index == KIND_PREEMPTED)
		take_preemption(thread, interval);
	else
		take_start(thread, interval);
}

// What the waker did before is of interest as far as it was during this wait.
static bool take_wakeup(struct pd_why *why, struct pd_why_thread *thread, const struct pd_interval *interval,
			struct pd_error *error)
{
	struct pd_why_link *link = begin_wait(thread, interval);
	struct pd_why_thread *waker;
	size_t copied = 0;

	if (!why->wakes)
		return true;
	link->waker = why->waker;
	link->cpu = why->waker_cpu;
	link->interrupt = why->interrupt;
	if (link->interrupt || link->waker == interval->tid)
		return true;
	waker = thread_of(why, why->waker, error);
	if (!waker)
		return false;
	while (copied < waker->wait.depth && copied + 1 < PD_WHY_DEPTH &&
	       waker->wait.links[copied].in_ns > interval->begin_ns)
		copied++;
	memcpy(link + 1, waker->wait.links, copied * sizeof(*link));
	thread->wait.depth += copied;
	return true;
}

// At the end of the recording.
static void note_open(struct pd_why *why, const struct pd_interval *interval)
{
	const struct pd_interval *longest = &why->longest_open;
	enum pd_interval_class of = interval->kind->of;

	if ((of != PD_INTERVAL_BLOCKED && of != PD_INTERVAL_RUNNABLE) ||
	    (why->options.tid && interval->tid != why->options.tid) || interval->end_ns < why->options.from_ns ||
	    (why->options.to_ns && interval->begin_ns > why->options.to_ns))
		return;
	if (!why->open_count++ || interval->end_ns - interval->begin_ns > longest->end_ns - longest->begin_ns)
		why->longest_open = *interval;
}

// The CPU is that on which it runs then. Times before the range, and after it, are cut off.
static bool add_runnable(struct pd_why *why, const struct pd_interval *interval)
{
	bool ended = !(interval->flags & PD_INTERVAL_NOT_ENDED);
	uint64_t end_ns = interval->end_ns, begin_ns = interval->begin_ns;

	if (interval->kind->of != PD_INTERVAL_RUNNABLE)
		return true;
	if (why->options.to_ns && end_ns > why->options.to_ns)
		end_ns = why->options.to_ns;
	return pd_run_queue_add(&why->queue, ended ? why->cpu : interval->cpu, begin_ns, end_ns);
}

// ---- how many wait for a CPU ----

static void leave_queue(struct pd_why *why, struct pd_why_thread *thread)
{
	if (thread->queued)
		pd_run_queue_leave(&why->queue, thread->queue_cpu);
	thread->queued = false;
}

// Who is preempted waits where it ran, others where the wakeup puts them.
static enum pd_status take_begin(void *self, const struct pd_interval *interval, struct pd_error *error)
{
	struct pd_why *why = self;
	struct pd_why_thread *thread;

	if (interval->kind->of != PD_INTERVAL_RUNNABLE || !interval->tid)
		return PD_OK;
	thread = thread_of(why, interval->tid, error);
	if (!thread)
		return error->status;
	leave_queue(why, thread);
	thread->queued = true;
	thread->queue_cpu = why->wakes && why->target_cpu != UINT32_MAX ? why->target_cpu : interval->cpu;
	return pd_run_queue_enter(&why->queue, thread->queue_cpu, interval->begin_ns) ? PD_OK : pd_fail_memory(error);
}

static enum pd_status move_thread(struct pd_why *why, const struct pd_tracepoint_sample *sample, uint32_t cpu,
				  struct pd_error *error)
{
	struct pd_why_thread *thread = thread_of(why, (uint32_t)sample->values[0], error);
	bool done = true;

	if (!thread)
		return error->status;
	if (thread->queued && thread->queue_cpu != cpu)
		done = pd_run_queue_move(&why->queue, thread->queue_cpu, cpu, sample->brief.time_ns);
	thread->queue_cpu = cpu;
	return done ? PD_OK : pd_fail_memory(error);
}

static enum pd_status take_interval(void *self, const struct pd_interval *interval, struct pd_error *error)
{
	struct pd_why *why = self;
	struct pd_why_thread *thread = interval->tid ? thread_of(why, interval->tid, error) : NULL;
	bool done = true;

	if (!interval->tid || !thread)
		return interval->tid ? error->status : PD_OK;
	leave_queue(why, thread);
	if (!add_runnable(why, interval))
		return pd_fail_memory(error);
	if (interval->flags & PD_INTERVAL_NOT_ENDED) {
		note_open(why, interval);
		return PD_OK;
	}
	switch (interval->kind->of) {
	case PD_INTERVAL_BLOCKED:
		error->status = PD_ERROR_MEMORY;
		if (!take_wakeup(why, thread, interval, error))
			return error->status;
		done = why->wakes || end_wait(why, thread, interval->end_ns);
		break;
	case PD_INTERVAL_RUNNABLE:
		take_runnable(thread, interval);
		done = end_wait(why, thread, interval->end_ns);
		break;
	default:
		break;
	}
	return done ? PD_OK : pd_fail_memory(error);
}

// ---- records ----

// Its call chain is where it will wait.
static enum pd_status take_switch_out(struct pd_why *why, const struct pd_tracepoint_sample *sample,
				      struct pd_error *error)
{
	struct pd_why_thread *thread = thread_of(why, (uint32_t)sample->values[0], error);

	if (!thread)
		return error->status;
	thread->next = (uint32_t)sample->values[1];
	thread->out_ns = sample->brief.time_ns;
	return pd_why_stack_set(&thread->stack, sample->brief.pid, sample->brief.callchain) ? PD_OK :
											      pd_fail_memory(error);
}

static enum pd_status take_sample(struct pd_why *why, const struct pd_record *record, struct pd_error *error)
{
	struct pd_tracepoint_sample sample;
	enum pd_status status = pd_tracepoints_take(&why->points, record, &sample, error);

	if (status < 0)
		return status;
	why->wakes = status == PD_OK && sample.which > MIGRATE;
	why->cpu = status == PD_OK ? sample.brief.cpu : UINT32_MAX;
	if (status == PD_OK && !why->queue.first_ns)
		why->queue.first_ns = at_least(sample.brief.time_ns, why->options.from_ns);
	if (why->wakes) {
		why->waker = sample.brief.tid;
		why->waker_cpu = sample.brief.cpu;
		// nothing else happens on an idle CPU
		why->interrupt = sample.values[1] & IN_INTERRUPT || !why->waker;
		why->target_cpu = pd_tracepoints_has(&why->points, sample.event, 2) ? (uint32_t)sample.values[2] :
										      UINT32_MAX;
		// who was woken by sched_waking is put somewhere by sched_wakeup
		if (why->target_cpu != UINT32_MAX)
			status = move_thread(why, &sample, why->target_cpu, error);
	} else if (status == PD_OK && (uint32_t)sample.values[0]) {
		status = sample.which == SWITCH ? take_switch_out(why, &sample, error) :
						  move_thread(why, &sample, (uint32_t)sample.values[1], error);
	}
	if (status < 0)
		return status;
	status = pd_intervals_take(why->intervals, record, error);
	why->wakes = false;
	return status;
}

static enum pd_status take_record(void *self, struct pd_stream *stream, const struct pd_record *record,
				  struct pd_error *error)
{
	struct pd_why *why = self;
	struct pd_thread_id id;
	enum pd_status status;

	(void)stream;
	if (record->type == PD_RECORD_SAMPLE)
		return take_sample(why, record, error);
	// of a SWITCH record, where the thread runs now
	pd_record_thread(record, &id);
	why->cpu = id.cpu;
	status = pd_sched_take_task(&why->sched, record, error);
	return status < 0 ? status : pd_intervals_take(why->intervals, record, error);
}

// ---- from the begin to the end ----

// Events of a pipe are not known before they come.
static bool has_chains(struct pd_file *file)
{
	const struct pd_event *event;

	for (size_t i = 0; (event = pd_file_event(file, i)) != NULL; i++)
		if (event->attr->sample_type & PD_MASK(PD_SAMPLE_TYPE_CALLCHAIN))
			return true;
	return pd_file_header(file)->mode == PD_MODE_PIPE;
}

// Mappings are known before the samples come.
static enum pd_status take_first(void *self, struct pd_stream *stream, const struct pd_record *record,
				 struct pd_error *error)
{
	struct pd_why *why = self;

	(void)stream;
	return pd_state_take(why->state, record, error);
}

static enum pd_status open_symbols(void *self, struct pd_window *window, struct pd_error *error)
{
	struct pd_why *why = self;
	enum pd_status status = pd_state_finalize(why->state, error);

	(void)window;
	if (status < 0 || !why->options.symbols)
		return status < 0 ? status : pd_symbols_new(why->sched.file, why->state, NULL, &why->symbols, error);
	// in brackets: builds without files have a macro of that name
	why->symbols = (why->options.symbols)(why->options.self, why->state);
	return why->symbols ? PD_OK : pd_fail(error, PD_ERROR_STOPPED, PD_NO_OFFSET, "there are no symbols");
}

static enum pd_status open_parts(struct pd_why *why, struct pd_file *file, struct pd_text *text, struct pd_error *error)
{
	const struct pd_intervals_options how = { .size = sizeof(how),
						  .interval = take_interval,
						  .self = why,
						  .thread_limit = why->options.thread_limit,
						  .began = take_begin };
	enum pd_status status =
		pd_tracepoints_init(&why->points, file, points, sizeof(points) / sizeof(points[0]), error);

	why->queue.until_ns = why->options.to_ns;
	why->sched.file = file;
	why->sched.text = text;
	why->sched.options = &why->limits;
	why->sched.arena.limit = ARENA_LIMIT;
	why->limits.thread_limit = why->options.thread_limit;
	why->sched.map.seed = why->spent.map.seed = why->preempted.map.seed = pd_hash_secret();
	why->longest = pd_alloc(why->options.count * sizeof(*why->longest));
	why->first = pd_alloc(PD_WHY_FIRSTS * sizeof(*why->first));
	why->lengths = pd_alloc(sizeof(*why->lengths));
	if (status >= 0 && (!why->longest || !why->first || !why->lengths))
		status = pd_fail_memory(error);
	if (status >= 0)
		status = pd_intervals_new(file, &how, &why->intervals, error);
	if (status >= 0 && has_chains(file))
		status = pd_state_new(NULL, &why->state, error);
	if (status >= 0 && why->state)
		status = pd_state_take_features(why->state, file, error);
	// whoever has number 0
	if (status >= 0 && !pd_sched_find(&why->sched, 0, 0, error))
		status = error->status;
	return status;
}

static enum pd_status print_all(struct pd_why *why, struct pd_file *file, struct pd_text *text, struct pd_error *error)
{
	struct pd_run_options run = { .size = sizeof(run), .threads = 1, .order = PD_ORDER_TIME, .self = why };
	const struct pd_sink sink = { .size = sizeof(sink), .self = why, .record = take_record };
	enum pd_status status = open_parts(why, file, text, error);

	if (status >= 0 && why->state) {
		run.first = take_first;
		run.ready = open_symbols;
	}
	if (status >= 0)
		status = pd_run(file, &run, &sink, error);
	if (status >= 0)
		status = pd_intervals_finish(why->intervals, error);
	if (status >= 0 && why->points.found < UINT64_C(1) << (MIGRATE + 1))
		status = pd_fail(
			error, PD_ERROR_NO_SAMPLES, PD_NO_OFFSET,
			"no wakeups: record sched:sched_switch and sched:sched_waking (perfdata waiting record)");
	if (status < 0)
		return status;
	pd_run_queue_settle(&why->queue);
	if (why->options.json)
		pd_why_print_json(why);
	else
		pd_why_print_text(why);
	return why->symbols && pd_symbols_failed(why->symbols) ? pd_fail_memory(error) :
								 pd_text_flush_or_fail(text, error);
}

enum pd_status pd_print_why(struct pd_text *text, struct pd_file *file, const struct pd_why_options *options,
			    struct pd_error *error)
{
	struct pd_why why = { 0 };
	struct pd_error own;
	enum pd_status status;

	if (!error)
		error = &own;
	if (options && !options->size)
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "pd_why_options.size is 0");
	if (options)
		memcpy(&why.options, options, options->size < sizeof(*options) ? options->size : sizeof(*options));
	if (!why.options.count || why.options.count > MOST)
		why.options.count = why.options.count ? MOST : SHOWN;
	status = print_all(&why, file, text, error);
	pd_why_stacks_fini(&why);
	pd_intervals_free(why.intervals);
	pd_tracepoints_fini(&why.points);
	pd_free(why.sched.threads);
	pd_u64_map_fini(&why.sched.map);
	pd_arena_fini(&why.sched.arena);
	pd_u64_map_fini(&why.spent.map);
	pd_free(why.spent.all);
	pd_u64_map_fini(&why.preempted.map);
	pd_free(why.preempted.all);
	pd_free(why.lengths);
	pd_run_queue_fini(&why.queue);
	return status < 0 ? status : PD_OK;
}

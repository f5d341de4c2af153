/* SPDX-License-Identifier: MIT */
// From an event to the next state of a lock.
#include "lock/lock.h"

#include <string.h>

enum {
	CONTENTION_BEGIN,
	CONTENTION_END,
	ACQUIRE,
	ACQUIRED,
	LOCK_CONTENDED,
	RELEASE,
	NAME_MOST = 128 // of a caller
};

enum {
	TRY = 1, // flags of an acquire
	READ = 2
};

const struct pd_tracepoint pd_lock_points[] = {
	[CONTENTION_BEGIN] = { "lock:contention_begin", { "lock_addr", "flags" } },
	[CONTENTION_END] = { "lock:contention_end", { "lock_addr" } },
	[ACQUIRE] = { "lock:lock_acquire", { "lockdep_addr", "flags" } },
	[ACQUIRED] = { "lock:lock_acquired", { "lockdep_addr" } },
	[LOCK_CONTENDED] = { "lock:lock_contended", { "lockdep_addr" } },
	[RELEASE] = { "lock:lock_release", { "lockdep_addr" } },
};
const size_t pd_lock_point_count = sizeof(pd_lock_points) / sizeof(pd_lock_points[0]);

// An event with its lock and what the thread does with it.
struct event {
	struct pd_locks *locks;
	const struct pd_tracepoint_sample *sample;
	struct pd_lock *lock;
	struct pd_lock_use *use;
};

// perf forgets what the thread did with the lock.
static void break_use(struct event *event, enum pd_lock_broken which)
{
	event->locks->broken[which] += !event->lock->broken;
	event->lock->broken = true;
	event->use->doing = PD_LOCK_NOTHING;
}

static void begin(struct event *event, enum pd_lock_doing doing)
{
	event->use->doing = (uint8_t)doing;
	event->use->since_ns = event->sample->brief.time_ns;
}

static void end_wait(struct event *event)
{
	uint64_t wait_ns = event->sample->brief.time_ns - event->use->since_ns;
	struct pd_lock *lock = event->lock;

	lock->total_ns += wait_ns;
	lock->min_ns = wait_ns < lock->min_ns ? wait_ns : lock->min_ns;
	lock->max_ns = wait_ns > lock->max_ns ? wait_ns : lock->max_ns;
}

static void take_contention_begin(struct event *event)
{
	enum pd_lock_doing doing = event->use->doing;

	// a mutex that spins begins twice: the first one counts
	if (doing == PD_LOCK_CONTENDED)
		return;
	if (doing != PD_LOCK_NOTHING && doing != PD_LOCK_ACQUIRED) {
		break_use(event, PD_LOCK_BROKEN_CONTENDED);
		return;
	}
	begin(event, PD_LOCK_CONTENDED);
	event->lock->contended++;
}

static void take_contention_end(struct event *event)
{
	if (event->use->doing == PD_LOCK_NOTHING)
		return;
	if (event->use->doing != PD_LOCK_CONTENDED) {
		break_use(event, PD_LOCK_BROKEN_ACQUIRED);
		return;
	}
	end_wait(event);
	event->use->doing = PD_LOCK_ACQUIRED;
	event->lock->acquired++;
	event->lock->mean_ns = event->lock->total_ns / event->lock->acquired;
}

static void take_acquire(struct event *event)
{
	uint64_t flags = event->sample->values[1];
	enum pd_lock_doing doing = event->use->doing;

	if (doing == PD_LOCK_READ && (flags & READ)) {
		event->use->readers++;
		event->lock->acquired++;
		return;
	}
	if (doing != PD_LOCK_NOTHING && doing != PD_LOCK_RELEASED) {
		break_use(event, PD_LOCK_BROKEN_ACQUIRE);
		return;
	}
	begin(event, (flags & UINT32_MAX) ? PD_LOCK_READ : PD_LOCK_ACQUIRING);
	if (event->use->doing == PD_LOCK_READ) {
		event->use->readers = 1;
		event->lock->acquired++;
	}
}

static void take_acquired(struct event *event)
{
	struct pd_lock *lock = event->lock;

	if (event->use->doing == PD_LOCK_NOTHING)
		return;
	if (event->use->doing == PD_LOCK_CONTENDED) {
		end_wait(event);
	} else if (event->use->doing != PD_LOCK_ACQUIRING) {
		break_use(event, PD_LOCK_BROKEN_ACQUIRED);
		return;
	}
	begin(event, PD_LOCK_ACQUIRED);
	lock->acquired++;
	lock->mean_ns = lock->contended ? lock->total_ns / lock->contended : 0;
}

static void take_contended(struct event *event)
{
	struct pd_lock *lock = event->lock;

	if (event->use->doing == PD_LOCK_NOTHING)
		return;
	if (event->use->doing != PD_LOCK_ACQUIRING) {
		break_use(event, PD_LOCK_BROKEN_CONTENDED);
		return;
	}
	begin(event, PD_LOCK_CONTENDED);
	lock->contended++;
	lock->mean_ns = lock->total_ns / lock->contended;
}

static void take_release(struct event *event)
{
	enum pd_lock_doing doing = event->use->doing;

	if (doing == PD_LOCK_NOTHING)
		return;
	if (doing == PD_LOCK_READ && --event->use->readers)
		return;
	if (doing == PD_LOCK_READ || doing == PD_LOCK_ACQUIRED)
		event->use->doing = PD_LOCK_NOTHING;
	else
		break_use(event, PD_LOCK_BROKEN_RELEASE);
}

// ---- which lock ----

static enum pd_status find_key(struct event *event, uint64_t *key_out, struct pd_error *error)
{
	struct pd_locks *locks = event->locks;

	*key_out = event->sample->values[0];
	if (locks->options.by_thread && locks->mode != PD_LOCK_INFO)
		*key_out = event->sample->brief.tid;
	else if (locks->mode == PD_LOCK_CONTENTION && event->sample->which <= CONTENTION_END)
		return pd_lock_caller(locks, event->sample, key_out, error);
	return PD_OK;
}

// Locks that somebody waits for are named by who did first.
static enum pd_status add_waited(struct event *event, uint64_t key, struct pd_error *error)
{
	struct pd_locks *locks = event->locks;
	char name[NAME_MOST] = "";
	enum pd_status status = PD_OK;

	if (event->sample->which == CONTENTION_END)
		return PD_OK;
	if (!locks->options.by_thread)
		status = pd_lock_name_caller(locks, event->sample, name, sizeof(name), error);
	if (status < 0)
		return status;
	event->lock = pd_lock_add(locks, key, (struct pd_bytes){ (const uint8_t *)name, strlen(name) },
				  (uint32_t)event->sample->values[1], error);
	if (event->lock && locks->options.stacks && !pd_lock_keep_stack(locks, event->sample, event->lock))
		return pd_fail_memory(error);
	return event->lock ? PD_OK : error->status;
}

static enum pd_status find_lock(struct event *event, struct pd_error *error)
{
	struct pd_locks *locks = event->locks;
	uint64_t key;
	enum pd_status status = find_key(event, &key, error);

	if (status < 0)
		return status;
	event->lock = pd_lock_find(locks, key);
	if (event->lock)
		return PD_OK;
	if (event->sample->which <= CONTENTION_END)
		return add_waited(event, key, error);
	event->lock =
		pd_lock_add(locks, key, pd_tracepoint_string(&locks->pairs.points, event->sample, "name"), 0, error);
	return event->lock ? PD_OK : error->status;
}

static bool mark_thread(const struct event *event, struct pd_error *error)
{
	struct pd_sched_thread *thread =
		pd_sched_find(&event->locks->pairs.sched, -1, (int32_t)event->sample->brief.tid, error);

	if (thread)
		thread->own = thread;
	return thread;
}

typedef void take_fn(struct event *event);

enum pd_status pd_lock_take(struct pd_pairs *pairs, const struct pd_tracepoint_sample *sample, struct pd_error *error)
{
	static take_fn *const takers[] = {
		[CONTENTION_BEGIN] = take_contention_begin,
		[CONTENTION_END] = take_contention_end,
		[ACQUIRE] = take_acquire,
		[ACQUIRED] = take_acquired,
		[LOCK_CONTENDED] = take_contended,
		[RELEASE] = take_release,
	};
	struct event event = { .locks = (struct pd_locks *)pairs, .sample = sample };
	enum pd_status status = find_lock(&event, error);

	if (status < 0 || !event.lock)
		return status;
	if (event.locks->mode == PD_LOCK_INFO && !mark_thread(&event, error))
		return error->status;
	event.use = pd_lock_use(event.locks, sample->brief.tid, sample->values[0], error);
	if (!event.use)
		return error->status;
	takers[sample->which](&event);
	return PD_OK;
}

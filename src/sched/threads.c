/* SPDX-License-Identifier: MIT */
/* Threads as perf knows them while it reads: a name that they have at the moment, and times since they were switched. */
#include "sched/sched.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text/text.h"

enum {
	RUNNING = 0,
	UNINTERRUPTIBLE = 2,
	THREAD_LIMIT = 4 << 20
};

static char *put_number(char *at, int32_t number)
{
	uint32_t left = number < 0 ? 0 - (uint32_t)number : (uint32_t)number;
	char digits[12], *first = digits + sizeof(digits);

	do
		*--first = (char)('0' + left % 10);
	while (left /= 10);
	if (number < 0)
		*--first = '-';
	memcpy(at, first, (size_t)(digits + sizeof(digits) - first));
	return at + (digits + sizeof(digits) - first);
}

static struct pd_sched_thread *new_thread(struct pd_sched *sched, int32_t pid, int32_t tid, struct pd_error *error)
{
	struct pd_sched_thread *thread = pd_arena_alloc(&sched->arena, sizeof(*thread));

	if (!thread) {
		pd_fail_memory(error);
		return NULL;
	}
	thread->pid = pid;
	thread->tid = tid;
	thread->ppid = -1;
	thread->stats.min = UINT64_MAX;
	thread->comm[0] = ':';
	*put_number(thread->comm + 1, tid) = 0;
	return thread;
}

void pd_sched_escape(char *out, size_t size, const char *string, size_t length)
{
	size_t at = 0, plain, width;

	for (size_t i = 0; i < length; i += plain ? plain : 1, at += width) {
		plain = pd_text_plain(string + i, length - i);
		width = plain ? plain : 4;
		if (width >= size - at)
			break;
		if (plain)
			memcpy(out + at, string + i, plain);
		else
			snprintf(out + at, size - at, "\\x%02x", (unsigned)(unsigned char)string[i]);
	}
	out[at] = 0;
}

static void set_name(struct pd_sched_thread *thread, const char *name)
{
	pd_sched_escape(thread->comm, sizeof(thread->comm), name, strlen(name));
	thread->named = true;
}

static struct pd_sched_thread *add_thread(struct pd_sched *sched, int32_t pid, int32_t tid, struct pd_error *error)
{
	size_t limit = sched->options->thread_limit ? sched->options->thread_limit : THREAD_LIMIT;
	struct pd_sched_thread *thread;

	if (sched->thread_count >= limit) {
		pd_fail(error, PD_ERROR_LIMIT, PD_NO_OFFSET, "more than %zu threads", limit);
		return NULL;
	}
	thread = new_thread(sched, pid, tid, error);
	if (!thread)
		return NULL;
	if (!PD_GROW(sched->threads, sched->thread_capacity, sched->thread_count + 1) ||
	    !pd_u64_map_set(&sched->map, (uint32_t)tid, (uintptr_t)thread)) {
		pd_fail_memory(error);
		return NULL;
	}
	if (!tid && !pid)
		set_name(thread, "swapper");
	sched->threads[sched->thread_count++] = thread;
	return sched->recent[(uint32_t)tid % PD_SCHED_RECENT] = thread;
}

struct pd_sched_thread *pd_sched_find_other(struct pd_sched *sched, int32_t pid, int32_t tid, struct pd_error *error)
{
	uint64_t found = pd_u64_map_find(&sched->map, (uint32_t)tid);
	struct pd_sched_thread *thread = (struct pd_sched_thread *)(uintptr_t)found; // NOLINT: it was a pointer

	if (!thread)
		return add_thread(sched, pid, tid, error);
	if (thread->pid == -1)
		thread->pid = pid;
	return sched->recent[(uint32_t)tid % PD_SCHED_RECENT] = thread;
}

struct pd_sched_thread *pd_sched_find_idle(struct pd_sched *sched, uint32_t cpu, struct pd_error *error)
{
	size_t capacity = sched->idle_count;

	if (cpu >= capacity) {
		if (!PD_GROW(sched->idle, capacity, cpu + 1)) {
			pd_fail_memory(error);
			return NULL;
		}
		memset(sched->idle + sched->idle_count, 0, (capacity - sched->idle_count) * sizeof(*sched->idle));
		sched->idle_count = capacity;
	}
	if (!sched->idle[cpu]) {
		sched->idle[cpu] = new_thread(sched, 0, 0, error);
		if (!sched->idle[cpu])
			return NULL;
		set_name(sched->idle[cpu], "<idle>");
		sched->idle[cpu]->idle = true;
	}
	return sched->idle[cpu];
}

void pd_sched_forget(struct pd_sched *sched)
{
	size_t limit = sched->arena.limit;

	pd_free(sched->threads);
	pd_free(sched->idle);
	sched->threads = NULL;
	sched->idle = NULL;
	sched->thread_count = sched->thread_capacity = sched->idle_count = 0;
	memset(sched->recent, 0, sizeof(sched->recent)); // NOLINT: of pointers
	pd_u64_map_fini(&sched->map);
	pd_arena_fini(&sched->arena);
	sched->arena = (struct pd_arena){ .limit = limit };
}

static enum pd_status take_comm(struct pd_sched *sched, const struct pd_record *record, struct pd_error *error)
{
	const struct pd_comm *comm = pd_as_comm(record);
	struct pd_sched_thread *thread;

	if (!comm)
		return PD_OK;
	thread = pd_sched_find(sched, (int32_t)comm->pid, (int32_t)comm->tid, error);
	if (!thread)
		return error->status;
	set_name(thread, comm->comm.data);
	// perf takes what was recorded of threads that ran already for the idle thread's
	if (!record->time_ns || record->time_ns == PD_NO_TIME)
		thread = pd_sched_find(sched, 0, 0, error);
	if (!thread)
		return error->status;
	thread->renamed = true;
	return PD_OK;
}

// A fork makes a new thread, whatever had this number before, with the name of its parent.
static enum pd_status take_fork(struct pd_sched *sched, const struct pd_record *record, struct pd_error *error)
{
	const struct pd_task *fork = pd_as_fork(record);
	struct pd_sched_thread *parent, *old, *thread;

	if (!fork)
		return PD_OK;
	parent = pd_sched_find(sched, (int32_t)fork->ppid, (int32_t)fork->ptid, error);
	// one of another process is what had this number before, or all that was known of it is that it was woken
	if (parent && parent->pid != (int32_t)fork->ppid) {
		parent->gone = true;
		parent = add_thread(sched, (int32_t)fork->ppid, (int32_t)fork->ptid, error);
	}
	if (!parent)
		return error->status;
	old = (struct pd_sched_thread *)(uintptr_t)pd_u64_map_find(&sched->map, fork->tid); // NOLINT: it was a pointer
	if (old)
		old->gone = true;
	thread = add_thread(sched, (int32_t)fork->pid, (int32_t)fork->tid, error);
	if (!thread)
		return error->status;
	if (parent->named)
		set_name(thread, parent->comm);
	thread->ppid = parent->tid;
	return PD_OK;
}

static enum pd_status take_exit(struct pd_sched *sched, const struct pd_record *record, struct pd_error *error)
{
	const struct pd_task *exit = pd_as_exit(record);
	uint64_t found = exit ? pd_u64_map_find(&sched->map, exit->tid) : 0;

	(void)error;
	if (found)
		((struct pd_sched_thread *)(uintptr_t)found)->exited = true; // NOLINT: it was a pointer
	return PD_OK;
}

typedef enum pd_status take_fn(struct pd_sched *sched, const struct pd_record *record, struct pd_error *error);

enum pd_status pd_sched_take_task(struct pd_sched *sched, const struct pd_record *record, struct pd_error *error)
{
	static const struct {
		uint32_t type;
		take_fn *take;
	} takers[] = {
		{ PD_RECORD_COMM, take_comm },
		{ PD_RECORD_FORK, take_fork },
		{ PD_RECORD_EXIT, take_exit },
	};

	for (size_t i = 0; i < sizeof(takers) / sizeof(takers[0]); i++)
		if (takers[i].type == record->type)
			return takers[i].take(sched, record, error);
	return PD_OK;
}

// ---- times ----

double pd_sched_stats_error(const struct pd_sched_stats *stats)
{
	double count = (double)stats->count;

	if (stats->count < 2 || !stats->mean)
		return 0;
	return 100.0 * sqrt(stats->squares / (count - 1) / count) / stats->mean;
}

static void add_wait(struct pd_sched_thread *thread, uint64_t wait_ns)
{
	if (thread->last_state == RUNNING)
		thread->preempt_ns = wait_ns;
	else if (thread->last_state == UNINTERRUPTIBLE)
		thread->disk_ns = wait_ns;
	else
		thread->sleep_ns = wait_ns;
}

void pd_sched_add_run(struct pd_sched_thread *thread, uint64_t time_ns, uint64_t before_ns)
{
	thread->delay_ns = thread->sleep_ns = thread->disk_ns = thread->preempt_ns = thread->run_ns = 0;
	thread->pre_migration_ns = 0;
	if (before_ns) {
		thread->run_ns = time_ns - before_ns;
		if (thread->queued_ns && thread->migrated_ns > thread->queued_ns && thread->migrated_ns < before_ns)
			thread->pre_migration_ns = thread->migrated_ns - thread->queued_ns;
		if (thread->ready_ns && thread->ready_ns <= before_ns)
			thread->delay_ns = before_ns - thread->ready_ns;
		if (thread->last_ns && thread->last_ns <= before_ns)
			add_wait(thread, before_ns - thread->last_ns);
	}
	pd_sched_add_value(&thread->stats, thread->run_ns);
	thread->total_run_ns += thread->run_ns;
	thread->total_delay_ns += thread->delay_ns;
	thread->total_sleep_ns += thread->sleep_ns;
	thread->total_disk_ns += thread->disk_ns;
	thread->total_preempt_ns += thread->preempt_ns;
}

void pd_sched_name(struct pd_sched *sched, const struct pd_sched_thread *thread, char name[PD_SCHED_NAME])
{
	char all[PD_SCHED_NAME + 32], *at = all + strlen(thread->comm);
	int length;

	memcpy(all, thread->comm, (size_t)(at - all));
	if (thread->pid) {
		*at++ = '[';
		at = put_number(at, thread->tid);
		if (thread->tid != thread->pid) {
			*at++ = '/';
			at = put_number(at, thread->pid);
		}
		*at++ = ']';
	}
	length = at - all < PD_SCHED_NAME - 1 ? (int)(at - all) : PD_SCHED_NAME - 1;
	memcpy(name, all, (size_t)length);
	name[length] = 0;
	if (length > sched->name_width)
		sched->name_width = length;
}

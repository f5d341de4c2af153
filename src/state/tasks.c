/* SPDX-License-Identifier: MIT */
/* Threads as a tree: which there are, who is whose parent, and the order in which perf lists them. */
#include "state/tasks.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/lookup/search.h"
#include "base/memory.h"

enum {
	RECORDS_PER_STEP = 4096,
	BUCKETS = 256 // perf's table of threads: its order shows in the list
};

#define NONE SIZE_MAX

struct task {
	struct pd_listed_task shown;
	size_t parent, first_child, last_child, next; // NONE
	size_t climb;                                 // in which it was linked; 0: it was not
};

struct pd_tasks {
	struct pd_tasks_options options;
	struct pd_state *state;
	struct task *tasks; // by tid
	size_t count, capacity;
	struct pd_arena names;
	size_t *order; // of the list
};

static const struct pd_moment at_end = { PD_NEVER - 1, UINT64_MAX };

// ---- threads ----

static int32_t number_of(uint32_t id)
{
	return (int32_t)id;
}

static enum pd_status add_task(struct pd_tasks *tasks, uint32_t pid, uint32_t tid, uint32_t parent,
			       struct pd_error *error)
{
	char unknown[PD_THREAD_NAME_BYTES];
	const char *comm = pd_state_comm(tasks->state, tid, at_end, unknown);
	struct task *task;

	// perf has the idle thread in any case, by this name
	if (tid == 0 && *comm == ':')
		comm = "swapper";
	if (!PD_GROW(tasks->tasks, tasks->capacity, tasks->count + 1) ||
	    !(comm = pd_arena_text(&tasks->names, (const uint8_t *)comm, strlen(comm))))
		return pd_fail_memory(error);
	task = &tasks->tasks[tasks->count++];
	*task = (struct task){ .parent = NONE, .first_child = NONE, .last_child = NONE, .next = NONE };
	task->shown = (struct pd_listed_task){
		.pid = number_of(pid), .tid = number_of(tid), .parent = number_of(parent), .comm = comm
	};
	return PD_OK;
}

// Of those with the same tid the last one.
static enum pd_status add_all(struct pd_tasks *tasks, struct pd_error *error)
{
	const struct pd_thread *thread = pd_state_thread(tasks->state, 0), *next;
	enum pd_status status = PD_OK;

	if (!thread || thread->tid != 0)
		status = add_task(tasks, 0, 0, UINT32_MAX, error);
	for (size_t i = 1; status == PD_OK && thread; i++, thread = next) {
		next = pd_state_thread(tasks->state, i);
		if (!next || next->tid != thread->tid)
			status = add_task(tasks, thread->pid, thread->tid, thread->ptid, error);
	}
	return status;
}

static size_t find_task(const struct pd_tasks *tasks, int32_t tid)
{
	size_t at;

	PD_SEARCH(at, 0, tasks->count, i, (uint32_t)tasks->tasks[i].shown.tid < (uint32_t)tid);
	return at < tasks->count && tasks->tasks[at].shown.tid == tid ? at : NONE;
}

// ---- the tree ----

static void append_child(struct pd_tasks *tasks, size_t parent, size_t child)
{
	struct task *task = &tasks->tasks[parent];

	if (task->last_child == NONE)
		task->first_child = child;
	else
		tasks->tasks[task->last_child].next = child;
	task->last_child = child;
	tasks->tasks[child].parent = parent;
}

// Links a thread to its parent, and that to its own, up to one that is linked already. A thread that would be its own ancestor,
// which this climb met before, has no parent.
static void link_up(struct pd_tasks *tasks, size_t at, size_t *roots, size_t *root_count)
{
	size_t climb = at + 1;

	while (!tasks->tasks[at].climb) {
		struct task *task = &tasks->tasks[at];
		size_t parent = task->shown.parent == -1 ? NONE : find_task(tasks, task->shown.parent);

		task->climb = climb;
		if (parent == NONE || tasks->tasks[parent].climb == climb) {
			roots[(*root_count)++] = at;
			return;
		}
		append_child(tasks, parent, at);
		at = parent;
	}
}

// A thread and all below it, without recursion.
static size_t list_below(struct pd_tasks *tasks, size_t root, size_t count)
{
	unsigned level = 0;

	for (size_t at = root; at != NONE;) {
		struct task *task = &tasks->tasks[at];

		task->shown.level = level;
		tasks->order[count++] = at;
		if (task->first_child != NONE) {
			level++;
			at = task->first_child;
			continue;
		}
		while (at != root && tasks->tasks[at].next == NONE) {
			at = tasks->tasks[at].parent;
			level--;
		}
		at = at == root ? NONE : tasks->tasks[at].next;
	}
	return count;
}

static enum pd_status make_tree(struct pd_tasks *tasks, struct pd_error *error)
{
	size_t *roots = pd_alloc((tasks->count + 1) * sizeof(*roots)), root_count = 0, count = 0;

	tasks->order = pd_alloc((tasks->count + 1) * sizeof(*tasks->order));
	if (!roots || !tasks->order) {
		pd_free(roots);
		return pd_fail_memory(error);
	}
	for (uint32_t bucket = 0; bucket < BUCKETS; bucket++)
		for (size_t i = 0; i < tasks->count; i++)
			if ((uint32_t)tasks->tasks[i].shown.tid % BUCKETS == bucket)
				link_up(tasks, i, roots, &root_count);
	for (size_t i = 0; i < root_count; i++)
		count = list_below(tasks, roots[i], count);
	pd_free(roots);
	return PD_OK;
}

// ---- reading ----

static enum pd_status read_records(struct pd_tasks *tasks, struct pd_file *file, struct pd_error *error)
{
	const struct pd_stream_options options = { .size = sizeof(options), .order = PD_ORDER_TIME };
	const struct pd_record *record;
	struct pd_stream *stream = NULL;
	enum pd_status status = pd_stream_open(file, &options, &stream, error);
	uint64_t count = 0;

	while (status == PD_OK && (status = pd_stream_next(stream, &record, error)) == PD_OK) {
		status = pd_state_take(tasks->state, record, error);
		if (tasks->options.progress && ++count % RECORDS_PER_STEP == 0)
			tasks->options.progress(tasks->options.self, stream);
	}
	pd_stream_close(stream);
	return status < 0 ? status : PD_OK;
}

static enum pd_status read_file(struct pd_tasks *tasks, struct pd_file *file, struct pd_error *error)
{
	enum pd_status status = pd_state_new(NULL, &tasks->state, error);

	if (status == PD_OK)
		status = read_records(tasks, file, error);
	if (status == PD_OK)
		status = pd_state_finalize(tasks->state, error);
	if (status == PD_OK)
		status = add_all(tasks, error);
	return status == PD_OK ? make_tree(tasks, error) : status;
}

enum pd_status pd_tasks_read(struct pd_file *file, const struct pd_tasks_options *options, struct pd_tasks **tasks_out,
			     struct pd_error *error)
{
	struct pd_tasks *tasks = pd_alloc(sizeof(*tasks));
	enum pd_status status;

	if (!tasks)
		return pd_fail_memory(error);
	if (options)
		memcpy(&tasks->options, options, options->size < sizeof(*options) ? options->size : sizeof(*options));
	status = read_file(tasks, file, error);
	if (status == PD_OK)
		*tasks_out = tasks;
	else
		pd_tasks_free(tasks);
	return status;
}

void pd_tasks_free(struct pd_tasks *tasks)
{
	if (!tasks)
		return;
	pd_state_free(tasks->state);
	pd_free(tasks->tasks);
	pd_arena_fini(&tasks->names);
	pd_free(tasks->order);
	pd_free(tasks);
}

const struct pd_listed_task *pd_tasks_at(const struct pd_tasks *tasks, size_t index)
{
	return index < tasks->count ? &tasks->tasks[tasks->order[index]].shown : NULL;
}

// ---- what is mapped ----

bool pd_tasks_next_range(const struct pd_tasks *tasks, uint32_t pid, uint64_t *addr, struct pd_mapped_range *range_out)
{
	struct pd_location location;
	bool found = false;

	range_out->mapping = NULL;
	while (*addr != UINT64_MAX) {
		bool mapped = pd_state_locate(tasks->state, pid, PD_CPUMODE_USER, at_end, *addr, &location);

		if (found && (!mapped || location.mapping != range_out->mapping))
			break;
		if (mapped && !found)
			range_out->start = location.begin;
		found = mapped;
		if (found) {
			range_out->mapping = location.mapping;
			range_out->end = location.end;
		}
		*addr = location.end > *addr ? location.end : UINT64_MAX;
	}
	return found;
}

/* SPDX-License-Identifier: MIT */
/* Threads: a task is a process and thread, a thread of the samples is a task under one of its names. */
#include "export/page/page.h"

static const struct pd_moment at_the_end = { PD_NEVER, UINT64_MAX };

uint32_t pd_page_task(struct pd_export *self, uint32_t pid, uint32_t tid)
{
	struct pd_page_tasks *tasks = &((struct pd_page *)self->sink)->tasks;
	uint64_t key = (uint64_t)pid << 32 | tid, known = pd_u64_map_find(&tasks->of, key);

	if (known)
		return (uint32_t)known - 1;
	if (tasks->count >= UINT32_MAX - 2 || !PD_GROW(tasks->items, tasks->capacity, tasks->count + 1) ||
	    !pd_u64_map_add(&tasks->of, key, tasks->count + 1)) {
		self->failed = true;
		return UINT32_MAX;
	}
	tasks->items[tasks->count] = (struct pd_page_task){ pid, tid };
	return (uint32_t)tasks->count++;
}

// Its fork and exit; NULL if another thread had this number later.
static const struct pd_thread *thread_of(const struct pd_export *self, const struct pd_page_task *task)
{
	const struct pd_thread *thread = pd_state_find_thread(self->state, task->tid, at_the_end);

	return thread && thread->pid == task->pid ? thread : NULL;
}

typedef uint64_t task_cell_fn(struct pd_export *self, const struct pd_page_task *task);

static uint64_t pid_of(struct pd_export *self, const struct pd_page_task *task)
{
	(void)self;
	return task->pid;
}

static uint64_t tid_of(struct pd_export *self, const struct pd_page_task *task)
{
	(void)self;
	return task->tid;
}

static uint64_t name_of(struct pd_export *self, uint32_t tid)
{
	char unknown[PD_THREAD_NAME_BYTES];

	return pd_tables_text(&self->tables, pd_state_comm(self->state, tid, at_the_end, unknown));
}

static uint64_t comm_of(struct pd_export *self, const struct pd_page_task *task)
{
	return name_of(self, task->tid);
}

static uint64_t process_of(struct pd_export *self, const struct pd_page_task *task)
{
	return name_of(self, task->pid);
}

static uint64_t parent_of(struct pd_export *self, const struct pd_page_task *task)
{
	const struct pd_page *page = self->sink;
	const struct pd_thread *thread = thread_of(self, task);

	return thread ? pd_u64_map_find(&page->tasks.of, (uint64_t)thread->ppid << 32 | thread->ptid) : 0;
}

static uint64_t time_or_none(const struct pd_export *self, uint64_t time_ns)
{
	const struct pd_page *page = self->sink;

	return time_ns && time_ns != PD_NEVER ? pd_page_time(page, time_ns) + 1 : 0;
}

static uint64_t start_of(struct pd_export *self, const struct pd_page_task *task)
{
	const struct pd_thread *thread = thread_of(self, task);

	return thread ? time_or_none(self, thread->begin.time_ns) : 0;
}

static uint64_t end_of(struct pd_export *self, const struct pd_page_task *task)
{
	const struct pd_thread *thread = thread_of(self, task);

	return thread ? time_or_none(self, thread->end.time_ns) : 0;
}

static void put_threads(struct pd_export *self)
{
	struct pd_page *page = self->sink;
	struct pd_page_column column;
	size_t count = self->places.owners.count;

	pd_page_begin(&column, &page->blocks, "threads.task", PD_PAGE_NUMBERS);
	for (size_t i = 0; i < count; i++) {
		const struct pd_owner *owner = pd_export_thread(self, (uint32_t)i);

		pd_page_put(&column, pd_page_task(self, owner->pid, owner->tid));
	}
	pd_page_end(&column);
	pd_page_begin(&column, &page->blocks, "threads.comm", PD_PAGE_NUMBERS);
	for (size_t i = 0; i < count; i++)
		pd_page_put(&column, pd_export_comm(self, (uint32_t)i));
	pd_page_end(&column);
}

void pd_page_put_tasks(struct pd_export *self)
{
	static const struct {
		const char *name;
		task_cell_fn *cell;
	} columns[] = {
		{ "tasks.pid", pid_of },         { "tasks.tid", tid_of },       { "tasks.comm", comm_of },
		{ "tasks.process", process_of }, { "tasks.parent", parent_of }, { "tasks.start", start_of },
		{ "tasks.end", end_of },
	};
	struct pd_page *page = self->sink;

	put_threads(self);
	for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++) {
		struct pd_page_column column;

		pd_page_begin(&column, &page->blocks, columns[i].name, PD_PAGE_NUMBERS);
		for (size_t k = 0; k < page->tasks.count; k++)
			pd_page_put(&column, columns[i].cell(self, &page->tasks.items[k]));
		pd_page_end(&column);
	}
}

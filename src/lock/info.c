/* SPDX-License-Identifier: MIT */
// Threads that use locks, and locks by name.
#include "lock/lock.h"

#include <inttypes.h>
#include <string.h>

#include "base/sort.h"

static int compare_threads(const void *self, uint32_t a, uint32_t b)
{
	const struct pd_locks *locks = self;
	int32_t x = locks->pairs.sched.threads[a]->tid, y = locks->pairs.sched.threads[b]->tid;

	return x < y ? -1 : x > y;
}

static int compare_locks(const void *self, uint32_t a, uint32_t b)
{
	const struct pd_lock *x = ((const struct pd_locks *)self)->all[a], *y = ((const struct pd_locks *)self)->all[b];
	int names = strcmp(x->name, y->name);

	return names ? names : x->key < y->key ? -1 : x->key > y->key;
}

static void print_lock(struct pd_locks *locks, size_t number)
{
	pd_text_printf(locks->pairs.sched.text, " %#" PRIx64 ": %s\n", locks->all[number]->key,
		       locks->all[number]->name);
}

// Others have not used locks.
static void print_thread(struct pd_locks *locks, size_t number)
{
	const struct pd_sched_thread *thread = locks->pairs.sched.threads[number];

	if (thread->own)
		pd_text_printf(locks->pairs.sched.text, "%10d: %s\n", thread->tid, thread->comm);
}

enum pd_status pd_locks_print_info(struct pd_locks *locks, struct pd_error *error)
{
	bool map = locks->options.map && !locks->options.by_thread;
	size_t count = map ? locks->count : locks->pairs.sched.thread_count;
	struct pd_sorted *items = pd_alloc((count + 1) * sizeof(*items));
	bool done = items;

	for (size_t i = 0; done && i < count; i++)
		items[i].number = (uint32_t)i;
	done = done && pd_sort(items, count, map ? compare_locks : compare_threads, locks, 1);
	pd_text_add(locks->pairs.sched.text, map ? "Address of instance: name of class\n" : " Thread ID: comm\n");
	for (size_t i = 0; done && i < count; i++)
		(map ? print_lock : print_thread)(locks, items[i].number);
	pd_free(items);
	return done ? PD_OK : pd_fail_memory(error);
}

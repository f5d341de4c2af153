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

// ---- JSON ----

static void json_lock(struct pd_locks *locks, size_t number)
{
	pd_json_open(&locks->json, NULL, '{');
	pd_json_number(&locks->json, "addr", locks->all[number]->key);
	pd_json_string(&locks->json, "name", locks->all[number]->name);
	pd_json_close(&locks->json, '}');
}

static void json_thread(struct pd_locks *locks, size_t number)
{
	if (locks->pairs.sched.threads[number]->own)
		pd_sched_json_thread(&locks->json, NULL, locks->pairs.sched.threads[number]);
}

static void print_json(struct pd_locks *locks, bool map, const struct pd_sorted *items, size_t count)
{
	locks->json.text = locks->pairs.sched.text;
	pd_json_open(&locks->json, NULL, '{');
	pd_json_open(&locks->json, map ? "locks" : "threads", '[');
	for (size_t i = 0; i < count; i++)
		(map ? json_lock : json_thread)(locks, items[i].number);
	pd_json_close(&locks->json, ']');
	pd_json_close(&locks->json, '}');
	pd_text_add(locks->json.text, "\n");
}

static void print_text(struct pd_locks *locks, bool map, const struct pd_sorted *items, size_t count)
{
	pd_text_add(locks->pairs.sched.text, map ? "Address of instance: name of class\n" : " Thread ID: comm\n");
	for (size_t i = 0; i < count; i++)
		(map ? print_lock : print_thread)(locks, items[i].number);
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
	if (done)
		(locks->options.json ? print_json : print_text)(locks, map, items, count);
	pd_free(items);
	return done ? PD_OK : pd_fail_memory(error);
}

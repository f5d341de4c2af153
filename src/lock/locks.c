/* SPDX-License-Identifier: MIT */
// Locks and their users.
#include "lock/lock.h"

#include <string.h>

#include "base/sort.h"

enum {
	LIMIT = 4 << 20,
	BUCKET_BITS = 12 // of perf's table of locks, whose order is that of equal rows
};

static size_t limit_of(const struct pd_locks *locks)
{
	return locks->options.lock_limit ? locks->options.lock_limit : LIMIT;
}

static void *fail_limit(size_t limit, const char *what, struct pd_error *error)
{
	pd_fail(error, PD_ERROR_LIMIT, PD_NO_OFFSET, "more than %zu %s", limit, what);
	return NULL;
}

struct pd_lock *pd_lock_find(const struct pd_locks *locks, uint64_t key)
{
	uint64_t number = pd_u64_map_find(&locks->map, key);

	return number ? locks->all[number - 1] : NULL;
}

struct pd_lock *pd_lock_add(struct pd_locks *locks, uint64_t key, struct pd_bytes name, uint32_t flags,
			    struct pd_error *error)
{
	struct pd_arena *arena = &locks->pairs.sched.arena;
	struct pd_lock *lock = pd_lock_find(locks, key);

	if (lock)
		return lock;
	if (locks->count >= limit_of(locks))
		return fail_limit(limit_of(locks), "locks", error);
	lock = pd_arena_alloc(arena, sizeof(*lock));
	if (!lock || !PD_GROW(locks->all, locks->capacity, locks->count + 1) ||
	    !pd_u64_map_add(&locks->map, key, locks->count + 1)) {
		pd_fail_memory(error);
		return NULL;
	}
	*lock = (struct pd_lock){ .key = key, .flags = flags, .min_ns = UINT64_MAX };
	lock->name = pd_pairs_name(&locks->pairs, (const char *)name.data, name.size);
	locks->all[locks->count++] = lock;
	if (lock->name)
		return lock;
	pd_fail_memory(error);
	return NULL;
}

struct pd_lock_use *pd_lock_use(struct pd_locks *locks, uint32_t tid, uint64_t addr, struct pd_error *error)
{
	uint64_t key = pd_hash_u64(pd_hash_u64(locks->uses.seed, addr), tid);
	struct pd_lock_use *first = (struct pd_lock_use *)(uintptr_t)pd_u64_map_find(&locks->uses, key); // NOLINT
	struct pd_lock_use *use = first;

	while (use && (use->addr != addr || use->tid != tid))
		use = use->next;
	if (use)
		return use;
	if (locks->use_count >= limit_of(locks))
		return fail_limit(limit_of(locks), "locks of threads", error);
	use = pd_arena_alloc(&locks->pairs.sched.arena, sizeof(*use));
	if (!use || !pd_u64_map_set(&locks->uses, key, (uintptr_t)use)) {
		pd_fail_memory(error);
		return NULL;
	}
	locks->use_count++;
	*use = (struct pd_lock_use){ .addr = addr, .tid = tid, .next = first };
	return use;
}

// ---- order ----

static uint64_t value_of(const struct pd_lock *lock, const struct pd_lock_column_info *column)
{
	uint64_t value;

	memcpy(&value, (const char *)lock + column->offset, sizeof(value));
	return value == UINT64_MAX ? 0 : value;
}

static int all_equal(const void *self, uint32_t a, uint32_t b)
{
	(void)self, (void)a, (void)b;
	return 0;
}

// By a column if there is one; equal ones as in perf's table: by bucket, the last one first.
static bool sort_by(struct pd_locks *locks, const struct pd_lock_column_info *column)
{
	struct pd_sorted *items = pd_alloc((locks->count + 1) * sizeof(*items));
	struct pd_lock **sorted = pd_alloc((locks->count + 1) * sizeof(struct pd_lock *)); // NOLINT: of pointers
	bool done = items && sorted;

	for (size_t i = 0; done && i < locks->count; i++) {
		uint64_t bucket = locks->all[i]->key * UINT64_C(0x61c8864680b583eb) >> (64 - BUCKET_BITS);

		items[i] = (struct pd_sorted){ column ? ~value_of(locks->all[i], column) : 0,
					       bucket << 32 | (UINT32_MAX - i), (uint32_t)i };
	}
	done = done && pd_sort(items, locks->count, all_equal, NULL, 1);
	for (size_t i = 0; done && i < locks->count; i++)
		sorted[i] = locks->all[items[i].number];
	if (done && locks->count)
		memcpy(locks->all, sorted, locks->count * sizeof(struct pd_lock *)); // NOLINT: of pointers
	pd_free(items);
	pd_free(sorted);
	return done;
}

static void add_lock(struct pd_lock *to, struct pd_lock *lock)
{
	to->acquired += lock->acquired;
	to->contended += lock->contended;
	to->total_ns += lock->total_ns;
	if (to->contended)
		to->mean_ns = to->total_ns / to->contended;
	to->min_ns = to->min_ns < lock->min_ns ? to->min_ns : lock->min_ns;
	to->max_ns = to->max_ns > lock->max_ns ? to->max_ns : lock->max_ns;
	to->broken |= lock->broken;
	lock->combined = true;
}

static struct pd_lock *find_name(const struct pd_locks *locks, const struct pd_index *names, uint64_t hash,
				 const char *name)
{
	size_t at = (size_t)hash;
	uint32_t number;

	while ((number = pd_index_next(names, hash, &at)) != PD_INDEX_END)
		if (!strcmp(locks->all[number]->name, name))
			return locks->all[number];
	return NULL;
}

bool pd_locks_combine(struct pd_locks *locks)
{
	struct pd_index names = { 0 };
	bool done = sort_by(locks, NULL);

	for (size_t i = 0; done && i < locks->count; i++) {
		const char *name = locks->all[i]->name;
		uint64_t hash = pd_hash(locks->map.seed, name, strlen(name));
		struct pd_lock *first = find_name(locks, &names, hash, name);

		if (first)
			add_lock(first, locks->all[i]);
		else
			done = pd_index_add(&names, hash, (uint32_t)i);
	}
	pd_index_fini(&names);
	return done;
}

bool pd_locks_sort(struct pd_locks *locks)
{
	return sort_by(locks, locks->sort);
}

/* SPDX-License-Identifier: MIT */
/*
 * The inside of waiting for locks.
 *
 *   columns.def   what can be printed of a lock, and sorted by
 *   locks.c       locks, in perf's order, and what a thread does with each
 *   events.c      from an event to the next state of a lock
 *   callers.c     who waits, by the call chain
 *   lock.c        the pass over a file; the public functions
 *   print.c       tables; json.c, as JSON; info.c, lists
 */
#ifndef PD_LOCK_LOCK_H
#define PD_LOCK_LOCK_H

#include <perfdata/lock.h>

#include "pairs/pairs.h"

enum pd_lock_mode {
	PD_LOCK_CONTENTION,
	PD_LOCK_REPORT,
	PD_LOCK_INFO
};

// Events that did not fit, by perf's names.
enum pd_lock_broken {
	PD_LOCK_BROKEN_ACQUIRE,
	PD_LOCK_BROKEN_ACQUIRED,
	PD_LOCK_BROKEN_CONTENDED,
	PD_LOCK_BROKEN_RELEASE,
	PD_LOCK_BROKEN_COUNT
};

// A lock, or what is summed up as one: a caller or a thread.
struct pd_lock {
	uint64_t key;
	const char *name;
	uint32_t flags;
	bool broken;
	bool combined; // it was added to another one
	uint64_t acquired, contended, mean_ns, total_ns, max_ns;
	uint64_t min_ns; // UINT64_MAX: none
	const uint64_t *stack;
	size_t stack_count;
};

enum pd_lock_doing {
	PD_LOCK_NOTHING,
	PD_LOCK_RELEASED,
	PD_LOCK_ACQUIRING,
	PD_LOCK_CONTENDED,
	PD_LOCK_ACQUIRED,
	PD_LOCK_READ
};

// What a thread does with a lock.
struct pd_lock_use {
	uint64_t addr;
	uint32_t tid;
	uint8_t doing;    // enum pd_lock_doing
	uint64_t readers; // how often it has it for reading
	uint64_t since_ns;
	struct pd_lock_use *next; // with the same hash
};

struct pd_lock_column_info {
	const char *name, *title;
	bool is_time, usual;
	unsigned width, place[PD_LOCK_INFO];
	size_t offset;
};

enum {
	PD_LOCK_COLUMNS = 6
};

struct pd_locks {
	struct pd_pairs pairs;
	struct pd_lock_options options;
	enum pd_lock_mode mode;
	struct pd_u64_map map; // by key
	struct pd_lock **all;
	size_t count, capacity;
	struct pd_u64_map uses; // by a mix of thread and address
	size_t use_count;
	uint64_t broken[PD_LOCK_BROKEN_COUNT];
	const struct pd_lock_column_info *columns[PD_LOCK_COLUMNS], *sort;
	size_t column_count;
	struct pd_json json; // of lists
};

// ---- locks.c ----

// The lock of a key, or NULL.
struct pd_lock *pd_lock_find(const struct pd_locks *locks, uint64_t key);
// The same; one that is new gets this name, which is copied. NULL: an error.
struct pd_lock *pd_lock_add(struct pd_locks *locks, uint64_t key, struct pd_bytes name, uint32_t flags,
			    struct pd_error *error);
struct pd_lock_use *pd_lock_use(struct pd_locks *locks, uint32_t tid, uint64_t addr, struct pd_error *error);
// Sorts them by the column, largest first, and by perf's order. False if there is no memory.
bool pd_locks_sort(struct pd_locks *locks);
// Adds those of the same name to the first one. False if there is no memory.
bool pd_locks_combine(struct pd_locks *locks);

// ---- events.c ----

extern const struct pd_tracepoint pd_lock_points[];
extern const size_t pd_lock_point_count;
pd_pairs_fn pd_lock_take;

// ---- callers.c ----

// The caller as a number, its name and stack.
enum pd_status pd_lock_caller(struct pd_locks *locks, const struct pd_tracepoint_sample *sample, uint64_t *key_out,
			      struct pd_error *error);
enum pd_status pd_lock_name_caller(struct pd_locks *locks, const struct pd_tracepoint_sample *sample, char *name,
				   size_t size, struct pd_error *error);
bool pd_lock_keep_stack(struct pd_locks *locks, const struct pd_tracepoint_sample *sample, struct pd_lock *lock);

// ---- print.c ----

// Reads sort and fields.
enum pd_status pd_locks_choose_columns(struct pd_locks *locks, struct pd_error *error);
enum pd_status pd_locks_print(struct pd_locks *locks, struct pd_error *error);
const char *pd_lock_type(uint32_t flags);
// The index-th column that the mode has, shown or not, with its value; NULL past the end.
const struct pd_lock_column_info *pd_lock_column_of(const struct pd_locks *locks, size_t index);
uint64_t pd_lock_value(const struct pd_lock *lock, const struct pd_lock_column_info *column);
// Whether a row is printed.
bool pd_lock_is_shown(const struct pd_locks *locks, const struct pd_lock *lock);

// ---- info.c ----

enum pd_status pd_locks_print_info(struct pd_locks *locks, struct pd_error *error);

// ---- json.c ----

enum pd_status pd_locks_print_json(struct pd_locks *locks, struct pd_error *error);

#endif

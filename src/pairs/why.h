/* SPDX-License-Identifier: MIT */
/*
 * The inside of why threads waited.
 *
 *   why.c        from intervals to waits with their wakeups, and sums
 *   why_stack.c  call chains of waits, and the waits that are kept
 *   why_text.c   as text and JSON
 *   histogram.h  how long waits were, and how many threads waited for a CPU
 */
#ifndef PD_PAIRS_WHY_H
#define PD_PAIRS_WHY_H

#include <perfdata/interval.h>
#include <perfdata/why.h>

#include "pairs/histogram.h"
#include "pairs/pairs.h"

enum {
	PD_WHY_DEPTH = 16 // wakeups that are followed back
};

// A wait, and how it ended.
struct pd_why_link {
	uint32_t tid;
	uint32_t waker; // UINT32_MAX: not known; of a preempted thread, who took its CPU
	uint32_t cpu;   // of the waker
	bool preempted; // it could have run on
	bool interrupt; // the waker was interrupted: it has nothing to do with it
	uint8_t kind;   // see pd_interval_kind
	uint8_t flags;  // pd_interval_flag
	uint64_t begin_ns, woken_ns;
	uint64_t in_ns; // when it ran again; 0: not yet
};

// The call chain of a thread that was switched out.
struct pd_why_stack {
	uint32_t pid;
	uint64_t *addrs; // with markers
	size_t count, capacity;
};

// The first link is the wait itself, each other one is that of the waker before.
struct pd_why_wait {
	size_t depth;
	uint64_t total_ns; // until it ran again
	struct pd_why_link links[PD_WHY_DEPTH];
};

// A wait that is shown.
struct pd_why_kept {
	struct pd_why_wait wait;
	struct pd_why_stack stack;
};

enum pd_why_reason {
	PD_WHY_RAN,       // the thread ran
	PD_WHY_RUNNABLE,  // it waited for a CPU
	PD_WHY_INTERRUPT, // until an interrupt
	PD_WHY_UNKNOWN,
	PD_WHY_REASONS
};

// What waits were spent on; of preemptions, how often and how long.
struct pd_why_sum {
	uint32_t tid, other;
	enum pd_why_reason reason;
	uint64_t count, total_ns;
};

struct pd_why_sums {
	struct pd_u64_map map; // number + 1 by key
	struct pd_why_sum *all;
	size_t count, capacity;
};

struct pd_why_thread {
	struct pd_why_wait wait;   // the last one
	uint64_t in_ns;            // when it was switched in
	uint64_t out_ns;           // when a tracepoint told that it was switched out
	uint32_t next;             // that ran after it
	struct pd_why_stack stack; // of its last switch out
	bool queued;
	uint32_t queue_cpu; // for which it waits
};

struct pd_why {
	struct pd_sched sched; // names
	struct pd_timehist_options limits;
	struct pd_tracepoints points;
	struct pd_intervals *intervals;
	struct pd_why_options options;
	struct pd_why_kept *longest; // sorted
	size_t longest_count;
	struct pd_why_kept *first; // of each number of bits that lengths have
	uint64_t wait_count, wait_ns;
	uint64_t open_count; // waits that did not end
	struct pd_interval longest_open;
	struct pd_why_sums spent, preempted;
	struct pd_histogram *lengths; // of waits
	struct pd_run_queue queue;    // of all threads in the range
	uint32_t cpu;                 // of the event that is being read
	// the wakeup that is being read, if it is one
	bool wakes, interrupt;
	uint32_t waker, waker_cpu, target_cpu;
	struct pd_state *state; // NULL: there are no call chains
	struct pd_symbols *symbols;
};

enum {
	PD_WHY_FIRSTS = 65
};

// ---- why_stack.c ----

// Takes the call chain of who is switched out. False if there is no memory.
bool pd_why_stack_set(struct pd_why_stack *stack, uint32_t pid, struct pd_u64s chain);
// Keeps a wait if it is one of the longest, or the first of its length. False if there is no memory.
bool pd_why_keep(struct pd_why *why, const struct pd_why_wait *wait, const struct pd_why_stack *stack);
// The first of the longest waits that are at most one in a hundred; NULL: there are none.
const struct pd_why_kept *pd_why_first_outlier(const struct pd_why *why, unsigned *bits_out, uint64_t *count_out);
// Appends the name of an address of a call chain. Markers have none: false.
bool pd_why_stack_name(struct pd_why *why, const struct pd_why_kept *kept, size_t index, unsigned *cpumode,
		       struct pd_text *name);
void pd_why_stacks_fini(struct pd_why *why);

void pd_why_print_text(struct pd_why *why);
void pd_why_print_json(struct pd_why *why);

#endif

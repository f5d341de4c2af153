/* SPDX-License-Identifier: MIT */
/*
 * The inside of why threads waited.
 *
 *   why.c        from intervals to waits with their wakeups, and sums
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
	uint64_t begin_ns, woken_ns;
	uint64_t in_ns; // when it ran again; 0: not yet
};

// The first link is the wait itself, each other one is that of the waker before.
struct pd_why_wait {
	size_t depth;
	uint64_t total_ns; // until it ran again
	struct pd_why_link links[PD_WHY_DEPTH];
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
	struct pd_why_wait wait; // the last one
	uint64_t in_ns;          // when it was switched in
	uint32_t next;           // that ran after it
};

struct pd_why {
	struct pd_sched sched; // names
	struct pd_timehist_options limits;
	struct pd_tracepoints points;
	struct pd_intervals *intervals;
	struct pd_why_options options;
	struct pd_why_wait *longest; // sorted
	size_t longest_count;
	uint64_t wait_count, wait_ns;
	struct pd_why_sums spent, preempted;
	struct pd_histogram *lengths; // of waits
	struct pd_run_queue queue;    // of all threads in the range
	uint32_t cpu;                 // of the event that is being read
	// the wakeup that is being read, if it is one
	bool wakes, interrupt;
	uint32_t waker, waker_cpu;
};

void pd_why_print_text(struct pd_why *why);
void pd_why_print_json(struct pd_why *why);

#endif

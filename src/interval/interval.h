/* SPDX-License-Identifier: MIT */
/*
 * The inside of intervals.
 *
 *   kinds.def     which kinds there are
 *   raw.c         numbers in the raw data of tracepoints
 *   events.c      which events say something of threads, and where in their raw data
 *   threads.c     what each thread does at the moment, and its sums
 *   intervals.c   from an event to the next state of its threads; the public functions
 */
#ifndef PD_INTERVAL_INTERVAL_H
#define PD_INTERVAL_INTERVAL_H

#include <perfdata/interval.h>
#include <perfdata/trace.h>

#include "base/error.h"
#include "base/lookup/u64_map.h"
#include "base/memory.h"
#include "interval/raw.h"

enum pd_interval_number {
#define KIND(NAME, name, class, code, doc) PD_KIND_##NAME,
#include "interval/kinds.def"
	PD_KIND_COUNT,
	// states without an interval
	PD_KIND_NONE, // nothing is known yet
	PD_KIND_BUSY, // the CPU is not idle
	PD_KIND_GONE  // it has exited
};

enum {
	PD_STATE_BITS = 16
};

// ---- events ----

enum pd_event_role {
	PD_ROLE_UNREAD,
	PD_ROLE_NONE,
	PD_ROLE_SWITCH,
	PD_ROLE_WAKE,
	PD_ROLE_NEW
};

struct pd_switch_event {
	uint8_t role;             // enum pd_event_role
	struct pd_raw_number pid; // of who is switched out, or woken
	struct pd_raw_number next, state;
	// What a bit of the state means; PD_KIND_NONE: nothing. Bit preempted_bit is that of who could run on.
	uint8_t kinds[PD_STATE_BITS];
	uint64_t preempted;
};

// What an event says, or an error if its format lacks what it needs.
enum pd_status pd_switch_event_read(struct pd_trace *trace, const struct pd_event *event, struct pd_switch_event *out,
				    struct pd_error *error);
enum pd_interval_number pd_switch_state(const struct pd_switch_event *event, uint64_t state);

// ---- threads ----

// A thread from its begin to its exit.
struct pd_interval_life {
	struct pd_interval_thread thread;
	struct pd_interval_sum sums[PD_KIND_COUNT];
	uint64_t since_ns;
	uint64_t losses; // that there were when the interval began
	uint32_t waker;
	uint8_t kind;
	uint8_t flags;
};

struct pd_interval_cpu {
	struct pd_interval_life *running; // NULL: not known
	bool switched;                    // what ran there first is known
};

struct pd_intervals {
	struct pd_file *file;
	struct pd_intervals_options options;
	struct pd_trace *trace;
	bool by_tracepoint; // otherwise SWITCH records
	bool decided;       // which of both
	bool finished;
	uint64_t first_ns, last_ns; // of records with a time
	uint64_t losses;
	struct pd_interval_counts counts;
	struct pd_switch_event *events; // by index
	size_t event_count, event_capacity;
	struct pd_arena arena;
	struct pd_interval_life **lives; // each in the arena
	size_t life_count, life_capacity;
	struct pd_u64_map current; // the present life of each tid
	struct pd_interval_cpu *cpus;
	size_t cpu_count;
};

enum {
	PD_INTERVAL_CPUS = 1 << 16
};

// Creates and ends lives. A life is NULL if there is an error.
struct pd_interval_life *pd_life_find(struct pd_intervals *intervals, uint32_t tid, uint32_t cpu,
				      struct pd_error *error);
struct pd_interval_life *pd_life_begin(struct pd_intervals *intervals, uint32_t tid, uint32_t cpu,
				       struct pd_error *error);
// Ends the interval of a life, which turned out to be of a kind, and begins the next.
enum pd_status pd_life_change(struct pd_intervals *intervals, struct pd_interval_life *life,
			      enum pd_interval_number was, enum pd_interval_number next, struct pd_error *error);
// The same at the end of the recording.
enum pd_status pd_life_end(struct pd_intervals *intervals, struct pd_interval_life *life, struct pd_error *error);
// Calls the function for an interval that has begun.
enum pd_status pd_life_began(struct pd_intervals *intervals, const struct pd_interval_life *life,
			     struct pd_error *error);
// False if there is no memory. CPUs whose number is absurd are not remembered.
bool pd_life_set_running(struct pd_intervals *intervals, uint32_t cpu, struct pd_interval_life *life);

static inline struct pd_interval_life *pd_life_running(const struct pd_intervals *intervals, uint32_t cpu)
{
	return cpu < intervals->cpu_count ? intervals->cpus[cpu].running : NULL;
}

static inline bool pd_life_switched(const struct pd_intervals *intervals, uint32_t cpu)
{
	return cpu < intervals->cpu_count && intervals->cpus[cpu].switched;
}

#endif

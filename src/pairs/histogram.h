/* SPDX-License-Identifier: MIT */
/*
 * How long things took: counts by length, 64 between a power of two and the next, so percentiles are at most 1/64 off; and the load
 * of CPUs over time. Both have a fixed size, whatever is added.
 */
#ifndef PD_PAIRS_HISTOGRAM_H
#define PD_PAIRS_HISTOGRAM_H

#include <perfdata/json.h>
#include <perfdata/text.h>

#include "base/memory.h"

enum {
	PD_HISTOGRAM_KEPT = 6, // bits below the highest one
	PD_HISTOGRAM_COUNTS = (64 - PD_HISTOGRAM_KEPT + 1) << PD_HISTOGRAM_KEPT
};

struct pd_histogram {
	uint64_t counts[PD_HISTOGRAM_COUNTS];
	uint64_t count, total_ns, max_ns;
};

void pd_histogram_add(struct pd_histogram *histogram, uint64_t ns);
// The least length that at least so many percent do not exceed, rounded down. 0 if there is none.
uint64_t pd_histogram_percentile(const struct pd_histogram *histogram, unsigned percent);
// Mean and percentiles on a line, then a line for each power of two. Nothing if it is empty.
void pd_histogram_text(const struct pd_histogram *histogram, struct pd_text *text);
// Bits that a length has, from 0 to 64.
static inline unsigned pd_histogram_bits(uint64_t ns)
{
	return ns ? 64 - (unsigned)__builtin_clzll(ns) : 0;
}
// The least number of bits of which there is one length in a hundred, or less; 65 if there is none. count_out: with so many and more.
unsigned pd_histogram_outliers(const struct pd_histogram *histogram, uint64_t *count_out);
// An object with this name.
void pd_histogram_json(const struct pd_histogram *histogram, const char *name, struct pd_json *json);

// ---- threads that wait for a CPU ----

enum {
	PD_RUN_QUEUE_SLICES = 32, // of time, at most; they are twice as long when that is not enough
	PD_RUN_QUEUE_CPUS = 1 << 16
};

// How many threads wait, and when most of them did for the first time.
struct pd_run_queue_peak {
	uint64_t now, most, time_ns;
};

struct pd_run_queue_cpu {
	uint64_t waited_ns[PD_RUN_QUEUE_SLICES];
	struct pd_run_queue_peak peak;
};

struct pd_run_queue {
	uint64_t first_ns, last_ns, slice_ns; // slice_ns: 0: nothing was added yet
	uint64_t until_ns;                    // no peak is later; 0: no limit
	struct pd_run_queue_cpu *cpus;
	size_t cpu_count, cpu_capacity;
	struct pd_run_queue_peak all; // of all CPUs together
	// who waits since the last event: its CPU counts when the next one comes
	bool unsettled;
	uint32_t entered_cpu;
	uint64_t entered_ns;
};

// A thread has waited for a CPU; waits may begin before first_ns, but what was before it is ignored. False if there is no memory.
bool pd_run_queue_add(struct pd_run_queue *queue, uint32_t cpu, uint64_t begin_ns, uint64_t end_ns);
// A thread begins or ends to wait for a CPU; UINT32_MAX: for any. False if there is no memory.
bool pd_run_queue_enter(struct pd_run_queue *queue, uint32_t cpu, uint64_t time_ns);
void pd_run_queue_leave(struct pd_run_queue *queue, uint32_t cpu);
// It waits for another CPU.
bool pd_run_queue_move(struct pd_run_queue *queue, uint32_t from, uint32_t to, uint64_t time_ns);
// After the last one.
void pd_run_queue_settle(struct pd_run_queue *queue);
// How many threads waited on average, by time and CPU.
void pd_run_queue_text(const struct pd_run_queue *queue, struct pd_text *text);
void pd_run_queue_json(const struct pd_run_queue *queue, const char *name, struct pd_json *json);
void pd_run_queue_fini(struct pd_run_queue *queue);

#endif

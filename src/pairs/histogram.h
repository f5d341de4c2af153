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
// An object with this name.
void pd_histogram_json(const struct pd_histogram *histogram, const char *name, struct pd_json *json);

// ---- threads that wait for a CPU ----

enum {
	PD_RUN_QUEUE_SLICES = 32, // of time, at most; they are twice as long when that is not enough
	PD_RUN_QUEUE_CPUS = 1 << 16
};

struct pd_run_queue_cpu {
	uint64_t waited_ns[PD_RUN_QUEUE_SLICES];
};

struct pd_run_queue {
	uint64_t first_ns, last_ns, slice_ns; // slice_ns: 0: nothing was added yet
	struct pd_run_queue_cpu *cpus;
	size_t cpu_count, cpu_capacity;
};

// A thread has waited for a CPU; waits may begin before first_ns, but what was before it is ignored. False if there is no memory.
bool pd_run_queue_add(struct pd_run_queue *queue, uint32_t cpu, uint64_t begin_ns, uint64_t end_ns);
// How many threads waited on average, by time and CPU.
void pd_run_queue_text(const struct pd_run_queue *queue, struct pd_text *text);
void pd_run_queue_json(const struct pd_run_queue *queue, const char *name, struct pd_json *json);
void pd_run_queue_fini(struct pd_run_queue *queue);

#endif

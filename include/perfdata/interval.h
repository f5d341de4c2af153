/* SPDX-License-Identifier: MIT */
/**
 * interval.h - what threads did over time: ran, waited for a CPU, were blocked.
 *
 * An interval begins with one event and ends with another of the same thread: a thread that was switched out and is switched
 * in again was off the CPU in between. The events are sched:sched_switch with sched_wakeup, sched_wakeup_new and sched_waking
 * as far as they are recorded, or SWITCH records (perf record --switch-events) in files without sched_switch: these tell
 * whether a thread was preempted, but not why it was blocked nor when it was woken. Where both are recorded, SWITCH records count if the
 * tracepoint is missing: some kernels record nothing in the context of some threads, such as idle ones.
 *
 * The intervals of a thread follow each other without gaps, so their sum is the time from its first to its last event. What
 * cannot be known is an interval, too: of the kind "unknown" between two events that do not fit, and with flags if the
 * thread was in this state before the recording, or still at its end, or if records were lost meanwhile.
 *
 * Memory grows with threads, not with events. Threads: one at a time for each object.
 *
 * Example:
 *
 *	struct pd_intervals *intervals;
 *	const struct pd_interval_thread *thread;
 *
 *	if (pd_intervals_read(file, NULL, &intervals, &error) == PD_OK) {
 *		for (size_t i = 0; (thread = pd_intervals_thread(intervals, i)) != NULL; i++)
 *			printf("%u %llu ns\n", thread->tid, (unsigned long long)(thread->end_ns - thread->begin_ns));
 *		pd_intervals_free(intervals);
 *	}
 */
#ifndef PERFDATA_INTERVAL_H
#define PERFDATA_INTERVAL_H

#include <perfdata/stream.h>

#ifdef __cplusplus
extern "C" {
#endif

enum pd_interval_class {
	PD_INTERVAL_ON_CPU,
	PD_INTERVAL_RUNNABLE, /* waits for a CPU */
	PD_INTERVAL_BLOCKED,  /* waits for something else */
	PD_INTERVAL_UNKNOWN,
	PD_INTERVAL_IDLE /* a CPU without a thread to run; its tid is 0 */
};

/** A kind of interval. Constant. */
struct pd_interval_kind {
	size_t index; /* see pd_interval_kind */
	const char *name;
	enum pd_interval_class of;
	char state; /* code of the kernel for it: 'D'; 0: none */
	const char *doc;
};
/** The index-th kind; NULL past the end. */
PD_API const struct pd_interval_kind *pd_interval_kind(size_t index);

enum pd_interval_flag {
	PD_INTERVAL_BEGAN_BEFORE = 1, /* the recording: begin_ns is that of its first record */
	PD_INTERVAL_NOT_ENDED = 2,    /* end_ns is that of the last record */
	PD_INTERVAL_LOST = 4          /* records were lost meanwhile: other intervals may be hidden in this one */
};

struct pd_interval {
	const struct pd_interval_kind *kind;
	uint32_t pid;   /* UINT32_MAX: unknown */
	uint32_t tid;   /* 0: idle */
	uint32_t cpu;   /* where it ran, or ran last; UINT32_MAX: unknown */
	uint32_t waker; /* thread that woke it, of a runnable one; UINT32_MAX: unknown */
	uint64_t begin_ns, end_ns;
	unsigned flags; /* enum pd_interval_flag */
};
/** Called when an interval ends; those that did not end come last. An error ends the reading. */
typedef enum pd_status pd_interval_fn(void *self, const struct pd_interval *interval, struct pd_error *error);

/** Sum of the intervals of one kind. */
struct pd_interval_sum {
	uint64_t count;
	uint64_t total_ns;
	uint64_t max_ns;
};

/** A thread, or the idle time of a CPU. A tid that is used again is another one. */
struct pd_interval_thread {
	uint32_t pid;              /* UINT32_MAX: unknown */
	uint32_t tid;              /* 0: idle time of cpu */
	uint32_t cpu;              /* the last one; UINT32_MAX: unknown */
	uint64_t begin_ns, end_ns; /* of its first and last interval */
	uint64_t uncertain_ns;     /* in intervals that are unknown, or with PD_INTERVAL_LOST */
	struct pd_list sums;       /* of struct pd_interval_sum, by pd_interval_kind.index */
	bool exited;
};

/** What did not match, by cause, and what there was. */
struct pd_interval_counts {
	uint64_t switches; /* changes of the thread that runs on a CPU */
	uint64_t wakeups;  /* wakeups, without those of threads that run or are runnable */
	uint64_t intervals;
	uint64_t lost;         /* intervals during which records were lost */
	uint64_t mismatched;   /* intervals between events that do not fit: something between them is missing */
	uint64_t began_before; /* intervals that began before the recording */
	uint64_t not_ended;    /* intervals that had not ended when it did */
	uint64_t unwoken;      /* blocked ones that ended without a wakeup */
	uint64_t out_of_order; /* events older than the one before, which are ignored */
	uint64_t unreadable;   /* events without thread or time, or whose raw data is too short, which are ignored */
	uint64_t lost_records; /* that the recorder lost, as it says */
};

/** Zero is the default for each member; NULL means all defaults. */
struct pd_intervals_options {
	size_t size;              /* sizeof(struct pd_intervals_options); 0 is PD_ERROR_ARGUMENT */
	pd_interval_fn *interval; /* may be NULL */
	void *self;               /* first argument of interval */
	size_t thread_limit;      /* maximum number of threads; 0 means 4 million */
	pd_interval_fn *
		began; /* called when an interval begins: end_ns is begin_ns, and its kind as far as it is known then. May be NULL */
};

struct pd_intervals;

/** The file must remain open. Errors: PD_ERROR_MEMORY, PD_ERROR_ARGUMENT. */
PD_API enum pd_status pd_intervals_new(struct pd_file *file, const struct pd_intervals_options *options,
				       struct pd_intervals **intervals_out, struct pd_error *error);
/** NULL is ignored. */
PD_API void pd_intervals_free(struct pd_intervals *intervals);
/** Adds the next record in time order; most are irrelevant and ignored.
 * Errors: PD_ERROR_MEMORY; PD_ERROR_LIMIT; PD_ERROR_FORMAT if the format of a tracepoint is missing or lacks a field; those of
 * the interval function. */
PD_API enum pd_status pd_intervals_take(struct pd_intervals *intervals, const struct pd_record *record,
					struct pd_error *error);
/** Ends all intervals, once. Errors: those of the interval function. */
PD_API enum pd_status pd_intervals_finish(struct pd_intervals *intervals, struct pd_error *error);
/** All of it, for a whole file. Errors: those of the above and of pd_run; PD_ERROR_NO_SAMPLES without context switches. */
PD_API enum pd_status pd_intervals_read(struct pd_file *file, const struct pd_intervals_options *options,
					struct pd_intervals **intervals_out, struct pd_error *error);

/** The index-th thread, in the order of their first events; NULL past the end. Valid until the next pd_intervals_take. */
PD_API const struct pd_interval_thread *pd_intervals_thread(const struct pd_intervals *intervals, size_t index);
/** Counts so far. */
PD_API void pd_intervals_counts(const struct pd_intervals *intervals, struct pd_interval_counts *counts_out);

#ifdef __cplusplus
}
#endif
#endif

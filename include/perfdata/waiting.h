/* SPDX-License-Identifier: MIT */
/**
 * waiting.h - a recording of context switches as one of waiting: a sample for each time that a thread did not run.
 *
 * The period of a sample is how long the thread waited, in ns; its call chain is that of its switch out, above it what it waited
 * for ("[sleeping]", "[uninterruptible]", "[runnable]": the kinds of interval.h that are blocked or runnable), and where a wakeup
 * ended it and has a call chain, who woke it ("[woken by make]") and its call chain, reversed: the one innermost first, the other
 * one outermost. The event is offcpu-time. So whatever reads samples of a profile reads those of waiting, also other programs.
 *
 * The input has sched:sched_switch, and wakeups if they are to be known; or SWITCH records, and call chains then if the event
 * context-switches was recorded with them.
 *
 * Example:
 *
 *	const struct pd_writer_options form = { .size = sizeof(form), .inputs = &file, .input_count = 1 };
 *	struct pd_waiting_result result;
 *
 *	if (pd_writer_open("waiting.data", &form, &writer, &error) == PD_OK) {
 *		pd_waiting_write(file, writer, NULL, &result, &error);
 *		pd_writer_finish(writer, &error);
 *	}
 */
#ifndef PERFDATA_WAITING_H
#define PERFDATA_WAITING_H

#include <perfdata/interval.h>
#include <perfdata/writer.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Zero is the default for each member; NULL means all defaults. */
struct pd_waiting_options {
	size_t size;         /* sizeof(struct pd_waiting_options); 0 is PD_ERROR_ARGUMENT */
	uint64_t min_ns;     /* shorter waits are left out */
	uint64_t max_ns;     /* longer ones; 0: no limit */
	bool no_runnable;    /* waiting for a CPU is left out */
	bool no_wakers;      /* who woke a thread is not in call chains */
	size_t thread_limit; /* maximum number of threads; 0 means 4 million */
};

struct pd_waiting_result {
	uint64_t sample_count;
	uint64_t total_ns;        /* in these samples */
	uint64_t left_out_count;  /* waits that the options leave out */
	uint64_t uncertain_ns;    /* between events that do not fit: not in samples */
	uint64_t unchained_count; /* samples without a call chain: it began before the recording, or there was none */
	struct pd_interval_counts what; /* of all intervals */
};

/** Writes all of it to an unused writer; the caller finishes the writer, or aborts it after an error. A pipe must have been opened
 * with pd_open_options.keep. Errors: those of pd_intervals_read; PD_ERROR_OUTPUT and PD_ERROR_ARGUMENT of the writer. */
PD_API enum pd_status pd_waiting_write(struct pd_file *file, struct pd_writer *writer,
				       const struct pd_waiting_options *options, struct pd_waiting_result *result_out,
				       struct pd_error *error);

/** Writes all of it to a temporary file and opens that; file may be closed before *file_out. Errors: those of pd_waiting_write and
 * pd_file_open; PD_ERROR_SYSTEM if there can be no such file. */
PD_API enum pd_status pd_waiting_open(struct pd_file *file, const struct pd_waiting_options *options,
				      const struct pd_open_options *open_options, struct pd_file **file_out,
				      struct pd_waiting_result *result_out, struct pd_error *error);

#ifdef __cplusplus
}
#endif
#endif

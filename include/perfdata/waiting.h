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

/** Zero is the default for each member; NULL means all defaults.
 *
 * With pair, samples are not waits of threads but what is between two events of the recording:
 *
 *	begin=EVENT,end=EVENT,key=FIELD[+FIELD]...[,owner=begin|end|FIELD][,name=TEXT]
 *
 * An event that ends belongs to the one before it that begins and has the same values of all fields of the key (up to four). FIELD is
 * one of the tracepoint, or tid or cpu, those of the sample; A:B is A of the event that begins and B of the one that ends. A '*' at the
 * end of EVENT stands for whatever follows. owner says whose sample it is, and whose call chain: that of the thread that begins (the
 * default) or ends, or of a thread whose number is a field of the event that begins. Above the chain stands "[TEXT]", which is the name
 * of the event that begins if none is given, and who ended it, if that is another thread. The event is offcpu-time nevertheless. */
struct pd_waiting_options {
	size_t size;         /* sizeof(struct pd_waiting_options); 0 is PD_ERROR_ARGUMENT */
	uint64_t min_ns;     /* shorter waits are left out */
	uint64_t max_ns;     /* longer ones; 0: no limit */
	bool no_runnable;    /* waiting for a CPU is left out */
	bool no_wakers;      /* who woke a thread is not in call chains */
	size_t thread_limit; /* maximum number of threads, or of pairs that are open; 0 means 4 million */
	const char *pair;    /* pairs of these events instead of waits; NULL: waits */
};

/** Of pairs, what counts intervals, lost, began_before (ends of what began before the recording), not_ended, out_of_order, unreadable and
 * lost_records; mismatched are those that began again before they had ended, unwoken ends whose begin may have been lost. */
struct pd_waiting_result {
	uint64_t sample_count;
	uint64_t total_ns;        /* in these samples */
	uint64_t left_out_count;  /* waits that the options leave out */
	uint64_t uncertain_ns;    /* between events that do not fit: not in samples */
	uint64_t unchained_count; /* samples without a call chain: it began before the recording, or there was none */
	struct pd_interval_counts what; /* of all intervals */
};

/** Sets min_ns and max_ns by "1ms-20ms", "1ms", "-20ms" or nothing. Errors: PD_ERROR_ARGUMENT. */
PD_API enum pd_status pd_waiting_range_parse(const char *text, struct pd_waiting_options *options,
					     struct pd_error *error);

enum {
	PD_WAITING_TEXT = 512
};
/** What did not match or was lost, as a sentence. False if there was nothing of that; of waits of threads, if no interval is
 * unknown. */
PD_API bool pd_waiting_describe(const struct pd_waiting_options *options, const struct pd_waiting_result *result,
				char text_out[PD_WAITING_TEXT]);

/** Writes all of it to an unused writer; the caller finishes the writer, or aborts it after an error. A pipe must have been opened
 * with pd_open_options.keep. Errors: those of pd_intervals_read; PD_ERROR_OUTPUT and PD_ERROR_ARGUMENT of the writer;
 * PD_ERROR_ARGUMENT for a pair that is written wrongly; PD_ERROR_FORMAT if one of its events has no such field; PD_ERROR_NO_SAMPLES
 * without samples of both. */
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

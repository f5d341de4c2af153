/* SPDX-License-Identifier: MIT */
/**
 * why.h - why threads waited: who woke whom, back to an interrupt.
 *
 * A thread that waits is woken by another one, which may have waited itself until shortly before. This goes on until a wakeup by an
 * interrupt (a timer, a device), or a thread that ran all the time. The events are those of interval.h; without wakeups there
 * is nothing to tell. Memory grows with threads.
 *
 * Example:
 *
 *	struct pd_why_options options = { .size = sizeof(options), .tid = 4711 };
 *
 *	if (pd_print_why(text, file, &options, &error) == PD_OK)
 *		fwrite(pd_text_bytes(text).data, 1, pd_text_bytes(text).size, stdout);
 */
#ifndef PERFDATA_WHY_H
#define PERFDATA_WHY_H

#include <perfdata/symbol.h>
#include <perfdata/text.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Zero is the default for each member; NULL means all defaults. */
struct pd_why_options {
	size_t size;         /* sizeof(struct pd_why_options); 0 is PD_ERROR_ARGUMENT */
	uint32_t tid;        /* waits of this thread; 0: of all */
	uint64_t from_ns;    /* waits that end at this time or later */
	uint64_t to_ns;      /* and begin at this time or before; 0: no limit */
	size_t count;        /* the longest ones that are shown; 0 means 5 */
	bool json;           /* as one JSON object */
	size_t thread_limit; /* maximum number of threads; 0 means 4 million */
	/* Opens symbols for the state of the file, which the call frees; NULL: pd_symbols_new without options. If it returns NULL, the call
	 * ends with PD_ERROR_STOPPED. Only called for recordings with call chains. */
	struct pd_symbols *(*symbols)(void *self, const struct pd_state *state);
	void *self;
};

/** Appends the longest waits with their wakeups and call chains; the first outlier, of the longest that are at most one in a hundred; what
 * all waits in the range were spent on by thread, who preempted whom, how long waits were (percentiles are at most 1/64 too low), how many
 * threads waited for each CPU over time, and when most waited at once. A thread waits for the CPU that sched_waking or sched_wakeup
 * names, until sched_migrate_task moves it. Errors: those of pd_intervals_read; PD_ERROR_OUTPUT; PD_ERROR_STOPPED. */
PD_API enum pd_status pd_print_why(struct pd_text *text, struct pd_file *file, const struct pd_why_options *options,
				   struct pd_error *error);

#ifdef __cplusplus
}
#endif
#endif

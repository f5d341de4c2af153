/* SPDX-License-Identifier: MIT */
/**
 * kwork.h - what the kernel does for others: interrupts, softirqs and work queues, as perf kwork of perf 6.1 prints it,
 * and the time of each CPU by thread, as that of perf 7.2 does.
 *
 * The events are irq:irq_handler_entry and irq_handler_exit; irq:softirq_raise, softirq_entry and softirq_exit;
 * workqueue:workqueue_activate_work, workqueue_execute_start and workqueue_execute_end;
 * of the time by thread sched:sched_switch and those of interrupts and softirqs. Memory grows with the kinds of work, CPUs, and what
 * has begun but not ended.
 *
 * Example:
 *
 *	struct pd_kwork_options options = { .size = sizeof(options), .mode = PD_KWORK_LATENCY };
 *
 *	if (pd_print_kwork(text, file, &options, &error) == PD_OK)
 *		fwrite(pd_text_bytes(text).data, 1, pd_text_bytes(text).size, stdout);
 */
#ifndef PERFDATA_KWORK_H
#define PERFDATA_KWORK_H

#include <perfdata/symbol.h>
#include <perfdata/text.h>

#ifdef __cplusplus
extern "C" {
#endif

enum pd_kwork_mode {
	PD_KWORK_REPORT,   /* how long work took */
	PD_KWORK_LATENCY,  /* how long it waited before it began */
	PD_KWORK_TIMEHIST, /* a line for each time */
	PD_KWORK_TOP       /* the time that threads had of each CPU, without interrupts and softirqs */
};

/** Zero is the default for each member; NULL means all defaults. */
struct pd_kwork_options {
	size_t size; /* sizeof(struct pd_kwork_options); 0 is PD_ERROR_ARGUMENT */
	enum pd_kwork_mode mode;
	const char *classes; /* of irq, softirq, workqueue, and sched of PD_KWORK_TOP: "irq,softirq"; NULL: all */
	const char *cpus;    /* only these: "0-3,7"; NULL: all */
	const char *name;    /* only work of this name; NULL: all */
	/* Keys, largest first: runtime or avg, max, count; NULL: all in this order. PD_KWORK_TOP: rate, runtime, and tid, least first; NULL:
	 * the first two. */
	const char *sort;
	bool summary; /* of reports: sums after the table */
	/* Opens symbols for the state of the file, which the call frees; NULL: pd_symbols_new without options. If it returns NULL, the call
	 * ends with PD_ERROR_STOPPED. */
	struct pd_symbols *(*symbols)(void *self, const struct pd_state *state);
	void *self;
	size_t limit; /* maximum number of kinds of work by CPU, and of what has begun but not ended; 0 means 4 million */
	const char *time; /* only events of this time, see pd_select_options; NULL: all */
	bool json;        /* as one JSON object */
};

/** Appends a table, or lines. Errors: PD_ERROR_MEMORY; PD_ERROR_LIMIT; PD_ERROR_ARGUMENT for an unknown class, key or list;
 * PD_ERROR_OUTPUT; PD_ERROR_FORMAT if the format of a tracepoint is missing or lacks a field; PD_ERROR_NO_SAMPLES without such
 * events; PD_ERROR_STOPPED; those of pd_run. */
PD_API enum pd_status pd_print_kwork(struct pd_text *text, struct pd_file *file, const struct pd_kwork_options *options,
				     struct pd_error *error);

#ifdef __cplusplus
}
#endif
#endif

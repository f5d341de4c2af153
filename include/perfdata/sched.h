/* SPDX-License-Identifier: MIT */
/**
 * sched.h - prints what the scheduler did, as perf sched timehist, latency and map of perf 6.1 do.
 *
 * The numbers are perf's, with its rules: see interval.h for intervals that say what is not known. Memory grows with threads.
 *
 * Example:
 *
 *	struct pd_timehist_options options = { .size = sizeof(options), .summary_only = true };
 *
 *	if (pd_print_timehist(text, file, &options, &error) == PD_OK)
 *		fwrite(pd_text_bytes(text).data, 1, pd_text_bytes(text).size, stdout);
 */
#ifndef PERFDATA_SCHED_H
#define PERFDATA_SCHED_H

#include <perfdata/stream.h>
#include <perfdata/symbol.h>
#include <perfdata/text.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PD_TIMEHIST_NO_STACK UINT32_MAX

/** Zero is the default for each member; NULL means all defaults. */
struct pd_timehist_options {
	size_t size;         /* sizeof(struct pd_timehist_options); 0 is PD_ERROR_ARGUMENT */
	bool summary;        /* a table of threads after the events */
	bool summary_only;   /* the table alone */
	bool wakeups;        /* lines for wakeups */
	bool next;           /* the next thread of each switch */
	bool migrations;     /* lines for migrations to another CPU */
	bool cpu_visual;     /* a column for each CPU */
	bool idle;           /* idle time only, by the thread that was switched out before */
	bool state;          /* the state in which a thread is switched out */
	bool has_chains;     /* set by the call: samples have call chains */
	size_t thread_limit; /* maximum number of threads; 0 means 4 million */
	bool json;           /* as one JSON object: events with all of their columns, and sums */
	const char *pids;    /* processes, "1,5-9"; NULL: all. Also with tids: threads that are in both */
	const char *tids;    /* threads */
	const char *cpus;    /* switches of these CPUs, "0-3,7"; NULL: of all */
	const char *time;    /* "START,STOP" in seconds, either of them may be missing; NULL: all of it */
	bool no_chains;      /* no call chains behind switches, which are printed if all events have them */
	const char *prios;   /* threads with these priorities, "100-119,125", each 0 to 139; NULL: all */
	bool show_prio;      /* a column for the priority, or "old->new" */
	bool pre_migrations; /* a column for the time on the queue of a CPU before a migration to another one */
	uint32_t max_stack;  /* functions of a call chain; 0 means 5, PD_TIMEHIST_NO_STACK none */
	/* Opens symbols for the state of the file, which the call frees; NULL: pd_symbols_new without options. If it returns NULL, the call
	 * ends with PD_ERROR_STOPPED. */
	struct pd_symbols *(*symbols)(void *self, const struct pd_state *state);
	void *self;
};

/** Appends the text, and writes it out (pd_text_flush_large) where it is long. *options may be changed where it says so.
 * Errors: PD_ERROR_MEMORY; PD_ERROR_LIMIT; PD_ERROR_OUTPUT; PD_ERROR_ARGUMENT for a list or a time that cannot be read; PD_ERROR_FORMAT if the format of a tracepoint is missing or lacks a
 * field; PD_ERROR_NO_SAMPLES without sched:sched_switch; those of pd_run. */
PD_API enum pd_status pd_print_timehist(struct pd_text *text, struct pd_file *file, struct pd_timehist_options *options,
					struct pd_error *error);

/** Zero is the default for each member; NULL means all defaults. */
struct pd_sched_latency_options {
	size_t size;    /* sizeof(struct pd_sched_latency_options); 0 is PD_ERROR_ARGUMENT */
	bool by_thread; /* a line for each thread, not for each name */
	bool one_cpu; /* switches of other CPUs may be missing: each wakeup begins a wait, and each migration another one */
	const char *sort;    /* keys: runtime, switch, avg, max, pid; NULL: "avg,max,switch,runtime" */
	size_t thread_limit; /* maximum number of threads; 0 means 4 million */
	bool json;           /* as one JSON object */
};

/** Appends a table of threads: how long they ran, and waited for a CPU after they were woken. Errors: those of
 * pd_print_timehist; PD_ERROR_ARGUMENT for an unknown key, or none. */
PD_API enum pd_status pd_print_sched_latency(struct pd_text *text, struct pd_file *file,
					     const struct pd_sched_latency_options *options, struct pd_error *error);

/** Zero is the default for each member; NULL means all defaults. */
struct pd_sched_map_options {
	size_t size;            /* sizeof(struct pd_sched_map_options); 0 is PD_ERROR_ARGUMENT */
	bool compact;           /* columns only for CPUs that switched so far */
	const char *cpus;       /* columns and times of these only: "0-3,7"; NULL: all */
	const char *color_cpus; /* CPUs that are highlighted, NULL: none */
	const char *color_pids; /* threads that are highlighted: "1,2"; NULL: none */
	size_t thread_limit;    /* maximum number of threads; 0 means 4 million */
	bool no_color;          /* nothing is highlighted: both lists are only checked */
	bool json;              /* as one JSON object */
};

/** Appends a line for each switch, with the threads that run on each CPU by abbreviations. Errors: those of
 * pd_print_timehist; PD_ERROR_ARGUMENT for a list that cannot be read. */
PD_API enum pd_status pd_print_sched_map(struct pd_text *text, struct pd_file *file,
					 const struct pd_sched_map_options *options, struct pd_error *error);

#ifdef __cplusplus
}
#endif
#endif

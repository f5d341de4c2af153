/* SPDX-License-Identifier: MIT */
/**
 * select.h - which samples are wanted, in the words of perf's options.
 *
 * Samples are selected by time, CPU, thread, name and event before any lookup, and by object and function when
 * addresses are resolved. Example:
 *
 * Example:
 *
 *	const struct pd_select_options options = { .size = sizeof(options), .time = "10%/2", .comm = "gcc" };
 *	struct pd_select *select;
 *
 *	if (pd_select_new(&options, &select, &error) == PD_OK) {
 *		// pd_select_ready and pd_select_choose go into `ready` and `choose` of pd_run_options or pd_profile_options
 *		pd_select_free(select);
 *	}
 */
#ifndef PERFDATA_SELECT_H
#define PERFDATA_SELECT_H

#include <perfdata/filter.h>
#include <perfdata/profile.h>

#ifdef __cplusplus
extern "C" {
#endif

/** As a user types them; NULL: not given. NULL options select all. Two names of an option are one list. Lists are separated by commas;
 * file://PATH stands for the lines of a file. Strings must remain valid until pd_select_free. */
struct pd_select_options {
	size_t size;                  /* sizeof(struct pd_select_options); 0 is PD_ERROR_ARGUMENT */
	const char *time;             /* START,STOP or 10%/2 or 0%-10% or 12:00:01,12:00:05 */
	const char *comms, *comm;     /* names of threads */
	const char *pid, *tid;        /* numbers */
	const char *cpu;              /* 0,2-3 */
	const char *event;            /* * and ? are wildcards */
	const char *dsos, *dso;       /* objects, by short name or path */
	const char *symbols, *symbol; /* functions, by name or 0xADDRESS */
	const char *where;            /* a condition, see filter.h */
	const char *socket;           /* the number of a processor socket */
	const char *addr_range;       /* that many bytes from each 0xADDRESS in symbols are selected, too */
	const char *switch_on;        /* only samples after one of this event ... */
	const char *switch_off;       /* ... and until one of this event */
	bool show_switches;           /* samples of these two events are selected, too */
	const char *parallelism;      /* 1-4: so many threads ran; needs pd_profile_options.parallelism */
};

struct pd_select;

enum pd_select_list {
	PD_SELECT_COMMS,
	PD_SELECT_DSOS,
	PD_SELECT_SYMBOLS
};

/** Parses the options. Errors: PD_ERROR_MEMORY; PD_ERROR_SYSTEM if a file of names cannot be opened;
 * PD_ERROR_ARGUMENT, with a position in options->where as offset if the condition is wrong. */
PD_API enum pd_status pd_select_new(const struct pd_select_options *options, struct pd_select **select_out,
				    struct pd_error *error);
/** NULL is fine. */
PD_API void pd_select_free(struct pd_select *select);

/** True if the ranges of time are not known before pd_select_ready: they are parts, or of a wall clock. */
PD_API bool pd_select_waits(const struct pd_select *select);
/** To be called when all events and the ends of the time are known; window gets the time that is wanted.
 * With switch_on or switch_off the file is read. Errors: PD_ERROR_MEMORY; PD_ERROR_NO_MATCH if the file lacks what the options
 * refer to; those of pd_stream_next. */
PD_API enum pd_status pd_select_ready(struct pd_select *select, struct pd_file *file, struct pd_window *window,
				      struct pd_error *error);
/** The same for events that come later, in a pipe. Errors: as pd_filter_bind. */
PD_API enum pd_status pd_select_learn(struct pd_select *select, struct pd_file *file, struct pd_error *error);

/** The condition of options->where, or NULL. Owned by select. */
PD_API const struct pd_filter *pd_select_where(const struct pd_select *select);
/** True if such a list was given. */
PD_API bool pd_select_has_list(const struct pd_select *select, enum pd_select_list list);
/** The name in a list if it is the only one, else NULL. Owned by select. */
PD_API const char *pd_select_only(const struct pd_select *select, enum pd_select_list list);
/** True if events were selected. */
PD_API bool pd_select_by_event(const struct pd_select *select);
/** True if CPUs were selected, and no event of the file records the CPU. */
PD_API bool pd_select_lacks_cpu(const struct pd_select *select);

/** What of a sample is known before anything is looked up. As in perf report, samples of other threads count in the
 * totals; those of other times, CPUs and events do not. The functions from here on may be called from any thread. */
PD_API enum pd_choice pd_select_choose(const struct pd_select *select, const struct pd_candidate *candidate);
/** time_ns as in records: PD_NO_TIME if there is none. */
PD_API bool pd_select_has_time(const struct pd_select *select, uint64_t time_ns);
PD_API bool pd_select_has_cpu(const struct pd_select *select, uint32_t cpu);
PD_API bool pd_select_has_event(const struct pd_select *select, const struct pd_event *event);
/** comm may be NULL: it is not known. */
PD_API bool pd_select_has_thread(const struct pd_select *select, uint32_t pid, uint32_t tid, const char *comm);
/** Whether the condition holds. names may be NULL, as for pd_filter_takes. */
PD_API bool pd_select_has_where(const struct pd_select *select, const struct pd_record *record,
				const struct pd_filter_names *names);
/** True if objects or functions were selected. As in perf report, samples in others count in the totals. */
PD_API bool pd_select_by_place(const struct pd_select *select);
/** Whether an object and function were selected. */
PD_API bool pd_select_has_place(const struct pd_select *select, const struct pd_place *place);

/** The time of the samples as the recorder noted it; NULL: it did not, or what it noted cannot be. */
PD_API const struct pd_sample_time *pd_select_noted_time(struct pd_file *file);

#ifdef __cplusplus
}
#endif
#endif

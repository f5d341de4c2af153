/* SPDX-License-Identifier: MIT */
/**
 * stat.h - counts of events with metrics, as perf stat prints them: of a running counter, or out of a file of perf stat
 * record.
 *
 * Of a counter: pd_stat_new, pd_stat_begin_run, pd_counter_start, pd_counter_read ..., pd_stat_end_run, pd_stat_print.
 *
 * Threads: one at a time for each of them.
 *
 * Example:
 *
 *	const struct pd_stat_options options = { .size = sizeof(options), .by = PD_STAT_GLOBAL, .big_numbers = true };
 *
 *	if (pd_file_open("stat.data", NULL, &file, &error) == PD_OK && pd_stat_report(file, &options, text, &error) == PD_OK)
 *		fwrite(pd_text_bytes(text).data, 1, pd_text_bytes(text).size, stdout);
 *	pd_file_close(file);
 */
#ifndef PERFDATA_STAT_H
#define PERFDATA_STAT_H

#include <perfdata/counter.h>
#include <perfdata/file.h>
#include <perfdata/text.h>

#ifdef __cplusplus
extern "C" {
#endif

/** What counts are summed up by; numbers up to 7 as perf 6.1 writes them into STAT_CONFIG. */
enum pd_stat_by {
	PD_STAT_BY_CPU = 0,
	PD_STAT_GLOBAL = 1,
	PD_STAT_BY_SOCKET = 2,
	PD_STAT_BY_DIE = 3,
	PD_STAT_BY_CORE = 4,
	PD_STAT_BY_THREAD = 5,
	PD_STAT_BY_NODE = 7,
	PD_STAT_BY_CLUSTER = 8, /* of cores */
	PD_STAT_BY_CACHE = 9    /* CPUs that share one, see cache_level */
};

/** Zero is the default for each member; NULL means all defaults. Strings must remain valid. */
struct pd_stat_options {
	size_t size; /* sizeof(struct pd_stat_options); 0 is PD_ERROR_ARGUMENT */
	enum pd_stat_by by;
	bool by_given;         /* pd_stat_report: by is asked for, else it is that of the file */
	const char *separator; /* prints CSV with this between the fields; NULL: no CSV */
	bool json;             /* prints one JSON object per line */
	bool big_numbers;      /* thousands separators, for people */
	const char *locale;    /* whose separators: as in setlocale; NULL: none. Unused for CSV and JSON */
	bool metric_only;      /* only metrics, one line per CPU, core ... */
	bool no_scale;         /* counts of multiplexed events are not scaled */
	/* The following are for pd_stat_new. */
	const char *title;          /* what was counted: "'ls -l'" */
	unsigned runs;              /* of which means are printed; 0: one */
	bool run_table;             /* a table of the times of single runs */
	bool summary_word;          /* "summary" in front of lines of CSV that are not of an interval */
	bool all_threads;           /* those that did nothing are left out */
	const char *const *cgroups; /* of each event, the last for all others; "" is none */
	size_t cgroup_count;
	pd_warn_fn *warn;     /* gets warnings; may be NULL */
	void *self;           /* first argument of warn */
	unsigned cache_level; /* of PD_STAT_BY_CACHE: 1 to PD_STAT_CACHE_LEVELS; 0: the last level of each CPU */
	bool percore_show_thread; /* PD_STAT_BY_CPU: events of whole cores (term percore) get a line for each CPU, not for each core */
};

enum {
	PD_STAT_CACHE_LEVELS = 4
};

struct pd_stat_counts;

/** Prints the counts of a file of perf stat record into a text, which can have a sink. Errors: PD_ERROR_MEMORY;
 * PD_ERROR_NO_MATCH if there are no counts; those of pd_stream_next. */
PD_API enum pd_status pd_stat_report(struct pd_file *file, const struct pd_stat_options *options, struct pd_text *text,
				     struct pd_error *error);

/** Everything is printed into text. Errors: PD_ERROR_MEMORY; PD_ERROR_ARGUMENT. */
PD_API enum pd_status pd_stat_new(const struct pd_stat_options *options, struct pd_text *text,
				  struct pd_stat_counts **stat_out, struct pd_error *error);
/** NULL is ignored. */
PD_API void pd_stat_free(struct pd_stat_counts *stat);
/** Takes the events, threads and CPUs of a recorder before it is started. For several runs, each with a recorder of its own
 * with the same events. Errors: PD_ERROR_MEMORY. */
PD_API enum pd_status pd_stat_begin_run(struct pd_stat_counts *stat, const struct pd_recorder *recorder,
					struct pd_error *error);
/** Takes the counts of the last pd_counter_read, and prints those of an interval. interval_ns: its nominal length, which
 * metrics are of. */
PD_API void pd_stat_print_interval(struct pd_stat_counts *stat, const struct pd_recorder *recorder,
				   uint64_t interval_ns);
/** The next interval gets a heading. */
PD_API void pd_stat_repeat_heading(struct pd_stat_counts *stat);
/** Prints all counts since the start, after intervals. */
PD_API void pd_stat_print_summary(struct pd_stat_counts *stat, const struct pd_recorder *recorder);
/** Takes the counts of the last pd_counter_read, which are those of a run without intervals. */
PD_API void pd_stat_end_run(struct pd_stat_counts *stat, const struct pd_recorder *recorder);
/** CPU time of the command, to be printed with its run. */
PD_API void pd_stat_set_usage(struct pd_stat_counts *stat, double user_seconds, double system_seconds);
/** Prints the counts of a run, or means of all runs. */
PD_API void pd_stat_print(struct pd_stat_counts *stat);
/** Forgets the runs so far. */
PD_API void pd_stat_restart(struct pd_stat_counts *stat);
/** Number of events; name and counts of one in the last reading, of all threads and CPUs. False past the end. */
PD_API bool pd_stat_event_at(const struct pd_stat_counts *stat, size_t index, const char **name_out,
			     struct pd_counter_value *sum_out);
/** True if memory ran out: something is missing in what was printed. */
PD_API bool pd_stat_failed(const struct pd_stat_counts *stat);

/* ---- what to count ---- */

/** Makes of targets that were asked for what perf stat counts: processes, threads and users on all CPUs, where all and cpus have no
 * effect; processes rather than threads; everything if there is no target. by_thread: each thread is counted on its own.
 * Returns whether nothing but the command is counted. */
PD_API bool pd_stat_settle_targets(struct pd_targets *targets, bool by_thread);
/** The names of a list, with commas between them, each once, and as often in a row as there are events, so that all events are counted
 * in each cgroup: for pd_targets. To be freed by pd_stat_cgroups_free. Errors: PD_ERROR_MEMORY. */
PD_API enum pd_status pd_stat_cgroups_parse(const char *list, size_t event_count, const char ***cgroups_out,
					    size_t *count_out, struct pd_error *error);
/** NULL is ignored. */
PD_API void pd_stat_cgroups_free(const char **cgroups);
/** The title of what is counted: "'ls -l'", "process id '1,2'". all: everything was asked for, not only CPUs. named: processes,
 * threads or a user, as they were asked for; may be NULL where there is none. */
PD_API void pd_stat_title(const struct pd_targets *targets, bool all, const char *named, struct pd_text *text);

/* ---- counting from the start to the end ---- */

/** What a session has come to. */
enum pd_stat_step {
	PD_STAT_STEP_BEFORE,   /* a run: no event is open yet */
	PD_STAT_STEP_OPENED,   /* the events of a run: pd_recorder_stop ends it from now on */
	PD_STAT_STEP_STARTS,   /* counting does, next; false fails with PD_ERROR_STOPPED */
	PD_STAT_STEP_ENABLED,  /* the events, after the delay */
	PD_STAT_STEP_READ,     /* counts were: see pd_counter_event */
	PD_STAT_STEP_INTERVAL, /* the counts of one are printed next */
	PD_STAT_STEP_PRINTED, /* the text holds all of an interval, of the summary or of the runs; the caller clears it */
	PD_STAT_STEP_STOPS,   /* counting does; after each PD_STAT_STEP_STARTS, whatever failed */
	PD_STAT_STEP_ENDED,   /* the command, if it could be run: see pd_stat_session_recorded */
	PD_STAT_STEP_AFTER    /* a run that did not fail; false: there are no more runs */
};

struct pd_stat_session;

/** Zero is the default for each member but size and recorder. Strings and functions must remain valid. */
struct pd_stat_session_options {
	size_t size; /* sizeof(struct pd_stat_session_options); 0 is PD_ERROR_ARGUMENT */
	/* What is counted; counts need not be set. With path or fd, counts go into a file, too; of one run only. session.delay_ms
	 * is that of the events. */
	struct pd_recorder_options recorder;
	struct pd_stat_options printing; /* runs: how many there are */
	bool endless;                    /* one run after another, each printed on its own, until a step says no */
	uint64_t interval_ns;            /* counts are printed so often; 0: at the end */
	bool limited;                    /* there are no more intervals than interval_count */
	uint64_t interval_count;
	uint64_t timeout_ns; /* of a run, 0: none */
	bool repeat_heading; /* each interval has one */
	bool summary;        /* after intervals, also counts of all */
	bool only_command;   /* nothing but the command is counted: a single run has its CPU time */
	/* Called with each step, on the calling thread; what it returns counts where the step says so. May be NULL. */
	bool (*step)(void *self, enum pd_stat_step step, struct pd_stat_session *session);
	void *self;
};

/** Makes a session that prints into text. Errors: those of pd_stat_new. */
PD_API enum pd_status pd_stat_session_new(const struct pd_stat_session_options *options, struct pd_text *text,
					  struct pd_stat_session **session_out, struct pd_error *error);
/** Counts until the last run is over: its command has exited, the time has passed, or pd_recorder_stop was called. Where the
 * command cannot be run, that is no error, see pd_stat_session_recorded. Errors: those of pd_recorder_open, pd_counter_start,
 * pd_counter_read and pd_counter_close_file; PD_ERROR_STOPPED. */
PD_API enum pd_status pd_stat_session_run(struct pd_stat_session *session, struct pd_error *error);
/** The recorder of the present run, or of the last one; NULL before. Owned by the session. */
PD_API struct pd_recorder *pd_stat_session_recorder(const struct pd_stat_session *session);
/** What became of the present run. Owned by the session. */
PD_API const struct pd_recorded *pd_stat_session_recorded(const struct pd_stat_session *session);
/** True if events could be opened: what failed then was not to open them. */
PD_API bool pd_stat_session_opened(const struct pd_stat_session *session);
/** NULL is ignored. */
PD_API void pd_stat_session_free(struct pd_stat_session *session);

/* ---- which events to count ---- */

/** Adds those of perf stat; detailed adds more: 1 of caches, 2 of instruction cache and TLBs, 3 prefetches. Without usual only
 * the latter. Errors: those of pd_events_add. */
PD_API enum pd_status pd_stat_add_events(struct pd_events *events, bool usual, bool system_wide, unsigned detailed,
					 struct pd_error *error);
/** Adds the events of metrics, a list of names with commas. Errors: those of pd_events_add; PD_ERROR_NO_MATCH if there is no such
 * metric; the message lists those that there are. */
PD_API enum pd_status pd_stat_add_metrics(struct pd_events *events, const char *names, struct pd_error *error);
/** The index-th name of a metric; NULL past the end. Static. */
PD_API const char *pd_stat_metric_name(size_t index);
/** Adds events of transactions. False if this machine has none. */
PD_API bool pd_stat_add_transactions(struct pd_events *events);
/** Adds events of top-down analysis. False if this machine has none; *per_core_out: they are counted per core, of all CPUs. */
PD_API bool pd_stat_add_topdown(struct pd_events *events, bool *per_core_out);

#ifdef __cplusplus
}
#endif
#endif

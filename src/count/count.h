/* SPDX-License-Identifier: MIT */
/*
 * The inside of counts. By file, from below:
 *
 *   cells.c     counts of events by thread and CPU, and groups of CPUs
 *   places.c    which CPU is where
 *   metric.c    what stands after the #
 *   rounds.c    from counts since the start to those of a round
 *   page.c      lines of a page; print.c prints them, only.c only their metrics
 *   stat.c      a counter that runs; file.c: counts out of a file; events.c: which events to count
 */
#ifndef PD_COUNT_COUNT_H
#define PD_COUNT_COUNT_H

#include <perfdata/stat.h>

#include "base/error.h"
#include "base/memory.h"

/* A mean and how far values are from it. */
struct pd_stat_mean {
	double count, mean, squares;
};

void pd_stat_mean_add(struct pd_stat_mean *mean, double value);
/* Of the mean itself. */
double pd_stat_mean_deviation(const struct pd_stat_mean *mean);

/* ---- places ---- */

struct pd_stat_place {
	int node, socket, die, cluster, core;
	int caches[PD_STAT_CACHE_LEVELS]; /* of a CPU: the first one that shares that of each level */
	int level, cache;                 /* of those that share a cache: its level, and the first one of them */
};

/* By number of the CPU. What is not known is 0, and -1 for nodes and caches. */
struct pd_stat_places {
	struct pd_stat_place *items;
	size_t count;
	size_t unnamed; /* CPUs that lists may still name */
};

/* sysfs: "/sys". */
bool pd_stat_places_of_machine(struct pd_stat_places *places, const char *sysfs);
bool pd_stat_places_of_file(struct pd_stat_places *places, struct pd_file *file);
void pd_stat_places_fini(struct pd_stat_places *places);

/* ---- counts ---- */

struct pd_stat_cell {
	uint64_t all[3];    /* value, time enabled, time running, since the begin */
	uint64_t before[3]; /* the same at the end of the last round */
	uint64_t round[3];  /* of the round, scaled */
	bool absent;        /* the event is not counted here, but elsewhere */
};

enum {
	PD_STAT_VALUE,
	PD_STAT_ENABLED,
	PD_STAT_RUNNING
};

struct pd_stat_event {
	const char *name, *unit; /* unit NULL: none */
	const char *cgroup;      /* or NULL */
	struct pd_attr attr;
	double scale;
	bool supported;
	bool snapshot;       /* values are no sums */
	bool percore;        /* counts of single CPUs are those of their whole core */
	const int32_t *cpus; /* -1: any */
	size_t cpu_count;
	struct pd_stat_cell *cells; /* of each thread, and in that of each CPU */
	uint64_t before[3];         /* of all together */
	struct pd_stat_mean sums[3];
};

struct pd_stat_thread {
	int32_t tid;
	char name[64];
};

/* A mean of values of one kind. */
struct pd_stat_memo {
	unsigned kind, context;
	const char *cgroup;
	struct pd_stat_mean mean;
};

/* Those of one place. */
struct pd_stat_memos {
	struct pd_stat_memo *items;
	size_t count, capacity;
};

struct pd_stat_table {
	struct pd_stat_event *events;
	size_t event_count;
	struct pd_stat_thread *threads;
	size_t thread_count;
	struct pd_stat_places places;
	enum pd_stat_by by;
	unsigned cache_level; /* see struct pd_stat_options */
	bool scale, interval;
	bool all_threads; /* those that did nothing are left out */
	unsigned runs;
	struct pd_stat_mean wall_ns;
	/* metric.c */
	struct pd_stat_memos *memos; /* by slot */
	size_t slot_count;
	bool failed; /* there was no memory */
};

/* Cells of an event, as many as it has CPUs and the table threads. */
bool pd_stat_event_fit(const struct pd_stat_table *table, struct pd_stat_event *event);
struct pd_stat_cell *pd_stat_cell(const struct pd_stat_event *event, size_t thread, size_t cpu);
void pd_stat_table_fini(struct pd_stat_table *table);

/* CPUs that are one for the table. */
struct pd_stat_group {
	struct pd_stat_place place;
	size_t slot;
};

/* An event in a group. */
struct pd_stat_sum {
	uint64_t all[3];
	size_t cpus;
	bool missing; /* one of them was not counted: all is 0 */
};

/* The groups in order; the caller frees them. */
struct pd_stat_group *pd_stat_groups(const struct pd_stat_table *table, size_t *count_out);
/* All events in all groups: those of the first group, then those of the next. NULL without memory; the caller frees it. */
struct pd_stat_sum *pd_stat_group_sums(const struct pd_stat_table *table, const struct pd_stat_group *groups,
				       size_t count);

/* The counts of all CPUs of the core that a CPU is in, as those of the CPU; core_out: where that is. Returns whether no CPU before it is
 * in the same core. */
bool pd_stat_core_sum(const struct pd_stat_table *table, const struct pd_stat_event *event, size_t cpu,
		      struct pd_stat_sum *sum_out, struct pd_stat_place *core_out);

/* ---- metrics ---- */

struct pd_stat_metric {
	const char *format; /* of the value; NULL: there is none */
	double value;
	char unit[40]; /* "": none */
};

enum {
	PD_STAT_METRICS_MOST = 2
};

/* Notes a value for the metrics of all events. */
void pd_stat_metric_note(struct pd_stat_table *table, const struct pd_stat_event *event, double value, size_t slot);
void pd_stat_metrics_forget(struct pd_stat_table *table);
/* Metrics of an event; returns how many lines they are, at least 1. */
size_t pd_stat_metrics(const struct pd_stat_table *table, const struct pd_stat_event *event, double value, size_t slot,
		       struct pd_stat_metric metrics[PD_STAT_METRICS_MOST]);

/* ---- rounds.c ---- */

/* What came since the last round becomes that of the round. again: everything since the begin does. */
void pd_stat_table_round(struct pd_stat_table *table, bool again);

/* ---- printing ---- */

struct pd_stat_printer {
	const struct pd_stat_options *options;
	struct pd_text *text;
	const char *separator; /* of CSV, or NULL */
	bool json;
	double *run_seconds;
	size_t run_count, run_capacity;
	bool has_usage;
	double user_seconds, system_seconds;
	unsigned rounds; /* printed so far */
	/* only.c */
	struct pd_stat_metric *columns; /* so far */
	bool warned;                    /* that there is no metric */
};

void pd_stat_printer_fini(struct pd_stat_printer *printer);

/* The options with all members, NULL being the defaults. Errors: PD_ERROR_ARGUMENT. */
enum pd_status pd_stat_options_take(const struct pd_stat_options *options, struct pd_stat_options *own,
				    struct pd_error *error);

/* A round of an interval. */
void pd_stat_print_round(struct pd_stat_printer *printer, struct pd_stat_table *table, uint64_t time_ns);
/* All, with title and times. */
void pd_stat_print_all(struct pd_stat_printer *printer, struct pd_stat_table *table);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Counts of events as perf stat has them. stat_table.c keeps them and sums them up, stat_places.c knows which CPU is
 * where, stat_metric.c works out what stands behind the #, stat_print.c prints, stat_only.c only that; stat_live.c counts
 * what happens now, stat_report.c takes counts from a file.
 */
#ifndef CLI_STAT_H
#define CLI_STAT_H

#include "front/cli.h"

#include <perfdata/counter.h>

/* What counts are summed up by; numbers as perf 6.1 writes them into STAT_CONFIG. */
enum stat_by {
	STAT_BY_CPU = 0,
	STAT_GLOBAL = 1,
	STAT_BY_SOCKET = 2,
	STAT_BY_DIE = 3,
	STAT_BY_CORE = 4,
	STAT_BY_THREAD = 5,
	STAT_BY_NODE = 7
};

/* A mean and how far values are from it. */
struct stat_mean {
	double count, mean, squares;
};

void stat_mean_add(struct stat_mean *mean, double value);
/* Of the mean itself. */
double stat_mean_deviation(const struct stat_mean *mean);

/* ---- places ---- */

struct stat_place {
	int node, socket, die, core;
};

/* By number of the CPU. What is not known is 0, and -1 for nodes. */
struct stat_places {
	struct stat_place *items;
	size_t count;
};

bool stat_places_of_machine(struct stat_places *places);
bool stat_places_of_file(struct stat_places *places, struct pd_file *file);
void stat_places_fini(struct stat_places *places);

/* ---- counts ---- */

struct stat_cell {
	uint64_t all[3];    /* value, time enabled, time running, since the begin */
	uint64_t before[3]; /* the same at the end of the last round */
	uint64_t round[3];  /* of the round, scaled */
	bool absent;        /* the event is not counted here, but elsewhere */
};

enum {
	STAT_VALUE,
	STAT_ENABLED,
	STAT_RUNNING
};

struct stat_event {
	const char *name, *unit; /* unit NULL: none */
	const char *cgroup;      /* or NULL */
	struct pd_attr attr;
	double scale;
	bool supported;
	bool snapshot;       /* values are no sums */
	const int32_t *cpus; /* -1: any */
	size_t cpu_count;
	struct stat_cell *cells; /* of each thread, and in that of each CPU */
	uint64_t before[3];      /* of all together */
	struct stat_mean sums[3];
};

struct stat_thread {
	int32_t tid;
	char name[64];
};

/* A mean of values of one kind. */
struct stat_memo {
	unsigned kind, context;
	const char *cgroup;
	struct stat_mean mean;
};

/* Those of one place. */
struct stat_memos {
	struct stat_memo *items;
	size_t count, capacity;
};

struct stat_table {
	struct stat_event *events;
	size_t event_count;
	struct stat_thread *threads;
	size_t thread_count;
	struct stat_places places;
	enum stat_by by;
	bool scale, interval;
	bool all_threads; /* those that did nothing are left out */
	unsigned runs;
	struct stat_mean wall_ns;
	/* stat_metric.c */
	struct stat_memos *memos; /* by slot */
	size_t slot_count;
	bool failed; /* there was no memory */
};

/* Cells of an event, as many as it has CPUs and the table threads. */
bool stat_event_fit(const struct stat_table *table, struct stat_event *event);
struct stat_cell *stat_cell(const struct stat_event *event, size_t thread, size_t cpu);
/* What came since the last round becomes that of the round. again: everything since the begin does. */
void stat_table_round(struct stat_table *table, bool again);
/* Before another run of the command: counts begin anew, means go on. */
void stat_table_restart(struct stat_table *table);
void stat_table_fini(struct stat_table *table);

/* CPUs that are one for the table. */
struct stat_group {
	struct stat_place place;
	size_t slot;
};

/* An event in a group. */
struct stat_sum {
	uint64_t all[3];
	size_t cpus;
	bool missing; /* one of them was not counted: all is 0 */
};

/* The groups in order; the caller frees them. */
struct stat_group *stat_groups(const struct stat_table *table, size_t *count_out);
/* All events in all groups: those of the first group, then those of the next. NULL without memory; the caller frees it. */
struct stat_sum *stat_group_sums(const struct stat_table *table, const struct stat_group *groups, size_t count);

/* ---- metrics ---- */

struct stat_metric {
	const char *format; /* of the value; NULL: there is none */
	double value;
	char unit[40]; /* "": none */
};

enum {
	STAT_METRICS_MOST = 2
};

/* Notes a value for the metrics of all events. */
void stat_metric_note(struct stat_table *table, const struct stat_event *event, double value, size_t slot);
void stat_metrics_forget(struct stat_table *table);
/* Metrics of an event; returns how many lines they are, at least 1. */
size_t stat_metrics(const struct stat_table *table, const struct stat_event *event, double value, size_t slot,
		    struct stat_metric metrics[STAT_METRICS_MOST]);

/* ---- printing ---- */

struct stat_printer {
	struct pd_text *text;
	const char *separator; /* of CSV, or NULL */
	bool json;
	bool big_numbers;
	bool table;            /* of single runs */
	bool summary_word;     /* "summary" in front of lines of CSV */
	struct pd_text *title; /* "'ls -l'", "process id '1'" */
	double *run_seconds;
	size_t run_count;
	bool has_usage;
	double user_seconds, system_seconds;
	unsigned rounds; /* printed so far */
	/* stat_only.c */
	bool metric_only;
	struct stat_metric *columns; /* so far */
	bool told_nothing;           /* that there is no metric */
};

void stat_printer_fini(struct stat_printer *printer);

/* A round of an interval. */
void stat_print_round(struct stat_printer *printer, struct stat_table *table, uint64_t time_ns);
/* All, with title and times. */
void stat_print_all(struct stat_printer *printer, struct stat_table *table);

/* ---- the command ---- */

struct stat_by_values {
	bool core, die, socket, node, no_aggregation;
};

#define STAT_METRIC_ONLY_OPTION(type, m)                                 \
	{                                                                \
		"metric-only", 0, OPTION_FLAG, NULL, offsetof(type, m),  \
			"print only metrics, one line per CPU, core ..." \
	}

#define STAT_BY_OPTIONS(type, m)                                                                           \
	{ "per-core", 0, OPTION_FLAG, NULL, offsetof(type, m.core), "counts of each core" },               \
		{ "per-die", 0, OPTION_FLAG, NULL, offsetof(type, m.die), "counts of each die" },          \
		{ "per-socket", 0, OPTION_FLAG, NULL, offsetof(type, m.socket), "counts of each socket" }, \
		{ "per-node", 0, OPTION_FLAG, NULL, offsetof(type, m.node), "counts of each NUMA node" },  \
	{                                                                                                  \
		"no-aggr", 'A', OPTION_FLAG, NULL, offsetof(type, m.no_aggregation), "counts of each CPU"  \
	}

/* False if nothing was given. */
bool stat_by_given(const struct stat_by_values *values, enum stat_by *by_out);

struct stat_report_options {
	const char *path;
	const struct stat_by_values *by;
	const char *separator;
	bool json, quiet, metric_only;
};

int stat_report(const struct stat_report_options *options, const struct call *call);

#endif

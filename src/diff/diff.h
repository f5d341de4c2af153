/* SPDX-License-Identifier: MIT */
/*
 * The inside of struct pd_diff: copies of what the reports of all runs have, so that files and reports can be closed one after
 * another. A row is a number, which is the same in all runs of an event.
 */
#ifndef PD_DIFF_DIFF_H
#define PD_DIFF_DIFF_H

#include <perfdata/diff.h>

#include "base/lookup/hash.h"
#include "base/memory.h"

struct key;

/* What an event of a run has, by row: rows that came later are not in it. */
struct run_sums {
	struct pd_diff_sum *items;
	size_t count, capacity;
	struct pd_diff_sum total; /* not present: the run lacks the event */
};

struct diff_row {
	const char **cells;   /* by sort key, as they are printed */
	const char *identity; /* what rows of other runs must have in common with it */
	size_t identity_length;
	size_t run;    /* that had it first */
	uint64_t addr; /* of what is in no function: the smallest that this run has of it, in the order of perf */
};

struct diff_event {
	struct pd_diff_event head;
	uint32_t type;
	uint64_t config;
	struct diff_row *rows;
	size_t row_count, row_capacity;
	struct pd_index index; /* of rows, by a hash of the identity */
	struct run_sums *runs; /* by run of the comparison */
	uint32_t *order;       /* rows as they are printed, once all is known */
	uint64_t baseline;     /* period of the first run in the rows that are printed */
};

struct diff_run {
	size_t side;
	const char *name;
};

struct pd_diff {
	struct pd_diff_options options;
	const struct key *keys[PD_REPORT_KEYS_MAX];
	bool elided[PD_REPORT_KEYS_MAX]; /* all rows have the same value */
	size_t key_count;
	bool wide_unknown; /* perf leaves room for an address where an object is not known */
	struct diff_event *events;
	size_t event_count;
	struct diff_run *runs;
	size_t run_count, run_capacity;
	size_t side_count;
	uint64_t seed;
	bool finished;
	struct pd_arena texts;
	struct pd_text *scratch;
};

/* ---- runs.c ---- */

enum pd_status pd_diff_no_memory(struct pd_error *error);

/* Index of the run-th run of a side, or SIZE_MAX. */
size_t pd_diff_run_at(const struct pd_diff *diff, size_t side, size_t run);

static inline struct pd_diff_sum run_sum(const struct diff_event *event, size_t run, size_t row)
{
	const struct run_sums *sums = &event->runs[run];

	return row < sums->count ? sums->items[row] : (struct pd_diff_sum){ 0 };
}

static inline double diff_percent(uint64_t period, uint64_t total)
{
	return total ? (double)period * 100.0 / (double)total : 0;
}

/* ---- collect.c ---- */

/* Takes the events of the first run. False if there is no memory. */
bool pd_diff_take_events(struct pd_diff *diff, struct pd_file *file);
/* Takes the rows of a run that was added last. False if there is no memory. */
bool pd_diff_take_rows(struct pd_diff *diff, struct pd_file *file, const struct pd_report *report);

/* ---- order.c ---- */

/* Chooses the rows of an event that are printed, and sorts them. False if there is no memory. */
bool pd_diff_sort(const struct pd_diff *diff, struct diff_event *event);
/* What is computed of a row: number for ratio and delta, whole for weighted differences. */
struct diff_value {
	double number;
	int64_t whole;
};
struct diff_value pd_diff_value(const struct pd_diff *diff, const struct diff_event *event, size_t row, size_t run);

#endif

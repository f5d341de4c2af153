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
struct pd_blocks;
struct row;

/* What an event of a run has, by row: rows that came later are not in it. */
struct run_sums {
	struct pd_diff_sum *items;
	size_t count, capacity;
	struct pd_diff_sum total; /* not present: the run lacks the event */
	double effective;         /* samples of equal periods that would tell as much */
};

/* Blocks of code that end at one branch; addresses count from the start of the function. */
struct diff_block {
	uint64_t start, end;
	int64_t average;   /* cycles */
	const char *range; /* as it is shown */
};

/* What a run has in a row, by end: one for each function of the row. */
struct row_blocks {
	struct row_blocks *next;
	size_t run, count;
	struct diff_block *items;
};

struct block_pair {
	const char *range;
	uint64_t end;
	int64_t difference; /* of cycles */
};

/* Where a function begins in the source. */
struct diff_place {
	const char *file; /* without folders, or NULL */
	uint32_t line;
};

struct diff_row {
	const char **cells;   /* by sort key, as they are printed */
	const char *identity; /* what rows of other runs must have in common with it */
	size_t identity_length;
	size_t run;    /* that had it first */
	uint64_t addr; /* of what is in no function: the smallest that this run has of it, in the order of perf */
	uint32_t next_joined;        /* row + 1 that is joined with it */
	bool joined;                 /* with another one, which stands for both */
	struct diff_place places[2]; /* in the baseline, and in other sides */
	const char *inlined_into;    /* a function that a run has, where this one is not; or NULL */
	struct row_blocks *blocks;   /* for PD_DIFF_CYCLES */
};

struct diff_event {
	struct pd_diff_event head;
	uint32_t type;
	uint64_t config;
	struct diff_row *rows;
	size_t row_count, row_capacity;
	struct pd_index index;          /* of rows, by a hash of the identity */
	struct run_sums *runs;          /* by run of the comparison */
	uint32_t *order;                /* rows as they are printed, once all is known */
	struct pd_diff_change *changes; /* by side - 1 and row; NULL without ratings */
	size_t *tested;                 /* rows, by side - 1 */
	uint64_t sampling;              /* period or frequency of the first run */
	bool frequency;
	enum pd_unit unit;
	struct pd_diff_change *totals; /* by side - 1, with amounts */
	uint64_t baseline;             /* period of the first run in the rows that are printed */
};

struct diff_run {
	size_t side;
	const char *name;
	uint64_t first_ns, last_ns; /* of its samples */
	bool copy;                  /* of an earlier run of its side: that one says as much */
	double divisor;             /* of its amounts */
};

/* What amounts are divided by. */
enum diff_per {
	PER_NOTHING, /* shares are compared */
	PER_RUN,
	PER_SECOND,
	PER_NUMBER, /* a given one for each side */
	PER_EVENT   /* the count of an event */
};

/* What makes runs hard to compare if it differs. Strings are copies, or NULL where a recording does not say. */
struct run_facts {
	const char *cpu;
	const char *command; /* words of the recorder's command line, without folders and the name of the output */
	uint32_t cpus;
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
	enum diff_per per;
	const char *per_word; /* as it was given */
	char **warnings;      /* of texts */
	size_t warning_count, warning_capacity;
	struct run_facts *facts; /* of the first run */
	struct pd_arena texts;
	struct pd_text *scratch;
	struct pd_blocks *blocks; /* of the run that is added, for PD_DIFF_CYCLES */
};

/* ---- runs.c ---- */

/* The event of a file that is compared: as perf, the first one of equal type and configuration. Or NULL. */
const struct pd_event *pd_diff_event_like(struct pd_file *file, const struct diff_event *event);
/* Runs of a side that are no copies of others of it. */
size_t pd_diff_own_runs(const struct pd_diff *diff, size_t side);
/* Whether two runs have the same samples, as far as rows show. */
bool pd_diff_is_copy(const struct pd_diff *diff, size_t run, size_t other);
/* The function that a row is of, if functions are a key; or NULL. */
const struct pd_function *pd_diff_function_of(const struct pd_diff *diff, const struct pd_report *report,
					      const struct row *row);
/* How calls that print end: as pd_diff_text. */
enum pd_status pd_diff_end(struct pd_text *text, struct pd_error *error);
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

/* ---- comparable.c ---- */

/* Warns of what differs between the run that was added last and the first one. False if there is no memory. */
bool pd_diff_check_run(struct pd_diff *diff, struct pd_file *file, const struct pd_profile_losses *losses);

/* The same for a run that was saved, which says nothing of losses. */
bool pd_diff_check_facts(struct pd_diff *diff, const struct run_facts *facts);
/* Warns of an event of the run that was added last which is sampled in another way. */
bool pd_diff_check_sampling(struct pd_diff *diff, const struct diff_event *event, bool frequency, uint64_t sampling);

/* ---- diff.c ---- */

/* Adds a run without rows to a side, as pd_diff_add. */
enum pd_status pd_diff_begin_run(struct pd_diff *diff, size_t side, const char *name, struct pd_error *error);

/* ---- names.c ---- */

/* Appends the name of a function without what compilers and linkers add to it: suffixes of parts and copies, hashes, versions,
 * numbers of closures. */
void pd_diff_plain_function(struct pd_text *out, const char *name);
/* The same for an object: versions and hashes in its name. */
void pd_diff_plain_object(struct pd_text *out, const char *name);

/* ---- join.c ---- */

/* Joins rows with equal plain names, unless each is in all sides. False if there is no memory. */
bool pd_diff_join(struct pd_diff *diff, struct diff_event *event);
/* Adds a row to another one, which has a smaller number. */
void pd_diff_join_rows(const struct pd_diff *diff, struct diff_event *event, uint32_t first, uint32_t row);

/* ---- places.c ---- */

/* Notes where the function of a row is, which may be NULL, in the run that was added last. False if there is no memory. */
bool pd_diff_take_place(struct pd_diff *diff, struct diff_event *event, uint32_t number, const struct pd_report *report,
			const struct pd_function *function);
/* Joins functions of other names at the same place of the source, once those of plain names are. False if there is no memory. */
bool pd_diff_join_places(struct pd_diff *diff, struct diff_event *event);

/* ---- inlined.c ---- */

/* Looks for functions that the run that was added last lacks among those inlined into what it has. False if there is no
 * memory. */
bool pd_diff_find_inlined(struct pd_diff *diff, const struct diff_event *event, const struct pd_report *report,
			  size_t table);

/* ---- per.c ---- */

enum {
	AMOUNT_BYTES = 32
};
/* What amounts are of, as options say it. */
enum pd_status pd_diff_take_per(struct pd_diff *diff, const char *word, struct pd_error *error);
/* Sets the divisor of the run that was added last. */
enum pd_status pd_diff_divide_run(struct pd_diff *diff, struct pd_error *error);
/* What amounts are of: "run", "second", "operation", or the name of an event. */
const char *pd_diff_per_words(const struct pd_diff *diff);
/* "12.34 ms", "1.234 M" */
void pd_diff_amount(char out[AMOUNT_BYTES], enum pd_unit unit, double amount);

/* ---- ratings.c ---- */

/* Tests the rows of an event, before they are sorted. False if there is no memory. */
bool pd_diff_test(const struct pd_diff *diff, struct diff_event *event);

/* ---- collect.c ---- */

/* Takes the events of the first run. False if there is no memory. */
bool pd_diff_take_events(struct pd_diff *diff, struct pd_file *file);
/* The row of an identity, which is in scratch, or a new one. False if there is no memory. */
bool pd_diff_find_row(struct pd_diff *diff, struct diff_event *event, uint32_t *number_out);
/* Adds to what a run has of a row. False if there is no memory. */
bool pd_diff_add_sum(struct diff_event *event, size_t run, uint32_t row, uint64_t period, uint64_t samples);
/* Takes the rows of a run that was added last. False if there is no memory. */
bool pd_diff_take_rows(struct pd_diff *diff, struct pd_file *file, const struct pd_report *report);

/* ---- cycles.c ---- */

/* Reads the branch stacks of a run, if these are compared. */
enum pd_status pd_diff_read_blocks(struct pd_diff *diff, struct pd_file *file, const struct pd_report *report,
				   struct pd_error *error);
/* Takes blocks of a function, which may be NULL, into a row. False if there is no memory. */
bool pd_diff_take_blocks(struct pd_diff *diff, struct diff_row *row, const struct pd_report *report,
			 const struct pd_function *function);
/* Blocks that both the baseline and a run have, the largest difference first. The array is the caller's. False if there is no
 * memory. */
bool pd_diff_pair_blocks(const struct diff_row *row, size_t run, struct block_pair **pairs_out, size_t *count_out);

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

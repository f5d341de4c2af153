/* SPDX-License-Identifier: MIT */
/**
 * diff.h - compares recordings: what perf diff shows, as data and as text.
 *
 * Every recording is added as a report of its own, and may be closed after that. Recordings are runs of a side; side 0 is the
 * baseline, which every other side is compared with. Rows agree in all sort keys; functions by name, not by address.
 *
 * Threads: one at a time for each comparison.
 *
 * Example:
 *
 *	const struct pd_diff_options options = { .size = sizeof(options) };
 *	struct pd_report_options how = { .size = sizeof(how) };
 *	struct pd_file *files[] = { file, other };
 *	struct pd_report *report;
 *	struct pd_diff *diff;
 *
 *	if (pd_diff_new(&options, &diff, &error) == PD_OK) {
 *		pd_diff_ask(diff, &how);
 *		for (size_t i = 0; i < 2; i++) {
 *			if (pd_report_read(files[i], &how, NULL, &report, &error) < 0)
 *				break;
 *			pd_diff_add(diff, i, pd_file_name(files[i]), files[i], report, &error);
 *			pd_report_free(report);
 *		}
 *		if (pd_diff_finish(diff, &error) == PD_OK)
 *			pd_diff_text(diff, NULL, text, &error);
 *		pd_diff_free(diff);
 *	}
 */
#ifndef PERFDATA_DIFF_H
#define PERFDATA_DIFF_H

#include <perfdata/report.h>

#ifdef __cplusplus
extern "C" {
#endif

/** What is computed of two sides, by the names that perf gives it. */
enum pd_diff_method {
	PD_DIFF_DELTA_ABS, /* difference of shares, the largest first */
	PD_DIFF_DELTA,     /* the same, sorted with its sign */
	PD_DIFF_RATIO,     /* of periods */
	PD_DIFF_WDIFF,     /* difference of periods, each with a weight */
	PD_DIFF_CYCLES     /* difference of cycles of basic blocks, which branch stacks tell */
};

/** Zero is the default for each member; NULL means all defaults. */
struct pd_diff_options {
	size_t size; /* sizeof(struct pd_diff_options); 0 is PD_ERROR_ARGUMENT */
	enum pd_diff_method method;
	int64_t old_weight, new_weight; /* of PD_DIFF_WDIFF */
	size_t order;                   /* rows are sorted by what is computed of this side; 0: 1 */
	bool by_baseline;               /* rows are sorted by their share in the baseline */
	bool baseline_only;             /* rows of both sides only */
	bool ratings;                   /* rows are tested: pd_diff_change; sorted by rating */
	/* Rows of one side only are joined if names differ in what compilers add, or if they are at one place of the source. */
	bool join_names;
	/* Assumed relative variation of a share between runs, where a side has a single one; 0: 0.05. Negative: none. */
	double variation;
	/* A change is real if it is at least so much of the row, and of all; 0: 0.02 and 0.001. Negative: none. */
	double least_of_row, least_of_all;
	/* NULL: changes are those of shares. Else of amounts: periods of a run ("run", where all runs do the same work), by its seconds
	 * from the first sample to the last ("wall"), by a number of operations ("1000", or one for each side, "1000,1200"), or by the
	 * count of an event of the recordings (its name). Copied. */
	const char *per;
};

/** Sets the method that a word as of perf diff -c names: delta, delta-abs, ratio, cycles or wdiff:OLD,NEW. Errors:
 * PD_ERROR_ARGUMENT. */
PD_API enum pd_status pd_diff_method_parse(const char *word, struct pd_diff_options *options, struct pd_error *error);

struct pd_diff;

/** A comparison without recordings. Errors: PD_ERROR_ARGUMENT, PD_ERROR_MEMORY. */
PD_API enum pd_status pd_diff_new(const struct pd_diff_options *options, struct pd_diff **diff_out,
				  struct pd_error *error);
/** NULL is ignored. */
PD_API void pd_diff_free(struct pd_diff *diff);
/** Sets what the reports of all recordings need: no callers, a table for each event, and sort keys if none are chosen. */
PD_API void pd_diff_ask(const struct pd_diff *diff, struct pd_report_options *options);
/** Adds a recording as the next run of a side. The first one must be of side 0, and a side may begin once the one before
 * has a run. report must be built, with the same sort keys for all; file, report and name need not outlive the call. Errors:
 * PD_ERROR_ARGUMENT, also if there is nothing to divide amounts by, or no branch stack for PD_DIFF_CYCLES; PD_ERROR_MEMORY. */
PD_API enum pd_status pd_diff_add(struct pd_diff *diff, size_t side, const char *name, struct pd_file *file,
				  const struct pd_report *report, struct pd_error *error);
/** Appends all runs of the baseline as a small text with sums for each run, which can be added in place of the recordings.
 * Before pd_diff_finish. Errors: PD_ERROR_ARGUMENT if there are none, PD_ERROR_MEMORY. */
PD_API enum pd_status pd_diff_save(const struct pd_diff *diff, struct pd_text *text, struct pd_error *error);
/** Whether a file begins as a saved one does. False if it cannot be read. */
PD_API bool pd_diff_is_saved(const char *path);
/** Adds all runs of a saved file to a side, with the rules of pd_diff_add. After an error nothing else can be added. Errors:
 * PD_ERROR_SYSTEM if it cannot be read, PD_ERROR_FORMAT if it is no saved file or one of a later version, PD_ERROR_ARGUMENT if its
 * sort keys are others or for PD_DIFF_CYCLES, PD_ERROR_MEMORY. */
PD_API enum pd_status pd_diff_add_saved(struct pd_diff *diff, size_t side, const char *path, struct pd_error *error);
/** Sorts the rows, once all recordings are added. Errors: PD_ERROR_ARGUMENT if there are less than two sides, or order is
 * none of them; PD_ERROR_MEMORY. */
PD_API enum pd_status pd_diff_finish(struct pd_diff *diff, struct pd_error *error);

/* ---- results ---- */

/** Number of sides, and of runs of a side. */
PD_API size_t pd_diff_side_count(const struct pd_diff *diff);
PD_API size_t pd_diff_run_count(const struct pd_diff *diff, size_t side);

/** An event of the first recording. */
struct pd_diff_event {
	const char *name;
	size_t row_count;
};
/** The index-th event, or NULL past the end. Valid as long as the comparison. */
PD_API const struct pd_diff_event *pd_diff_event(const struct pd_diff *diff, size_t index);

/** What a run has of a row. */
struct pd_diff_sum {
	uint64_t period, samples;
	bool present; /* the run has the row */
};
/** Sums of the row-th row as sorted, in the run-th run of a side; false past the end. */
PD_API bool pd_diff_sum(const struct pd_diff *diff, size_t event, size_t row, size_t side, size_t run,
			struct pd_diff_sum *sum_out);
/** Sums of all rows of a run; false past the end. */
PD_API bool pd_diff_total(const struct pd_diff *diff, size_t event, size_t side, size_t run,
			  struct pd_diff_sum *total_out);
/** What a row has for the key-th sort key; NULL past the end. Valid as long as the comparison. */
PD_API const char *pd_diff_cell(const struct pd_diff *diff, size_t event, size_t row, size_t key);

/* ---- ratings ---- */

/** Whether a change is more than what differs from run to run. */
enum pd_diff_rating {
	PD_DIFF_UNTESTED, /* fewer than 10 samples, or under half of least_of_all */
	PD_DIFF_NOISE,
	PD_DIFF_MAYBE,
	PD_DIFF_REAL /* never with a single run on a side */
};

/** The change of a row between the baseline and a side. Shares and their differences are of 1. */
struct pd_diff_change {
	double old_share, new_share, change;
	double low, high; /* 95 % interval of change */
	double p, q;      /* of the test, and adjusted for the number of rows tested (Benjamini-Hochberg) */
	enum pd_diff_rating rating;
	size_t runs_needed; /* of each side, to decide if the change stays as it is; 0: decided, or more than 999 */
	size_t because;     /* row whose change explains that this share moved the other way, or SIZE_MAX */
	/* With pd_diff_options.per: geometric means of the runs, in the unit of the event; shares are those of the old total then.
	 * Else 0. */
	double old_amount, new_amount;
};
/** Errors are a false: past the end, side 0, or pd_diff_options.ratings was not set. */
PD_API bool pd_diff_change(const struct pd_diff *diff, size_t event, size_t row, size_t side,
			   struct pd_diff_change *change_out);
/** The same of the sum of all rows, if pd_diff_options.per was set. */
PD_API bool pd_diff_total_change(const struct pd_diff *diff, size_t event, size_t side,
				 struct pd_diff_change *change_out);
/** Number of rows of an event that were tested against a side. */
PD_API size_t pd_diff_tested(const struct pd_diff *diff, size_t event, size_t side);
/** "real", "maybe", "noise", or "-" for PD_DIFF_UNTESTED. Never NULL. */
PD_API const char *pd_diff_rating_name(enum pd_diff_rating rating);
/** A name of another row that was joined with this one, the index-th; NULL past the end. */
PD_API const char *pd_diff_joined(const struct pd_diff *diff, size_t event, size_t row, size_t index);
/** The function that the code of a row is inlined into in the other sides, where the row has no samples; NULL if that is not known. With
 * pd_diff_options.join_names. Valid as long as the comparison. */
PD_API const char *pd_diff_inlined_into(const struct pd_diff *diff, size_t event, size_t row);
/** The index-th sentence about what makes the recordings incomparable, or NULL past the end. Valid as long as the comparison. */
PD_API const char *pd_diff_warning(const struct pd_diff *diff, size_t index);

/* ---- as text ---- */

/** Zero is the default for each member; NULL means all defaults. */
struct pd_diff_text_options {
	size_t size;       /* sizeof(struct pd_diff_text_options) */
	bool quiet;        /* rows only */
	bool show_period;  /* columns with periods */
	bool show_formula; /* columns with what is computed of which numbers */
	bool escape;       /* control characters, for terminals */
	char separator;    /* of columns, instead of blanks; 0: none */
};

/** Tables of all events, as perf diff prints them, of the first run of each side. Appends to text, and writes it out
 * (pd_text_flush_large). Errors: PD_ERROR_MEMORY; PD_ERROR_OUTPUT if writing failed. */
PD_API enum pd_status pd_diff_text(const struct pd_diff *diff, const struct pd_diff_text_options *options,
				   struct pd_text *text, struct pd_error *error);

/** Tables with ratings: one for each event and side, of the rows that were tested. Options: quiet and escape are used. Errors: as
 * pd_diff_text; PD_ERROR_ARGUMENT without pd_diff_options.ratings. */
PD_API enum pd_status pd_diff_rating_text(const struct pd_diff *diff, const struct pd_diff_text_options *options,
					  struct pd_text *text, struct pd_error *error);

/** All tables as an object with members warnings and tables; the same as Markdown, without the rows that are noise. Both need
 * pd_diff_options.ratings. Errors: as pd_diff_rating_text. */
PD_API enum pd_status pd_diff_json(const struct pd_diff *diff, struct pd_text *text, struct pd_error *error);
PD_API enum pd_status pd_diff_markdown(const struct pd_diff *diff, struct pd_text *text, struct pd_error *error);

/* ---- conditions ---- */

/** A condition on changes: terms joined by "and". A term is real (or significant), maybe (or real), or a comparison of change (or
 * self), growth, old or new with a number of percent: change in points, growth in percent of the old share. */
struct pd_diff_gate;
/** Errors: PD_ERROR_ARGUMENT if it cannot be parsed; PD_ERROR_MEMORY. */
PD_API enum pd_status pd_diff_gate_new(const char *condition, struct pd_diff_gate **gate_out, struct pd_error *error);
/** NULL is ignored. */
PD_API void pd_diff_gate_free(struct pd_diff_gate *gate);
/** Whether a change meets the condition; never one that was not tested. */
PD_API bool pd_diff_gate_holds(const struct pd_diff_gate *gate, const struct pd_diff_change *change);
/** Whether it can never hold with a single run on a side. */
PD_API bool pd_diff_gate_needs_runs(const struct pd_diff_gate *gate);
/** Whether it can never hold for these recordings, as a side has a single run. */
PD_API bool pd_diff_gate_lacks_runs(const struct pd_diff *diff, const struct pd_diff_gate *gate);
/** Adds a list of accepted changes: a line for each, a pattern (as of shells) for the text of a sort key, such as the name of
 * a function; behind it " <= 12%" for the growth, in percent of the old share, up to which it is accepted. Lines that begin with
 * # are comments. Errors: PD_ERROR_SYSTEM, PD_ERROR_ARGUMENT, PD_ERROR_MEMORY. */
PD_API enum pd_status pd_diff_gate_accept(struct pd_diff_gate *gate, const char *path, struct pd_error *error);

/** What a condition says of a row. */
enum pd_diff_outcome {
	PD_DIFF_PASSES,
	PD_DIFF_ACCEPTED, /* the condition holds, but the change is on the list */
	PD_DIFF_FAILS
};
/** Of the row-th row as sorted; PD_DIFF_PASSES past the end. */
PD_API enum pd_diff_outcome pd_diff_gate_outcome(const struct pd_diff *diff, const struct pd_diff_gate *gate,
						 size_t event, size_t row, size_t side);
/** Adds a line for each row that meets the condition, that fails or is accepted, and returns how many fail. text may be NULL. */
PD_API size_t pd_diff_gate_text(const struct pd_diff *diff, const struct pd_diff_gate *gate, struct pd_text *text);
/** All rows that were tested as test results in XML, as JUnit writes them: one test for each row. Errors: as
 * pd_diff_rating_text. */
PD_API enum pd_status pd_diff_junit(const struct pd_diff *diff, const struct pd_diff_gate *gate, struct pd_text *text,
				    struct pd_error *error);

#ifdef __cplusplus
}
#endif
#endif

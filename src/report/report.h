/* SPDX-License-Identifier: MIT */
/*
 * The inside of struct pd_report: the caller's options, the plan made of them, the result, and scratch memory. Values of
 * sort keys are small numbers that stand for strings, in the order of the strings once all are known.
 */
#ifndef PD_REPORT_REPORT_H
#define PD_REPORT_REPORT_H

#include <regex.h>

#include <perfdata/report.h>
#include <perfdata/trace.h>

#include "base/memory.h"
#include "report/keys/values.h"

struct field_key;
struct pd_json;
struct pd_types;
struct row;

/* ---- columns ---- */

enum column_kind {
	COLUMN_OVERHEAD,
	COLUMN_CHILDREN,
	COLUMN_LATENCY,
	COLUMN_LATENCY_CHILDREN,
	COLUMN_KERNEL, /* of the overhead, what was in the kernel */
	COLUMN_USER,
	COLUMN_SAMPLES,
	COLUMN_PERIOD,
	COLUMN_MEAN, /* of the periods of samples, as all up to COLUMN_MAX */
	COLUMN_P50,  /* so many percent are not larger */
	COLUMN_P95,
	COLUMN_P99,
	COLUMN_MAX,
	COLUMN_WEIGHT1, /* means of what samples cost, as all up to COLUMN_WEIGHT3 */
	COLUMN_WEIGHT2,
	COLUMN_WEIGHT3,
	COLUMN_OP, /* shares by what was accessed, as all up to COLUMN_DTLB: each has several numbers, see accesses.c */
	COLUMN_CACHE,
	COLUMN_MEMORY,
	COLUMN_SNOOP,
	COLUMN_DTLB,
	COLUMN_KEY
};

/* Of the samples of a row and an event: p50, p95, p99 and the largest, by COLUMN_P50 ... COLUMN_MAX. */
enum {
	COLUMN_PERCENTILES = COLUMN_MAX - COLUMN_P50 + 1
};
struct percentiles {
	uint64_t periods[COLUMN_PERCENTILES];
};

/* Of the samples of a row and an event: sums of what they cost, and periods by what they accessed. */
enum {
	COLUMN_WEIGHTS = COLUMN_WEIGHT3 - COLUMN_WEIGHT1 + 1,
	COLUMN_ACCESSES = COLUMN_DTLB - COLUMN_OP + 1,
	ACCESS_PARTS_MAX = 7
};
struct accesses {
	uint64_t weights[COLUMN_WEIGHTS];
	uint64_t periods[COLUMN_ACCESSES][ACCESS_PARTS_MAX];
};

struct column {
	enum column_kind kind;
	size_t key;   /* of report->keys */
	bool elided;  /* all rows have the same value, which is printed above the table */
	size_t level; /* keys of one level of a hierarchy have the same */
	bool implied; /* overhead that was added next to COLUMN_CHILDREN, not requested by name */
};

struct column_list {
	struct column items[PD_REPORT_COLUMNS_MAX];
	size_t count;
};

/* ---- rows ---- */

struct row {
	uint32_t who, place; /* value sets: of the keys that do not depend on frames, and of those that do */
	struct pd_report_amounts *amounts; /* by event of the table */
	size_t first_link;                 /* the chains of its graph */
	uint32_t link_count;               /* a chain of an entry is there once */
	uint32_t depth;                    /* frames of the longest of them */
};

/* A chain that belongs into the graph of a row. */
struct link {
	uint32_t row;
	uint32_t entry;
	uint32_t from; /* first caller that counts; WHOLE_CHAIN: the row is where the sample was */
};

#define WHOLE_CHAIN UINT32_MAX
#define NO_FRAME UINT32_MAX

/* The call chain of an entry and what it weighs. */
struct chain {
	const uint32_t *callers;
	size_t caller_count;
	bool truncated; /* there are more callers, which are not known */
	uint64_t period, samples;
	const struct pd_passed_branch *branches; /* that are among the callers */
	size_t first_branch, branch_count;       /* the first caller, and two for each branch */
};

struct table {
	struct pd_report_table head;
	char *name;
	uint64_t *totals, *samples; /* those of head */
	uint64_t *latencies;
	struct row *rows;                                    /* in the order in which they are shown */
	struct pd_report_amounts *amounts;                   /* of all rows */
	struct percentiles *percentiles;                     /* the same, if a column asks for them; else NULL */
	struct accesses *accesses;                           /* the same of what they cost and accessed */
	bool parts_shown[COLUMN_ACCESSES][ACCESS_PARTS_MAX]; /* some row has it */
	struct link *links;                                  /* by row */
	size_t widths[PD_REPORT_COLUMNS_MAX];
};

/* What is asked of a frame most often. */
enum frame_flags {
	FRAME_LEVEL = 7,  /* mask: PD_CPUMODE_... */
	FRAME_OBJECT = 8, /* it is in one */
	FRAME_FUNCTION = 16,
	FRAME_OWN_OBJECT = 32, /* its function is one of its object */
	FRAME_REQUESTED = 64,  /* its place passes the filters */
	FRAME_VISITED = 128    /* for passes over the frames */
};

/* Only valid while a report is built or printed. */
struct scratch {
	struct pd_text *text;
	size_t first_event; /* of the table that is built */
	uint8_t *flags;     /* by frame: enum frame_flags */
	uint32_t *clones;   /* by frame: the first one of its function, or itself */
	uint32_t merged;    /* the frame that stands for callers that have rows of their own, or NO_FRAME */
	uint32_t *places;   /* by frame: number of its value set + 1 */
	char **lines;       /* by frame: what follows the name in graphs by address, or NULL */
	struct pd_arena line_texts;
	uint8_t *matches;        /* by frame, see rows/parents.c; NULL: no patterns are looked for */
	struct pd_stack *stacks; /* those of the profile without callees that are ignored; NULL: none are */
	struct chain *chains;    /* by entry */
	uint32_t truncated;      /* for graphs: what stands for callers that are not known; no number of a frame */
	uint32_t *known;         /* for graphs made one at a time, see print/graph_tree.c */
};

struct pd_report {
	struct pd_report_options options;
	/* the plan */
	struct pd_file *planned_for;            /* or NULL */
	bool children, by_branch, symbol_first; /* -s begins with a function */
	bool branch_notes;                      /* graphs say what is known of branches */
	bool percentiles;                       /* there are columns of them */
	bool accesses;                          /* the same of weights, and of what was accessed */
	bool by_latency;                        /* a column shows it */
	bool implied_latency;                   /* the file asks for it */
	bool named_latency;                     /* a list of columns or keys does */
	struct pd_report_graph graph;
	const struct key *keys[PD_REPORT_KEYS_MAX];
	size_t key_count;
	struct field_key *fields; /* those of them that are fields of tracepoints */
	size_t field_count;
	struct pd_arena field_texts;
	struct pd_trace *trace; /* once a key asked for it */
	struct pd_types *types; /* the same */
	size_t symbol_key;      /* for options.symbol_part */
	regex_t parent, ignored;
	bool has_parent, has_ignored; /* whether these are looked for */
	struct column_list columns;
	char *sort_text;                        /* of mem_mode: what rows are sorted by, as perf names it */
	struct column_list order;               /* rows are sorted by these */
	const char *elided[PD_REPORT_KEYS_MAX]; /* by key: the only name that passes the filters */
	/* what it is built of */
	struct pd_file *file;
	const struct pd_profile *profile;
	struct pd_symbols *symbols;
	/* made by pd_report_read */
	struct pd_profile *own_profile;
	struct pd_symbols *own_symbols;
	/* the result */
	struct table *tables;
	size_t table_count;
	struct value_table values[PD_REPORT_KEYS_MAX];
	struct value_sets whos, places;   /* values that do not depend on frames, and those that do */
	struct pd_report_quality quality; /* of the entries of all tables, without losses */
	struct scratch scratch;
	/* of the call that prints */
	struct pd_report_text_options print;
	struct pd_text *out;
};

/* The value of a row. */
static inline uint32_t row_value(const struct pd_report *report, const struct row *row, size_t key)
{
	return report->keys[key]->of_frame ? report->places.values[row->place * report->key_count + key] :
					     report->whos.values[row->who * report->key_count + key];
}

/* PD_BY_... that the keys need. */
static inline uint32_t report_by(const struct pd_report *report)
{
	uint32_t by = 0;

	const uint32_t own = report->percentiles && !report->by_branch ? PD_BY_PERIOD : 0;

	for (size_t i = 0; i < report->key_count; i++)
		by |= report->keys[i]->head.by & (report->by_branch ? PD_BY_PARALLELISM : UINT32_MAX);
	return by | own | (report->accesses && !report->by_branch ? PD_BY_WEIGHT | PD_BY_ACCESS : 0) |
	       (report->by_latency ? PD_BY_PARALLELISM : 0);
}

static inline bool has_graphs(const struct pd_report *report)
{
	return report->graph.kind != PD_REPORT_GRAPH_NONE;
}

enum pd_status pd_report_no_memory(struct pd_error *error);

/* Of the profile, unless callees are ignored. */
static inline const struct pd_stack *report_stack(const struct pd_report *report, size_t number)
{
	return report->scratch.stacks ? &report->scratch.stacks[number] : pd_profile_stack(report->profile, number);
}

/* ---- amounts.c ---- */

/* What an entry has of the wall time. */
static inline uint64_t entry_latency(const struct pd_profile_entry *entry)
{
	return entry->parallelism ? entry->period * PD_LATENCY_UNIT / entry->parallelism : 0;
}

/* Whether columns count what was called, and wall time. */
static inline bool counts_children(enum column_kind kind)
{
	return kind == COLUMN_CHILDREN || kind == COLUMN_LATENCY_CHILDREN;
}

static inline bool counts_latency(enum column_kind kind)
{
	return kind == COLUMN_LATENCY || kind == COLUMN_LATENCY_CHILDREN;
}

/* What 100 % of a column are. */
static inline uint64_t column_total(const struct table *table, enum column_kind kind, size_t event)
{
	return counts_latency(kind) ? table->latencies[event] : table->totals[event];
}

/* The sum of periods that a column shows. */
uint64_t pd_amounts_period(const struct pd_report_amounts *amounts, enum column_kind kind);
/* The number that a column shows of a row and an event; not of COLUMN_KEY. */
uint64_t pd_row_number(const struct table *table, const struct row *row, size_t event, enum column_kind kind);
/* Whether a column of numbers is of shares of the whole. */
bool pd_column_is_share(enum column_kind kind);
/* The same as it is shown. */
double pd_row_mean_weight(const struct table *table, const struct row *row, size_t event, enum column_kind kind);
/* Adds the amounts of count events. */
void pd_amounts_add(struct pd_report_amounts *sum, const struct pd_report_amounts *more, size_t count);
double pd_percent(uint64_t part, uint64_t whole);
/* What decides whether a row is too small: with everything called, if callers have rows of their own. */
uint64_t pd_row_weight(const struct pd_report *report, const struct row *row);
bool pd_row_is_small(const struct pd_report *report, const struct table *table, const struct row *row);
/* Periods below this have no place in a graph, unless it is of kind PD_REPORT_GRAPH_FRACTAL. */
uint64_t pd_graph_least(const struct pd_report *report, const struct table *table);

/* ---- accesses.c ---- */

static inline bool column_is_weight(enum column_kind kind)
{
	return kind >= COLUMN_WEIGHT1 && kind <= COLUMN_WEIGHT3;
}

static inline bool column_is_access(enum column_kind kind)
{
	return kind >= COLUMN_OP && kind <= COLUMN_DTLB;
}

/* What a column of accesses distinguishes. */
struct access_column {
	const char *name, *title;
	struct access_part {
		const char *title, *name;
		uint64_t mask, value; /* of the bits of data_src: the first part that fits */
	} parts[ACCESS_PARTS_MAX];
	size_t count;
	unsigned shift;
};
const struct access_column *pd_access_column(enum column_kind kind);
/* The part of it that an access belongs to. */
size_t pd_access_part(const struct access_column *column, uint64_t data_src);
/* How many of its parts the rows of a table have. */
size_t pd_access_parts_shown(const struct table *table, enum column_kind kind);
/* What a row has of a part: a period. */
uint64_t pd_row_access(const struct table *table, const struct row *row, size_t event, enum column_kind kind,
		       size_t part);

/* ---- columns.c ---- */

/* Plans the columns. Errors: PD_ERROR_ARGUMENT. */
enum pd_status pd_columns_plan(struct pd_report *report, struct pd_file *file, struct pd_error *error);
/* Columns that can only have one value are printed above the table. */
void pd_columns_elide(struct pd_report *report);
/* Wall time that nobody asked for is not shown where one thread ran at a time. */
void pd_columns_drop_latency(struct pd_report *report);

/* ---- tables.c ---- */

/* Adds a table without rows for each event that has samples, or for each group. False if there is no memory. */
bool pd_tables_create(struct pd_report *report);
/* Makes its totals, all 0. False if there is no memory. */
bool pd_table_begin_totals(struct table *table);
void pd_table_fini(struct table *table);

/* ---- quality.c ---- */

void pd_quality_add(struct pd_report_quality *quality, const struct pd_profile_entry *entry,
		    const struct pd_stack *stack, bool resolved);
void pd_quality_print(const struct pd_report_quality *quality, struct pd_text *text);

/* ---- keys/ ---- */

/* A value's string in a row; cell is for what is printed for this row. */
const char *pd_value_text(const struct pd_report *report, size_t key, const struct row *row, char *cell);
/* Prefetches the strings of a row: in three stages, each needs what the one before has prefetched. */
enum {
	PREFETCH_STAGES = 3
};
void pd_values_prefetch(const struct pd_report *report, const struct row *row, unsigned stage);
/* The set of values of all keys that depend on frames, or of all others. False if there is no memory. */
bool pd_values_find(struct pd_report *report, const struct key_context *context, bool of_frame, uint32_t *number_out);
/* Puts the values of all keys in order. False if there is no memory. */
bool pd_values_rank(struct pd_report *report);

/* ---- rows/ ---- */

/* Fills flags and clones of the frames. False if there is no memory. */
bool pd_frames_classify(struct pd_report *report);
/* Fills the tables. False if there is no memory. */
bool pd_rows_build(struct pd_report *report);
/* Sorts the rows of a table. False if there is no memory. */
bool pd_rows_sort(const struct pd_report *report, struct table *table);
/* Number of entries of events before one. */
size_t pd_entries_before(const struct pd_report *report, size_t event);
/* Callers of a stack before this one are beyond max_stack, which counts in the direction of the graphs. */
size_t pd_first_caller(const struct pd_report *report, size_t caller_count);
/* Where in a stack the index-th caller is that is visited. With the outermost caller first, the place that it is called at
 * first counts. */
size_t pd_caller_at(const struct pd_report *report, size_t count, size_t first, size_t index);
/* Patterns of functions in call chains; shown: there is the key of parents. Errors: PD_ERROR_ARGUMENT. */
enum pd_status pd_parents_plan(struct pd_report *report, bool shown, struct pd_error *error);
void pd_parents_fini(struct pd_report *report);
/* Looks for them, in frames that are classified. False if there is no memory. */
bool pd_parents_find(struct pd_report *report);
/* The first function of the call chain that is a parent, or NULL. */
const struct pd_function *pd_parent_of(const struct pd_report *report, const struct pd_profile_entry *entry);

/* Whether samples of the file have branch stacks, and whether perf shows branches unless told otherwise. */
bool pd_branches_recorded(struct pd_file *file);
bool pd_branches_are_default(struct pd_file *file);
typedef bool branch_fn(void *self, const struct key_context *context);
/* Calls each with every branch that a table shows, and fills its totals. False if there is no memory. */
bool pd_branches_read(struct pd_report *report, struct table *table, branch_fn *each, void *self);

#endif

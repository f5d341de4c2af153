/* SPDX-License-Identifier: MIT */
/**
 * report.h - a profile as tables by sort keys, with call graphs: what perf report shows, as data and as text.
 *
 * Of a profile that is there: pd_report_new, pd_report_ask, which fills in the options to read it with, pd_report_build.
 * A report has a table for each event or group of events. A table has rows; a row is the samples, or taken branches, that
 * agree in all sort keys. Without text: pd_report_table, pd_report_row and pd_report_cell.
 *
 * Threads: one at a time for each report.
 *
 * Example:
 *
 *	const struct pd_report_options options = { .size = sizeof(options), .sort = "comm,sym" };
 *	struct pd_report *report;
 *
 *	if (pd_report_read(file, &options, NULL, &report, &error) == PD_OK) {
 *		pd_report_text(report, NULL, text, &error);
 *		pd_report_free(report);
 *	}
 */
#ifndef PERFDATA_REPORT_H
#define PERFDATA_REPORT_H

#include <perfdata/live.h>
#include <perfdata/profile.h>
#include <perfdata/select.h>
#include <perfdata/text.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- sort keys ---- */

enum {
	PD_REPORT_KEYS_MAX = 16,
	PD_REPORT_COLUMNS_MAX = 24
};

/** A sort key, by the name that perf gives it. */
struct pd_report_key {
	const char *name;
	const char *other_name; /* or NULL */
	const char *header;     /* of its column */
	const char *json;       /* name of its member in JSON, and of its column in CSV */
	uint32_t by;            /* PD_BY_... that it needs of the profile */
	bool of_branch;         /* for branches only */
	const char *help;       /* "name of the thread" */
};

/** The index-th key of all, or NULL past the end. */
PD_API const struct pd_report_key *pd_report_key_at(size_t index);
/** The key of a name, or NULL. */
PD_API const struct pd_report_key *pd_report_key_by_name(const char *name, size_t length);

/* ---- options ---- */

/** What is counted. */
enum pd_report_view {
	PD_REPORT_AUTO, /* branches where perf report shows them without being asked, else samples */
	PD_REPORT_SAMPLES,
	PD_REPORT_BRANCHES /* taken branches of branch stacks */
};

enum pd_report_graph_kind {
	PD_REPORT_GRAPH_NONE,
	PD_REPORT_GRAPH_TREE,
	PD_REPORT_GRAPH_FRACTAL, /* a tree whose percentages are of the node above */
	PD_REPORT_GRAPH_FLAT,    /* a list of chains */
	PD_REPORT_GRAPH_FOLDED   /* a line for each chain */
};

enum pd_report_graph_value {
	PD_REPORT_GRAPH_PERCENT,
	PD_REPORT_GRAPH_PERIOD,
	PD_REPORT_GRAPH_COUNT /* of samples */
};

/** Call graphs below the rows. */
struct pd_report_graph {
	enum pd_report_graph_kind kind;
	enum pd_report_graph_value value;
	double least_percent; /* smaller branches are omitted */
	uint64_t max_lines;   /* of each list of branches; 0: unlimited */
	bool caller;          /* from the outermost caller down */
	bool order_given;     /* caller was chosen; else it is set if callers have rows of their own */
	bool by_address;      /* addresses of a function are distinguished */
};

/** Changes what a list as in perf report -g names: "graph,0.5,caller,function,percent". Errors: PD_ERROR_ARGUMENT. */
PD_API enum pd_status pd_report_graph_parse(const char *list, struct pd_report_graph *graph, struct pd_error *error);

/** Which accesses were recorded. */
enum pd_report_mem_type {
	PD_REPORT_MEM_ALL,
	PD_REPORT_MEM_LOADS,
	PD_REPORT_MEM_STORES
};

/** Zero is the default for each member; NULL means all defaults. sort and fields are parsed by pd_report_new. */
struct pd_report_options {
	size_t size; /* sizeof(struct pd_report_options); 0 is PD_ERROR_ARGUMENT */
	enum pd_report_view view;
	/* Sort keys as in perf report -s: "comm,dso,sym"; "+cpu" adds to the default. NULL: the default. */
	const char *sort;
	/* Columns as in perf report -F; "+LIST" adds them before the keys. NULL: the default. */
	const char *fields;
	bool no_children;      /* no shares of callers with what they called */
	bool show_samples;     /* column with the number of samples */
	bool show_period;      /* column with the sum of periods */
	bool show_levels;      /* columns with the shares of kernel and user space */
	bool no_empty_columns; /* not even those that perf prints, for output that programs read */
	bool all_in_one_table; /* all events, as if they were a group */
	bool no_groups;        /* a table for each event, even of a group */
	bool relative;         /* percentages of what passes the filters, not of all */
	bool hide_unresolved;  /* without what is in no function */
	double least_percent;  /* smaller rows are omitted */
	size_t max_stack;      /* maximum depth of call chains; 0: unlimited */
	uint64_t slice_ns;     /* length of a time slice, for the key time; 0: 100 ms */
	struct pd_report_graph graph;
	unsigned threads; /* 0: number of CPUs */
	/* Filters; may be NULL. choose is that of pd_profile_options: only branches are filtered here. has_place tells
	 * whether the object and function of a sample are requested. Called concurrently, with filter. */
	enum pd_choice (*choose)(const void *filter, const struct pd_candidate *candidate);
	bool (*has_place)(const void *filter, const struct pd_place *place);
	const void *filter;
	bool by_dso; /* has_place looks at objects */
	/* The only command name, object and function that pass the filters, or NULL: their columns are not printed. Valid
	 * as long as the report. */
	const char *only_comm, *only_dso, *only_symbol;
	/* While branches are read; may be NULL. */
	void (*progress)(void *self, uint64_t done, uint64_t total);
	pd_warn_fn *warn; /* gets the reason if branches could not be read to the end; may be NULL */
	void *self;       /* first argument of both */
	const char *
		symbol_part; /* rows of functions without this in their name are omitted; needs the key sym. NULL: none */
	const char *socket; /* the socket that choose wants, for the text; NULL: not said */
	bool nanoseconds;   /* the key time has nanoseconds */
	bool source_paths;  /* source files with their paths */
	bool empty_tables;  /* also for events without samples */
	bool hierarchy; /* texts have a level for each sort key, or for several in braces: "{comm,dso},sym"; no children */
	/* Extended regular expressions; NULL: the usual one, and none. The key parent is the first function of the call chain that
	 * matches parent, and is added if that is given. Of a function that matches ignored_callees, samples in what it
	 * called are its own, if callers or call graphs are shown. */
	const char *parent, *ignored_callees;
	bool only_parents; /* rows only of samples that have a parent */
	/* Memory accesses: weights are added up, the default keys are those of perf mem report; no children, no branches. */
	bool mem_mode;
	enum pd_report_mem_type mem_type;  /* other default keys for mem_mode, as the next two */
	bool mem_phys_addr, mem_page_size; /* with physical addresses, sizes of pages */
	/* Shares of wall time first: the period of a sample divided by how many threads ran then. Of recordings by record --latency they follow
	 * the shares of CPU time without being asked for. */
	bool latency;
	size_t sort_event; /* of a group: rows go by its amounts, then by those of the others but the first */
	bool total_cycles; /* texts of branches have a row for each basic block, by its share of the cycles */
	/* Samples with the branches of branch stacks in front of their call chains; other default keys, and graphs by address, whose texts
	 * say what is known of the branches. */
	bool branch_history;
	bool raw_trace; /* fields of tracepoints as numbers, one after another, not as their formats print them */
};

/* ---- reports ---- */

/** Fills the filters of the options (choose to only_symbol) by what is selected, which must be valid as long as the report. */
PD_API void pd_report_select(struct pd_report_options *options, const struct pd_select *select);

struct pd_report;

/** A report without tables. file determines what of the options depends on it: branches, call chains, sort keys. With
 * NULL the options are used as they are. Errors: PD_ERROR_ARGUMENT; PD_ERROR_NO_MATCH if branches are requested and
 * none were recorded; PD_ERROR_MEMORY. */
PD_API enum pd_status pd_report_new(struct pd_file *file, const struct pd_report_options *options,
				    struct pd_report **report_out, struct pd_error *error);
/** NULL is ignored. */
PD_API void pd_report_free(struct pd_report *report);
/** Sets what the report needs of a profile: by, max_stack and slice_ns. */
PD_API void pd_report_ask(const struct pd_report *report, struct pd_profile_options *options);
/** The index-th sort key of this report, or NULL past the end. */
PD_API const struct pd_report_key *pd_report_sort_key(const struct pd_report *report, size_t index);
/** Whether branches are shown, not samples. */
PD_API bool pd_report_shows_branches(const struct pd_report *report);
/** Builds the tables, once. file, profile and symbols must outlive the report; the profile has names (pd_profile_name).
 * Errors: PD_ERROR_MEMORY; PD_ERROR_NO_MATCH as pd_report_new, for a pipe. */
PD_API enum pd_status pd_report_build(struct pd_report *report, struct pd_file *file, const struct pd_profile *profile,
				      struct pd_symbols *symbols, struct pd_error *error);

/** All of it in one call: adds up the samples of a file, finds names (options as of pd_symbols_new) and builds the tables. With
 * the sort keys "sym" the rows are functions, by period of their own and with everything they called; with "comm,tid,sym", of
 * each thread. file must outlive the report. Of the options choose gets filter. Errors: those of pd_report_new, pd_profile_read
 * and pd_symbols_new. */
PD_API enum pd_status pd_report_read(struct pd_file *file, const struct pd_report_options *options,
				     const struct pd_symbols_options *names, struct pd_report **report_out,
				     struct pd_error *error);

/* ---- results ---- */

/** Sums of an event in a row. */
struct pd_report_amounts {
	uint64_t period, samples;
	uint64_t kernel_period, user_period;        /* of period, by CPU mode */
	uint64_t children_period, children_samples; /* with everything called */
	uint64_t latency, children_latency;         /* in PD_LATENCY_UNIT; 0 unless columns show it */
};

struct pd_report_table {
	size_t first_event, event_count; /* indices of pd_file_event */
	const char *name;                /* of the event or of the group */
	bool group;
	size_t row_count;
	const uint64_t *totals, *samples; /* by event: the period that is 100 %, and its samples */
	const uint64_t *latencies;        /* by event: the latency that is 100 %; NULL: no column shows it */
};

/** What to know before believing any number: the quality of the data. */
struct pd_report_quality {
	uint64_t samples;
	uint64_t lost;                      /* records and samples */
	uint64_t throttles;                 /* THROTTLE records */
	uint64_t cut_stacks;                /* samples with truncated or damaged call chains */
	uint64_t copied_stacks;             /* samples with a copy of the user stack that was not unwound */
	uint64_t unresolved;                /* samples in no function */
	uint64_t damaged;                   /* samples that cannot be decoded or are of an unknown event */
	const struct pd_unwinder *unwinder; /* how unwinding of copied stacks ended; NULL: nothing was unwound */
};

/** The index-th table, or NULL past the end; valid as long as the report. */
PD_API const struct pd_report_table *pd_report_table(const struct pd_report *report, size_t index);
/** Amounts of a row by event of the table. Rows are sorted as they are printed; NULL past the end. */
PD_API const struct pd_report_amounts *pd_report_row(const struct pd_report *report, size_t table, size_t row);

enum {
	PD_REPORT_CELL_BYTES = 32
};
/** What a row has for the key-th sort key of the report: a string in cell, or owned by the report. Functions begin
 * with their CPU mode: "[k] schedule". NULL past the end. */
PD_API const char *pd_report_cell(const struct pd_report *report, size_t table, size_t row, size_t key,
				  char cell[PD_REPORT_CELL_BYTES]);
/** Quality of the data that the report was built from. */
PD_API void pd_report_quality(const struct pd_report *report, struct pd_report_quality *quality_out);
/** Removes all rows but the first max_rows (0: all) that are not too small and have filter in a cell, in any case of
 * letters; "" is in every cell. */
PD_API void pd_report_narrow(struct pd_report *report, const char *filter, size_t max_rows);

/* ---- as text ---- */

/** Zero is the default for each member; NULL means all defaults. */
struct pd_report_text_options {
	size_t size;                          /* sizeof(struct pd_report_text_options) */
	bool quiet;                           /* rows only */
	bool escape;                          /* control characters, for terminals */
	bool color;                           /* percentages are coloured */
	double fold_percent;                  /* smaller rows are only counted; 0: none */
	char separator;                       /* of columns, instead of blanks; 0: none */
	size_t widths[PD_REPORT_COLUMNS_MAX]; /* by column; 0: as wide as needed */
	const char *time;                     /* time range as requested, for the title; or NULL */
};

/** All of these append to text, and write it out (pd_text_flush_large) where it may be long. Errors: PD_ERROR_MEMORY;
 * PD_ERROR_OUTPUT if writing failed. */
/** Quality, and what stands above all tables of perf report --stdio. */
PD_API enum pd_status pd_report_text_top(struct pd_report *report, const struct pd_report_text_options *options,
					 struct pd_text *text, struct pd_error *error);
/** Sets the widths of columns, a list such as 10,20; 0: as wide as needed. Errors: PD_ERROR_ARGUMENT. */
PD_API enum pd_status pd_report_widths_parse(const char *list, struct pd_report_text_options *text,
					     struct pd_error *error);
/** The length of a time slice (pd_report_options.slice_ns): 10ms, 0.5s. False if it is none. */
PD_API bool pd_report_slice_parse(const char *text, uint64_t *ns_out);
/** All tables, as perf report --stdio prints them. */
PD_API enum pd_status pd_report_text(struct pd_report *report, const struct pd_report_text_options *options,
				     struct pd_text *text, struct pd_error *error);
/** Header and rows of a table, and no more rows once the text has max_lines lines (0: all); not flushed. */
PD_API enum pd_status pd_report_text_table(struct pd_report *report, size_t table, size_t max_lines,
					   const struct pd_report_text_options *options, struct pd_text *text,
					   struct pd_error *error);
/** The call graph of a row; nothing if it has none. Not flushed. */
PD_API enum pd_status pd_report_text_graph(struct pd_report *report, size_t table, size_t row,
					   const struct pd_report_text_options *options, struct pd_text *text,
					   struct pd_error *error);
/** An object with members quality ("trust") and tables, with call graphs as nodes; and the same without its braces. */
PD_API enum pd_status pd_report_json(struct pd_report *report, struct pd_text *text, struct pd_error *error);
PD_API enum pd_status pd_report_json_members(struct pd_report *report, struct pd_text *text, struct pd_error *error);
/** A line for each row and event, by RFC 4180. Options: only escape is used. Columns have the names of their keys in JSON
 * (pd_report_key.json). The key "trace_fields" is a column for each field of a tracepoint, "field1", "field2" and so on in the
 * order of its format, as rows of several tracepoints, whose fields have other names, are in one table. */
PD_API enum pd_status pd_report_csv(struct pd_report *report, const struct pd_report_text_options *options,
				    struct pd_text *text, struct pd_error *error);

/* ---- of what runs now ---- */

/** What is shown of a sum of samples (pd_sum in live.h). Zero is the default for each member; strings must remain valid. */
struct pd_top_form {
	const char *sort;     /* as in pd_report_options; keys of source lines and time slices are refused */
	const char *filter;   /* text that a cell of a row must have; "" is in every cell */
	size_t entries;       /* maximum number of rows; 0: no limit */
	bool samples, period; /* columns */
	bool children;        /* shares of callers with what they called */
	struct pd_report_graph graph;
	double least_percent;
	size_t max_stack;
	const struct pd_select *select; /* objects and functions that are shown; may be NULL */
	size_t event;                   /* the one that is shown, or PD_TOP_ALL_EVENTS */
	/* As in pd_report_options; fields without sort (NULL or ""): the keys are those among the columns. */
	const char *fields, *ignored_callees;
	bool relative, raw_trace;
	const char *widths; /* of columns, see pd_report_widths_parse; NULL: as wide as needed */
};

#define PD_TOP_ALL_EVENTS UINT32_MAX

/** What the first line says. */
struct pd_top_totals {
	double seconds;                   /* since the last table */
	uint64_t samples, kernel_samples; /* of that time */
	uint64_t lost, all_samples;       /* since the beginning */
	size_t cpus, threads;
	const char *whom;   /* "all", "pid 12" */
	const char *rate;   /* see pd_top_describe_rate */
	const char *notice; /* the second line, or NULL */
};

struct pd_top_source {
	struct pd_file *file;
	const struct pd_profile *profile; /* of the sum */
	struct pd_symbols *symbols;
};

enum {
	PD_TOP_RATE_BYTES = 64
};

/** Sets what the keys need of samples: options->by. Errors: PD_ERROR_ARGUMENT for a wrong key; PD_ERROR_MEMORY. */
PD_API enum pd_status pd_top_ask(const struct pd_top_form *form, struct pd_profile_options *options,
				 struct pd_error *error);
/** Adds what a live profile got since the last time to a sum, with names, and to the totals; counts of the sum are multiplied by
 * part / whole before. Errors: those of pd_live_take, pd_profile_name and pd_sum_add. */
PD_API enum pd_status pd_top_take(struct pd_live *live, struct pd_symbols *symbols, unsigned part, unsigned whole,
				  struct pd_sum *sum, struct pd_top_totals *totals, struct pd_error *error);
/** The next event with samples after one, which may be PD_TOP_ALL_EVENTS; the last one that was tried if there is none. */
PD_API size_t pd_top_next_event(const struct pd_profile *profile, size_t event, size_t event_count);
/** Adds a profile that goes into the sum to the totals, and counts the threads that run. */
PD_API void pd_top_count(struct pd_top_totals *totals, const struct pd_profile *profile, const struct pd_state *state);
/** "4000 Hz" or "period 1000". */
PD_API void pd_top_describe_rate(const struct pd_event *event, char rate_out[PD_TOP_RATE_BYTES]);
/** Prints two lines of totals, and a table with about so many lines; 0: all. Errors: those of pd_report_build. */
PD_API enum pd_status pd_top_text(const struct pd_top_form *form, const struct pd_top_totals *totals,
				  const struct pd_top_source *source, size_t lines, struct pd_text *text,
				  struct pd_error *error);
/** The same as a JSON object on a line. */
PD_API enum pd_status pd_top_json(const struct pd_top_form *form, const struct pd_top_totals *totals,
				  const struct pd_top_source *source, struct pd_text *text, struct pd_error *error);

#ifdef __cplusplus
}
#endif
#endif

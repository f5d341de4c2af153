/* SPDX-License-Identifier: MIT */
/**
 * table.h - a file as tables of columns: records, samples, stacks, tasks, counts, and each tracepoint with its fields.
 *
 * Columns come in batches, in file or time order, through the Arrow C Data Interface, which pandas, polars, pyarrow, DuckDB and
 * others take without a copy. Memory is bounded by a batch, apart from what the samples have in common: names and stacks.
 *
 * The columns of samples and records are those of the format tables, under the same names. Numbers that are not recorded, and
 * strings of what is not known, are null. Strings are valid UTF-8 without control characters, which become U+FFFD. Parts, lists
 * and arrays are JSON as pd_json_record prints them. PD_TABLE_VERSION changes when a column is renamed or removed.
 *
 * Numbers of stacks and frames are hashes of the names of functions and objects: they are the same in all files.
 *
 * Example:
 *
 *	struct pd_table_set *set;
 *	struct ArrowArrayStream columns;
 *
 *	if (pd_table_set_new(file, NULL, &set, &error) == PD_OK) {
 *		if (pd_table_stream(set, pd_table_by_name(set, "samples"), NULL, &columns, &error) == PD_OK)
 *			columns.release(&columns);
 *		pd_table_set_free(set);
 *	}
 */
#ifndef PERFDATA_TABLE_H
#define PERFDATA_TABLE_H

#include <perfdata/profile.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The structs of the Arrow C Data and C Stream Interfaces. */
#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE

/** Type and name of an array. release is NULL once it was called. */
struct ArrowSchema {
	const char *format;
	const char *name;
	const char *metadata;
	int64_t flags;
	int64_t n_children;
	struct ArrowSchema **children;
	struct ArrowSchema *dictionary;
	void (*release)(struct ArrowSchema *);
	void *private_data;
};

/** Values of an array. release is NULL once it was called. */
struct ArrowArray {
	int64_t length;
	int64_t null_count;
	int64_t offset;
	int64_t n_buffers;
	int64_t n_children;
	const void **buffers;
	struct ArrowArray **children;
	struct ArrowArray *dictionary;
	void (*release)(struct ArrowArray *);
	void *private_data;
};
#endif

#ifndef ARROW_C_STREAM_INTERFACE
#define ARROW_C_STREAM_INTERFACE
/** Arrays of one type, one after another. get_next gives a released array at the end. Functions return 0 or an errno. */
struct ArrowArrayStream {
	int (*get_schema)(struct ArrowArrayStream *, struct ArrowSchema *out);
	int (*get_next)(struct ArrowArrayStream *, struct ArrowArray *out);
	const char *(*get_last_error)(struct ArrowArrayStream *);
	void (*release)(struct ArrowArrayStream *);
	void *private_data;
};
#endif

/** Of names and meanings of tables and columns; additions do not change it. */
#define PD_TABLE_VERSION 1

enum pd_column_type {
	PD_COLUMN_U32,
	PD_COLUMN_S32,
	PD_COLUMN_U64,
	PD_COLUMN_S64,
	PD_COLUMN_F64,
	PD_COLUMN_NAME, /* a string that comes again in many rows: a dictionary of UTF-8 */
	PD_COLUMN_TEXT, /* UTF-8 */
	PD_COLUMN_BYTES,
	PD_COLUMN_JSON /* UTF-8: an object or array of JSON */
};

/** A column. Owned by the set. */
struct pd_table_column {
	const char *name;
	const char *doc; /* one line */
	enum pd_column_type type;
};

/** A table. Owned by the set. */
struct pd_table {
	const char *name; /* of a tracepoint, the event's: "sched:sched_switch" */
	const char *doc;
	const struct pd_table_column *columns;
	size_t column_count;
};

/** Zero is the default for each member; NULL means all defaults. Functions must remain valid until pd_table_set_free. */
struct pd_table_options {
	size_t size; /* sizeof(struct pd_table_options) */
	/* Which samples are rows, see pd_profile_options: others than PD_CHOICE_TAKE are left out. May be NULL. */
	enum pd_choice (*choose)(const void *self, const struct pd_candidate *candidate);
	/* See pd_run_options; the window is that of all records with a time. May be NULL. */
	enum pd_status (*ready)(void *self, struct pd_window *window, struct pd_error *error);
	/* Opens the symbols for this state, once, when names are first needed. They are the caller's, and must remain valid until
	 * pd_table_set_free. NULL: those of pd_symbols_new without options. May return NULL, which is an error. */
	struct pd_symbols *(*symbols)(void *self, const struct pd_state *state);
	void *self;         /* first argument of the functions */
	unsigned max_stack; /* entries of a call chain, from the innermost; 0: all */
	bool no_unwind;     /* call chains as they were recorded; otherwise copied user stacks are unwound */
};

struct pd_table_set;

/** Reads what is no sample, once. The file must be one that can be read twice (see pd_run), and outlive the set; one thread at a
 * time. Errors: PD_ERROR_MEMORY, PD_ERROR_ARGUMENT; those of pd_stream_next and of ready. */
PD_API enum pd_status pd_table_set_new(struct pd_file *file, const struct pd_table_options *options,
				       struct pd_table_set **set_out, struct pd_error *error);
/** NULL is fine. */
PD_API void pd_table_set_free(struct pd_table_set *set);
/** Which samples are rows besides, by the location of the sampled address; its first argument is the self of the options. Before the
 * first stream. */
PD_API void pd_table_choose_place(struct pd_table_set *set,
				  bool (*choose_place)(const void *self, const struct pd_place *place));
/** The index-th table; NULL past the end. Those of tracepoints come last. */
PD_API const struct pd_table *pd_table_at(const struct pd_table_set *set, size_t index);
/** A table by its name; NULL if there is none. */
PD_API const struct pd_table *pd_table_by_name(const struct pd_table_set *set, const char *name);
/** What a stack is made of, "main;work;read", outermost first. Valid until the next call; empty if there is no such stack. */
PD_API const char *pd_table_stack_text(struct pd_table_set *set, uint64_t stack);

/** Which rows and columns. Zero is the default for each member; NULL means all defaults. */
struct pd_table_query {
	size_t size;                /* sizeof(struct pd_table_query) */
	const char *const *columns; /* in this order; NULL: all */
	size_t column_count;
	enum pd_order order;     /* of tables that are made from records */
	uint64_t from_ns, to_ns; /* of records with a time; to_ns is inclusive, 0: open */
};

/** Reads a table. The set must outlive the stream, not what came out of it.
 * Errors: PD_ERROR_MEMORY; PD_ERROR_ARGUMENT: there is no such column. */
PD_API enum pd_status pd_table_stream(struct pd_table_set *set, const struct pd_table *table,
				      const struct pd_table_query *query, struct ArrowArrayStream *stream_out,
				      struct pd_error *error);
/** Of a stream whose get_next has failed: the status, and the error. */
PD_API enum pd_status pd_table_stream_error(const struct ArrowArrayStream *stream, struct pd_error *error);

#ifdef __cplusplus
}
#endif
#endif

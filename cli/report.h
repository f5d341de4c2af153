/* SPDX-License-Identifier: MIT */
/*
 * What the files of perfdata report share. A report is a list of tables, one for each event or for each
 * group of events. A table has rows; a row is the samples that agree in all sort keys. Keys are values:
 * small numbers that stand for texts, in the order of the texts once all are known.
 */
#ifndef CLI_REPORT_H
#define CLI_REPORT_H

#include "front/input.h"
#include "select.h"

enum {
	KEYS_MOST = 16,
	COLUMNS_MOST = 24
};

struct report;
struct row;

/* ---- report_keys.c ---- */

/* A value of a key. */
struct value {
	uint64_t a, b;    /* its identity */
	uint64_t order;   /* before the text: values with a smaller one come first */
	uint64_t word;    /* next in the order: the address, or how the text begins */
	uint64_t addr;    /* where there is no function */
	const char *text; /* of functions: their name without level, until all values are known */
	uint32_t length;
	char level;       /* 0: there is a text */
	bool borrowed;    /* the text is not one of its own */
	uint8_t unsorted; /* so many letters in front do not count in the order */
	bool by_addr;     /* in the order of addresses, not of texts */
	bool alike;       /* all such values of an order are one to the keys behind */
};

/* A place in a table of numbers by hash. */
struct number_slot {
	uint32_t hash;
	uint32_t number; /* + 1; 0: free */
};

/* Values of several keys, numbered: equal ones have one number. */
struct value_sets {
	uint32_t *values; /* by number, then by key */
	size_t count, capacity;
	struct number_slot *slots; /* by a hash of the values */
	size_t slot_count;
};

struct text_block;

struct value_table {
	struct value *items;
	size_t count, capacity;
	struct number_slot *slots; /* by a hash of the identity */
	size_t slot_count, in_slots;
	struct text_block *texts; /* of functions */
	uint32_t *by_index;       /* number + 1 by the index of a function; of objects, 0: none */
	size_t index_count;
	bool any_alike;
	/* By value, once all are known. */
	uint32_t *ranks; /* in the order of the values */
	uint32_t *fine;  /* the same where those that are alike are told apart, if any are */
};

/* An entry of a branch stack. */
struct taken_branch {
	struct pd_frame from, to;
	uint64_t flags; /* PD_BRANCH_... */
};

/* What a key is asked about: an entry, at the place of one of its frames or, in the view of branches, where a branch
 * went. */
struct subject {
	const struct pd_profile_entry *entry;
	uint32_t frame;
	unsigned cpumode;                  /* level of the place */
	const struct taken_branch *branch; /* or NULL */
};

struct key {
	const char *name, *other_name; /* for -s */
	const char *header;
	const char *json; /* name of the member */
	uint32_t by;      /* PD_BY_... that it needs */
	bool of_frame;    /* depends on the frame alone */
	bool of_branch;   /* for the view of branches only */
	/* Adds the value of a subject to the key's table; false if there is no memory. */
	bool (*find)(struct report *report, size_t key, const struct subject *subject, uint32_t *value_out);
	const char *help;
	size_t width;       /* of the column, at least */
	bool falling;       /* rows of equal shares go the other way, as in perf */
	bool right;         /* the blanks stand in front */
	bool of_function;   /* is the same for all frames of a function */
	bool ragged;        /* not padded at the end of a line, as in perf */
	bool times_samples; /* the value is that of one sample: a row shows it as often as it has some */
};

/* The key of a name, or NULL. */
const struct key *key_by_name(const char *name, size_t length);
/* The index-th key, or NULL past the end. */
const struct key *key_at(size_t index);
/* What a row shows of a key; room is for what is made for this row. */
enum {
	VALUE_TEXT_BYTES = 32
};
const char *value_text(const struct report *report, size_t key, const struct row *row, char *room);
/* Asks for the memory of the texts of a row: in three stages, each needs what the one before asked for. */
enum {
	EXPECT_STAGES = 3
};
void values_expect(const struct report *report, const struct row *row, unsigned stage);
/* The values of all keys that depend on frames, or of all others. False if there is no memory. */
bool values_find(struct report *report, const struct subject *subject, bool of_frame, uint32_t *number_out);
void value_sets_fini(struct value_sets *sets);
void value_table_fini(struct value_table *table);
/* Puts the values of all keys in order. False if there is no memory. */
bool keys_rank(struct report *report);
/* "socket" by CPU; -1 if it is not known. */
int socket_of(struct report *report, uint32_t cpu);

/* ---- report_frames.c ---- */

/* What is asked of a frame most often. */
enum frame_look {
	LOOK_LEVEL = 7,  /* mask: PD_CPUMODE_... */
	LOOK_OBJECT = 8, /* it is in one */
	LOOK_FUNCTION = 16,
	LOOK_OWN_OBJECT = 32, /* its function is one of its object */
	LOOK_WANTED = 64,     /* its place was asked for */
	LOOK_SEEN = 128       /* for those who come by */
};

/* Fills looks and twins of the report. False if there is no memory. */
bool frames_look(struct report *report);

/* ---- report_sort.c ---- */

/* Something in a list: sorted by two words, then as a function says, then by number. */
struct sorted {
	uint64_t first, second;
	uint32_t number;
};

typedef int sort_fn(const void *self, uint32_t a, uint32_t b);
/* Sorts on several threads, as thread_count has them. False if there is no memory. */
bool sort_all(struct sorted *items, size_t count, sort_fn *compare, const void *self, size_t threads);

/* ---- columns ---- */

enum column_kind {
	COLUMN_OVERHEAD,
	COLUMN_CHILDREN,
	COLUMN_KERNEL, /* of the overhead, what was in the kernel */
	COLUMN_USER,
	COLUMN_SAMPLES,
	COLUMN_PERIOD,
	COLUMN_KEY
};

struct column {
	enum column_kind kind;
	size_t key;  /* of report->keys */
	bool elided; /* all rows have the same, which stands on top */
	bool beside; /* overhead that was added beside COLUMN_CHILDREN, not asked for by name */
};

/* ---- report_rows.c ---- */

struct amounts {
	uint64_t period, samples;
	uint64_t kernel_period, user_period;        /* of the period, by level */
	uint64_t children_period, children_samples; /* with all that was called */
};

struct row {
	uint32_t who, place;           /* its values: those that do not depend on frames, and those that do */
	struct amounts *amounts;       /* by event of the table */
	size_t first_link, link_count; /* the chains of its graph */
	size_t depth;                  /* frames of the longest of them */
};

/* A chain that belongs into the graph of a row. */
struct link {
	uint32_t row;
	uint32_t entry;
	uint32_t from; /* first caller that counts; WHOLE_CHAIN: the row is where the sample was */
};

#define WHOLE_CHAIN UINT32_MAX

/* The call chain of an entry and what it weighs. */
struct chain {
	const uint32_t *callers;
	size_t caller_count;
	uint64_t period, samples;
};

struct table {
	size_t first_event, event_count;
	const char *name; /* of the group, or of the event */
	bool group;
	struct row *rows; /* in the order in which they are shown */
	size_t row_count;
	struct amounts *amounts;    /* of all rows */
	uint64_t *totals, *samples; /* by event: what percentages are of, and their samples */
	struct link *links;         /* by row */
	size_t widths[COLUMNS_MOST];
};

/* Fills the tables. False if there is no memory. */
bool rows_build(struct report *report);
void table_fini(struct table *table);
/* How many entries are of events before one. */
size_t entries_before(const struct report *report, size_t event);
/* Callers of a stack before this one are left out by --max-stack: it counts in the direction of the graphs. */
size_t first_caller(const struct report *report, size_t caller_count);
/* The sum of periods that a column shows. */
uint64_t period_in(const struct amounts *amounts, enum column_kind kind);
double percent_of(uint64_t part, uint64_t whole);

/* ---- report_order.c ---- */

/* False if there is no memory. */
bool rows_sort(const struct report *report, struct table *table);

/* ---- report_branch.c ---- */

/* Whether samples of the file have branch stacks, and whether perf shows branches if it is not told otherwise. */
bool branches_recorded(struct pd_file *file);
bool branches_are_usual(struct pd_file *file);
typedef bool branch_fn(void *self, const struct subject *subject);
/* Hands over every branch that a table shows, and fills its totals. False if there is no memory. */
bool branches_walk(struct report *report, struct table *table, branch_fn *each, void *self);

/* ---- report_graph.c ---- */

enum graph_kind {
	GRAPH_NONE,
	GRAPH_TREE,
	GRAPH_FRACTAL,
	GRAPH_FLAT,
	GRAPH_FOLDED
};
enum graph_value {
	GRAPH_PERCENT,
	GRAPH_PERIOD,
	GRAPH_COUNT
};

struct graph_options {
	enum graph_kind kind;
	enum graph_value value;
	double least;  /* percent */
	uint64_t most; /* lines; 0: all */
	bool caller;   /* from the outermost caller down */
	bool by_address;
	bool order_given;
};

/* Takes the argument of -g. Says on stderr what is wrong and returns false then. */
bool graph_parse(struct graph_options *options, const char *argument);
/* Periods below this have no place in a graph, unless it is of kind GRAPH_FRACTAL. */
uint64_t graph_least(const struct report *report, const struct table *table);
/* What graphs need, before they are made on several threads. False if there is no memory. */
bool graphs_prepare(struct report *report);
/* What a thread needs to make graphs one after another; free gives it back. NULL if there is no memory. */
void *graph_room(const struct report *report);
/* False if nothing in the graph of a row can be large enough. */
bool graph_wanted(const struct report *report, const struct table *table, const struct row *row);
/* Prints the graph of a row. False if there is no memory. */
bool graph_print(struct report *report, const struct table *table, const struct row *row, void *room,
		 struct pd_text *out);
/* The graph of a row as a JSON array of nodes. False if there is no memory. */
struct pd_json;
bool graph_json(struct report *report, const struct table *table, const struct row *row, struct pd_json *json);

/* ---- all ---- */

/* What a reader should know before believing any number. */
struct trust {
	uint64_t samples, lost, throttles, cut, copied, unknown, damaged;
};

struct report {
	struct input input;
	struct pd_text *out;
	bool escape; /* out is a terminal */
	bool color;  /* shares are coloured */
	double fold; /* percent below which rows are only counted; 0: none */
	struct pd_profile *profile;
	struct pd_symbols *symbols;
	struct pd_trace *trace; /* once the key trace asked for it */
	struct select select;
	const struct key *keys[KEYS_MOST];
	size_t key_count;
	struct value_table values[KEYS_MOST];
	struct value_sets whos, places; /* values that do not depend on frames, and those that do */
	uint8_t *looks;                 /* by frame, see frame_look */
	uint32_t *twins;                /* by frame: the first one of its function, or itself */
	uint32_t *frame_places;         /* by frame, number in places + 1 */
	struct column columns[COLUMNS_MOST];
	size_t column_count;
	size_t widths[COLUMNS_MOST];       /* that were asked for; 0: what the cells need */
	struct column order[COLUMNS_MOST]; /* rows are sorted by these */
	size_t order_count;
	struct table *tables;
	size_t table_count;
	struct graph_options graph;
	bool children, grouped, relative, hide_unresolved, quiet;
	bool by_branch;    /* the view of branches */
	uint64_t slice_ns; /* of the key time */
	bool symbol_first; /* -s begins with sym */
	double least;      /* percent of a row */
	size_t max_stack;  /* frames of a chain; 0: all */
	const char *separator;
	const char *time;              /* argument of --time, or NULL */
	const char *elided[KEYS_MOST]; /* by key: the only name that was asked for */
	struct pd_text *scratch;
	size_t first_event; /* of the table that is made */
	int *sockets;
	size_t socket_count;
	char **lines; /* by frame: what stands behind the name in graphs by address, or NULL */
	size_t line_count;
	struct chain *chains; /* by entry */
	uint32_t *known;      /* for graphs of JSON, see report_graph.c */
	struct trust trust;   /* of the entries of all tables, without what was lost */
	size_t threads;       /* that make rows and graphs; 0: as many as there are processors */
};

/* The value of a row. */
static inline uint32_t row_value(const struct report *report, const struct row *row, size_t key)
{
	return report->keys[key]->of_frame ? report->places.values[row->place * report->key_count + key] :
					     report->whos.values[row->who * report->key_count + key];
}

/* ---- report_make.c ---- */

/* Adds a column that is not there yet; false, and a message, if there are too many. */
bool columns_append(struct column *columns, size_t *count, const struct column *column);
bool columns_append_all(struct column *columns, size_t *count, const struct column *more, size_t more_count);
/* Adds the columns of a list as -s and -F have it; keys become keys of the report. */
bool columns_parse(struct report *report, const char *list, struct column *columns, size_t *count);
/* Adds a column of numbers by which rows are sorted, too. */
void columns_add_number(struct report *report, enum column_kind kind);
bool report_has_chains(struct pd_file *file);
/* PD_BY_... that the keys and graphs need. */
uint32_t report_by(const struct report *report);
/* Makes a table for each event that has samples, or for each group; group_all: one for all events. False if there is no
 * memory. */
bool tables_make(struct report *report, bool group_all, bool no_group);
void report_fini(struct report *report);

/* ---- report_text.c, report_data.c ---- */

bool report_text(struct report *report);
bool report_json(struct report *report);
/* What stands in the object of report_json. */
bool report_json_members(struct report *report, struct pd_json *json);
/* The head of a table, and one row, as report_text prints them. */
void report_text_header(const struct report *report, struct table *table);
void report_text_row(const struct report *report, const struct table *table, const struct row *row,
		     struct pd_text *out);
bool report_csv(struct report *report);

/* ---- report_draw.c ---- */

/* Rows of a table with their graphs, made on several threads, in order. */
struct drawing {
	struct report *report;
	const struct table *table;
	const struct row *const *rows;
	size_t *ends;       /* of each text: which row it ends at; only the last one of a text has a graph */
	size_t count, next; /* texts */
	struct ahead *ahead;
};
/* False if there is no memory. drawing_end comes after it in any case. */
bool drawing_start(struct drawing *drawing, struct report *report, const struct table *table,
		   const struct row *const *rows, size_t count);
/* Prints some more rows; all are printed if next is count. False if there is no memory. */
bool drawing_next(struct drawing *drawing);
void drawing_end(struct drawing *drawing);

/* ---- report_trust.c ---- */

void trust_add(struct trust *trust, const struct pd_profile_entry *entry, const struct pd_stack *stack, bool known);
/* Once there are rows. */
struct trust trust_of(const struct report *report);
void trust_print(const struct trust *trust, struct pd_text *text);

#endif

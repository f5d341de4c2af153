/* SPDX-License-Identifier: MIT */
/* The inside of a set of tables: what its columns are filled from, and what their rows have in common. */
#ifndef PD_TABLE_SET_H
#define PD_TABLE_SET_H

#include <perfdata/trace.h>

#include "format/layout.h"
#include "stack/places.h"
#include "stream/cut/walk.h"
#include "table/columns.h"

// What a column is filled with.
enum pd_column_what {
	PD_COL_FIELD, // of the format
	PD_COL_TRACE, // of a tracepoint
	PD_COL_TRACE_RECORD,
	PD_COL_TRACE_TIME,
	PD_COL_TRACE_CPU,
	PD_COL_TRACE_PID,
	PD_COL_TRACE_TID,
	PD_COL_TRACE_COMM,
	PD_COL_TRACE_STACK,
#define COLUMN(table, NAME, name, TYPE, ROLE, doc) PD_COL_##NAME,
#include "table/tables.def"
};

// What a condition on a column can narrow the reading by.
enum pd_column_role {
	PD_ROLE_COLUMN_NONE,
	PD_ROLE_COLUMN_TIME,
	PD_ROLE_COLUMN_EVENT,
	PD_ROLE_COLUMN_PID,
	PD_ROLE_COLUMN_TID,
	PD_ROLE_COLUMN_CPU,
	PD_ROLE_COLUMN_TYPE,
	PD_ROLE_COLUMN_KEY
};

struct pd_column_source {
	enum pd_column_what what;
	enum pd_column_role role;
	const struct pd_field *field; // of PD_COL_FIELD
	const char *trace_name;       // of PD_COL_TRACE
};

enum pd_table_id {
#define TABLE(table, doc) PD_TABLE_##table,
#include "table/tables.def"
	PD_TABLE_TRACEPOINT
};

struct pd_table_full {
	struct pd_table table;
	enum pd_table_id id;
	const struct pd_column_source *sources;
	const struct pd_event *event; // of a tracepoint: the first one of the name
};

// Numbers of stacks and frames of struct pd_tables as hashes, which are equal for equal functions.
struct pd_stack_ids {
	uint64_t *frames, *stacks;
	size_t frame_count, frame_capacity, stack_count, stack_capacity;
	struct pd_u64_map frame_of, stack_of; // hash to the first number and 1
};

// Strings of a frame.
struct pd_frame_name {
	uint32_t function, object;
	bool has_object;
};

struct pd_table_set {
	struct pd_table_options options;
	bool (*choose_place)(const void *self, const struct pd_place *place);
	struct pd_file *file;
	struct pd_arena arena; // of descriptions
	struct pd_table_full *tables;
	size_t count;
	struct pd_state *state;
	struct pd_known_file *known;
	struct pd_window window;
	struct pd_symbols *symbols, *own_symbols;
	bool asked; // for symbols
	struct pd_unwinder *unwinder;
	struct pd_trace *trace;
	struct pd_tables strings; // names, frames and stacks
	struct pd_places places;
	bool has_places;
	struct pd_stack_ids ids;
	bool stacks_complete; // all samples were read for their stacks
	// pd_table_complete_stacks, which reads tables: those that are read do not depend on it
	enum pd_status (*complete)(struct pd_table_set *set, struct pd_error *error);
	uint32_t *comm_of; // by owner: number of the name and 1
	size_t comm_capacity;
	struct pd_frame_name *frame_names; // of the first frames, by frame
	size_t frame_name_count, frame_name_capacity;
	uint32_t *event_names; // by event: number of the name
	struct pd_text *text;  // of pd_table_stack_text
};

// Describes all tables. PD_ERROR_MEMORY.
enum pd_status pd_table_describe_fixed(struct pd_table_set *set, struct pd_error *error); // those that all files have
enum pd_status pd_table_describe(struct pd_table_set *set, struct pd_error *error);
// Opens symbols, and what is needed to unwind stacks.
enum pd_status pd_table_open_symbols(struct pd_table_set *set, struct pd_error *error);
// Threads are known from here on; symbols need not be open.
uint32_t pd_table_comm(struct pd_table_set *set, uint32_t owner);
uint32_t pd_table_event_name(const struct pd_table_set *set, const struct pd_event *event);
const char *pd_table_unit(const struct pd_event *event);

// The hash of a stack or frame by its number. 0 is none.
uint64_t pd_table_stack_id(struct pd_table_set *set, uint32_t stack);
// Of a frame that is called by a stack, 0: by none.
uint64_t pd_table_caller_id(uint64_t parent, uint64_t frame);
uint64_t pd_table_frame_id(struct pd_table_set *set, uint32_t frame);
// All samples are read for their stacks, unless they were.
enum pd_status pd_table_complete_stacks(struct pd_table_set *set, struct pd_error *error);
void pd_table_print_stack(const struct pd_table_set *set, uint32_t stack, struct pd_text *text);

static inline const struct pd_table_full *pd_table_full(const struct pd_table *table)
{
	return (const struct pd_table_full *)(const void *)table;
}

#endif

/* SPDX-License-Identifier: MIT */
/* A flame graph as data of the page: the tree that was counted, with sums in place of single samples. */
#ifndef PD_VIEW_FLAME_H
#define PD_VIEW_FLAME_H

#include "export/page/page.h"
#include "flame/graph.h"
#include "flame/stacks.h"

struct pd_flame_function {
	uint32_t name, object; // a string, and a number of an object
	enum pd_page_kind kind;
};

struct pd_flame_data {
	const struct flame_graph *graph;
	const struct stack_result *result;
	struct pd_tables tables; // strings only
	struct pd_page_blocks blocks;
	struct pd_page_rows rows;
	struct pd_flame_function *functions;
	size_t function_count;
	uint32_t *function_of; // by frame
	uint32_t *objects;     // strings
	size_t object_count;
	uint32_t *row_of;   // by node; UINT32_MAX: none, it is the root
	uint32_t *leaf_of;  // by place of a row and 1; 0 is that of the root
	uint32_t *order;    // of values: by slice
	uint32_t *by_event; // the same by event, then by slice; each begins at
	size_t *begins;
	bool failed; // there was no memory
};

// Functions, rows and samples as columns.
void pd_flame_put_columns(struct pd_flame_data *data);
// Samples and value of an event, at most what 64 bits hold; event_count is all of them together.
void pd_flame_sums(const struct pd_flame_data *data, size_t event, uint64_t *samples_out, uint64_t *value_out);
// The unit of times: longer ones for a recording of months.
uint64_t pd_flame_tick_ns(const struct flame_graph *graph);
// Whether there is an event that is all of them together.
bool pd_flame_has_all(const struct flame_graph *graph);

#endif

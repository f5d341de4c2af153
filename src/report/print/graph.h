/* SPDX-License-Identifier: MIT */
/*
 * The call graph of a row: the chains of its samples as a tree in which equal beginnings are one. It is built for a row,
 * printed and freed; several threads do so at once.
 */
#ifndef PD_REPORT_PRINT_GRAPH_H
#define PD_REPORT_PRINT_GRAPH_H

#include "report/report.h"

#define NO_NODE UINT32_MAX

/* What samples say of the branches that have an end at a frame, each sample once. */
struct passed {
	uint64_t count, predicted, aborted; /* the latter of those that went there */
	uint64_t cycles, iterations, iteration_cycles;
	uint64_t left; /* that came from there; as perf, without the first sample of the frame */
	bool is_to;    /* the last one went there */
};

/* A frame below another one. */
struct node {
	uint32_t who; /* frame that stands for all that are the same, or scratch.truncated */
	uint32_t parent;
	uint32_t child, sibling;   /* list of those that are large enough */
	uint32_t child_count;      /* of all */
	uint32_t first;            /* entry that has it first */
	uint64_t own, own_samples; /* of chains that end here */
	uint64_t all, all_samples;
	struct passed passed;
	size_t begin, end; /* walkers that go on from here */
};

/* A chain on its way down the tree. */
struct walker {
	const uint32_t *at; /* the next frame */
	uint32_t left;      /* frames */
	uint32_t entry;
};

/* A child of the node that is looked at. */
struct branch {
	uint32_t who, first;
	uint32_t node;       /* NO_NODE: too small to be looked at */
	size_t count, place; /* of its walkers */
	uint64_t all, all_samples;
	struct passed passed;
};

struct graph {
	struct pd_report *report;
	const struct table *table;
	struct node *nodes; /* [0] is the root */
	size_t count, capacity;
	struct walker *walkers, *spare; /* by node */
	uint32_t *turns;                /* branch of each walker */
	struct branch *branches;
	size_t branch_count, branch_capacity;
	uint32_t *known; /* by frame: number + 1 of a branch of the node that is looked at; 0 between */
	struct pd_text *out;
	bool absolute;  /* shares are of total, whatever the kind */
	uint64_t total; /* what percentages are of */
	uint64_t least; /* smaller nodes are left out */
	bool failed;
};

/* ---- graph_tree.c ---- */

/* What graphs need, before they are built on several threads. False if there is no memory. */
bool pd_graphs_prepare(struct pd_report *report);
/* What a thread needs to build graphs one after another; pd_free gives it back. NULL if there is no memory. */
uint32_t *pd_graph_scratch(const struct pd_report *report);
/* False if nothing in the graph of a row can be large enough. */
bool pd_graph_is_shown(const struct pd_report *report, const struct table *table, const struct row *row);
/* absolute: percentages are of the total, whatever the kind. False if there is no memory. */
bool pd_graph_build(struct graph *graph, struct pd_report *report, const struct table *table, const struct row *row,
		    bool absolute, uint32_t *known);
void pd_graph_fini(struct graph *graph);
/* Smaller children of a node are left out. */
uint64_t pd_graph_node_least(const struct graph *graph, const struct node *parent);

/* ---- graph_branches.c ---- */

/* Adds what a chain says of its branch at a caller, if there is one. */
void pd_passed_add(struct passed *passed, const struct chain *chain, const uint32_t *at);
/* As perf writes it: " (predicted:50.0% abort:1.0%)", " (cycles:5 iter:3 avg_cycles:20)", " (calltrace)" or nothing. */
void pd_passed_print(const struct passed *passed, struct pd_text *text);
/* The sums as a member of an object. */
void pd_passed_json(const struct passed *passed, struct pd_json *json);

/* ---- graph_order.c ---- */

/* Children that are large enough, the largest first. The caller frees them. NULL, and graph->failed, if there is no
 * memory. */
uint32_t *pd_graph_children(struct graph *graph, uint32_t parent, uint64_t least, size_t *count_out);
/* The order of two nodes by their numbers; self is the graph. */
int pd_graph_compare(const void *a, const void *b, void *self);

/* ---- graph_text.c, graph_json.c ---- */

/* Prints the graph of a row. False if there is no memory. */
bool pd_graph_print(struct pd_report *report, const struct table *table, const struct row *row, uint32_t *known,
		    struct pd_text *out);
/* The graph of a row as nodes of a JSON array. False if there is no memory. */
bool pd_graph_json(struct pd_report *report, const struct table *table, const struct row *row, struct pd_json *json);

#endif

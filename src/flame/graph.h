/* SPDX-License-Identifier: MIT */
/*
 * A flame graph before it is drawn, and who draws it.
 */
#ifndef PD_FLAME_GRAPH_H
#define PD_FLAME_GRAPH_H

#include <perfdata/flame.h>

#include "flame/tree.h"

enum {
	FLAME_SLICES_MOST = 200
};

/* A line of what the reader should know about the numbers: "12 samples lost". */
struct flame_info {
	char text[96];
	bool bad; /* it is a reason to doubt them */
};

struct flame_graph {
	struct tree tree;
	const char *title;
	const char *unit;          /* of all values: "samples", "ns", "events", "counts"; NULL: events do not add up */
	bool reverse;              /* the tree begins with the functions that were sampled */
	bool inverted;             /* it is drawn from the top down */
	const char **events;       /* names; the index is that of the values */
	const enum pd_unit *units; /* of their values */
	size_t event_count;
	size_t slice_count; /* 0: the time is not known */
	uint64_t slice_ns, first_ns;
	struct flame_info infos[16];
	size_t info_count;
};

/* What only drawings without script need. */
struct flame_drawing {
	double width;     /* of the picture, in pixels */
	double min_width; /* of a frame that is drawn */
};

struct stack_result;
/* Adds what is to be said about samples: how many, lost, of unknown functions ... */
void pd_flame_add_info(struct flame_graph *graph, const struct stack_result *result);
/* Adds a line. */
void pd_flame_info(struct flame_graph *graph, bool bad, const char *format, ...) PD_PRINTF(3, 4);
/* 1234567 as 1,234,567. */
const char *pd_flame_number(char buffer[32], uint64_t value);
/* Name of a unit in the page, and an amount with its unit: 1.25 ms. */
const char *pd_flame_unit(enum pd_unit unit);
const char *pd_flame_amount(char buffer[64], uint64_t value, const char *unit);

/* Reads "a;b;c 12" lines of a file, whose frames are added to the tree. */
enum pd_status pd_flame_read_lines(struct flame_graph *graph, struct stack_lines *lines, const char *path,
				   pd_warn_fn *warn, void *self, uint64_t *wrong_out, struct pd_error *error);

/* The finished tree, which is made by the first call; NULL if there is no memory. */
const struct flame_graph *pd_flame_graph(struct pd_flame *flame);
/* What was read; of folded stacks all zero. */
const struct stack_result *pd_flame_result(const struct pd_flame *flame);
/* Prints the finished tree; false if there is no memory. */
bool pd_flame_write_svg(const struct flame_graph *graph, const struct flame_drawing *drawing, struct pd_text *out);

#endif

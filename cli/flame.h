/* SPDX-License-Identifier: MIT */
/*
 * A flame graph before it is drawn, and who draws it.
 */
#ifndef CLI_FLAME_H
#define CLI_FLAME_H

#include "front/cli.h"
#include "flame_tree.h"

enum {
	FLAME_SLICES_MOST = 200
};

/* A line of what the reader should know about the numbers: "12 samples lost". */
struct flame_fact {
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
	struct flame_fact facts[16];
	size_t fact_count;
};

/* What only drawings without script need. */
struct flame_drawing {
	double width;     /* of the picture, in pixels */
	double min_width; /* of a frame that is drawn */
};

void flame_fact(struct flame_graph *graph, bool bad, const char *format, ...) PD_PRINTF(3, 4);
/* 1234567 as 1,234,567. */
const char *flame_number(char buffer[32], uint64_t value);
/* Name of a unit in the page, and an amount with its unit: 1.25 ms. */
const char *flame_unit(enum pd_unit unit);
const char *flame_amount(char buffer[64], uint64_t value, const char *unit);

/* Reads "a;b;c 12" lines, whose frames are added to the tree. Says on stderr what is wrong with lines; returns a code. */
int flame_read_folded(struct flame_graph *graph, struct stack_lines *lines, const char *path);

/* Each prints the finished tree; false if the output is of no use any more. threads is 0 for as many as there are
 * processors. */
bool flame_write_html(const struct flame_graph *graph, size_t threads, struct output *out);
bool flame_write_svg(const struct flame_graph *graph, const struct flame_drawing *drawing, struct output *out);

/* The page, and its size; made from web/. */
extern const char flame_page[];
extern const unsigned flame_page_size;

#endif

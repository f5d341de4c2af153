/* SPDX-License-Identifier: MIT */
/*
 * Folded stacks as lines: each a list of frames from the outermost to the innermost and a value. They are sorted by the
 * bytes of their text without making it, and equal ones become one.
 */
#ifndef PD_FLAME_LINES_H
#define PD_FLAME_LINES_H

#include "base/text/text.h"

struct tree;

struct stack_line {
	size_t start; /* in frames */
	uint64_t value;
	uint32_t count;
	uint32_t entry; /* of the profile that it is from */
};

/* Memory that runs out is remembered: everything may be called afterwards, pd_lines_print and pd_tree_finish tell. */
struct stack_lines {
	uint32_t *frames; /* of a tree; once lines are sorted, places in the order of names */
	size_t frame_count, frame_capacity;
	struct stack_line *items;
	size_t count, capacity;
	bool failed;
};

/* Reserves memory for so many lines with so many frames, of which there are none yet; there may be more. */
void pd_lines_prefetch(struct stack_lines *lines, size_t count, size_t frames);
/* Adds a frame to the line that is being made. */
void pd_lines_frame(struct stack_lines *lines, uint32_t frame);
/* Memory for so many more frames of the line, which frame_count is to be raised by; NULL if there is no memory. */
uint32_t *pd_lines_reserve(struct stack_lines *lines, size_t count);
/* Ends the line; without a frame there is none. */
void pd_lines_end(struct stack_lines *lines, uint64_t value, uint32_t entry);
/* Puts the lines of several, which are gone then, into one. */
void pd_lines_join(struct stack_lines *lines, struct stack_lines *parts, size_t part_count);
/* The numbers of lines in the order of their frames, which are less than a limit; lines that agree keep their order. The
 * array is the caller's; NULL if there is no memory. */
uint32_t *pd_lines_sort(const struct stack_lines *lines, uint32_t frame_limit, size_t parts);
/* Sorts and prints the lines, whose frames are named by a tree, on so many threads; 0: as many as there are processors.
 * False if there is no memory. */
bool pd_lines_print(struct stack_lines *lines, const struct tree *tree, size_t threads, struct pd_text *out);
void pd_lines_fini(struct stack_lines *lines);

/* In how many frames two lines agree. */
static inline uint32_t lines_common(const struct stack_lines *lines, const struct stack_line *a,
				    const struct stack_line *b)
{
	const uint32_t *x = lines->frames + a->start, *y = lines->frames + b->start;
	uint32_t count = a->count < b->count ? a->count : b->count, same = 0;

	while (same < count && x[same] == y[same])
		same++;
	return same;
}

#endif

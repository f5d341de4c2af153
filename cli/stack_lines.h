/* SPDX-License-Identifier: MIT */
/*
 * Folded stacks as lines: each a list of frames from the outermost to the innermost and a value. They are sorted by the
 * bytes of their text without making it, and equal ones become one.
 */
#ifndef CLI_STACK_LINES_H
#define CLI_STACK_LINES_H

#include "cli.h"
#include "flame_tree.h"

struct stack_line {
	size_t start; /* in frames */
	uint64_t value;
	uint32_t count;
};

/* Memory that runs out is remembered: everything may be called afterwards, lines_print tells. */
struct stack_lines {
	uint32_t *frames; /* of a tree; once lines are sorted, places in the order of names */
	size_t frame_count, frame_room;
	struct stack_line *items;
	size_t count, room;
	bool failed;
};

/* Adds a frame to the line that is being made. */
void lines_frame(struct stack_lines *lines, uint32_t frame);
/* The same for many. */
void lines_frames(struct stack_lines *lines, const uint32_t *frames, size_t count);
/* Ends the line; without a frame there is none. */
void lines_end(struct stack_lines *lines, uint64_t value);
/* Adds lines behind those that are there, and empties where they come from. */
void lines_join(struct stack_lines *lines, struct stack_lines *more);
/* Sorts and prints the lines, whose frames are named by a tree, on so many threads; 0: as many as there are processors.
 * False if there is no memory. */
bool lines_print(struct stack_lines *lines, const struct tree *tree, size_t threads, struct output *out);
void lines_fini(struct stack_lines *lines);

#endif

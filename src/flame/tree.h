/* SPDX-License-Identifier: MIT */
/*
 * Stacks merged into a tree: what flame graphs are drawn from, and the frames of folded stacks.
 *
 * Texts are kept once, frames (name, object, kind) once, and a node is a frame below another node. pd_tree_finish makes nodes of
 * lines of frames, in the order in which they are printed: a node, then what is below it, siblings by name. Values are
 * with the node where a stack ends, apart by event and slice of time.
 *
 * Memory that runs out is remembered: everything may be called afterwards, pd_tree_finish tells.
 */
#ifndef PD_FLAME_TREE_H
#define PD_FLAME_TREE_H

#include "base/lookup/strings.h"
#include "flame/lines.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	TREE_SLICES_MOST = 200, /* slices of time */
	TREE_SLICE_BITS = 8,
	TREE_EVENT_BITS = 32 - TREE_SLICE_BITS
};

enum frame_kind {
#define KIND(NAME, name, hue, saturation) FRAME_##NAME,
#include "flame/kind.def"
#undef KIND
	FRAME_KIND_COUNT
};

struct tree_frame {
	uint32_t name, dso; /* indices of texts; dso 0 is the empty text */
	uint32_t kind;
};

/* What ended in a node. */
struct tree_value {
	uint32_t node;
	uint32_t event : TREE_EVENT_BITS, slice : TREE_SLICE_BITS;
	uint64_t value;
	uint64_t samples; /* of folded stacks: the same as value */
};

/* A node after pd_tree_finish. The first one is the root, above all stacks; it has no frame. */
struct tree_node {
	uint32_t frame;
	uint32_t depth;
	uint64_t total; /* of all events and slices, with what is below */
};

/* Where the values of lines come from. */
struct tree_source {
	const struct pd_profile *profile; /* NULL: values are those of the lines */
	uint32_t *event_index;            /* by index in the file, of those that have samples */
	size_t event_count;
	uint32_t first_slice;      /* of the profile's, with samples */
	uint32_t slice_step;       /* so many of them are one; 0: time is not kept separately */
	const enum pd_unit *units; /* of the values of events that have samples */
};

struct tree_options {
	double least;   /* percent; nodes of less are left out */
	size_t values;  /* slices of time are joined by twos until there are not more values; 0: they stay */
	size_t threads; /* 0: as many as there are processors */
};

struct tree {
	struct pd_strings texts;
	struct pd_arena arena; /* of the texts */
	struct tree_frame *frames;
	size_t frame_count, frame_capacity;
	struct pd_index frame_index; /* by a hash of the frame */

	struct tree_value *values;
	size_t value_count;
	unsigned joined; /* so many slices became one */

	struct tree_node *nodes;
	size_t node_count;
	size_t left_out; /* nodes below the limit, which are not there */
	bool failed;
};

void pd_tree_init(struct tree *tree);
void pd_tree_fini(struct tree *tree);

/* The index of a text and of a frame; each is made if it is not there. */
uint32_t pd_tree_text(struct tree *tree, const char *text, size_t length);
uint32_t pd_tree_frame(struct tree *tree, uint32_t name, uint32_t dso, enum frame_kind kind);

/* Makes nodes and values of lines with the tree's frames, which are other numbers then. What ended in nodes that are left out
 * is their caller's. False if memory ran out, now or before. */
bool pd_tree_finish(struct tree *tree, struct stack_lines *lines, const struct tree_source *source,
		    const struct tree_options *options);

/* What a name says of its language: kind, or JAVA, PYTHON, NODE in place of it. */
enum frame_kind pd_frame_kind_by_name(enum frame_kind kind, const char *name, const char *dso);

#endif

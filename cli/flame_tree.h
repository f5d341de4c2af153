/* SPDX-License-Identifier: MIT */
/*
 * Stacks merged into a tree: what flame graphs and folded stacks are printed from.
 *
 * Texts are kept once, frames (name, object, kind) once, and a node is a frame below another node. Values are
 * added to the node where a stack ends, apart by event and slice of time. tree_finish puts the nodes in the
 * order in which they are printed: a node, then what is below it, siblings by name.
 *
 * Memory that runs out is remembered: everything may be called afterwards, tree_finish tells.
 */
#ifndef CLI_FLAME_TREE_H
#define CLI_FLAME_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* KIND(NAME, letter in the page, name in the page): what sort of code a frame is. */
#define FRAME_KINDS(KIND)            \
	KIND(TASK, 't', "task")      \
	KIND(EVENT, 'e', "event")    \
	KIND(USER, 'u', "user")      \
	KIND(KERNEL, 'k', "kernel")  \
	KIND(INLINED, 'i', "inlined") \
	KIND(JIT, 'j', "jit")        \
	KIND(JAVA, 'v', "java")      \
	KIND(PYTHON, 'p', "python")  \
	KIND(NODE, 'n', "node")      \
	KIND(UNKNOWN, 'x', "unknown")

enum frame_kind {
#define KIND(NAME, letter, name) FRAME_##NAME,
	FRAME_KINDS(KIND)
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
	uint16_t event, slice;
	uint64_t value;
};

/* A node after tree_finish. The first one is the root, above all stacks; it has no frame. */
struct tree_node {
	uint32_t frame;
	uint32_t parent;
	uint32_t depth;
	uint64_t total; /* of all events and slices, with what is below */
};

/* A node while the tree grows, and while it is put in order. */
struct tree_seed {
	uint32_t frame, parent;
	uint32_t recent;      /* the child that was asked for last */
	uint32_t child, next; /* the first child, and the next sibling; sorted at the end */
	uint32_t place; /* in nodes */
	uint64_t total;
};

/* Texts that are kept once each. */
struct tree_texts {
	char **items;
	uint32_t *slots;
	size_t count, room, slot_count;
};

struct tree {
	struct tree_texts texts;
	struct tree_frame *frames;
	uint32_t *frame_slots;
	size_t frame_count, frame_room, frame_slot_count;

	struct tree_seed *seeds;
	uint32_t *seed_slots;
	size_t seed_count, seed_room, seed_slot_count;

	struct tree_value *values;
	size_t value_count, value_room;

	struct tree_node *nodes;   /* after tree_finish */
	size_t finished_count;
	size_t left_out;           /* nodes below the limit, which are not there */
	bool failed;
};

void tree_init(struct tree *tree);
void tree_fini(struct tree *tree);

/* The index of a text, of a frame and of the node of a frame below another one (0 is the root); each is made if it is
 * not there. */
uint32_t tree_text(struct tree *tree, const char *text, size_t length);
uint32_t tree_frame(struct tree *tree, uint32_t name, uint32_t dso, enum frame_kind kind);
uint32_t tree_child(struct tree *tree, uint32_t parent, uint32_t frame);
void tree_add(struct tree *tree, uint32_t node, uint16_t event, uint16_t slice, uint64_t value);

/* Sorts nodes and values and adds values up. Nodes whose total is below least are left out; what ended in
 * them is their caller's. False if memory ran out, now or before. */
bool tree_finish(struct tree *tree, uint64_t least);

/* Sums of values, of all and of one event. */
uint64_t tree_total(const struct tree *tree);
uint64_t tree_event_total(const struct tree *tree, uint16_t event);

/* Joins slices of time by twos until there are not more values than most. Returns how many slices became one;
 * call it before tree_finish. */
unsigned tree_coarsen(struct tree *tree, size_t most);

/* What a name says of its language: kind, or JAVA, PYTHON, NODE in place of it. */
enum frame_kind frame_kind_by_name(enum frame_kind kind, const char *name, const char *dso);

#endif

/* SPDX-License-Identifier: MIT */
/* How the frames of stacks are named: one frame of the tree for each distinct address, thread and event. */
#ifndef PD_FLAME_NAMING_H
#define PD_FLAME_NAMING_H

#include "flame/stacks.h"

/* The frames of a distinct address, innermost first: places in frames. */
struct named {
	uint32_t frame; /* if there are several, where they begin */
	uint32_t count; /* 0: not named yet */
};

/* Frames that were made, by a number: one more than each, 0 if it was not made yet. */
struct drawn {
	uint32_t *items;
	size_t capacity;
};

struct stacks {
	const struct pd_flame_options *options;
	struct pd_symbols *symbols;
	const struct pd_profile *profile;
	const struct pd_event *one_event; /* NULL: all */
	struct tree *tree;                /* frames are added to it */
	struct stack_lines *lines;
	struct stack_result *result;
	struct pd_text *text;
	struct named *named; /* by frame of the profile */
	uint32_t *frames;
	size_t frame_count, frame_capacity;
	struct drawn functions; /* each twice: where it was inlined, too */
	struct drawn dsos;      /* where the function is not known */
	uint32_t most_named;    /* frames of an address */
	bool failed;            /* there was no memory */
};

/* Names the functions at the address of a frame of the profile, once. */
void pd_stacks_name_frame(struct stacks *stacks, uint32_t index);
/* The frame before the stacks of a thread; false if there is none. */
bool pd_stacks_root_frame(const struct stacks *stacks, const struct pd_profile_entry *entry, uint32_t *frame_out);
/* The frame of an event by its index among those with samples; false if there is none. */
/* The frame that stands for callers that unwinding did not find. */
uint32_t pd_stacks_truncated_frame(const struct stacks *stacks);
bool pd_stacks_event_frame(const struct stacks *stacks, uint32_t event, uint32_t *frame_out);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * The samples of a file as stacks of named frames: what perfdata folded and perfdata flame share.
 */
#ifndef CLI_STACKS_H
#define CLI_STACKS_H

#include "analysis.h"
#include "flame_tree.h"
#include "stack_lines.h"

/* How frames are named. */
struct stack_style {
	bool folded;       /* as in folded text: one name, no object or kind beside it */
	bool tidy;         /* without arguments of functions */
	bool mark_kernel;  /* _[k] behind the names */
	bool mark_jit;     /* _[j] */
	bool mark_inlined; /* _[i] */
	bool join_blanks;  /* blanks in names of threads become _ */
};

/* What stands in front of the frames of a stack. */
enum stack_root {
	ROOT_NONE,
	ROOT_COMM,
	ROOT_PID, /* name-PID */
	ROOT_TID, /* name-PID/TID */
	ROOT_CPU  /* CPU 3 */
};

/* What a value of a stack is. */
enum stack_weight {
	WEIGHT_NATURAL, /* by the unit of the event */
	WEIGHT_SAMPLES,
	WEIGHT_PERIOD
};

struct stack_request {
	struct stack_style style;
	enum stack_root root;
	bool event_frame; /* the event in front of all, if there is more than one */
	enum stack_weight weight;
	bool reverse; /* from the function that was sampled to its callers */
	bool slices;  /* keep slices of time apart */
	unsigned max_stack;
	size_t threads; /* that make lines; 0: as many as there are processors */
};

struct stack_result {
	const char **events; /* names of the events that have samples; the index is that of the values */
	enum pd_unit *units; /* of their values */
	size_t event_count;
	size_t slice_count;
	uint64_t slice_ns, first_ns;
	uint64_t samples;               /* taken */
	uint64_t cut, damaged, unknown; /* samples with such a stack; unknown: whose function is not known */
	uint64_t copied;                /* samples with a copied user stack that is not unwound */
	uint64_t samples_in_file;       /* of the chosen time and events, whatever the other filters said */
	struct pd_profile_losses losses;
	struct tree_source values; /* of the lines */
};

/* Takes the argument of --by. Says on stderr what is wrong and returns false then. */
bool stack_root_parse(const char *text, enum stack_root *root_out);
/* The same for --weight; text may be NULL. */
bool stack_weight_parse(const char *text, enum stack_weight *weight_out);
/* Whether the values of all events can be added up. */
bool stacks_add_up(const struct stack_result *result);
/* Reads the samples of a file into empty lines, whose frames are added to a tree, between analysis_begin and analysis_close.
 * Says what is wrong and returns a code; the result must be given back with stacks_fini either way. */
int stacks_read(struct analysis *analysis, const struct analysis_options *options, const struct stack_request *request,
		struct tree *tree, struct stack_lines *lines, struct stack_result *result);
void stacks_fini(struct stack_result *result);

#endif

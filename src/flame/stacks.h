/* SPDX-License-Identifier: MIT */
/*
 * The samples of a profile as stacks of named frames.
 */
#ifndef PD_FLAME_STACKS_H
#define PD_FLAME_STACKS_H

#include <perfdata/flame.h>

#include "flame/tree.h"
#include "flame/lines.h"

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
	const struct pd_unwinder *unwinder; /* of the profile, or NULL */
	struct tree_source values;          /* of the lines */
};

/* Whether the values of all events can be added up. */
bool pd_stacks_add_up(const struct stack_result *result);
/* What a profile has to distinguish, as PD_BY_... */
uint32_t pd_stacks_profile_by(const struct pd_flame_options *options);
/* Makes lines of the entries of a profile; their frames are added to a tree. The result must be given back with pd_stacks_fini
 * either way. PD_ERROR_MEMORY. */
enum pd_status pd_stacks_read(const struct pd_profile *profile, struct pd_symbols *symbols,
			      const struct pd_flame_options *options, struct tree *tree, struct stack_lines *lines,
			      struct stack_result *result, struct pd_error *error);
void pd_stacks_fini(struct stack_result *result);

/* ---- event.c ---- */

/* The event of a profile that is the one of several recordings, which is chosen by the first one; NULL if it has none. */
const struct pd_event *pd_flame_choose_event(const struct pd_profile *profile, struct pd_flame_event *one);

#endif

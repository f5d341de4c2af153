/* SPDX-License-Identifier: MIT */
/*
 * Makes random structs of any layout that a decoder could have made: counts and sizes agree,
 * conditions hold, flags of MORE lines say the truth. Everything is taken from the layouts, so that
 * a new line in the tables is tested without a word here.
 */
#ifndef PD_TEST_FILL_H
#define PD_TEST_FILL_H

#include "format/layout.h"
#include "random.h"

struct filler {
	struct random random;
	struct pd_arena arena; // of what was filled, until fill_reset
	struct pd_scope scope; // words for the next struct
	uint64_t retries;      // structs that had to be made again, see fill.c
};

// New words: what an event and a file might say.
void fill_scope(struct filler *filler);
// A struct of a layout, for filler->scope, which is changed by SET lines. Never NULL; ends the
// program if there is no memory.
void *fill_layout(struct filler *filler, const struct pd_layout *layout);
// Forgets all that was filled.
void fill_reset(struct filler *filler);

#endif

/* SPDX-License-Identifier: MIT */
/* Loops and jumps inside of a function. */
#ifndef PD_ANNOTATE_LOOPS_H
#define PD_ANNOTATE_LOOPS_H

#include "annotate/inside.h"

struct pd_annotate_loop {
	size_t first, last; // lines
	size_t instructions;
	struct pd_annotate_sum sum; // of the first event
};

/** Loops by their first line; several jumps to one place are one loop. The array is the caller's. False without memory. */
bool pd_annotate_find_loops(const struct pd_annotate_code *code, struct pd_annotate_loop **loops_out,
			    size_t *count_out);

enum {
	PD_ANNOTATE_JUMP_WIDTH = 6
};

/** Characters beside each line: |, / and \ where jumps begin and end, > at their targets. */
struct pd_annotate_jumps {
	char *cells; // PD_ANNOTATE_JUMP_WIDTH for each line; the caller's
};

/** Jumps whose both ends are shown; shown NULL: all lines are. False without memory. */
bool pd_annotate_draw_jumps(const struct pd_annotate_code *code, const bool *shown,
			    struct pd_annotate_jumps *jumps_out);

#endif

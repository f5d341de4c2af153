/* SPDX-License-Identifier: MIT */
/* Two runs over a file, of which only the first passes over it to see what it consists of. */
#ifndef PD_STREAM_KNOWN_H
#define PD_STREAM_KNOWN_H

#include <perfdata/run.h>

struct pd_pieces;

// As pd_run. *pieces_out is for the next run; NULL after a failure. The window must be all of the time.
enum pd_status pd_run_first(struct pd_file *file, const struct pd_run_options *options, const struct pd_sink *sink,
			    struct pd_pieces **pieces_out, struct pd_error *error);
// As pd_run without `first`, of a file whose pieces are known; those that the window leaves out are not among them any more. What was
// wrong with what the first pass decoded is not reported again.
enum pd_status pd_run_next(struct pd_file *file, const struct pd_run_options *options, const struct pd_sink *sink,
			   struct pd_pieces *pieces, struct pd_error *error);
// NULL is ignored.
void pd_run_forget(struct pd_pieces *pieces);

#endif

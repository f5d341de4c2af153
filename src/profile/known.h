/* SPDX-License-Identifier: MIT */
/* A profile of a file that was read before, by somebody who has its state. */
#ifndef PD_PROFILE_KNOWN_H
#define PD_PROFILE_KNOWN_H

#include <perfdata/profile.h>

struct pd_pieces;

// As pd_profile_read, without the pass that makes a state and finds losses. The state is finalized and must outlive the profile; pieces
// are those of pd_run_first. Of the options symbols and ready are not used.
enum pd_status pd_profile_read_known(struct pd_file *file, struct pd_state *state, struct pd_pieces *pieces,
				     const struct pd_profile_options *options, struct pd_profile **profile_out,
				     struct pd_error *error);

#endif

/* SPDX-License-Identifier: MIT */
/* perfdata report --stats=profile: what a profile consists of, and how much memory its tables take. */
#ifndef CLI_PROFILE_SIZES_H
#define CLI_PROFILE_SIZES_H

#include "files/analysis.h"

/* Reads the profile that `how` describes by address, by function, and with one frame for all addresses without a function, and
 * prints the sizes of each. */
int profile_sizes_print(struct analysis *analysis, const struct analysis_options *options,
			const struct pd_profile_options *how, bool json);

#endif

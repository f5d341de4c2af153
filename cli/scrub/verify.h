/* SPDX-License-Identifier: MIT */
/* perfdata scrub --verify. */
#ifndef CLI_SCRUB_VERIFY_H
#define CLI_SCRUB_VERIFY_H

#include "front/cli.h"
#include "front/options.h"

#include <perfdata/scrub.h>

/* Searches the second file of the call for names of the first. Returns the exit code: CODE_DAMAGED if one is found. */
int scrub_verify(const struct pd_scrub_options *options, struct option_number min_length, bool json,
		 const struct call *call);

#endif

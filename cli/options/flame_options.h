/* SPDX-License-Identifier: MIT */
/* Options about stacks that perfdata folded and perfdata flame have in common. */
#ifndef CLI_FLAME_OPTIONS_H
#define CLI_FLAME_OPTIONS_H

#include "files/analysis.h"

#include <perfdata/flame.h>

/* Reads the profile of an open file and its stacks. Reports what is wrong; returns an exit code. */
int flame_read_file(struct analysis *analysis, const struct analysis_options *options,
		    struct pd_flame_options *flame_options, struct pd_flame **flame_out);

/* The stacks of a recording as folded text. path NULL: the one that the call is of. name_out is its name for messages. Reports
 * what is wrong; returns an exit code. */
int flame_fold(const struct call *call, const struct analysis_options *options, const char *path,
	       const struct pd_flame_options *flame_options, struct pd_text *text, const char **name_out);

#endif

/* SPDX-License-Identifier: MIT */
/* Options about stacks that perfdata folded and perfdata flame have in common. */
#ifndef CLI_FLAME_OPTIONS_H
#define CLI_FLAME_OPTIONS_H

#include "files/analysis.h"

#include <perfdata/flame.h>

/* Reads the argument of --by, and of --weight, which may be NULL. Reports what is wrong and returns false then. */
bool flame_root_parse(const char *string, enum pd_flame_root *root_out);
bool flame_weight_parse(const char *string, enum pd_flame_weight *weight_out);

/* Reads the profile of an open file and its stacks. Reports what is wrong; returns an exit code. */
int flame_read_file(struct analysis *analysis, const struct analysis_options *options,
		    struct pd_flame_options *flame_options, struct pd_flame **flame_out);

/* The stacks of a recording as folded text. path NULL: the one that the call is of. name_out is its name for messages. Reports
 * what is wrong; returns an exit code. */
int flame_fold(const struct call *call, const struct analysis_options *options, const char *path,
	       const struct pd_flame_options *flame_options, struct pd_text *text, const char **name_out);

#endif

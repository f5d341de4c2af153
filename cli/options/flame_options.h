/* SPDX-License-Identifier: MIT */
/* Options about stacks that perfdata folded and perfdata flame have in common. */
#ifndef CLI_FLAME_OPTIONS_H
#define CLI_FLAME_OPTIONS_H

#include "files/analysis.h"

#include <perfdata/flame.h>

/* Reads the profile of an open file and its stacks. Reports what is wrong; returns an exit code. */
int flame_read_file(struct analysis *analysis, const struct analysis_options *options,
		    struct pd_flame_options *flame_options, struct pd_flame **flame_out);

/* The stacks of a recording as folded text. */
struct folded {
	struct pd_text *text;
	const char *name;                   /* of the recording, for messages */
	const struct pd_flame_event *event; /* that of the options */
};

/* How recordings are folded. */
struct folding {
	const struct call *call;
	const struct analysis_options *options;
	const struct pd_flame_options *how;
	bool warns; /* of stacks that are not unwound, or incomplete */
};

/* Adds the stacks of a recording. path NULL: the one that the call is of. Reports what is wrong; returns an exit code. */
int flame_fold(const struct folding *folding, const char *path, struct folded *folded);
/* Folds two recordings and prints what a function makes of them, which returns an exit code. Returns the worst code. */
int flame_compare(const struct folding *folding, const char *old_path, const char *new_path,
		  int (*print)(const struct call *call, const struct folded *old_stacks,
			       const struct folded *new_stacks));

#endif

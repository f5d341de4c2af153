/* SPDX-License-Identifier: MIT */
/* The samples of a recording as a file of another program, for the commands that write one. */
#ifndef CLI_FILES_EXPORT_H
#define CLI_FILES_EXPORT_H

#include "files/analysis.h"

struct export_values {
	struct analysis_options analysis;
	struct pd_export_options how; /* format NULL: not given, which is an error */
	const char *output;           /* NULL: standard output */
};

/* Opens the file, writes the output, and reports what is wrong. Returns the exit code. */
int export_samples(const struct export_values *values, const struct call *call);

#endif

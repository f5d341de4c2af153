/* SPDX-License-Identifier: MIT */
/* The samples of a recording as a file of another program, for the commands that write one. */
#ifndef CLI_FILES_EXPORT_H
#define CLI_FILES_EXPORT_H

#include "files/analysis.h"

struct export_values {
	struct analysis_options analysis;
	const char *format;            /* NULL: not given, which is an error */
	const char *output;            /* NULL: standard output */
	unsigned max_stack;            /* 0: all */
	const char *object;            /* NULL: with the most branches */
	bool remap;                    /* see pd_quipper_options */
	bool samples_only, wall_clock; /* of ctf: no other records; times of the wall clock */
};

/* Opens the file, writes the output, and reports what is wrong. Returns the exit code. */
int export_samples(const struct export_values *values, const struct call *call);

#endif

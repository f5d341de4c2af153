/* SPDX-License-Identifier: MIT */
/*
 * What the commands that write a part of a recording (filter, cut, sample, head, tail) have in common: options, opening
 * input and output, the call of the library (perfdata/extract.h), and what is said at the end.
 */
#ifndef CLI_EXTRACT_H
#define CLI_EXTRACT_H

#include "files/input.h"
#include "options/symbol_options.h"
#include "files/target.h"

#include <perfdata/extract.h>

struct extract_values {
	struct input_options input;
	struct target_options target;
	bool json;
	struct pd_extract_options how; /* what the options of the command set of it */
};
extern const struct option_group extract_group;

/* Extracts by the options, whose functions are filled in here. symbols may be NULL for ways that need none. Returns the
 * exit code. */
int extract_run(const struct call *call, const struct extract_values *values, struct pd_extract_options *options,
		const struct symbol_options *symbols);

#endif

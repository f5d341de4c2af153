/* SPDX-License-Identifier: MIT */
/*
 * The lines of one header feature in the words of perf report --header-only.
 */
#ifndef CLI_HEADER_FEATURE_H
#define CLI_HEADER_FEATURE_H

#include <perfdata/perfdata.h>

/* Where the header comes from and goes to. */
struct header {
	struct pd_file *file;
	struct pd_text *out;
	bool full; /* topologies, caches and the like too */
};

/* Appends the lines of a feature; nothing if it has no text. */
void header_feature(const struct header *header, unsigned feature);

/* A text from the file, escaped; "(null)" if there is none, as perf has it. */
void header_str(struct pd_text *out, struct pd_str str);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * The lines of one header feature in the words of perf report --header-only.
 */
#ifndef PD_HEADER_FEATURE_H
#define PD_HEADER_FEATURE_H

#include <perfdata/file.h>
#include <perfdata/text.h>

/* Where the header comes from and goes to. */
struct pd_header_print {
	struct pd_file *file;
	struct pd_text *out;
	bool full; /* topologies, caches and the like too */
};

/* Appends the lines of a feature; nothing if it has no text. */
void pd_header_feature_text(const struct pd_header_print *header, unsigned feature);

#endif

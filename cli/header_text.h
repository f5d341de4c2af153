/* SPDX-License-Identifier: MIT */
/*
 * The header of a file in the words of perf report --header-only (perf 6.1): the frame, a line or
 * more for each feature, and what is missing.
 */
#ifndef CLI_HEADER_TEXT_H
#define CLI_HEADER_TEXT_H

#include <perfdata/perfdata.h>

/* Appends the header; full adds topologies, caches and the like, as perf does with -I. In pipe
 * mode the records are read up to the end of the features. Returns CODE_FINE, or
 * CODE_UNREADABLE after it told why on stderr. */
int header_text(struct pd_file *file, bool full, struct pd_text *out);

#endif

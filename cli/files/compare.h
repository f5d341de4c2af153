/* SPDX-License-Identifier: MIT */
/* What the commands that compare runs have in common: the runs of a side, each of which becomes a report. */
#ifndef CLI_COMPARE_H
#define CLI_COMPARE_H

#include "files/analysis.h"

#include <perfdata/diff.h>

struct compare {
	const struct analysis_options *options;
	const char *sort;
	bool relative; /* shares of what passes the filters */
	const struct call *call;
	struct pd_diff *diff;
	/* in use */
	struct analysis analysis;
	struct pd_report_options report;
};

/* Whether a word names several files, with commas between them. */
bool compare_is_list(const char *word);
/* Whether the words are a store and conditions, each of which is a side. */
bool compare_is_stored(const char *const *words, size_t count);
/* Each word is a side: a recording, a saved profile, or a list of them; or else of a store. Returns the worst code. */
int compare_add_all(struct compare *compare, const char *const *words, size_t count);

#endif

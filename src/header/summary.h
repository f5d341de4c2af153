/* SPDX-License-Identifier: MIT */
/* The inside of a summary: summary.c reads, summary_text.c prints, traits.c has what it says of clocks and events. */
#ifndef PD_HEADER_SUMMARY_H
#define PD_HEADER_SUMMARY_H

#include <perfdata/summary.h>

struct pd_summary {
	struct pd_file *file;
	struct pd_stats *stats;
	struct pd_summary_numbers numbers;
	bool times_of_samples;
	bool maps_have_build_ids;
	bool has_tracing_record;
};

#endif

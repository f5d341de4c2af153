/* SPDX-License-Identifier: MIT */
/* Counts of records, as text. */
#ifndef PD_HEADER_STATS_H
#define PD_HEADER_STATS_H

#include <perfdata/record_stats.h>

/* As pd_print_stats; lost: with the lost samples of each event. */
void pd_stats_print(struct pd_text *text, const struct pd_stats *stats, bool lost);

#endif

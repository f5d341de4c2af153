/* SPDX-License-Identifier: MIT */
/* Columns of numbers, one for each event. */
#ifndef PD_ANNOTATE_COLUMN_H
#define PD_ANNOTATE_COLUMN_H

#include <perfdata/annotate.h>

/** The width of one. */
size_t pd_annotate_column_width(enum pd_annotate_show show);
/** What columns show: "Percent". */
const char *pd_annotate_column_word(enum pd_annotate_show show);
/** A sum, or its share in percent, as the options have it. */
void pd_annotate_put_column(struct pd_text *out, const struct pd_annotate_text_options *options,
			    const struct pd_annotate_sum *sum, double percent);

#endif

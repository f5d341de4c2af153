/* SPDX-License-Identifier: MIT */
/*
 * The rows of a table as a tree, for perf report --hierarchy: a level for each sort key, or for several in braces, without those that
 * the event of the table lacks. A row of a
 * level is what the rows below it have in common, with their sums; rows of the last level are those of the table.
 */
#ifndef PD_REPORT_ROWS_LEVELS_H
#define PD_REPORT_ROWS_LEVELS_H

#include "report/report.h"

struct level {
	size_t first_column, end_column; /* of report->columns */
	struct table table;              /* rows in order; first_link of each is its number */
	uint32_t *parents;               /* by number: number of the row above */
	size_t *starts;                  /* by number of the row above: where its rows begin in below */
	uint32_t *below;                 /* indexes of rows by the row above, in order */
};

struct levels {
	struct level *items;
	size_t count;
	uint32_t *own; /* by number in the last level: index of the row of the table */
};

/* False if there is no memory. pd_levels_fini comes after it in any case. */
bool pd_levels_build(struct levels *levels, const struct pd_report *report, const struct table *table);
void pd_levels_fini(struct levels *levels);

#endif

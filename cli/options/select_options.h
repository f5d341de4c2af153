/* SPDX-License-Identifier: MIT */
/* The options that select samples. They are those of perf and mean the same in every command. */
#ifndef CLI_SELECT_OPTIONS_H
#define CLI_SELECT_OPTIONS_H

#include "options/options.h"

#include <perfdata/select.h>

/* The values are struct pd_select_options. The short options are not the same in all commands of perf: --dsos has none, or d; in
 * diff, C is --comms. */
extern const struct option_group select_group, select_group_d, select_group_diff, select_group_annotate;
/* Of the same struct. */
extern const struct option_group switch_group;

/* Parses the options, whose size need not be set. False after an error, which is reported on stderr; *select_out is NULL then. */
bool select_take(struct pd_select **select_out, const struct pd_select_options *options);
/* Parses a condition. NULL after an error, which is reported on stderr with its position. */
struct pd_filter *select_condition(const char *option, const char *text);
/* Says on stderr what is asked of samples that no event of the file records: why nothing was found. */
void select_report_missing(const struct pd_select *select, struct pd_file *file);

#endif

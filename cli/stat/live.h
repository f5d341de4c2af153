/* SPDX-License-Identifier: MIT */
/* perfdata stat on what happens now. */
#ifndef CLI_STAT_LIVE_H
#define CLI_STAT_LIVE_H

#include "stat/setup.h"

/* Counts, prints, and returns the exit code. file: where the counts go, too; NULL: nowhere. */
int stat_live(const struct stat_values *values, const struct call *call, const char *file);

#endif

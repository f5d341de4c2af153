/* SPDX-License-Identifier: MIT */
/* perfdata stat on what happens now: the values of its options, and counting by them. */
#ifndef CLI_STAT_LIVE_H
#define CLI_STAT_LIVE_H

#include "record_options.h"
#include "stat.h"

struct stat_values {
	struct target_values targets;
	bool g;
	struct option_tags detailed;
	const char *metrics;
	struct option_number repeat;
	struct option_number interval_ms, interval_count, timeout_ms;
	bool interval_clear;
	const char *separator;
	bool json, json_output;
	const char *output;
	bool append;
	struct option_number log_fd;
	struct stat_by_values by;
	bool per_thread;
	bool big_num, no_big_num, scale, no_scale;
	bool metric_only, topdown, transaction;
	bool null, sync, table, summary, no_csv_summary, quiet, verbose;
	bool no_merge, all_user, all_kernel;
	const char *delay, *control, *for_each_cgroup, *pre, *post;
};

/* Counts, prints, and returns the exit code. file: where the counts go, too; NULL: nowhere. */
int stat_live(const struct stat_values *values, const struct call *call, const char *file);

#endif

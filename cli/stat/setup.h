/* SPDX-License-Identifier: MIT */
/* The options of perfdata stat on what happens now, and what follows from them. */
#ifndef CLI_STAT_SETUP_H
#define CLI_STAT_SETUP_H

#include "record/options.h"

#include <perfdata/stat.h>

struct stat_by_values {
	bool core, die, socket, node, no_aggregation;
};
extern const struct option_group stat_by_group;

/* What is printed, if not a table. */
struct stat_form_values {
	const char *separator;
	bool json, json_output;
};
extern const struct option_group stat_form_group;
/* Says what is wrong and returns false then. */
bool stat_form_take(const struct stat_form_values *values, struct pd_stat_options *printing);

/* False if nothing was given. */
bool stat_by_given(const struct stat_by_values *values, enum pd_stat_by *by_out);

struct stat_values {
	struct target_values targets;
	bool g;
	struct option_tags detailed;
	const char *metrics;
	struct option_number repeat;
	struct option_number interval_ms, interval_count, timeout_ms;
	bool interval_clear;
	struct stat_form_values form;
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

/* What the options ask for. */
struct stat_setup {
	const struct stat_values *values;
	const struct call *call;
	struct pd_recorder_options options;
	struct record_setup record;
	const char **cgroups; /* of each event of --for-each-cgroup */
	bool only_command, file;
	int64_t delay_ms;
	uint64_t interval_ns;
	enum pd_stat_by by;
	struct pd_text *title;
	struct output out;
	bool has_out, unwritable;
};

/* file: where the counts go, too; NULL: nowhere. Says what is wrong and returns false then. stat_setup_fini is due either way. */
bool stat_setup_take(struct stat_setup *setup, const struct stat_values *values, const struct call *call,
		     const char *file);
/* Ends the output. Returns code, or that of a failure. */
int stat_setup_fini(struct stat_setup *setup, int code);
/* What the library is asked for. Its strings are those of setup. */
struct pd_stat_session_options stat_setup_session(const struct stat_setup *setup);

#endif

/* SPDX-License-Identifier: MIT */
/* The options of perfdata stat on what happens now, and what follows from them. */
#ifndef CLI_STAT_SETUP_H
#define CLI_STAT_SETUP_H

#include "record/options.h"

#include <perfdata/stat.h>

struct stat_by_values {
	struct option_tags ways; /* the last one counts */
};
extern const struct option_group stat_by_group;
/* Sets what counts are summed up by, if something was given. Says what is wrong and returns false then. */
bool stat_by_take(const struct stat_by_values *values, struct pd_stat_options *printing);

/* What is printed, if not a table: members of struct pd_stat_options. */
extern const struct option_group stat_form_group;
/* Says what is wrong and returns false then. */
bool stat_form_take(struct pd_stat_options *printing);

struct stat_values {
	struct record_values recording;
	struct pd_stat_session_options session; /* what is said by one option */
	struct option_tags detailed;
	const char *metrics;
	struct option_number repeat;
	struct option_number interval_ms, interval_count, timeout_ms;
	const char *output;
	bool append;
	struct option_number log_fd;
	struct stat_by_values by;
	bool per_thread;
	bool big_num, no_big_num, scale;
	bool topdown, transaction;
	bool null, sync, no_csv_summary, quiet, verbose;
	bool no_effect; /* of options that ask for what is done anyway */
	const char *control, *for_each_cgroup, *pre, *post;
};

/* What the options ask for. */
struct stat_setup {
	const struct stat_values *values;
	const struct call *call;
	struct record_setup record;
	struct pd_stat_session_options session; /* its strings belong to the others */
	const char **cgroups;                   /* of each event of --for-each-cgroup */
	bool file;
	struct pd_text *title;
	struct output out;
	bool has_out, unwritable;
};

/* file: where the counts go, too; NULL: nowhere. Says what is wrong and returns false then. stat_setup_fini is due either way. */
bool stat_setup_take(struct stat_setup *setup, const struct stat_values *values, const struct call *call,
		     const char *file);
/* Ends the output. Returns code, or that of a failure. */
int stat_setup_fini(struct stat_setup *setup, int code);

#endif

/* SPDX-License-Identifier: MIT */
/* The options of report: a table, and from their values to those of the library. */
#ifndef CLI_REPORT_OPTIONS_H
#define CLI_REPORT_OPTIONS_H

#include "files/analysis.h"

#include <perfdata/report.h>

struct report_values {
	struct analysis_options analysis;
	struct pd_report_options options; /* what options set of it */
	const char *call_graph;
	bool inverted;
	bool children;
	double percent_limit; /* below 0: not given */
	const char *separator;
	const char *time_quantum;
	const char *widths;
	bool modules;
	bool header, header_only, show_info;
	const char *stats; /* "" without a value */
	bool tasks, mmaps, dump, thread_counts;
	bool stdio, json, csv;
	bool raw; /* of mem report: sample by sample */
	enum {
		COUNTS_BY_THREAD,
		COUNTS_RAW
	} pretty;
	enum {
		COLOR_AUTO,
		COLOR_ALWAYS,
		COLOR_NEVER
	} stdio_color;
	bool ignored;
	int ignored_choice;
	uint64_t ignored_number;
};

/* A run of the command. */
struct report_run {
	const struct report_values *values;
	const struct call *call;
	struct analysis analysis;
	struct pd_report_options options;
	struct pd_report_text_options text;
	bool is_quantum_valid;
	struct pd_report *report;
};

/* Those of the command, and those that mem report has, too. */
extern const struct option report_options[];
extern const struct option_group report_group;

/* Fills options and text of a run from its values. Says on stderr what is wrong and returns false then. */
bool report_options_parse(struct report_run *run);

#endif

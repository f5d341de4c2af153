/* SPDX-License-Identifier: MIT */
/* The options that select samples. They are those of perf and mean the same in every command. */
#ifndef CLI_SELECT_OPTIONS_H
#define CLI_SELECT_OPTIONS_H

#include "options/options.h"

#include <perfdata/select.h>

#define SELECT_STRING(type, name, letter, argument, member, help) \
	OPTION(name, letter, STRING, argument, offsetof(type, member), help, GROUP_FILTER)

/* Lines for the options table of a command whose values are struct type with such a member. */
#define SELECT_SAMPLE_OPTIONS(type, m)                                                                         \
	SELECT_STRING(type, "time", 0, "RANGE", m.time,                                                        \
		      "only samples in this time range: START,STOP or 10%/2 or 0%-10% or 12:00:01,12:00:05"),  \
		SELECT_STRING(type, "comms", 'c', "LIST", m.comms,                                             \
			      "only samples of threads with these names; file://PATH reads them from a file"), \
		SELECT_STRING(type, "comm", 0, "LIST", m.comm, "same as --comms"),                             \
		SELECT_STRING(type, "pid", 0, "LIST", m.pid, "only samples of these processes"),               \
		SELECT_STRING(type, "tid", 0, "LIST", m.tid, "only samples of these threads"),                 \
		SELECT_STRING(type, "cpu", 'C', "LIST", m.cpu, "only samples on these CPUs: 0,2-3"),           \
		SELECT_STRING(type, "event", 0, "LIST", m.event,                                               \
			      "only samples of these events; * and ? are wildcards"),                          \
		SELECT_STRING(type, "where", 0, "CONDITION", m.where,                                          \
			      "only samples that match: 'sample.period > 1000 && cpu in (0, 2)'")
/* The letter of --dsos is not the same in all commands of perf; 0: none. */
#define SELECT_PLACE_OPTIONS(type, m, dsos_letter)                                                      \
	SELECT_STRING(type, "dsos", dsos_letter, "LIST", m.dsos,                                        \
		      "only samples in these objects, by short name or path; or file://PATH"),          \
		SELECT_STRING(type, "dso", 0, "LIST", m.dso, "same as --dsos"),                         \
		SELECT_STRING(type, "symbols", 'S', "LIST", m.symbols,                                  \
			      "only samples in these functions, by name or 0xADDRESS; or file://PATH"), \
		SELECT_STRING(type, "symbol", 0, "LIST", m.symbol, "same as --symbols")

/* Parses the options, whose size need not be set. False after an error, which is reported on stderr; *select_out is NULL then. */
bool select_take(struct pd_select **select_out, const struct pd_select_options *options);
/* Parses a condition. NULL after an error, which is reported on stderr with its position. */
struct pd_filter *select_condition(const char *option, const char *text);
/* Says on stderr what is asked of samples that no event of the file records: why nothing was found. */
void select_report_missing(const struct pd_select *select, struct pd_file *file);

#endif

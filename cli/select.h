/* SPDX-License-Identifier: MIT */
/*
 * Filters: samples by time, CPU, thread, name and event before any lookup, by object and function once
 * addresses are resolved. The options are those of perf and mean the same in every command.
 *
 * select_take reads the options, select_ready turns what depends on the file into numbers, and then
 * the questions may be asked from any thread.
 */
#ifndef CLI_SELECT_H
#define CLI_SELECT_H

#include "front/options.h"

#include <perfdata/perfdata.h>
#include <perfdata/profile.h>

/* Values of the options. The names of perf come in two forms, which are one list. */
struct select_options {
	const char *time;
	const char *comms, *comm;
	const char *pid, *tid;
	const char *cpu;
	const char *event;
	const char *dsos, *dso;
	const char *symbols, *symbol;
	const char *where;
};

#define SELECT_STRING(type, name, letter, argument, member, help)                                 \
	{                                                                                         \
		name, letter, OPTION_STRING, argument, offsetof(type, member), help, GROUP_FILTER \
	}

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

enum {
	RANGES_MOST = 64,
	CPU_WORDS = 1024
};

/* An end of a range as it was typed. */
struct time_limit {
	enum {
		LIMIT_OPEN,
		LIMIT_CLOCK,
		LIMIT_WALL,
		LIMIT_OF_DAY,
		LIMIT_PART
	} kind;
	uint64_t ns;      /* of the file's clock, since 1970, or since midnight */
	uint64_t unit_ns; /* how exact that is */
	double part;      /* of the whole time */
	bool utc;         /* LIMIT_OF_DAY: of a day of UTC, not of the local time */
};

struct time_range {
	uint64_t start, end; /* both belong to it; 0 is open */
};

struct name_list {
	bool given;
	char **names; /* sorted */
	size_t count;
};

struct number_list {
	bool given;
	uint32_t *numbers; /* sorted */
	size_t count;
};

/* All zero takes every sample. */
struct select {
	struct time_limit limits[RANGES_MOST][2];
	struct time_range ranges[RANGES_MOST];
	size_t range_count;
	struct name_list comms, dsos, symbols;
	struct number_list pids, tids;
	bool by_cpu;
	bool lacks_cpu; /* no event records it */
	uint64_t cpus[CPU_WORDS];
	const char *events; /* as it was typed, or NULL */
	bool *event_chosen; /* by index of the event, once the events are known */
	size_t event_count;
	struct pd_filter *where; /* or NULL */
	bool refused;            /* select_ready failed because the file cannot answer, not for lack of memory */
};

/* Parses the options. False after an error, which is reported on stderr; select_fini in either case. */
bool select_take(struct select *select, const struct select_options *options);
void select_fini(struct select *select);
/* True if the ranges of time are not known before select_ready: they are parts, or of a wall clock. */
bool select_waits(const struct select *select);
/* To be called once all events and the ends of the time are known: in `ready` of pd_run_options or
 * pd_profile_options, whose window gets the time that is wanted. PD_ERROR_MEMORY; PD_ERROR_ARGUMENT with
 * select->refused if the file has not what was asked for: the command then ends with CODE_NOTHING. */
enum pd_status select_ready(struct select *select, struct pd_file *file, struct pd_window *window,
			    struct pd_error *error);

/* Says on stderr what the condition asks of samples that no event of the file records: why nothing was found. */
void select_tell_lack(const struct select *select, struct pd_file *file);
/* The same as select_ready for events that come later, in a pipe. PD_ERROR_MEMORY. */
enum pd_status select_learn(struct select *select, struct pd_file *file, struct pd_error *error);

/* Parses a condition. NULL after an error, which is reported on stderr with its position. */
struct pd_filter *select_condition(const char *option, const char *text);

/* What of a sample is known before anything is looked up. For `choose` of pd_profile_options: as perf
 * report does it, samples of other threads count in the totals, those of other times, CPUs and events do not. */
enum pd_choice select_choose(const struct select *select, const struct pd_candidate *candidate);
/* time_ns as in records: PD_NO_TIME if there is none. */
bool select_has_time(const struct select *select, uint64_t time_ns);
bool select_has_cpu(const struct select *select, uint32_t cpu);
bool select_has_event(const struct select *select, const struct pd_event *event);
/* comm may be NULL: it is not known. */
bool select_has_thread(const struct select *select, uint32_t pid, uint32_t tid, const char *comm);
/* The condition of --where. names may be NULL, as for pd_filter_takes. */
bool select_has_where(const struct select *select, const struct pd_record *record, const struct pd_filter_names *names);
/* Objects and functions; as perf report does it, what has others counts in the totals. */
bool select_by_place(const struct select *select);
bool select_has_place(const struct select *select, const struct pd_place *place);

/* ---- select_time.c ---- */

/* Parses the argument of --time. False after an error, which is reported on stderr. */
bool select_times(struct select *select, const char *argument);
/* The time of the samples as the recorder noted it; NULL: it did not, or what it noted cannot be. */
const struct pd_sample_time *select_noted_time(struct pd_file *file);
/* Turns limits into ranges. */
enum pd_status select_resolve_times(struct select *select, struct pd_file *file, const struct pd_window *window,
				    struct pd_error *error);

#endif

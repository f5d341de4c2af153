/* SPDX-License-Identifier: MIT */
/**
 * header.h - what a file says about itself, as text: its header, events and features, as perf prints them and as JSON.
 *
 * Strings of the file are escaped. A text is printed by one thread at a time.
 *
 * Example:
 *
 *	if (pd_print_perf_header(text, file, false, &error) == PD_OK)
 *		fwrite(pd_text_bytes(text).data, 1, pd_text_bytes(text).size, stdout);
 */
#ifndef PERFDATA_HEADER_H
#define PERFDATA_HEADER_H

#include <perfdata/file.h>
#include <perfdata/text.h>
#include <perfdata/trace.h>

#ifdef __cplusplus
extern "C" {
#endif

/** "file", "pipe" or "directory". */
PD_API const char *pd_mode_name(enum pd_mode mode);

/**
 * Prints the header as perf report --header-only (6.1); full adds topologies, caches and the like, as perf -I. In pipe mode
 * records are read up to the end of the features. Errors: those of pd_stream_open and pd_stream_next.
 */
PD_API enum pd_status pd_print_perf_header(struct pd_text *text, struct pd_file *file, bool full,
					   struct pd_error *error);

/** What pd_print_events prints in addition to the names of the events, as perf evlist (6.1, and 7.2 with details). */
struct pd_print_events_options {
	size_t size;    /* sizeof(struct pd_print_events_options) */
	bool details;   /* all fields of the attr that are not 0; type and config always, with what they are called */
	bool frequency; /* the sampling frequency or period */
	bool groups;    /* a line for each group; none of the others then */
	bool trace_fields; /* fields of tracepoints */
	bool json;         /* one JSON object per event, with all of this */
	/* Of pd_print_evlist: called periodically with bytes done and in total (0 if unknown). May be NULL. */
	void (*progress)(void *self, uint64_t done, uint64_t total);
	void *self; /* first argument of progress */
};

/**
 * Prints a line for each event. Events of a pipe are those of the records read so far. trace has taken the records that it
 * needs.
 */
PD_API void pd_print_events(struct pd_text *text, struct pd_file *file, struct pd_trace *trace,
			    const struct pd_print_events_options *options);

/** The same for a file whose records were not read: those that describe events are read first. Errors: those of pd_stream_next;
 * PD_ERROR_NO_MATCH if there are no events. */
PD_API enum pd_status pd_print_evlist(struct pd_text *text, struct pd_file *file,
				      const struct pd_print_events_options *options, struct pd_error *error);

/** "damage", "warning" or "info". */
PD_API const char *pd_severity_name(enum pd_severity severity);
/** Prints a problem: severity, code, offset, field and message, a line; without the advice. */
PD_API void pd_print_problem(struct pd_text *text, const struct pd_problem *problem);
/** The same as a JSON object, with the advice. */
PD_API void pd_json_problem(struct pd_text *text, const struct pd_problem *problem);

/** Prints the file header and every event with all its fields. */
PD_API void pd_print_header(struct pd_text *text, struct pd_file *file);
/** {"header":{...}}, then {"event":{...}} for each event, a line each. */
PD_API void pd_json_header(struct pd_text *text, struct pd_file *file);
/** Prints a feature: its name, offset and decoded contents; with hex its bytes too. */
PD_API void pd_print_feature(struct pd_text *text, struct pd_file *file, const struct pd_feature_section *section,
			     bool hex);
/** {"feature":{...}} */
PD_API void pd_json_feature(struct pd_text *text, struct pd_file *file, const struct pd_feature_section *section,
			    bool hex);

#ifdef __cplusplus
}
#endif
#endif

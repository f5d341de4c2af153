/* SPDX-License-Identifier: MIT */
/*
 * Attrs and events in the words of perf: "# event : name = cycles, , id = { 1, 2 }, ..." in the header,
 * "type: 1, size: 128" in lists of events.
 */
#ifndef PD_HEADER_ATTR_H
#define PD_HEADER_ATTR_H

#include <perfdata/file.h>
#include <perfdata/text.h>
#include <perfdata/trace.h>

/* What stands around the fields. */
struct pd_attr_words {
	const char *before; /* the first field */
	const char *between;
	const char *equals;
};

/* The fields that are not 0, as perf 6.1. */
void pd_print_perf_attr(struct pd_text *out, const struct pd_attr *attr, const struct pd_attr_words *words);

/* As perf 7.2: type and config if they are 0 too, with what they are called. */
void pd_print_perf_event(struct pd_text *out, struct pd_file *file, const struct pd_event *event,
			 struct pd_trace *trace, const struct pd_attr_words *words);

/* A text from the file, escaped; "(null)" if there is none, as perf has it. */
void pd_header_str(struct pd_text *out, struct pd_str str);

/* A line for each event of EVENT_DESC. desc may be NULL: it could not be read. */
void pd_header_events(struct pd_text *out, const struct pd_event_desc *desc);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Attrs and events in the words of perf: "# event : name = cycles, , id = { 1, 2 }, ..." in the header,
 * "type: 1, size: 128" in lists of events.
 */
#ifndef CLI_HEADER_ATTR_H
#define CLI_HEADER_ATTR_H

#include <perfdata/perfdata.h>

/* What stands around the fields. */
struct attr_words {
	const char *before; /* the first field */
	const char *between;
	const char *equals;
};

/* The fields that are not 0. False if there are none. */
bool header_attr(struct pd_text *out, const struct pd_attr *attr, const struct attr_words *words);

/* A line for each event of EVENT_DESC. desc may be NULL: it could not be read. */
void header_events(struct pd_text *out, const struct pd_event_desc *desc);

#endif

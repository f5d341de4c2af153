/* SPDX-License-Identifier: MIT */
/*
 * Events in the words of perf report --header-only: "# event : name = cycles, , id = { 1, 2 },
 * ...".
 */
#ifndef CLI_HEADER_ATTR_H
#define CLI_HEADER_ATTR_H

#include <perfdata/perfdata.h>

/* A line for each event of EVENT_DESC. desc may be NULL: it could not be read. */
void header_events(struct pd_text *out, const struct pd_event_desc *desc);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Names of events for files that carry none: those without EVENT_DESC. The names are those of perf
 * 6.1, which knows an event by type and config alone; a file is not asked for its PMUs.
 */
#ifndef PD_FILE_EVENT_NAME_H
#define PD_FILE_EVENT_NAME_H

#include <perfdata/format.h>

// Writes the name of an event into buffer, like snprintf. tracepoint_name is
// "sched:sched_switch", or NULL if it is not known.
size_t pd_event_name(const struct pd_attr *attr, const char *tracepoint_name, char *buffer, size_t size);

// Id and name, without its system, of a format text. Only the lines in front of the fields are looked at. False if one is missing.
bool pd_tracepoint_name(struct pd_bytes text, uint64_t *id_out, struct pd_bytes *name_out);

// A walk over the formats of tracing data; begins with all other members 0.
struct pd_tracepoints {
	const struct pd_tracing_data *data;
	size_t system, format;
};

// Writes system:name of the next format that has both a name and an id into name, cut to its size.
// Returns false at the end.
bool pd_tracepoints_next(struct pd_tracepoints *walk, uint64_t *id_out, char *name, size_t size);

#endif

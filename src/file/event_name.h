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
size_t pd_event_name(const struct pd_attr *attr, const char *tracepoint_name, char *buffer,
		     size_t size);

// Writes system:name of a tracepoint into buffer, cut to its size. Returns false if no format has
// the id.
bool pd_tracepoint_name(const struct pd_tracing_data *data, uint64_t id, char *buffer, size_t size);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * How many threads ran at each moment, by the context switches of a file: SWITCH records, or sched:sched_switch of all CPUs where
 * there are none.
 */
#ifndef PD_INTERVAL_RUNNING_H
#define PD_INTERVAL_RUNNING_H

#include <perfdata/file.h>

struct pd_running;

// Reads the file. Errors: PD_ERROR_MEMORY; PD_ERROR_NO_MATCH without context switches that say it; those of pd_stream_next.
enum pd_status pd_running_read(struct pd_file *file, struct pd_running **running_out, struct pd_error *error);
// NULL is ignored.
void pd_running_free(struct pd_running *running);
// At least 1, as a sample shows that a thread runs; at most the number of CPUs, if the file says it. place is that of the record. *hint
// is 0 first, then it makes the next call cheap.
uint32_t pd_running_at(const struct pd_running *running, uint64_t time_ns, uint64_t place, size_t *hint);
// Whether the file records context switches, as far as its events say.
bool pd_running_is_recorded(struct pd_file *file);

#endif

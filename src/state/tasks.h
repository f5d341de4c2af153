/* SPDX-License-Identifier: MIT */
/* Ranges of addresses that were mapped in a process at the end of a recording. */
#ifndef PD_STATE_TASKS_H
#define PD_STATE_TASKS_H

#include <perfdata/state.h>
#include <perfdata/tasks.h>

struct pd_mapped_range {
	const struct pd_mapping *mapping;
	uint64_t start, end; /* exclusive */
};

/* The next range at or after *addr, which moves behind it. False if there is none. */
bool pd_tasks_next_range(const struct pd_tasks *tasks, uint32_t pid, uint64_t *addr, struct pd_mapped_range *range_out);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Which samples perfdata script prints: by time, CPU, process, thread and name.
 */
#ifndef CLI_SCRIPT_SELECT_H
#define CLI_SCRIPT_SELECT_H

#include <perfdata/perfdata.h>

enum { RANGES_MOST = 32, CPU_WORDS = 1024 };

struct time_range {
	uint64_t start, end; /* both belong to it; 0 is open */
};

struct select {
	const char *comms, *pids, *tids; /* lists with commas, or NULL */
	struct time_range ranges[RANGES_MOST];
	size_t range_count;
	double parts[RANGES_MOST][2]; /* of the whole time, before ranges are known */
	size_t part_count;
	bool by_cpu;
	uint64_t cpus[CPU_WORDS];
};

/* Each says on stderr what is wrong and returns false then. */
bool select_times(struct select *select, const char *argument);
bool select_cpus(struct select *select, const char *argument);
bool select_numbers(const char *option, const char *list);

/* Turns parts into ranges. */
void select_resolve(struct select *select, uint64_t first_ns, uint64_t last_ns);

bool select_has_time(const struct select *select, uint64_t time_ns);
bool select_has_cpu(const struct select *select, uint32_t cpu);
bool select_has_thread(const struct select *select, uint32_t pid, uint32_t tid, const char *comm);

#endif

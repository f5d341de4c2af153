/* SPDX-License-Identifier: MIT */
/*
 * The inside of a selection. select.c parses lists and applies them, select_time.c parses ranges of time and turns them
 * into times of the file.
 */
#ifndef PD_FILTER_SELECT_H
#define PD_FILTER_SELECT_H

#include <perfdata/select.h>

enum {
	PD_SELECT_RANGES = 64,
	PD_SELECT_CPU_WORDS = 1024
};

/* An end of a range as it was typed. */
struct pd_time_limit {
	enum {
		PD_LIMIT_OPEN,
		PD_LIMIT_CLOCK,
		PD_LIMIT_WALL,
		PD_LIMIT_OF_DAY,
		PD_LIMIT_PART
	} kind;
	uint64_t ns;      /* of the file's clock, since 1970, or since midnight */
	uint64_t unit_ns; /* how exact that is */
	double part;      /* of the whole time */
	bool utc;         /* PD_LIMIT_OF_DAY: of a day of UTC, not of the local time */
};

struct pd_time_range {
	uint64_t start, end; /* both belong to it; 0 is open */
};

struct pd_name_list {
	bool given;
	char **names; /* sorted */
	size_t count, capacity;
};

struct pd_number_list {
	bool given;
	uint32_t *numbers; /* sorted */
	size_t count;
};

/* All zero takes every sample. */
struct pd_select {
	struct pd_time_limit limits[PD_SELECT_RANGES][2];
	struct pd_time_range ranges[PD_SELECT_RANGES];
	size_t range_count;
	struct pd_name_list comms, dsos, symbols;
	struct pd_number_list pids, tids;
	bool by_cpu;
	bool lacks_cpu; /* no event records it */
	uint64_t cpus[PD_SELECT_CPU_WORDS];
	const char *events; /* as it was typed, or NULL */
	bool *event_chosen; /* by index of the event, once the events are known */
	size_t event_count;
	struct pd_filter *where; /* or NULL */
	bool by_socket;
	uint64_t addr_range; /* 0: none */
	uint32_t socket;
	const struct pd_cpu_topology *topology; /* of the file, or NULL */
};

/* Parses the argument of --time. PD_ERROR_ARGUMENT. */
enum pd_status pd_select_times(struct pd_select *select, const char *argument, struct pd_error *error);
/* Turns limits into ranges. PD_ERROR_NO_MATCH. */
enum pd_status pd_select_resolve_times(struct pd_select *select, struct pd_file *file, const struct pd_window *window,
				       struct pd_error *error);

#endif

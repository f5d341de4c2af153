/* SPDX-License-Identifier: MIT */
/*
 * The inside of a selection. select.c parses lists and applies them, select_time.c parses ranges of time and turns them
 * into times of the file, select_switch.c follows events that switch samples on and off.
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

/* What events switch samples on and off, and whether they are off. */
struct pd_toggle {
	const char *on, *off; /* names of events; NULL: none does */
	bool shown;           /* samples of these events are shown, too */
	bool leaves;
};

/* A sample that switches: whether it is left out, and those after it. */
struct pd_toggle_point {
	uint64_t time_ns, place;
	bool leaves, leaves_more;
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
	uint64_t *levels;   /* of parallelism; NULL: all */
	const char *events; /* as it was typed, or NULL */
	bool *event_chosen; /* by index of the event, once the events are known */
	size_t event_count;
	struct pd_filter *where; /* or NULL */
	bool by_socket;
	uint64_t addr_range; /* 0: none */
	uint32_t socket;
	const struct pd_cpu_topology *topology; /* of the file, or NULL */
	struct pd_toggle toggle;
	bool in_order;                  /* who sees all samples in the order of time follows it */
	struct pd_toggle_point *points; /* otherwise, where it switches */
	size_t point_count, point_capacity;
};

/* Parses the argument of --time. PD_ERROR_ARGUMENT. */
enum pd_status pd_select_times(struct pd_select *select, const char *argument, struct pd_error *error);
/* Turns limits into ranges. PD_ERROR_NO_MATCH. */
enum pd_status pd_select_resolve_times(struct pd_select *select, struct pd_file *file, const struct pd_window *window,
				       struct pd_error *error);

/* ---- select_switch.c ---- */

/* Before the first sample. */
void pd_toggle_begin(struct pd_toggle *toggle);
/* Whether the file has its events. Errors: PD_ERROR_NO_MATCH. */
enum pd_status pd_toggle_check(const struct pd_toggle *toggle, struct pd_file *file, struct pd_error *error);
/* Whether the next sample in the order of time is left out. */
bool pd_toggle_leaves(struct pd_toggle *toggle, const struct pd_event *event);
bool pd_select_by_switch(const struct pd_select *select);
/* Reads where the samples of the chosen times are switched on and off. Errors: those of pd_stream_next; PD_ERROR_NO_MATCH. */
enum pd_status pd_select_note_switches(struct pd_select *select, struct pd_file *file, struct pd_error *error);
/* Whether a sample is switched on, as far as that was read. */
bool pd_select_is_switched_on(const struct pd_select *select, const struct pd_record *record);

#endif

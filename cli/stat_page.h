/* SPDX-License-Identifier: MIT */
/* A page of counts: what stat_print.c, a line for each count, and stat_only.c, a line of metrics for each place, share. */
#ifndef CLI_STAT_PAGE_H
#define CLI_STAT_PAGE_H

#include "stat.h"

/* A line: of an event in a place. */
struct stat_line {
	const struct stat_event *event;
	double value, enabled, running;
	size_t slot;
	const struct stat_group *group; /* of CPUs, or NULL */
	size_t cpus;                    /* in it */
	int32_t cpu;                    /* of STAT_BY_CPU */
	const struct stat_thread *thread;
	double noise; /* percent */
};

struct stat_page {
	struct stat_printer *printer;
	struct stat_table *table;
	char prefix[40];
	bool json_open; /* something stands in the line */
	bool cgroups;   /* some events are of one: all lines have a place for it */
	bool heading;   /* of a table of metrics: it is due */
	int unit_width;
};

void stat_json_field(struct stat_page *page, const char *format, ...) PD_PRINTF(2, 3);
void stat_json_name(struct stat_page *page, const char *key, const char *name);
/* Where it was counted, as the begin of a line. */
void stat_print_place(struct stat_page *page, const struct stat_line *line);

struct stat_line stat_line_of_all(const struct stat_event *event);
struct stat_line stat_line_of_thread(const struct stat_table *table, const struct stat_event *event, size_t thread);
struct stat_line stat_line_of_group(const struct stat_event *event, const struct stat_group *group,
				    const struct stat_sum *sum);
/* The count of a CPU. */
void stat_line_take(struct stat_line *line, const struct stat_cell *cell);
/* What decides: a count that was never on is none. */
bool stat_line_is_missing(const struct stat_line *line);

/* stat_only.c */
void stat_print_only(struct stat_page *page);

#endif

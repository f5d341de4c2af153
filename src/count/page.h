/* SPDX-License-Identifier: MIT */
/* A page of counts: what print.c, a line for each count, and only.c, a line of metrics for each place, share. */
#ifndef PD_COUNT_PAGE_H
#define PD_COUNT_PAGE_H

#include "count/count.h"

/* A line: of an event in a place. */
struct pd_stat_line {
	const struct pd_stat_event *event;
	double value, enabled, running;
	size_t slot;
	const struct pd_stat_group *group; /* of CPUs, or NULL */
	size_t cpus;                       /* in it */
	int32_t cpu;                       /* of PD_STAT_BY_CPU */
	const struct pd_stat_place *core;  /* likewise, of an event of whole cores, or NULL */
	const struct pd_stat_thread *thread;
	double noise; /* percent */
};

struct pd_stat_page {
	struct pd_stat_printer *printer;
	struct pd_stat_table *table;
	char prefix[40];
	bool json_open; /* something stands in the line */
	bool cgroups;   /* some events are of one: all lines have a place for it */
	bool heading;   /* of a table of metrics: it is due */
	int unit_width;
};

void pd_stat_json_field(struct pd_stat_page *page, const char *format, ...) PD_PRINTF(2, 3);
void pd_stat_json_name(struct pd_stat_page *page, const char *key, const char *name);
/* Where it was counted, as the begin of a line. */
void pd_stat_print_place(struct pd_stat_page *page, const struct pd_stat_line *line);

struct pd_stat_line pd_stat_line_of_all(const struct pd_stat_event *event);
struct pd_stat_line pd_stat_line_of_thread(const struct pd_stat_table *table, const struct pd_stat_event *event,
					   size_t thread);
struct pd_stat_line pd_stat_line_of_group(const struct pd_stat_event *event, const struct pd_stat_group *group,
					  const struct pd_stat_sum *sum);
/* That of a CPU, by its number in the event. core: room for where its core is. False if there is none, or that of the core stands
 * with another CPU. */
bool pd_stat_line_of_cpu(const struct pd_stat_page *page, const struct pd_stat_event *event, size_t cpu,
			 struct pd_stat_place *core, struct pd_stat_line *line_out);
/* What decides: a count that was never on is none. */
bool pd_stat_line_is_missing(const struct pd_stat_line *line);

/* only.c */
void pd_stat_print_only(struct pd_stat_page *page);

#endif

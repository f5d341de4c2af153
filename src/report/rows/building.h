/* SPDX-License-Identifier: MIT */
/*
 * How entries become rows, in parts of the entries. First each part looks at what its entries are of: values that do not
 * depend on frames ("who"), and frames that nobody saw before. Then these get numbers, in the order of the
 * entries, so that nothing depends on the parts. With them each part makes rows of its own, and these are joined.
 */
#ifndef PD_REPORT_ROWS_BUILDING_H
#define PD_REPORT_ROWS_BUILDING_H

#include "base/lookup/u64_map.h"
#include "base/threads.h"
#include "report/report.h"

/* The first row that a place has. */
struct first_row {
	uint32_t who, row_plus_1; /* 0: none */
};

struct row_set {
	struct row *rows;
	struct pd_report_amounts *amounts; /* by row, then by event */
	size_t count, capacity, event_count;
	struct first_row *firsts; /* by place */
	size_t first_count;
	struct pd_u64_map numbers; /* of other rows, + 1, by who and place */
};

/* ---- row_set.c ---- */

/* Prefetches the slot of a row. */
void pd_row_set_prefetch(const struct row_set *set, uint32_t who, uint32_t place);
void pd_row_set_fini(struct row_set *set);
/* Makes room for so many rows. False if there is no memory. */
bool pd_row_set_reserve(struct row_set *set, size_t count);
/* The number of the row with these values, which is added if it is new. False if there is no memory. */
bool pd_row_set_add(struct row_set *set, uint32_t who, uint32_t place, uint32_t *row_out);
/* Adds the rows of another set, and tells what number each has. False if there is no memory. */
bool pd_row_set_join(struct row_set *set, const struct row_set *more, uint32_t *numbers);
/* The number of a row; UINT32_MAX if there is none. */
uint32_t pd_row_set_find(const struct row_set *set, uint32_t who, uint32_t place);

/* What is kept of an entry between the passes. */
struct entry_state {
	uint32_t who; /* of its part, + 1; 0: it is not shown */
	uint32_t at;  /* frame; without callers, once there are rows: that of its part */
};

struct known_who {
	struct pd_profile_entry entry;
	bool is_known;
	const struct pd_function *parent;
	uint32_t who;
};

/* A frame where it is seen first, and the level that it has there. */
struct first_frame {
	uint32_t frame, cpumode;
};

enum {
	KNOWN_WHOS = 256,
	ENTRIES_AHEAD = 8
};

struct building;

struct building_part {
	struct building *building;
	struct known_who known[KNOWN_WHOS];   /* by a hash of what they depend on */
	struct pd_profile_entry *who_entries; /* an entry for each */
	uint32_t *whos;                       /* the numbers that all parts have for them */
	size_t who_count, who_capacity;
	struct first_frame *firsts;
	size_t first_count, first_capacity;
	uint8_t *flags;                         /* those of the report, with FRAME_VISITED */
	uint64_t *totals, *samples, *latencies; /* by event of the table */
	struct pd_report_quality quality;
	struct row_set rows;
	uint32_t *numbers;     /* by row of the part: what all parts have for it; NULL: the same */
	uint32_t *last_sample; /* by place: number of the sample that was there last */
	uint32_t sample;
	struct link *links;
	size_t link_count, link_capacity;
	size_t *link_counts; /* by row, later where the next one goes */
	bool failed;
	char padding[PD_PARTS_PADDING];
};

/* A table that is made. */
struct building {
	struct pd_report *report;
	struct table *table;
	size_t begin, end; /* entries */
	struct entry_state *states;
	bool of_function; /* all keys of frames are the same for all frames of a function */
	struct building_part *parts;
	size_t part_count;
	uint32_t *rare_places; /* of callers that were merged: their places, as far as they have numbers */
	size_t rare_count;
	uint8_t *wanted; /* for links, by place: rows of it have graphs */
	uint8_t *graphs; /* by row */
};

/* ---- entries.c ---- */

/* The first entry of a part. */
size_t pd_part_entry(const struct building *building, size_t part);

/* A sample of an entry. */
struct visit {
	const struct pd_profile_entry *entry;
	const struct pd_stack *stack;
	uint32_t index; /* of the entry */
	uint32_t who, place;
};

/* Called with a caller's place, where in the chain it is, and whether the sample counts there. */
typedef bool caller_fn(struct building_part *part, const struct visit *visit, uint32_t place, uint32_t from,
		       bool counts);
/* The callers of a sample, each place once. False if one call was. */
bool pd_each_caller(struct building_part *part, const struct visit *visit, caller_fn *each);
/* Prefetches an entry that comes soon. */
void pd_entry_prefetch(const struct building *building, size_t index);

/* ---- rare.c ---- */

/* How many callers were merged. */
size_t pd_rare_count_all(const struct pd_report *report);
/* Gives numbers to callers that were merged, whose first samples come before that of an order. False if there is no memory. */
bool pd_rare_number(struct building *building, uint64_t before);
/* Adds their rows to those of the first part. False if there is no memory. */
bool pd_rare_rows(struct building *building);

/* ---- percentiles.c ---- */

/* Fills the percentiles of the table. False if there is no memory. */
bool pd_rows_percentiles(struct building *building);

/* Called with an entry that is shown, and where the amounts of its row and event are in the table. */
typedef void own_entry_fn(void *self, const struct pd_profile_entry *entry, size_t at);
/* All entries that rows have of their own. */
void pd_each_own_entry(const struct building *building, own_entry_fn *each, void *self);

/* ---- accesses.c ---- */

/* Fills what samples cost and accessed. False if there is no memory. */
bool pd_rows_accesses(struct building *building);

/* ---- links.c ---- */

/* Which chains belong into the graphs of which rows. False if there is no memory. */
bool pd_rows_link(struct building *building);

/* Whether a place is left out because it is in no function. */
static inline bool is_unresolved(const struct pd_report *report, uint8_t flags)
{
	return report->options.hide_unresolved && !(flags & FRAME_FUNCTION);
}

#endif

/* SPDX-License-Identifier: MIT */
/*
 * The inside of pictures of time.
 *
 *   classes.def   what lanes show
 *   calls.def     system calls
 *   timechart.c   two passes: from events to lanes
 *   lanes.c       lanes, and which of them are shown
 *   svg.c         the picture
 */
#ifndef PD_TIMECHART_TIMECHART_H
#define PD_TIMECHART_TIMECHART_H

#include <perfdata/interval.h>
#include <perfdata/timechart.h>

#include "base/error.h"
#include "base/lookup/u64_map.h"
#include "base/memory.h"
#include "base/text/text.h"
#include "interval/tracepoints.h"

enum pd_lane_kind {
	PD_LANE_CPU,
	PD_LANE_IDLE,
	PD_LANE_FREQUENCY,
	PD_LANE_THREAD,
	PD_LANE_CALLS
};

enum pd_lane_class {
#define CLASS(NAME, LANE, light, dark, doc) PD_LANE_##NAME,
#include "timechart/classes.def"
	PD_LANE_CLASSES
};

enum {
	PD_LANE_NAME = 32,
	PD_LANE_MOST = 6 // classes of a kind of lanes
};

struct pd_lane {
	enum pd_lane_kind kind;
	uint32_t number; // of the CPU or thread
	uint32_t pid;    // UINT32_MAX: not known
	char name[PD_LANE_NAME];
	uint64_t until_ns;           // what it was added
	uint64_t sums[PD_LANE_MOST]; // ns by class, from the first of the kind
	uint64_t total_ns;
	// What began and did not end, of all kinds but those of intervals.
	bool open;
	size_t call; // which one
	enum pd_lane_class since;
	uint64_t since_ns, weight;
	float *cells; // shares of each pixel by class; NULL: it is not shown
};

struct pd_timechart {
	struct pd_file *file;
	struct pd_text *text;
	struct pd_timechart_options options;
	struct pd_arena arena;
	struct pd_u64_map map; // places of lanes, from 1
	struct pd_lane **lanes;
	size_t count, capacity;
	size_t shown;         // the first ones, after the first pass
	size_t left_out;      // lanes that are not shown although they are wanted
	uint64_t left_out_ns; // what those ran
	size_t too_many;      // those there is no memory for
	bool draws;           // the last pass
	bool ignores;         // intervals: there are no switches, and what forks begin would never end
	uint64_t first_ns, last_ns, max_weight;
	uint64_t highlight_ns; // 0: a name, or none
	struct pd_intervals *intervals;
	struct pd_tracepoints points;
	uint64_t lost_records, unknown; // in the first pass; of intervals
};

// ---- lanes.c ----

// The first class of a kind, and how many there are.
enum pd_lane_class pd_lane_first(enum pd_lane_kind kind);
unsigned pd_lane_classes(enum pd_lane_kind kind);
// NULL: an error.
struct pd_lane *pd_lane_of(struct pd_timechart *chart, enum pd_lane_kind kind, uint32_t number, struct pd_error *error);
void pd_lane_set_name(struct pd_lane *lane, const char *name, size_t length);
// The picture has this time, too.
void pd_timechart_span(struct pd_timechart *chart, uint64_t time_ns);
// Adds what a lane did, but for what is before the last that was added.
void pd_lane_add(struct pd_timechart *chart, struct pd_lane *lane, enum pd_lane_class class, uint64_t begin_ns,
		 uint64_t end_ns, uint64_t weight);
// Sorts lanes, those that are shown first, and makes their cells.
enum pd_status pd_lanes_choose(struct pd_timechart *chart, struct pd_error *error);
// Forgets what lanes did, for the next pass.
void pd_lanes_restart(struct pd_timechart *chart);
void pd_lanes_fini(struct pd_timechart *chart);

// ---- svg.c ----

void pd_timechart_print(struct pd_timechart *chart);

#endif

/* SPDX-License-Identifier: MIT */
// Lanes of CPUs and threads, what they did in each pixel, and which of them are shown.
#include "timechart/timechart.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	LIMIT = 4 << 20,
	CELLS = 48 << 20, // of all lanes
	CELLS_OF_THREADS = CELLS / 2,
	LONG_NS = 10000000,
	USUAL_THREADS = 15,
	ARENA_LIMIT = 1 << 30
};

static const enum pd_lane_kind kinds[] = {
#define CLASS(NAME, LANE, light, dark, doc) PD_LANE_##LANE,
#include "timechart/classes.def"
};

enum pd_lane_class pd_lane_first(enum pd_lane_kind kind)
{
	enum pd_lane_class first = 0;

	while (kinds[first] != kind)
		first++;
	return first;
}

unsigned pd_lane_classes(enum pd_lane_kind kind)
{
	unsigned first = pd_lane_first(kind), next = first;

	while (next < PD_LANE_CLASSES && kinds[next] == kind)
		next++;
	return next - first;
}

// ---- lanes ----

struct pd_lane *pd_lane_of(struct pd_timechart *chart, enum pd_lane_kind kind, uint32_t number, struct pd_error *error)
{
	size_t limit = chart->options.limit ? chart->options.limit : LIMIT;
	uint64_t key = (uint64_t)kind << 32 | number, place = pd_u64_map_find(&chart->map, key);
	struct pd_lane *lane;

	if (place)
		return chart->lanes[place - 1];
	if (chart->count >= limit) {
		pd_fail(error, PD_ERROR_LIMIT, PD_NO_OFFSET, "more than %zu threads and CPUs", limit);
		return NULL;
	}
	chart->arena.limit = ARENA_LIMIT;
	lane = pd_arena_alloc(&chart->arena, sizeof(*lane));
	if (!lane || !PD_GROW(chart->lanes, chart->capacity, chart->count + 1) ||
	    !pd_u64_map_add(&chart->map, key, chart->count + 1)) {
		pd_fail_memory(error);
		return NULL;
	}
	*lane = (struct pd_lane){ .kind = kind, .number = number, .pid = UINT32_MAX };
	return chart->lanes[chart->count++] = lane;
}

void pd_lane_set_name(struct pd_lane *lane, const char *name, size_t length)
{
	length = length < PD_LANE_NAME - 1 ? length : PD_LANE_NAME - 1;
	memset(lane->name, 0, sizeof(lane->name));
	// there may be none
	if (length)
		memcpy(lane->name, name, length);
}

// The part of each pixel that a time has.
static void fill(const struct pd_timechart *chart, struct pd_lane *lane, unsigned class, double begin, double end,
		 double weight)
{
	unsigned classes = pd_lane_classes(lane->kind), width = chart->options.width;

	for (unsigned x = (unsigned)begin; x < width && x < end; x++) {
		double from = begin > x ? begin : x, to = end < x + 1.0 ? end : x + 1.0;

		lane->cells[(size_t)x * classes + class] += (float)((to - from) * weight);
	}
}

void pd_timechart_span(struct pd_timechart *chart, uint64_t time_ns)
{
	if (chart->draws)
		return;
	if (time_ns < chart->first_ns)
		chart->first_ns = time_ns;
	if (time_ns > chart->last_ns)
		chart->last_ns = time_ns;
}

void pd_lane_add(struct pd_timechart *chart, struct pd_lane *lane, enum pd_lane_class class, uint64_t begin_ns,
		 uint64_t end_ns, uint64_t weight)
{
	unsigned place = class - pd_lane_first(lane->kind);
	double scale;

	if (begin_ns < lane->until_ns)
		begin_ns = lane->until_ns;
	// a file that grows has more than the first pass saw
	if (chart->draws && begin_ns < chart->first_ns)
		begin_ns = chart->first_ns;
	if (chart->draws && end_ns > chart->last_ns)
		end_ns = chart->last_ns;
	if (end_ns <= begin_ns)
		return;
	lane->until_ns = end_ns;
	lane->sums[place] += end_ns - begin_ns;
	lane->total_ns += end_ns - begin_ns;
	pd_timechart_span(chart, begin_ns);
	pd_timechart_span(chart, end_ns);
	if (weight > chart->max_weight)
		chart->max_weight = weight;
	if (lane->cells) {
		scale = (double)chart->options.width / (double)(chart->last_ns - chart->first_ns);
		fill(chart, lane, place, (double)(begin_ns - chart->first_ns) * scale,
		     (double)(end_ns - chart->first_ns) * scale,
		     weight ? (double)weight / (double)chart->max_weight : 1);
	}
}

// ---- which are shown ----

static bool is_threads(const struct pd_lane *lane)
{
	return lane->kind == PD_LANE_THREAD || lane->kind == PD_LANE_CALLS;
}

// What counts for a thread: that it ran, or that it was in calls.
static uint64_t importance_of(const struct pd_lane *lane)
{
	return lane->kind == PD_LANE_THREAD ? lane->sums[0] + lane->sums[PD_LANE_LIT - PD_LANE_RUNS] : lane->total_ns;
}

static bool names(const struct pd_lane *lane, const char *list)
{
	while (*list) {
		size_t length = strcspn(list, ",");
		char number[16];

		snprintf(number, sizeof(number), "%u", (unsigned)lane->number);
		if (length && ((strlen(lane->name) == length && !memcmp(lane->name, list, length)) ||
			       (strlen(number) == length && !memcmp(number, list, length))))
			return true;
		snprintf(number, sizeof(number), "%u", (unsigned)lane->pid);
		if (lane->pid != UINT32_MAX && strlen(number) == length && !memcmp(number, list, length))
			return true;
		list += length + (list[length] == ',');
	}
	return false;
}

static bool is_wanted(const struct pd_timechart *chart, const struct pd_lane *lane)
{
	const struct pd_timechart_options *options = &chart->options;

	if (!lane->total_ns)
		return false;
	if (is_threads(lane))
		return !options->power_only && (!options->processes || names(lane, options->processes));
	return lane->kind == PD_LANE_CPU || !options->tasks_only;
}

// CPUs by number, each with its states; then threads, those that ran longest first; then their calls.
static int compare_lanes(const void *a, const void *b)
{
	const struct pd_lane *x = *(const struct pd_lane *const *)a, *y = *(const struct pd_lane *const *)b;
	uint64_t of_x = importance_of(x), of_y = importance_of(y);

	if (is_threads(x) != is_threads(y))
		return is_threads(x) ? 1 : -1;
	if (is_threads(x) && x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	if (is_threads(x) && of_x != of_y)
		return of_x > of_y ? -1 : 1;
	if (x->number != y->number)
		return x->number < y->number ? -1 : 1;
	return x->kind < y->kind ? -1 : x->kind > y->kind;
}

// Lanes that are not wanted are put behind the others.
static size_t part(struct pd_timechart *chart)
{
	size_t wanted = 0;

	for (size_t i = 0; i < chart->count; i++) {
		struct pd_lane *lane = chart->lanes[i];

		if (!is_wanted(chart, lane))
			continue;
		chart->lanes[i] = chart->lanes[wanted];
		chart->lanes[wanted++] = lane;
	}
	return wanted;
}

// The map then has no places: lanes moved.
static bool find_places(struct pd_timechart *chart)
{
	bool done = true;

	for (size_t i = 0; i < chart->count && done; i++)
		done = pd_u64_map_set(&chart->map, (uint64_t)chart->lanes[i]->kind << 32 | chart->lanes[i]->number,
				      i + 1);
	return done;
}

// Cells of threads or of CPUs, as far as there are any.
static bool make_cells(struct pd_timechart *chart, size_t wanted, bool of_threads, size_t limit, size_t *used)
{
	size_t least = chart->options.threads ? chart->options.threads : USUAL_THREADS, of_kind = 0;
	enum pd_lane_kind last = PD_LANE_CPU;

	for (size_t i = 0; i < wanted; i++) {
		struct pd_lane *lane = chart->lanes[i];
		size_t size = (size_t)chart->options.width * pd_lane_classes(lane->kind);

		if (is_threads(lane) != of_threads)
			continue;
		of_kind = lane->kind == last ? of_kind + 1 : 0;
		last = lane->kind;
		if (of_threads && of_kind >= least && importance_of(lane) < LONG_NS) {
			chart->left_out++;
			chart->left_out_ns += importance_of(lane);
		} else if (*used + size > limit) {
			chart->too_many++;
		} else {
			*used += size;
			lane->cells = pd_alloc(size * sizeof(*lane->cells));
			if (!lane->cells)
				return false;
		}
	}
	return true;
}

// Those that are sorted: which have cells. However many CPUs or threads there are, some of the others are seen.
static bool show(struct pd_timechart *chart, size_t wanted)
{
	size_t used = 0;

	if (!make_cells(chart, wanted, true, CELLS_OF_THREADS, &used) ||
	    !make_cells(chart, wanted, false, CELLS, &used))
		return false;
	for (size_t i = 0; i < wanted; i++) {
		struct pd_lane *lane = chart->lanes[i];

		if (!lane->cells)
			continue;
		// in its place comes one that is left out
		chart->lanes[i] = chart->lanes[chart->shown];
		chart->lanes[chart->shown++] = lane;
	}
	return true;
}

enum pd_status pd_lanes_choose(struct pd_timechart *chart, struct pd_error *error)
{
	size_t wanted = part(chart);

	if (wanted)
		qsort(chart->lanes, wanted, sizeof(struct pd_lane *), compare_lanes); // NOLINT: of pointers
	return show(chart, wanted) && find_places(chart) ? PD_OK : pd_fail_memory(error);
}

void pd_lanes_restart(struct pd_timechart *chart)
{
	for (size_t i = 0; i < chart->count; i++) {
		struct pd_lane *lane = chart->lanes[i];

		lane->until_ns = lane->total_ns = 0;
		lane->open = false;
		memset(lane->sums, 0, sizeof(lane->sums));
	}
}

void pd_lanes_fini(struct pd_timechart *chart)
{
	for (size_t i = 0; i < chart->count; i++)
		pd_free(chart->lanes[i]->cells);
	pd_free(chart->lanes);
	pd_u64_map_fini(&chart->map);
	pd_arena_fini(&chart->arena);
}

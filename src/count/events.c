/* SPDX-License-Identifier: MIT */
// Which events to count: those of perf stat, those that metrics need, those of what only some CPUs have.
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include <perfdata/stat.h>

#include "base/error.h"

static const char usual_events[] =
	"context-switches,cpu-migrations,page-faults,cycles,instructions,branches,branch-misses";
static const char *const detailed_events[] = {
	"L1-dcache-loads,L1-dcache-load-misses,LLC-loads,LLC-load-misses",
	"L1-icache-loads,L1-icache-load-misses,dTLB-loads,dTLB-load-misses,iTLB-loads,iTLB-load-misses",
	"L1-dcache-prefetches,L1-dcache-prefetch-misses",
};

// They need no more than events that every kernel names.
static const struct {
	const char *name, *events;
} metrics[] = {
	{ "IPC", "cycles,instructions" },
	{ "branch-misses", "branches,branch-misses" },
	{ "cache-misses", "cache-references,cache-misses" },
	{ "CPUs-utilized", "task-clock" },
	{ "frequency", "task-clock,cycles" },
	{ "L1-misses", "L1-dcache-loads,L1-dcache-load-misses" },
	{ "LLC-misses", "LLC-loads,LLC-load-misses" },
	{ "page-fault-rate", "task-clock,page-faults" },
	{ "stalls", "cycles,instructions,stalled-cycles-frontend,stalled-cycles-backend" },
	{ "switch-rate", "task-clock,context-switches" },
	{ "TLB-misses", "dTLB-loads,dTLB-load-misses,iTLB-loads,iTLB-load-misses" },
};

enum {
	METRIC_COUNT = sizeof(metrics) / sizeof(metrics[0])
};

const char *pd_stat_metric_name(size_t index)
{
	return index < METRIC_COUNT ? metrics[index].name : NULL;
}

enum pd_status pd_stat_add_events(struct pd_events *events, bool usual, bool system_wide, unsigned detailed,
				  struct pd_error *error)
{
	enum pd_status status = PD_OK;

	if (usual)
		status = pd_events_add(events, system_wide ? "cpu-clock" : "task-clock", error);
	if (usual && status >= 0)
		status = pd_events_add(events, usual_events, error);
	for (unsigned i = 0; i < detailed && i < 3 && status >= 0; i++)
		status = pd_events_add(events, detailed_events[i], error);
	return status;
}

static const char *events_of_metric(const char *name, size_t length)
{
	for (size_t i = 0; i < METRIC_COUNT; i++)
		if (strlen(metrics[i].name) == length && !strncasecmp(metrics[i].name, name, length))
			return metrics[i].events;
	return NULL;
}

static enum pd_status fail_unknown_metric(const char *name, size_t length, struct pd_error *error)
{
	char names[256] = "";
	size_t at = 0;

	for (size_t i = 0; i < METRIC_COUNT && at < sizeof(names); i++)
		at += (size_t)snprintf(names + at, sizeof(names) - at, "%s%s", i ? ", " : "", metrics[i].name);
	return pd_fail(error, PD_ERROR_NO_MATCH, PD_NO_OFFSET, "unknown metric '%.*s'; available: %s", (int)length,
		       name, names);
}

enum pd_status pd_stat_add_metrics(struct pd_events *events, const char *names, struct pd_error *error)
{
	enum pd_status status = PD_OK;

	while (*names && status >= 0) {
		size_t length = strcspn(names, ",");
		const char *needed = events_of_metric(names, length);

		if (!needed)
			return fail_unknown_metric(names, length, error);
		status = pd_events_add(events, needed, error);
		names += length + (names[length] == ',');
	}
	return status;
}

// The first of these lists of which the machine has all events; NULL at the end.
static const char *add_first(struct pd_events *events, const char *const *lists)
{
	while (*lists && pd_events_add(events, *lists, NULL) < 0)
		lists++;
	return *lists;
}

bool pd_stat_add_transactions(struct pd_events *events)
{
	static const char *const lists[] = {
		"task-clock,{instructions,cycles,cpu/cycles-t/,cpu/tx-start/,cpu/el-start/,cpu/cycles-ct/}",
		"task-clock,{instructions,cycles,cpu/cycles-t/,cpu/tx-start/}", NULL
	};

	return add_first(events, lists);
}

// What the CPU works out is of each thread; counters of slots are those of a whole core.
bool pd_stat_add_topdown(struct pd_events *events, bool *per_core_out)
{
	static const char *const lists[] = {
		"{slots,topdown-retiring,topdown-bad-spec,topdown-fe-bound,topdown-be-bound}",
		"{topdown-total-slots,topdown-slots-retired,topdown-recovery-bubbles,topdown-fetch-bubbles,topdown-slots-issued}",
		NULL
	};
	const char *found = add_first(events, lists);

	*per_core_out = found == lists[1];
	return found;
}

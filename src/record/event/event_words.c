/* SPDX-License-Identifier: MIT */
/* Names that every kernel has, whatever its machine. Source: include/uapi/linux/perf_event.h. */
#include "record/event/events.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

static const struct pd_event_word words[] = {
	{ "branch-instructions", "branches", PD_TYPE_HARDWARE, 4 },
	{ "branch-misses", NULL, PD_TYPE_HARDWARE, 5 },
	{ "bus-cycles", NULL, PD_TYPE_HARDWARE, 6 },
	{ "cache-misses", NULL, PD_TYPE_HARDWARE, 3 },
	{ "cache-references", NULL, PD_TYPE_HARDWARE, 2 },
	{ "cpu-cycles", "cycles", PD_TYPE_HARDWARE, 0 },
	{ "instructions", NULL, PD_TYPE_HARDWARE, 1 },
	{ "ref-cycles", NULL, PD_TYPE_HARDWARE, 9 },
	{ "stalled-cycles-backend", "idle-cycles-backend", PD_TYPE_HARDWARE, 8 },
	{ "stalled-cycles-frontend", "idle-cycles-frontend", PD_TYPE_HARDWARE, 7 },
	{ "alignment-faults", NULL, PD_TYPE_SOFTWARE, 7 },
	{ "bpf-output", NULL, PD_TYPE_SOFTWARE, 10 },
	{ "cgroup-switches", NULL, PD_TYPE_SOFTWARE, 11 },
	{ "context-switches", "cs", PD_TYPE_SOFTWARE, 3 },
	{ "cpu-clock", NULL, PD_TYPE_SOFTWARE, 0 },
	{ "cpu-migrations", "migrations", PD_TYPE_SOFTWARE, 4 },
	{ "dummy", NULL, PD_TYPE_SOFTWARE, 9 },
	{ "emulation-faults", NULL, PD_TYPE_SOFTWARE, 8 },
	{ "major-faults", NULL, PD_TYPE_SOFTWARE, 6 },
	{ "minor-faults", NULL, PD_TYPE_SOFTWARE, 5 },
	{ "page-faults", "faults", PD_TYPE_SOFTWARE, 2 },
	{ "task-clock", NULL, PD_TYPE_SOFTWARE, 1 },
};

const struct pd_event_word *pd_event_word_at(size_t index)
{
	return index < sizeof(words) / sizeof(words[0]) ? &words[index] : NULL;
}

// ---- caches: NAME, NAME-OPs, NAME-OP-misses ----

static const char *const caches[] = { "L1-dcache", "L1-icache", "LLC", "dTLB", "iTLB", "branch", "node" };
static const struct {
	const char *all, *misses;
} operations[] = { { "loads", "load-misses" }, { "stores", "store-misses" }, { "prefetches", "prefetch-misses" } };

// Which operations a cache has: bit 0 loads, 1 stores, 2 prefetches.
static const uint8_t has[] = { 7, 5, 7, 7, 1, 1, 7 };

enum {
	OPERATIONS = 3,
	RESULTS = 2,
	CACHES = sizeof(caches) / sizeof(caches[0])
};

bool pd_event_cache_at(size_t index, char name[64], uint64_t *config_out)
{
	for (size_t i = 0; i < CACHES * OPERATIONS * RESULTS; i++) {
		size_t cache = i / (OPERATIONS * RESULTS), operation = i / RESULTS % OPERATIONS, miss = i % RESULTS;

		if (!(has[cache] >> operation & 1) || index--)
			continue;
		snprintf(name, 64, "%s-%s", caches[cache],
			 miss ? operations[operation].misses : operations[operation].all);
		*config_out = cache | operation << 8 | miss << 16;
		return true;
	}
	return false;
}

static bool is_word(const char *known, const char *name, size_t length)
{
	return known && strlen(known) == length && strncasecmp(known, name, length) == 0;
}

// ---- what is measured, not asked for ----

const char *pd_event_tool_name(enum pd_tool_event tool)
{
	static const char *const tools[] = { [PD_TOOL_DURATION_TIME] = "duration_time",
					     [PD_TOOL_USER_TIME] = "user_time",
					     [PD_TOOL_SYSTEM_TIME] = "system_time" };

	return tool <= PD_TOOL_SYSTEM_TIME ? tools[tool] : NULL;
}

enum pd_tool_event pd_event_tool_find(const char *name, size_t length)
{
	enum pd_tool_event tool = PD_TOOL_DURATION_TIME;

	while (tool <= PD_TOOL_SYSTEM_TIME && !is_word(pd_event_tool_name(tool), name, length))
		tool++;
	return tool <= PD_TOOL_SYSTEM_TIME ? tool : PD_TOOL_NONE;
}

// ---- all ----

bool pd_event_word_find(const char *name, size_t length, uint32_t *type_out, uint64_t *config_out)
{
	char cache[64];

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (is_word(words[i].name, name, length) || is_word(words[i].alias, name, length)) {
			*type_out = words[i].type;
			*config_out = words[i].config;
			return true;
		}
	}
	*type_out = PD_TYPE_HW_CACHE;
	for (size_t i = 0; pd_event_cache_at(i, cache, config_out); i++)
		if (is_word(cache, name, length))
			return true;
	return false;
}

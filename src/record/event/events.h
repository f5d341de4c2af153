/* SPDX-License-Identifier: MIT */
/*
 * The inside of lists of events. events.c is the list and its grammar, event_words.c the names that every kernel has, pmu.c
 * what sysfs says of PMUs, tracepoint.c what tracefs says, event_list.c all names.
 */
#ifndef PD_RECORD_EVENTS_H
#define PD_RECORD_EVENTS_H

#include <perfdata/recorder.h>

#include "base/error.h"
#include "base/memory.h"

// An event of the list, which owns its texts.
struct pd_event_slot {
	struct pd_event_wanted wanted; // first: what the user sees
	char *texts[8];
	size_t text_count;
};

struct pd_events {
	struct pd_event_slot **slots;
	size_t count, capacity;
	size_t last; // first event of the last pd_events_add
	char *sysfs;
	char *tracefs;  // NULL: not mounted, or not readable
	char **cgroups; // by event
	size_t cgroup_count, cgroup_capacity;
	size_t cgroup_names; // that were given so far
};

// ---- cgroups.c ----

void pd_events_drop_cgroups(struct pd_events *events);

// Where the parser is in what was typed.
struct pd_event_text {
	struct pd_events *events;
	const char *text;
	const char *at;
	struct pd_error *error;
};

// A failure at a place of the text, with its column.
enum pd_status pd_event_fail(const struct pd_event_text *text, const char *at, const char *format, ...) PD_PRINTF(3, 4);
// Leaves only the first events.
void pd_events_cut(struct pd_events *events, size_t count);
// A copy that lives as long as the event; NULL without memory.
const char *pd_event_keep(struct pd_event_slot *slot, const char *text, size_t length);
// A new event at the end of the list.
enum pd_status pd_event_new(struct pd_event_text *text, struct pd_event_slot **slot_out);

// ---- event_words.c ----

struct pd_event_word {
	const char *name, *alias;
	uint32_t type;
	uint64_t config;
};

// The index-th name; NULL past the end.
const struct pd_event_word *pd_event_word_at(size_t index);
bool pd_event_word_find(const char *name, size_t length, uint32_t *type_out, uint64_t *config_out);
// Name of a tool event; NULL past the last one.
const char *pd_event_tool_name(enum pd_tool_event tool);
enum pd_tool_event pd_event_tool_find(const char *name, size_t length);
// L1-dcache-load-misses and the like, by index; false past the end.
bool pd_event_cache_at(size_t index, char name[64], uint64_t *config_out);

// ---- pmu.c ----

// pmu/terms/: *at is after the first slash, at the end after the second one. pmu is NULL for terms after another name.
enum pd_status pd_event_terms(struct pd_event_text *text, struct pd_event_slot *slot, const char *pmu);
// Whether there is a PMU of that name.
bool pd_pmu_exists(const struct pd_events *events, const char *name, size_t length);
// The PMU that has an event of that name, or NULL; the caller frees it.
char *pd_pmu_of_event(const struct pd_events *events, const char *name, size_t length);
enum pd_status pd_pmu_list(const struct pd_events *events, bool (*each)(void *self, const struct pd_event_name *name),
			   void *self, struct pd_error *error);

// ---- tracepoint.c ----

// All tracepoints that system and name, which may have * and ?, stand for. Each becomes an event.
enum pd_status pd_tracepoints_add(struct pd_event_text *text, const char *at, const char *system, const char *name);
bool pd_tracepoints_list(const struct pd_events *events, bool (*each)(void *self, const struct pd_event_name *name),
			 void *self);
// Where tracefs is mounted and can be read, or NULL; the caller frees it.
char *pd_tracefs_find(void);

// ---- event_print.c ----

enum {
	PD_EVENT_ENCODING = 64
};

// "software/config=0xb/": as perf, in decimal where that is one digit.
const char *pd_event_encode(char encoding[PD_EVENT_ENCODING], const char *pmu, uint64_t config);

#endif

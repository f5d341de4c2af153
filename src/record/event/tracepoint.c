/* SPDX-License-Identifier: MIT */
/* Tracepoints by the folders of tracefs: events/SYSTEM/NAME/id. */
#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "record/config.h"
#include "record/event/events.h"

static enum pd_status no_tracefs(const struct pd_event_text *text, const char *at)
{
	if (geteuid() != 0)
		return pd_event_fail(text, at,
				     "no permission to read tracepoints: become root, or as root run "
				     "mount -o remount,mode=755 /sys/kernel/tracing");
	return pd_event_fail(text, at, "tracefs is not mounted: mount -t tracefs tracefs /sys/kernel/tracing");
}

static enum pd_status add_one(struct pd_event_text *text, const char *system, const char *name)
{
	char path[1024], full[512];
	struct pd_event_slot *slot;
	enum pd_status status;
	uint64_t id;

	snprintf(path, sizeof(path), "%s/events/%s/%s/id", text->events->tracefs, system, name);
	id = pd_record_number(path, UINT64_MAX);
	// folders without an id are no events: enable, filter; ftrace's own cannot be asked for
	if (id == UINT64_MAX)
		return PD_OK;
	status = pd_event_new(text, &slot);
	if (status < 0)
		return status;
	snprintf(full, sizeof(full), "%s:%s", system, name);
	slot->wanted.attr.type = PD_TYPE_TRACEPOINT;
	slot->wanted.attr.config = id;
	slot->wanted.attr.sample_period = 1;
	slot->wanted.name = pd_event_keep(slot, full, strlen(full));
	slot->wanted.system = pd_event_keep(slot, system, strlen(system));
	slot->wanted.tracepoint = pd_event_keep(slot, name, strlen(name));
	return slot->wanted.name && slot->wanted.system && slot->wanted.tracepoint ? PD_OK :
										     pd_fail_memory(text->error);
}

// Names in a folder that a pattern stands for, sorted; the caller frees all of it.
struct names {
	struct dirent **items;
	int count;
};

static int is_visible(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

// As perf sorts SYSTEM:NAME: the end of a system is a colon.
static int by_full_name(const struct dirent **one, const struct dirent **other)
{
	const char *a = (*one)->d_name, *b = (*other)->d_name;

	while (*a && *a == *b)
		a++, b++;
	return (*a ? (unsigned char)*a : *b ? ':' : 0) - (*b ? (unsigned char)*b : *a ? ':' : 0);
}

static void scan_by(struct names *names, const char *folder,
		    int (*order)(const struct dirent **one, const struct dirent **other))
{
	names->count = scandir(folder, &names->items, is_visible, order);
	if (names->count < 0)
		names->count = 0;
}

static void scan(struct names *names, const char *folder)
{
	scan_by(names, folder, alphasort);
}

static void names_fini(struct names *names)
{
	for (int i = 0; i < names->count; i++)
		free(names->items[i]);
	if (names->count)
		free(names->items);
}

static enum pd_status add_of_system(struct pd_event_text *text, const char *system, const char *pattern)
{
	enum pd_status status = PD_OK;
	struct names names = { 0 };
	char path[512];

	snprintf(path, sizeof(path), "%.300s/events/%.200s", text->events->tracefs, system);
	scan(&names, path);
	for (int i = 0; i < names.count && status >= 0; i++)
		if (fnmatch(pattern, names.items[i]->d_name, 0) == 0)
			status = add_one(text, system, names.items[i]->d_name);
	names_fini(&names);
	return status;
}

static void try_names(struct pd_nearest *nearest, const char *folder)
{
	struct names names;

	scan(&names, folder);
	// the words belong to the caller of this, who prints them at once
	for (int i = 0; i < names.count; i++)
		pd_nearest_try(nearest, names.items[i]->d_name);
	if (nearest->best)
		nearest->best = strdup(nearest->best);
	names_fini(&names);
}

static enum pd_status none_found(const struct pd_event_text *text, const char *at, const char *system, const char *name)
{
	struct pd_nearest nearest = { .word = system };
	enum pd_status status;
	char path[512];

	snprintf(path, sizeof(path), "%.300s/events/%.200s", text->events->tracefs, system);
	if (access(path, F_OK) == 0)
		nearest.word = name;
	else
		snprintf(path, sizeof(path), "%.300s/events", text->events->tracefs);
	try_names(&nearest, path);
	if (nearest.best)
		status = pd_event_fail(text, at, "no tracepoint %s:%s; did you mean '%s'?", system, name, nearest.best);
	else
		status = pd_event_fail(text, at, "no tracepoint %s:%s; perfdata list lists them", system, name);
	free((char *)nearest.best);
	return status;
}

enum pd_status pd_tracepoints_add(struct pd_event_text *text, const char *at, const char *system, const char *name)
{
	size_t before = text->events->count;
	enum pd_status status = PD_OK;
	struct names names = { 0 };
	char path[512];

	if (!text->events->tracefs)
		return no_tracefs(text, at);
	snprintf(path, sizeof(path), "%.400s/events", text->events->tracefs);
	scan(&names, path);
	for (int i = 0; i < names.count && status >= 0; i++)
		if (fnmatch(system, names.items[i]->d_name, 0) == 0)
			status = add_of_system(text, names.items[i]->d_name, name);
	names_fini(&names);
	if (status >= 0 && text->events->count == before)
		status = none_found(text, at, system, name);
	return status;
}

bool pd_tracepoints_list(const struct pd_events *events, bool (*each)(void *self, const struct pd_event_name *name),
			 void *self)
{
	struct names systems = { 0 }, names = { 0 };
	char path[1024], full[600], encoding[PD_EVENT_ENCODING];
	bool go_on = true;

	if (!events->tracefs)
		return true;
	snprintf(path, sizeof(path), "%s/events", events->tracefs);
	scan_by(&systems, path, by_full_name);
	for (int i = 0; i < systems.count && go_on; i++) {
		const char *system = systems.items[i]->d_name;

		snprintf(path, sizeof(path), "%s/events/%s", events->tracefs, system);
		scan(&names, path);
		for (int j = 0; j < names.count && go_on; j++) {
			struct pd_event_name name = { .kind = PD_EVENT_TRACEPOINT, .name = full, .pmu = "tracepoint" };
			uint64_t id;

			snprintf(path, sizeof(path), "%s/events/%s/%s/id", events->tracefs, system,
				 names.items[j]->d_name);
			snprintf(full, sizeof(full), "%s:%s", system, names.items[j]->d_name);
			id = pd_record_number(path, UINT64_MAX);
			if (id == UINT64_MAX)
				continue;
			snprintf(encoding, sizeof(encoding), "tracepoint/config=0x%" PRIx64 "/", id);
			name.encoding = encoding;
			go_on = each(self, &name);
		}
		names_fini(&names);
	}
	names_fini(&systems);
	return go_on;
}

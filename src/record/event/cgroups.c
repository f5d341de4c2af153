/* SPDX-License-Identifier: MIT */
/* Cgroups of events: names are for the events before them, one each, or one for all of them. */
#include "record/event/events.h"

#include <stdlib.h>
#include <string.h>

// Each has a name up to there, "" where there was none.
static bool fit_cgroups(struct pd_events *events, size_t count)
{
	if (!PD_GROW(events->cgroups, events->cgroup_capacity, count))
		return false;
	while (events->cgroup_count < count) {
		events->cgroups[events->cgroup_count] = strdup("");
		if (!events->cgroups[events->cgroup_count])
			return false;
		events->cgroup_count++;
	}
	return true;
}

static bool set_cgroup(struct pd_events *events, size_t index, const char *name, size_t length)
{
	char *copy = fit_cgroups(events, index + 1) ? strndup(name, length) : NULL;

	if (!copy)
		return false;
	free(events->cgroups[index]);
	events->cgroups[index] = copy;
	return true;
}

enum pd_status pd_events_cgroup(struct pd_events *events, const char *names, bool has_events, struct pd_error *error)
{
	size_t length;

	for (const char *at = names;; at += length + 1) {
		length = strcspn(at, ",");
		if (has_events && length && events->cgroup_names >= events->count)
			return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET,
				       events->count ? "option --cgroup: more cgroups than preceding events" :
						       "option --cgroup must follow the events it applies to");
		if (length && !set_cgroup(events, events->cgroup_names, at, length))
			return pd_fail_memory(error);
		events->cgroup_names++;
		if (!at[length])
			break;
	}
	for (size_t i = 1; i < events->count && events->cgroup_names == 1 && *names; i++)
		if (!set_cgroup(events, i, names, length))
			return pd_fail_memory(error);
	return PD_OK;
}

enum pd_status pd_events_cgroups(struct pd_events *events, bool has_events, struct pd_targets *targets,
				 struct pd_error *error)
{
	if (events->cgroup_count && has_events && !fit_cgroups(events, events->count))
		return pd_fail_memory(error);
	targets->cgroups = (const char *const *)events->cgroups;
	targets->cgroup_count = events->cgroup_count;
	return PD_OK;
}

void pd_events_drop_cgroups(struct pd_events *events)
{
	for (size_t i = 0; i < events->cgroup_count; i++)
		free(events->cgroups[i]);
	pd_free(events->cgroups);
}

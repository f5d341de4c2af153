/* SPDX-License-Identifier: MIT */
/* Features about the events: PMUs by number, groups, the clock of the times. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "record/config.h"

static struct pd_str text_of(const char *text)
{
	return (struct pd_str){ text, (uint32_t)strlen(text), 0 };
}

static enum pd_status set_pmus(struct pd_writer *writer, const char *sysfs, struct pd_error *error)
{
	struct pd_pmu_mappings mappings = { .rest = { 0 } };
	struct pd_arena arena = { 0 };
	struct pd_pmu_mapping *pmus;
	enum pd_status status = PD_OK;
	struct dirent **items;
	char path[1024];
	int count;

	snprintf(path, sizeof(path), "%s/bus/event_source/devices", sysfs);
	count = scandir(path, &items, NULL, alphasort);
	if (count < 0)
		return PD_OK;
	pmus = pd_arena_alloc(&arena, (size_t)count * sizeof(*pmus) + 1);
	for (int i = 0; i < count; i++) {
		const char *name = items[i]->d_name;

		snprintf(path, sizeof(path), "%s/bus/event_source/devices/%s/type", sysfs, name);
		if (pmus && name[0] != '.')
			pmus[mappings.pmus.count++] =
				(struct pd_pmu_mapping){ .type = (uint32_t)pd_record_number(path, 0),
							 .name = text_of(name) };
	}
	mappings.pmus.items = pmus;
	mappings.pmus.stride = sizeof(*pmus);
	status = pmus ? pd_writer_set_feature(writer, PD_FEATURE_PMU_MAPPINGS, &mappings, error) :
			pd_fail_memory(error);
	for (int i = 0; i < count; i++)
		free(items[i]);
	free(items);
	pd_arena_fini(&arena);
	return status;
}

// Groups without a name of their own are called by their members: {a,b}.
static enum pd_status set_groups(struct pd_writer *writer, const struct pd_machine_options *options,
				 struct pd_error *error)
{
	struct pd_arena arena = { 0 };
	struct pd_group *groups = pd_arena_alloc(&arena, options->event_count * sizeof(*groups) + 1);
	struct pd_group_desc desc = { .groups = { groups, 0, sizeof(*groups) } };
	enum pd_status status = groups ? PD_OK : pd_fail_memory(error);

	for (size_t i = 0; i < options->event_count && status >= 0; i++) {
		size_t members = 0;

		for (size_t j = i; j < options->event_count; j++)
			members += options->leaders[j] == i;
		if (options->leaders[i] == i && members > 1)
			groups[desc.groups.count++] = (struct pd_group){ .name = text_of("{anon_group}"),
									 .leader_index = (uint32_t)i,
									 .nr_members = (uint32_t)members };
	}
	if (status >= 0 && desc.groups.count)
		status = pd_writer_set_feature(writer, PD_FEATURE_GROUP_DESC, &desc, error);
	pd_arena_fini(&arena);
	return status;
}

static uint64_t ns_of(const struct timespec *time)
{
	return (uint64_t)time->tv_sec * 1000000000 + (uint64_t)time->tv_nsec;
}

static enum pd_status set_clock(struct pd_writer *writer, int32_t clock, struct pd_error *error)
{
	struct timespec resolution, now, wall;
	struct pd_clockid_resolution about;
	struct pd_clock_data data = { .version = 1, .clockid = clock };
	enum pd_status status;

	if (clock_getres(clock, &resolution) < 0)
		return PD_OK;
	about = (struct pd_clockid_resolution){ .ns = ns_of(&resolution) };
	status = pd_writer_set_feature(writer, PD_FEATURE_CLOCKID, &about, error);
	clock_gettime(CLOCK_REALTIME, &wall);
	clock_gettime(clock, &now);
	data.wall_clock_ns = ns_of(&wall);
	data.clockid_time_ns = ns_of(&now);
	return status < 0 ? status : pd_writer_set_feature(writer, PD_FEATURE_CLOCK_DATA, &data, error);
}

// The kernel's own clock has no clockid; perf says so of any number that it does not know.
static enum pd_status set_own_clock(struct pd_writer *writer, struct pd_error *error)
{
	struct pd_clock_data data = { .version = 1, .clockid = UINT32_MAX };

	if (!pd_clock_compare(&data.wall_clock_ns, &data.clockid_time_ns))
		return PD_OK;
	return pd_writer_set_feature(writer, PD_FEATURE_CLOCK_DATA, &data, error);
}

enum pd_status pd_machine_events(struct pd_writer *writer, const struct pd_machine_options *options,
				 struct pd_error *error)
{
	static const struct pd_empty nothing;
	enum pd_status status = set_pmus(writer, options->sysfs ? options->sysfs : "/sys", error);

	if (status >= 0)
		status = set_groups(writer, options, error);
	if (status >= 0 && options->branches)
		status = pd_writer_set_feature(writer, PD_FEATURE_BRANCH_STACK, &nothing, error);
	if (status >= 0)
		status = options->use_clock ? set_clock(writer, options->clock, error) : set_own_clock(writer, error);
	return status;
}

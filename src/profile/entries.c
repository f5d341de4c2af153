/* SPDX-License-Identifier: MIT */
/* Entries, which are put together when they are asked for: what most have in common is there once. */
#include "profile/entries.h"

#include "profile/profile.h"

static void put_together(const struct pd_profile *profile, size_t index, struct pd_profile_entry *entry)
{
	const struct pd_counted *counted = &profile->counted[index];
	const struct pd_owner *owner = &profile->owners[counted->owner];
	const struct pd_details *details = &profile->details[counted->details];

	*entry = (struct pd_profile_entry){
		.event = pd_file_event(profile->file, details->event),
		.comm = owner->comm,
		.pid = owner->pid,
		.tid = profile->options.by & PD_BY_TID ? owner->tid : UINT32_MAX,
		.cpu = details->cpu,
		.cgroup = details->cgroup,
		.weight = details->weight,
		.slice_ns = details->slice,
		.stack = counted->stack,
		.samples = counted->samples,
		.period = counted->period,
		.weights = profile->weights ? profile->weights[index] : 0,
		.sample_period = details->size,
		.parallelism = details->parallelism,
	};
	if (details->raw)
		entry->raw = profile->raw_items[details->raw];
}

size_t pd_profile_entry_count(const struct pd_profile *profile)
{
	return profile->entry_count;
}

bool pd_profile_entry(const struct pd_profile *profile, size_t index, struct pd_profile_entry *entry_out)
{
	if (index >= profile->entry_count)
		return false;
	if (profile->entries)
		*entry_out = profile->entries[index];
	else
		put_together(profile, index, entry_out);
	return true;
}

size_t pd_profile_entry_event(const struct pd_profile *profile, size_t index)
{
	return profile->entries ? profile->entries[index].event->index :
				  profile->details[profile->counted[index].details].event;
}

size_t pd_profile_entry_stack(const struct pd_profile *profile, size_t index)
{
	return profile->entries ? profile->entries[index].stack : profile->counted[index].stack;
}

uint64_t pd_profile_entry_samples(const struct pd_profile *profile, size_t index)
{
	return profile->entries ? profile->entries[index].samples : profile->counted[index].samples;
}

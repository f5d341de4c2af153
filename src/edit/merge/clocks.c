/* SPDX-License-Identifier: MIT */
// Clocks of the recordings aligned with that of the first one.
#include "edit/merge/merge.h"

static const struct pd_clock_data *clock_of(const struct pd_merge_source *source)
{
	const struct pd_clock_data *data = pd_file_clock_data(source->file);

	return data && data->wall_clock_ns && data->clockid_time_ns ? data : NULL;
}

// The clock of the times, as a number; -1 is that of perf.
static int64_t clockid_of(const struct pd_merge_source *source)
{
	const struct pd_attr *attr;

	if (!pd_file_event_count(source->file))
		return -1;
	attr = pd_file_event(source->file, 0)->attr;
	return PD_BITS(attr->flags, PD_ATTR_USE_CLOCKID) ? attr->clockid : -1;
}

static enum pd_status align_by_wall(struct pd_merge *merge, struct pd_merge_source *source,
				    const struct pd_merge_source *first, struct pd_error *error)
{
	const struct pd_clock_data *own = clock_of(source), *other = clock_of(first);

	if (own && other) {
		source->join.time_ns = (int64_t)((own->wall_clock_ns - own->clockid_time_ns) -
						 (other->wall_clock_ns - other->clockid_time_ns));
		return PD_OK;
	}
	if (merge->options.clocks == PD_MERGE_CLOCKS_WALL)
		return pd_merge_fail(
			merge, error, PD_ERROR_ARGUMENT,
			"%s: has no CLOCK_DATA, so it cannot be aligned by the time of day (record with -k CLOCK)",
			own ? first->name : source->name);
	if (!merge->options.quiet)
		pd_merge_warn(merge,
			      "%s: clock differs from that of %s and cannot be aligned without CLOCK_DATA: times are "
			      "unchanged (see --align)",
			      source->name, first->name);
	return PD_OK;
}

static enum pd_status align_source(struct pd_merge *merge, struct pd_merge_source *source,
				   const struct pd_merge_source *first, struct pd_error *error)
{
	bool same_clock = source->machine == first->machine && clockid_of(source) == clockid_of(first);
	enum pd_merge_clocks how = merge->options.clocks;

	if (how == PD_MERGE_CLOCKS_NONE || (how == PD_MERGE_CLOCKS_AUTO && same_clock))
		return PD_OK;
	if (how != PD_MERGE_CLOCKS_FIRST)
		return align_by_wall(merge, source, first, error);
	if (source->first_ns && first->first_ns)
		source->join.time_ns = (int64_t)(first->first_ns - source->first_ns);
	return PD_OK;
}

enum pd_status pd_merge_plan_clocks(struct pd_merge *merge, struct pd_error *error)
{
	enum pd_status status = PD_OK;

	for (size_t i = 1; i < merge->source_count && status >= 0; i++)
		status = align_source(merge, merge->sources[i], merge->sources[0], error);
	return status;
}

// What a recorder found when it began was so from then on. For the recording that begins first it was so before all.
void pd_merge_plan_early(struct pd_merge *merge)
{
	uint64_t oldest = UINT64_MAX;
	size_t oldest_session = 0;

	for (size_t i = 0; i < merge->source_count; i++) {
		const struct pd_merge_source *source = merge->sources[i];

		if (source->begin_ns && pd_merge_shifted(source, source->begin_ns) < oldest) {
			oldest = pd_merge_shifted(source, source->begin_ns);
			oldest_session = source->session;
		}
	}
	for (size_t i = 0; i < merge->source_count; i++) {
		struct pd_merge_source *source = merge->sources[i];

		source->early = source->join;
		if (source->session != oldest_session && source->begin_ns)
			source->early.untimed_ns = pd_merge_shifted(source, source->begin_ns);
	}
}

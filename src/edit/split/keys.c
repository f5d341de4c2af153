/* SPDX-License-Identifier: MIT */
// Into which piece a sample belongs.
#include "edit/split/split.h"

static bool key_of_cgroup(const struct pd_record *record, uint64_t *key_out, bool *missing_out)
{
	const struct pd_sample *sample;

	*missing_out = record->event && !(record->event->attr->sample_type & PD_MASK(PD_SAMPLE_TYPE_CGROUP));
	sample = *missing_out ? NULL : pd_as_sample(record);
	*key_out = sample ? sample->cgroup : PD_SPLIT_UNKNOWN;
	return sample || *missing_out;
}

static uint64_t key_of_comm(const struct pd_split *split, const struct pd_record *record, const struct pd_brief *brief)
{
	struct pd_view view;

	pd_state_view(split->state, brief->pid, brief->tid, pd_record_moment(record), &view);
	// equal names are one pointer
	return view.comm ? (uint64_t)(uintptr_t)view.comm : PD_SPLIT_UNKNOWN;
}

static uint64_t key_of_size(struct pd_split *split, const struct pd_record *record)
{
	uint64_t capacity = split->options.amount - split->common_bytes;

	if (split->piece_bytes && split->piece_bytes + record->bytes.size > capacity) {
		split->piece_number++;
		split->piece_bytes = 0;
	}
	split->piece_bytes += record->bytes.size;
	return split->piece_number;
}

static uint64_t key_of_time(const struct pd_split *split, const struct pd_record *record)
{
	if (record->time_ns == PD_NO_TIME || record->time_ns < split->window.first_ns)
		return 0;
	return (record->time_ns - split->window.first_ns) / split->options.amount;
}

// The fields that the brief form of a sample has: process, name of the thread, CPU.
static bool key_of_brief(const struct pd_split *split, const struct pd_record *record, uint64_t *key_out,
			 bool *missing_out)
{
	bool by_cpu = split->options.by == PD_SPLIT_CPU;
	uint64_t needed = by_cpu ? PD_MASK(PD_SAMPLE_TYPE_CPU) : PD_MASK(PD_SAMPLE_TYPE_TID);
	struct pd_brief brief;

	if (!pd_record_brief(record, &brief))
		return false;
	*missing_out = record->event && !(record->event->attr->sample_type & needed);
	if (*missing_out)
		*key_out = PD_SPLIT_UNKNOWN;
	else if (split->options.by == PD_SPLIT_COMM)
		*key_out = key_of_comm(split, record, &brief);
	else
		*key_out = by_cpu ? brief.cpu : brief.pid;
	return true;
}

bool pd_split_key(struct pd_split *split, const struct pd_record *record, uint64_t *key_out, bool *missing_out)
{
	*missing_out = false;
	switch (split->options.by) {
	case PD_SPLIT_SIZE:
		*key_out = key_of_size(split, record);
		return true;
	case PD_SPLIT_TIME:
		*key_out = key_of_time(split, record);
		return true;
	case PD_SPLIT_EVENT:
		*key_out = record->event ? record->event->index : 0;
		return record->event != NULL;
	case PD_SPLIT_CGROUP:
		return key_of_cgroup(record, key_out, missing_out);
	default:
		return key_of_brief(split, record, key_out, missing_out);
	}
}

const char *pd_split_unknown_reason(const struct pd_split *split)
{
	switch (split->options.by) {
	case PD_SPLIT_CPU:
		return "samples have no CPU (use perf record -a, or --sample-cpu)";
	case PD_SPLIT_CGROUP:
		return "samples have no cgroup (use perf record --all-cgroups)";
	case PD_SPLIT_TIME:
		return "samples have no time (use perf record --timestamp)";
	default:
		return "samples have no PID";
	}
}

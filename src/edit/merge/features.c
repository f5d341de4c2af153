/* SPDX-License-Identifier: MIT */
/*
 * What stands around the records of joined recordings. Most features describe a machine or a command and can be there
 * once: those of the first recording that has them stay, and what others say is reported. Lists of things are united.
 */
#include "edit/merge/merge.h"

#include <stdlib.h>
#include <string.h>

// ---- events ----

static enum pd_status add_events(const struct pd_merge *merge, struct pd_writer *writer, struct pd_error *error)
{
	enum pd_status status = PD_OK;

	for (size_t i = 0; i < merge->events.count && status >= 0; i++) {
		const struct pd_joined_event *event = &merge->events.items[i];
		struct pd_u64s ids = { event->ids.items, event->ids.count };

		status = pd_writer_add_event(writer, &event->attr, ids, event->name, error);
	}
	return status;
}

// ---- groups of events ----

struct groups {
	struct pd_group *items;
	size_t count, capacity;
};

// The number of the leader in the output, or SIZE_MAX if the members are not there in a row.
static size_t place_group(const struct pd_merge_source *source, const struct pd_group *group)
{
	size_t count = pd_file_event_count(source->file);
	size_t leader;

	if (group->leader_index >= count || !group->nr_members || group->nr_members > count - group->leader_index)
		return SIZE_MAX;
	leader = source->events[group->leader_index];
	for (size_t i = 0; i < group->nr_members; i++)
		if (leader == SIZE_MAX || source->events[group->leader_index + i] != leader + i)
			return SIZE_MAX;
	return leader;
}

// Groups have no event in common. True if the group can be one more; *same_out: it is there already.
static bool fits(const struct groups *groups, size_t leader, uint32_t members, bool *same_out)
{
	*same_out = false;
	for (size_t i = 0; i < groups->count; i++) {
		const struct pd_group *other = &groups->items[i];

		if (other->leader_index == leader && other->nr_members == members)
			*same_out = true;
		if (leader < (size_t)other->leader_index + other->nr_members && other->leader_index < leader + members)
			return false;
	}
	return true;
}

static bool add_groups(struct groups *groups, const struct pd_merge_source *source)
{
	const struct pd_group_desc *desc = pd_file_group_desc(source->file);

	for (size_t i = 0; desc && i < desc->groups.count; i++) {
		struct pd_group group = *PD_ITEM(pd_group, desc->groups, i);
		size_t leader = place_group(source, &group);
		bool same = false;

		if (leader == SIZE_MAX || !fits(groups, leader, group.nr_members, &same)) {
			if (!same && !source->merge->options.quiet)
				pd_merge_warn(source->merge,
					      "%s: GROUP_DESC: group %s is dropped: its events are not adjacent",
					      source->name, group.name.data ? group.name.data : "");
			continue;
		}
		if (!PD_GROW(groups->items, groups->capacity, groups->count + 1))
			return false;
		group.leader_index = (uint32_t)leader;
		groups->items[groups->count++] = group;
	}
	return true;
}

static enum pd_status set_groups(const struct pd_merge *merge, struct pd_writer *writer, struct pd_error *error)
{
	struct groups groups = { 0 };
	struct pd_group_desc desc = { .groups = { .stride = sizeof(struct pd_group) } };
	enum pd_status status = PD_OK;

	for (size_t i = 0; i < merge->source_count && status >= 0; i++)
		if (!add_groups(&groups, merge->sources[i]))
			status = pd_fail_memory(error);
	desc.groups.items = groups.items;
	desc.groups.count = groups.count;
	if (status >= 0 && groups.count)
		status = pd_writer_set_feature(writer, PD_FEATURE_GROUP_DESC, &desc, error);
	pd_free(groups.items);
	return status;
}

// ---- lists of things that the kernel numbers ----

// Items of several lists; those whose number an earlier list has are left out.
struct united {
	uint8_t *items;
	size_t count, capacity, size;
	struct pd_numbers ids;
	size_t sorted; // ids of earlier lists, ascending
};

static int compare_numbers(const void *a, const void *b)
{
	const uint64_t *left = a, *right = b;

	return *left < *right ? -1 : *left > *right;
}

static void end_list(struct united *united)
{
	united->sorted = united->ids.count;
	if (united->sorted)
		qsort(united->ids.items, united->sorted, sizeof(uint64_t), compare_numbers);
}

static bool add_item(struct united *united, const void *item, uint64_t id)
{
	if (united->sorted && bsearch(&id, united->ids.items, united->sorted, sizeof(id), compare_numbers))
		return true;
	if (!pd_grow((void **)&united->items, &united->capacity, united->count + 1, united->size) ||
	    !pd_numbers_add(&united->ids, id))
		return false;
	memcpy(united->items + united->count++ * united->size, item, united->size);
	return true;
}

static bool add_programs(struct united *united, struct pd_file *file)
{
	const struct pd_bpf_programs *programs = pd_file_bpf_prog_info(file);

	for (size_t i = 0; programs && i < programs->programs.count; i++) {
		const struct pd_bpf_program *program = PD_ITEM(pd_bpf_program, programs->programs, i);

		if (!add_item(united, program, program->info ? program->info->id : 0))
			return false;
	}
	return true;
}

static bool add_btfs(struct united *united, struct pd_file *file)
{
	const struct pd_bpf_btf *btf = pd_file_bpf_btf(file);

	for (size_t i = 0; btf && i < btf->btfs.count; i++) {
		const struct pd_btf *item = PD_ITEM(pd_btf, btf->btfs, i);

		if (!add_item(united, item, item->id))
			return false;
	}
	return true;
}

// Numbers of programs mean the same in one boot only. What is different there has another number.
static enum pd_status unite(const struct pd_merge *merge, struct pd_writer *writer, unsigned feature, size_t first,
			    struct pd_error *error)
{
	bool programs = feature == PD_FEATURE_BPF_PROG_INFO;
	struct united united = { .size = programs ? sizeof(struct pd_bpf_program) : sizeof(struct pd_btf) };
	enum pd_status status = PD_OK;

	for (size_t i = first; i < merge->source_count && status >= 0; i++) {
		const struct pd_merge_source *source = merge->sources[i];

		if (source->machine != merge->sources[first]->machine)
			continue;
		if (!(programs ? add_programs(&united, source->file) : add_btfs(&united, source->file)))
			status = pd_fail_memory(error);
		else
			end_list(&united);
	}
	if (status >= 0) {
		struct pd_list list = { united.items, united.count, united.size };
		struct pd_bpf_programs all_programs = { .programs = list };
		struct pd_bpf_btf all_btfs = { .btfs = list };

		status = pd_writer_set_feature(writer, feature, programs ? (void *)&all_programs : (void *)&all_btfs,
					       error);
	}
	pd_free(united.items);
	pd_free(united.ids.items);
	return status;
}

// ---- single features ----

static uint64_t aligned(const struct pd_merge_source *source, uint64_t time_ns)
{
	return (uint64_t)((int64_t)time_ns + source->join.time_ns);
}

static enum pd_status set_times(const struct pd_merge *merge, struct pd_writer *writer, struct pd_error *error)
{
	struct pd_sample_time times = { .first_ns = UINT64_MAX };

	for (size_t i = 0; i < merge->source_count; i++) {
		const struct pd_merge_source *source = merge->sources[i];

		if (!source->first_ns)
			continue;
		if (aligned(source, source->first_ns) < times.first_ns)
			times.first_ns = aligned(source, source->first_ns);
		if (aligned(source, source->last_ns) > times.last_ns)
			times.last_ns = aligned(source, source->last_ns);
	}
	if (times.first_ns == UINT64_MAX)
		times.first_ns = 0;
	return pd_writer_set_feature(writer, PD_FEATURE_SAMPLE_TIME, &times, error);
}

// The source with the most CPUs: what says where they are goes by their number.
static size_t largest(const struct pd_merge *merge)
{
	uint32_t most = 0;
	size_t found = 0;

	for (size_t i = 0; i < merge->source_count; i++) {
		const struct pd_nrcpus *nrcpus = pd_file_nrcpus(merge->sources[i]->file);

		if (nrcpus && nrcpus->available > most) {
			most = nrcpus->available;
			found = i;
		}
	}
	return found;
}

static bool has(const struct pd_merge_source *source, unsigned feature)
{
	struct pd_bytes bytes;

	return pd_merge_feature_bytes(source, feature, &bytes);
}

// Whether a source says something else of a machine or a command than the one whose feature stays.
static bool differs(const struct pd_merge_source *source, unsigned feature, struct pd_bytes kept)
{
	struct pd_bytes bytes;

	return pd_merge_feature_bytes(source, feature, &bytes) &&
	       (bytes.size != kept.size || (kept.size && memcmp(bytes.data, kept.data, kept.size) != 0));
}

static void warn_of_others(const struct pd_merge *merge, unsigned feature, size_t chosen)
{
	const char *name = pd_feature_name(feature) ? pd_feature_name(feature) : "a feature";
	const char *first = NULL, *kept_name = merge->sources[chosen]->name;
	struct pd_bytes kept;
	size_t count = 0;

	// each recording looks at its clocks once
	if (feature == PD_FEATURE_CLOCK_DATA || merge->options.quiet)
		return;
	pd_merge_feature_bytes(merge->sources[chosen], feature, &kept);
	for (size_t i = 0; i < merge->source_count; i++)
		if (i != chosen && differs(merge->sources[i], feature, kept))
			first = count++ ? first : merge->sources[i]->name;
	if (count == 1)
		pd_merge_warn(merge, "%s: %s is another one than in %s, which stays", first, name, kept_name);
	else if (count)
		pd_merge_warn(merge, "%s and %zu more: %s is another one than in %s, which stays", first, count - 1,
			      name, kept_name);
}

static enum pd_status set_build_ids(const struct pd_merge *merge, struct pd_writer *writer, struct pd_error *error)
{
	enum pd_status status = PD_OK;

	for (size_t i = 0; i < merge->source_count && status >= 0; i++)
		if (has(merge->sources[i], PD_FEATURE_BUILD_ID))
			status = pd_writer_join_feature(writer, merge->sources[i]->file, PD_FEATURE_BUILD_ID, error);
	return status;
}

// What the writer makes itself, or the clock of another recording.
static bool is_left_out(unsigned feature, size_t source)
{
	switch (feature) {
	case PD_FEATURE_AUXTRACE:
	case PD_FEATURE_COMPRESSED:
	case PD_FEATURE_DIR_FORMAT:
	case PD_FEATURE_EVENT_DESC:
		return true;
	case PD_FEATURE_CLOCKID:
	case PD_FEATURE_CLOCK_DATA:
		return source > 0;
	default:
		return false;
	}
}

static enum pd_status set_feature(const struct pd_merge *merge, struct pd_writer *writer, unsigned feature,
				  size_t first, struct pd_error *error)
{
	if (is_left_out(feature, first))
		return PD_OK;
	switch (feature) {
	case PD_FEATURE_TRACING_DATA:
		return pd_merge_formats_write(merge, writer, error);
	case PD_FEATURE_BUILD_ID:
		return set_build_ids(merge, writer, error);
	case PD_FEATURE_GROUP_DESC:
		return set_groups(merge, writer, error);
	case PD_FEATURE_SAMPLE_TIME:
		return set_times(merge, writer, error);
	case PD_FEATURE_NRCPUS:
	case PD_FEATURE_CPU_TOPOLOGY:
		if (has(merge->sources[largest(merge)], feature))
			first = largest(merge);
		break;
	case PD_FEATURE_BPF_PROG_INFO:
	case PD_FEATURE_BPF_BTF:
		if (merge->source_count > 1)
			return unite(merge, writer, feature, first, error);
		break;
	default:
		break;
	}
	warn_of_others(merge, feature, first);
	return pd_writer_join_feature(writer, merge->sources[first]->file, feature, error);
}

enum pd_status pd_merge_header(const struct pd_merge *merge, struct pd_writer *writer, struct pd_error *error)
{
	enum pd_status status = add_events(merge, writer, error);

	for (unsigned feature = 1; feature < PD_FEATURE_LIMIT && status >= 0; feature++) {
		size_t first = 0;

		while (first < merge->source_count && !has(merge->sources[first], feature))
			first++;
		if (first < merge->source_count)
			status = set_feature(merge, writer, feature, first, error);
	}
	return status;
}

// ---- a piece of a recording ----

static bool list_kept(struct pd_merge *merge, struct pd_merge_source *source, const bool *is_kept)
{
	size_t count = pd_file_event_count(source->file);

	source->events = pd_alloc((count + 1) * sizeof(*source->events));
	merge->events.items = pd_alloc((count + 1) * sizeof(*merge->events.items));
	if (!source->events || !merge->events.items)
		return false;
	for (size_t i = 0; i < count; i++) {
		const struct pd_event *event = pd_file_event(source->file, i);
		struct pd_joined_event *joined = &merge->events.items[merge->events.count];

		source->events[i] = SIZE_MAX;
		if (!is_kept[i])
			continue;
		source->events[i] = merge->events.count++;
		*joined = (struct pd_joined_event){ .attr = *event->attr, .name = event->name };
		for (size_t j = 0; j < event->ids.count; j++)
			if (!pd_numbers_add(&joined->ids, event->ids.items[j]))
				return false;
	}
	return true;
}

enum pd_status pd_merge_piece_header(struct pd_file *file, const bool *is_kept, uint64_t first_ns, uint64_t last_ns,
				     struct pd_writer *writer, struct pd_error *error)
{
	struct pd_merge merge = { .options.quiet = true };
	struct pd_merge_source source = {
		.file = file, .merge = &merge, .name = pd_file_name(file), .first_ns = first_ns, .last_ns = last_ns
	};
	struct pd_merge_source *sources[] = { &source };
	enum pd_status status = PD_OK;

	merge.sources = sources;
	merge.source_count = 1;
	if (!list_kept(&merge, &source, is_kept))
		status = pd_fail_memory(error);
	if (status >= 0)
		status = pd_merge_plan_formats(&merge, error);
	if (status >= 0)
		status = pd_merge_header(&merge, writer, error);
	for (size_t i = 0; i < merge.events.count; i++)
		pd_free(merge.events.items[i].ids.items);
	pd_free(merge.events.items);
	pd_free(source.events);
	pd_merge_formats_free(merge.formats);
	return status;
}

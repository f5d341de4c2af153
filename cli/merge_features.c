/* SPDX-License-Identifier: MIT */
/*
 * What stands around the records of joined recordings. Most features describe a machine or a command and can be there
 * once: those of the first recording that has them stay, and what others say is told. Lists of things are united.
 */
#include "merge.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- events ---- */

static enum pd_status add_events(const struct merge *merge, struct pd_writer *writer, struct pd_error *error)
{
	enum pd_status status = PD_OK;

	for (size_t i = 0; i < merge->events.count && status >= 0; i++) {
		const struct joined_event *event = &merge->events.items[i];
		struct pd_u64s ids = { event->ids.items, event->ids.count };

		status = pd_writer_add_event(writer, &event->attr, ids, event->name, error);
	}
	return status;
}

/* ---- groups of events ---- */

struct groups {
	struct pd_group *items;
	size_t count, room;
};

/* The number of the leader in the output, or SIZE_MAX if the members are not there in a row. */
static size_t place_group(const struct source *source, const struct pd_group *group)
{
	size_t count = pd_file_event_count(source->input.file);
	size_t leader;

	if (group->leader_index >= count || !group->nr_members || group->nr_members > count - group->leader_index)
		return SIZE_MAX;
	leader = source->events[group->leader_index];
	for (size_t i = 0; i < group->nr_members; i++)
		if (leader == SIZE_MAX || source->events[group->leader_index + i] != leader + i)
			return SIZE_MAX;
	return leader;
}

/* Groups have no event in common. True if the group can be one more; *same_out: it is there already. */
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

static bool add_groups(struct groups *groups, const struct source *source, bool quiet)
{
	const struct pd_group_desc *desc = pd_file_group_desc(source->input.file);

	for (size_t i = 0; desc && i < desc->groups.count; i++) {
		struct pd_group group = *PD_ITEM(pd_group, desc->groups, i);
		size_t leader = place_group(source, &group);
		bool same = false;

		if (leader == SIZE_MAX || !fits(groups, leader, group.nr_members, &same)) {
			if (!same && !quiet)
				complain("%s: GROUP_DESC: group %s is dropped: its events are not adjacent",
					 source->name, group.name.data ? group.name.data : "");
			continue;
		}
		if (!room_for(&groups->items, &groups->room, groups->count + 1, sizeof(group)))
			return false;
		group.leader_index = (uint32_t)leader;
		groups->items[groups->count++] = group;
	}
	return true;
}

static enum pd_status set_groups(const struct merge *merge, struct pd_writer *writer, struct pd_error *error)
{
	struct groups groups = { 0 };
	struct pd_group_desc desc = { .groups = { .stride = sizeof(struct pd_group) } };
	enum pd_status status = PD_OK;

	for (size_t i = 0; i < merge->source_count && status >= 0; i++)
		if (!add_groups(&groups, &merge->sources[i], merge->quiet))
			status = out_of_memory(error);
	desc.groups.items = groups.items;
	desc.groups.count = groups.count;
	if (status >= 0 && groups.count)
		status = pd_writer_set_feature(writer, PD_FEATURE_GROUP_DESC, &desc, error);
	free(groups.items);
	return status;
}

/* ---- lists of things that the kernel numbers ---- */

/* Items of several lists; those whose number an earlier list has are left out. */
struct united {
	uint8_t *items;
	size_t count, room, size;
	struct numbers ids;
	size_t sorted; /* ids of earlier lists, ascending */
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
	if (!room_for(&united->items, &united->room, united->count + 1, united->size) || !numbers_add(&united->ids, id))
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

/* Numbers of programs mean the same in one boot only. What is different there has another number. */
static enum pd_status unite(const struct merge *merge, struct pd_writer *writer, unsigned feature, size_t first,
			    struct pd_error *error)
{
	bool programs = feature == PD_FEATURE_BPF_PROG_INFO;
	struct united united = { .size = programs ? sizeof(struct pd_bpf_program) : sizeof(struct pd_btf) };
	enum pd_status status = PD_OK;

	for (size_t i = first; i < merge->source_count && status >= 0; i++) {
		const struct source *source = &merge->sources[i];

		if (source->machine != merge->sources[first].machine)
			continue;
		if (!(programs ? add_programs(&united, source->input.file) : add_btfs(&united, source->input.file)))
			status = out_of_memory(error);
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
	free(united.items);
	free(united.ids.items);
	return status;
}

/* ---- single features ---- */

static uint64_t aligned(const struct source *source, uint64_t time_ns)
{
	return (uint64_t)((int64_t)time_ns + source->join.time_ns);
}

static enum pd_status set_times(const struct merge *merge, struct pd_writer *writer, struct pd_error *error)
{
	struct pd_sample_time times = { .first_ns = UINT64_MAX };

	for (size_t i = 0; i < merge->source_count; i++) {
		const struct source *source = &merge->sources[i];

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

/* The source with the most CPUs: what says where they are goes by their number. */
static size_t largest(const struct merge *merge)
{
	uint32_t most = 0;
	size_t found = 0;

	for (size_t i = 0; i < merge->source_count; i++) {
		const struct pd_nrcpus *nrcpus = pd_file_nrcpus(merge->sources[i].input.file);

		if (nrcpus && nrcpus->available > most) {
			most = nrcpus->available;
			found = i;
		}
	}
	return found;
}

static struct pd_bytes bytes_of(const struct source *source, unsigned feature)
{
	struct pd_bytes bytes = { NULL, SIZE_MAX };

	return pd_file_feature_bytes(source->input.file, feature, &bytes, NULL) < 0 ?
		       (struct pd_bytes){ NULL, SIZE_MAX } :
		       bytes;
}

static bool has(const struct source *source, unsigned feature)
{
	return bytes_of(source, feature).size != SIZE_MAX;
}

/* What others say of a machine or a command. */
static void tell_others(const struct merge *merge, unsigned feature, size_t chosen)
{
	struct pd_bytes bytes = bytes_of(&merge->sources[chosen], feature);
	const char *name = pd_feature_name(feature);
	size_t count = 0, first = 0;

	/* each recording looks at its clocks once */
	if (feature == PD_FEATURE_CLOCK_DATA)
		return;
	for (size_t i = 0; i < merge->source_count; i++) {
		struct pd_bytes other = bytes_of(&merge->sources[i], feature);

		if (i == chosen || other.size == SIZE_MAX ||
		    (other.size == bytes.size && (!bytes.size || !memcmp(other.data, bytes.data, bytes.size))))
			continue;
		first = count++ ? first : i;
	}
	if (!count || merge->quiet)
		return;
	if (count == 1)
		complain("%s: %s is another one than in %s, which stays", merge->sources[first].name, name ? name : "a feature",
			 merge->sources[chosen].name);
	else
		complain("%s and %zu more: %s is another one than in %s, which stays", merge->sources[first].name, count - 1,
			 name ? name : "a feature", merge->sources[chosen].name);
}

static enum pd_status set_build_ids(const struct merge *merge, struct pd_writer *writer, struct pd_error *error)
{
	enum pd_status status = PD_OK;

	for (size_t i = 0; i < merge->source_count && status >= 0; i++)
		if (has(&merge->sources[i], PD_FEATURE_BUILD_ID))
			status = pd_writer_join_feature(writer, merge->sources[i].input.file, PD_FEATURE_BUILD_ID, error);
	return status;
}

/* What the writer makes itself, or the clock of another recording. */
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

static enum pd_status set_feature(const struct merge *merge, struct pd_writer *writer, unsigned feature, size_t first,
				  struct pd_error *error)
{
	if (is_left_out(feature, first))
		return PD_OK;
	switch (feature) {
	case PD_FEATURE_TRACING_DATA:
		return formats_write(merge, writer, error);
	case PD_FEATURE_BUILD_ID:
		return set_build_ids(merge, writer, error);
	case PD_FEATURE_GROUP_DESC:
		return set_groups(merge, writer, error);
	case PD_FEATURE_SAMPLE_TIME:
		return set_times(merge, writer, error);
	case PD_FEATURE_NRCPUS:
	case PD_FEATURE_CPU_TOPOLOGY:
		if (has(&merge->sources[largest(merge)], feature))
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
	tell_others(merge, feature, first);
	return pd_writer_join_feature(writer, merge->sources[first].input.file, feature, error);
}

enum pd_status merge_header(const struct merge *merge, struct pd_writer *writer, struct pd_error *error)
{
	enum pd_status status = add_events(merge, writer, error);

	for (unsigned feature = 1; feature < PD_FEATURE_LIMIT && status >= 0; feature++) {
		size_t first = 0;

		while (first < merge->source_count && !has(&merge->sources[first], feature))
			first++;
		if (first < merge->source_count)
			status = set_feature(merge, writer, feature, first, error);
	}
	return status;
}

/* SPDX-License-Identifier: MIT */
/*
 * A directory of an input that is none: what the kernel wrote goes into data.N by its CPU, as perf record --threads has
 * it. A record says its CPU, or its id does (ID_INDEX). What says neither, and what the recorder wrote itself, stays in the
 * main file. So all does if no event records CPUs.
 */
#include "write/inside.h"

#include <stdio.h>
#include <stdlib.h>

enum {
	MOST_PARTS = 256 // files that are open at once; more CPUs share them
};

struct pd_cpu_split {
	size_t parts[MOST_PARTS]; // 0: none so far
	struct pd_id_cpu {
		uint64_t id;
		uint32_t cpu;
	} * ids; // ascending
	size_t id_count, id_capacity;
};

bool pd_writer_splits_by_cpu(const struct pd_writer *writer)
{
	if (!writer->by_cpu)
		return false;
	for (size_t i = 0; i < writer->event_count; i++)
		if (writer->events[i].words[PD_WORD_SAMPLE_TYPE] & MASK_SAMPLE_TYPE(CPU))
			return true;
	return writer->cpu_split && writer->cpu_split->id_count;
}

static int compare_ids(const void *a, const void *b)
{
	const struct pd_id_cpu *left = a, *right = b;

	return (left->id > right->id) - (left->id < right->id);
}

static bool take_ids(struct pd_cpu_split *cpu_split, const struct pd_id_index *index)
{
	if (!PD_GROW(cpu_split->ids, cpu_split->id_capacity, cpu_split->id_count + index->entries.count))
		return false;
	for (size_t i = 0; i < index->entries.count; i++) {
		const struct pd_id_entry *entry = PD_ITEM(pd_id_entry, index->entries, i);

		if (entry->cpu < UINT32_MAX)
			cpu_split->ids[cpu_split->id_count++] = (struct pd_id_cpu){ entry->id, (uint32_t)entry->cpu };
	}
	if (cpu_split->id_count)
		qsort(cpu_split->ids, cpu_split->id_count, sizeof(cpu_split->ids[0]), compare_ids);
	return true;
}

static uint32_t cpu_of_id(const struct pd_cpu_split *cpu_split, uint64_t id)
{
	const struct pd_id_cpu wanted = { .id = id };
	const struct pd_id_cpu *found = cpu_split->id_count ? bsearch(&wanted, cpu_split->ids, cpu_split->id_count,
								      sizeof(wanted), compare_ids) :
							      NULL;

	return found ? found->cpu : UINT32_MAX;
}

// The CPU that wrote a record. What a recorder makes up itself has no time.
static uint32_t cpu_of(const struct pd_cpu_split *cpu_split, const struct pd_record *record)
{
	const struct pd_sample_id *trailer;
	const struct pd_comm *decoded; // all bodies begin alike
	struct pd_brief brief;
	uint64_t words;

	if (record->type == PD_RECORD_SAMPLE) {
		if (!record->event || !pd_record_brief(record, &brief))
			return UINT32_MAX;
		if (brief.cpu != UINT32_MAX || !cpu_split->id_count)
			return brief.cpu;
		decoded = pd_record_as(record, record->type);
		return decoded ? cpu_of_id(cpu_split, PD_SAMPLE_ID((const struct pd_sample *)(const void *)decoded)) :
				 UINT32_MAX;
	}
	if (pd_record_group(record->type) != PD_GROUP_KERNEL || record->time_ns == PD_NO_TIME ||
	    !pd_record_layout(record->type))
		return UINT32_MAX;
	decoded = pd_record_as(record, record->type);
	trailer = decoded ? decoded->sample_id : NULL;
	if (!trailer)
		return UINT32_MAX;
	words = pd_record_scope(record)->words[PD_WORD_TRAILER];
	return words & MASK_TRAILER(CPU) ? trailer->cpu : cpu_of_id(cpu_split, PD_SAMPLE_ID(trailer));
}

static enum pd_status part_of_cpu(struct pd_writer *writer, uint32_t cpu, size_t *part_out, struct pd_error *error)
{
	size_t *part = &writer->cpu_split->parts[cpu % MOST_PARTS];
	enum pd_status status = PD_OK;
	char name[32];

	if (!*part) {
		snprintf(name, sizeof(name), "data.%u", cpu % MOST_PARTS);
		*part = writer->part_count;
		status = pd_writer_add_part(writer, name, error);
	}
	*part_out = *part;
	return status;
}

enum pd_status pd_writer_split_by_cpu(struct pd_writer *writer, const struct pd_record *record, size_t *part_out,
				      struct pd_error *error)
{
	const struct pd_id_index *index = record->type == PD_RECORD_ID_INDEX ? pd_as_id_index(record) : NULL;
	uint32_t cpu;

	*part_out = 0;
	if (!writer->cpu_split)
		writer->cpu_split = pd_alloc(sizeof(*writer->cpu_split));
	if (!writer->cpu_split || (index && !take_ids(writer->cpu_split, index)))
		return pd_fail_memory(error);
	cpu = cpu_of(writer->cpu_split, record);
	return cpu == UINT32_MAX ? PD_OK : part_of_cpu(writer, cpu, part_out, error);
}

void pd_cpu_split_free(struct pd_cpu_split *cpu_split)
{
	if (cpu_split)
		pd_free(cpu_split->ids);
	pd_free(cpu_split);
}

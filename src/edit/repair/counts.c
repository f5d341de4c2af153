/* SPDX-License-Identifier: MIT */
/*
 * Counts of perf stat say their CPU and the place of their thread in a list; CPU_MAP and THREAD_MAP, which stand in front, say
 * which there are. perf gives up at a count that fits neither. Where a map is lost, it is made of what the counts say; where a
 * count is alone with what it says, the count is what is damaged.
 */
#include "edit/repair/repair.h"

#include <string.h>

enum {
	ANY_CPU = 65535,
	CPUS = 65536,
	MOST_CPUS = 30000, // that fit into a record
	MOST_THREADS = (UINT16_MAX - 16) / 24,
};

// What the counts of a file say.
struct survey {
	struct pd_cpu_bits *mapped, *counted;
	uint32_t threads; // of the map
	bool has_cpus;    // there is one
	uint32_t last_thread;
	uint64_t record_count, counts;              // of perf stat; those that can be true
	uint64_t on_mapped_cpus, of_mapped_threads; // counts
};

static void set_cpu(struct pd_cpu_bits *bits, uint32_t cpu)
{
	cpu = cpu < CPUS ? cpu : ANY_CPU;
	bits->words[cpu / 64] |= UINT64_C(1) << cpu % 64;
}

static bool has_cpu(const struct pd_cpu_bits *bits, uint32_t cpu)
{
	cpu = cpu < CPUS ? cpu : ANY_CPU;
	return bits->words[cpu / 64] >> cpu % 64 & 1;
}

static void note_cpus(struct pd_cpu_bits *bits, const struct pd_cpu_map_data *map)
{
	for (size_t i = 0; i < map->cpus.count; i++)
		set_cpu(bits, map->cpus.items[i]);
	for (size_t i = 0; i < map->mask32.count * 32 && i < CPUS; i++)
		if (map->mask32.items[i / 32] >> i % 32 & 1)
			set_cpu(bits, (uint32_t)i);
	for (size_t i = 0; i < map->mask64.count * 64 && i < CPUS; i++)
		if (map->mask64.items[i / 64] >> i % 64 & 1)
			set_cpu(bits, (uint32_t)i);
	if (map->kind != PD_CPU_MAP_RANGE)
		return;
	for (uint32_t i = map->start_cpu; i <= map->end_cpu; i++)
		set_cpu(bits, i);
	if (map->any_cpu)
		set_cpu(bits, ANY_CPU);
}

static void note(struct survey *survey, const struct pd_record *record)
{
	const void *decoded;
	const struct pd_stat *stat;

	if ((record->type != PD_RECORD_CPU_MAP && record->type != PD_RECORD_THREAD_MAP &&
	     record->type != PD_RECORD_STAT) ||
	    pd_record_decode(record, &decoded, NULL) < 0)
		return;
	if (record->type == PD_RECORD_CPU_MAP) {
		survey->has_cpus = true;
		note_cpus(survey->mapped, ((const struct pd_cpu_map *)decoded)->cpus);
		return;
	}
	if (record->type == PD_RECORD_THREAD_MAP) {
		survey->threads = (uint32_t)((const struct pd_thread_map *)decoded)->entries.count;
		return;
	}
	stat = decoded;
	survey->record_count++;
	if ((stat->cpu >= ANY_CPU && stat->cpu != UINT32_MAX) || stat->thread >= MOST_THREADS)
		return;
	set_cpu(survey->counted, stat->cpu);
	survey->counts++;
	survey->on_mapped_cpus += has_cpu(survey->mapped, stat->cpu);
	survey->of_mapped_threads += stat->thread < survey->threads;
	if (stat->thread > survey->last_thread)
		survey->last_thread = stat->thread;
}

// The maps by what most counts say.
static void set_by_majority(struct pd_count_maps *maps, struct survey *survey)
{
	// one count says less than a map
	maps->make_cpus = survey->on_mapped_cpus * 2 + (survey->has_cpus ? 1 : 0) < survey->counts;
	maps->make_threads = survey->of_mapped_threads * 2 + (survey->threads ? 1 : 0) < survey->counts;
	maps->threads = survey->threads;
	// there are not more threads than counts
	if (maps->make_threads)
		maps->threads = survey->last_thread < survey->counts ? survey->last_thread + 1 : 1;
	if (maps->make_cpus) {
		maps->cpus = survey->counted;
		survey->counted = NULL;
	} else {
		maps->cpus = survey->mapped;
		survey->mapped = NULL;
	}
}

static enum pd_status count_records(struct survey *survey, struct pd_file *file, struct pd_error *error)
{
	const struct pd_stream_options careful = { .size = sizeof(careful), .careful = true };
	const struct pd_record *record;
	struct pd_stream *stream;
	enum pd_status status = pd_stream_open(file, &careful, &stream, error);

	if (status < 0)
		return status;
	pd_stream_be_quiet(stream);
	while ((status = pd_stream_next(stream, &record, error)) == PD_OK)
		note(survey, record);
	pd_stream_close(stream);
	return status < 0 ? status : PD_OK;
}

enum pd_status pd_count_maps_learn(struct pd_count_maps *maps, struct pd_file *file, struct pd_error *error)
{
	struct survey survey = { .mapped = pd_alloc(sizeof(*survey.mapped)),
				 .counted = pd_alloc(sizeof(*survey.counted)) };
	enum pd_status status;

	status = survey.mapped && survey.counted ? count_records(&survey, file, error) : pd_fail_memory(error);
	if (status >= 0 && survey.record_count)
		set_by_majority(maps, &survey);
	pd_free(survey.mapped);
	pd_free(survey.counted);
	return status;
}

bool pd_count_maps_keep(const struct pd_count_maps *maps, struct pd_stream *stream, const struct pd_record *record)
{
	const void *decoded;
	const struct pd_stat *stat;

	if (!maps->cpus)
		return true;
	if ((record->type == PD_RECORD_CPU_MAP && maps->make_cpus) ||
	    (record->type == PD_RECORD_THREAD_MAP && maps->make_threads))
		return false;
	if (record->type != PD_RECORD_STAT || pd_record_decode(record, &decoded, NULL) < 0)
		return true;
	stat = decoded;
	if (has_cpu(maps->cpus, stat->cpu) && stat->thread < maps->threads)
		return true;
	if (!pd_stream_is_quiet(stream))
		pd_file_report(pd_record_file(record), PD_PROBLEM_BAD_RECORD, record->offset, NULL,
			       "a count of CPU %d and thread %u, which are not in the lists", (int)stat->cpu,
			       stat->thread);
	return false;
}

static enum pd_status add_cpus(const struct pd_count_maps *maps, struct pd_writer *writer, struct pd_error *error)
{
	static const uint8_t padding[8];
	uint16_t *items = pd_alloc(CPUS * sizeof(*items));
	struct pd_cpu_map_data data = { .kind = PD_CPU_MAP_CPUS, .cpus = { items, 0 } };
	struct pd_cpu_map map = { .cpus = &data };
	enum pd_status status;

	if (!items)
		return pd_fail_memory(error);
	for (uint32_t i = 0; i < CPUS && data.cpus.count < MOST_CPUS; i++)
		if (has_cpu(maps->cpus, i))
			items[data.cpus.count++] = (uint16_t)i;
	// the size of a record is a multiple of 8
	map.rest = (struct pd_bytes){ padding, (4 - 2 * data.cpus.count) & 7 };
	status = pd_writer_add(writer, PD_RECORD_CPU_MAP, 0, &map, 0, error);
	pd_free(items);
	return status;
}

// Which threads these were is not known.
static enum pd_status add_threads(const struct pd_count_maps *maps, struct pd_writer *writer, struct pd_error *error)
{
	static const char no_name[16];
	struct pd_thread_map_entry *entries = pd_alloc(maps->threads * sizeof(*entries));
	const struct pd_thread_map map = { .entries = { entries, maps->threads, sizeof(*entries) } };
	enum pd_status status;

	if (!entries)
		return pd_fail_memory(error);
	for (uint32_t i = 0; i < maps->threads; i++)
		entries[i] = (struct pd_thread_map_entry){ .pid = UINT64_MAX, .comm = { no_name, 0, sizeof(no_name) } };
	status = pd_writer_add(writer, PD_RECORD_THREAD_MAP, 0, &map, 0, error);
	pd_free(entries);
	return status;
}

enum pd_status pd_count_maps_pass(struct pd_count_maps *maps, struct pd_file *file, struct pd_writer *writer,
				  const struct pd_record *record, struct pd_error *error)
{
	bool wants = record->type >= PD_RECORD_STAT_CONFIG && record->type <= PD_RECORD_STAT_ROUND;
	enum pd_status status = PD_OK;

	if (!wants || maps->made)
		return PD_OK;
	maps->made = true;
	if (maps->make_threads) {
		pd_file_report(file, PD_PROBLEM_MENDED, record->offset, "THREAD_MAP", "rebuilt from the counts");
		status = writer ? add_threads(maps, writer, error) : PD_OK;
	}
	if (maps->make_cpus && status >= 0) {
		pd_file_report(file, PD_PROBLEM_MENDED, record->offset, "CPU_MAP", "rebuilt from the counts");
		status = writer ? add_cpus(maps, writer, error) : PD_OK;
	}
	return status;
}

void pd_count_maps_fini(struct pd_count_maps *maps)
{
	pd_free(maps->cpus);
	*maps = (struct pd_count_maps){ 0 };
}

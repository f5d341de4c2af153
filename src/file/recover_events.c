/* SPDX-License-Identifier: MIT */
/*
 * Attrs of a damaged file, or what the feature EVENT_DESC copies of them: where the two differ, records are decoded with
 * both, and the one that more records fit is used. Done only where pd_open_options.recover asks for it.
 */
#include <string.h>

#include "file/codec.h"
#include "file/inside.h"
#include "format/text/print.h"
#include "format/record.h"

enum {
	TRIAL_BYTES = 4 << 20 // of records that two versions of the events are tried on
};

// Events as they are known, so that others can be tried.
struct events {
	struct pd_event_full **events;
	size_t event_count, event_capacity;
	bool uniform;
	struct pd_u64_map ids;
	struct pd_event_full **unnamed;
	size_t unnamed_capacity;
};

static struct events take_events(struct pd_file *file)
{
	struct events taken = { file->events, file->event_count, file->event_capacity,  file->uniform,
				file->ids,    file->unnamed,     file->unnamed_capacity };

	file->events = NULL;
	file->event_count = file->event_capacity = 0;
	file->ids = (struct pd_u64_map){ .seed = file->secret };
	file->unnamed = NULL;
	file->unnamed_capacity = 0;
	return taken;
}

static void put_events(struct pd_file *file, const struct events *events)
{
	file->events = events->events;
	file->event_count = events->event_count;
	file->event_capacity = events->event_capacity;
	file->uniform = events->uniform;
	file->ids = events->ids;
	file->unnamed = events->unnamed;
	file->unnamed_capacity = events->unnamed_capacity;
}

static void free_events(struct events *events)
{
	pd_free(events->events);
	pd_u64_map_fini(&events->ids);
	pd_free(events->unnamed);
}

bool pd_file_describes_events(const struct pd_file *file, const struct pd_event_desc *desc)
{
	if (desc->events.count != file->event_count)
		return false;
	for (size_t i = 0; i < file->event_count; i++) {
		const struct pd_event_desc_entry *entry = PD_ITEM(pd_event_desc_entry, desc->events, i);
		const struct pd_event *event = &file->events[i]->event;

		if (memcmp(file->events[i]->event.attr, entry->attr, sizeof(*entry->attr)) != 0 ||
		    event->ids.count != entry->ids.count ||
		    (entry->ids.count && memcmp(event->ids.items, entry->ids.items, entry->ids.count * 8)))
			return false;
	}
	return true;
}

static enum pd_status add_described(struct pd_file *file, const struct pd_event_desc *desc, struct pd_error *error)
{
	enum pd_status status = PD_OK;

	for (size_t i = 0; i < desc->events.count && status >= 0; i++) {
		const struct pd_event_desc_entry *entry = PD_ITEM(pd_event_desc_entry, desc->events, i);

		status = pd_file_add_event(file, entry->attr, PD_NO_OFFSET, entry->ids, error);
	}
	return status;
}

// The event of a sample, by its id.
static const struct pd_event_full *event_of(const struct pd_file *file, struct pd_bytes record)
{
	const struct pd_event_full *full = file->events[0];
	size_t words = (record.size - PD_RECORD_HEADER_SIZE) / 8;

	if (file->event_count > 1 && full->sample_id < words)
		full = pd_file_find_event(file,
					  pd_load_u64(record.data + PD_RECORD_HEADER_SIZE + 8 * (size_t)full->sample_id,
						      file->swap));
	return full;
}

bool pd_file_knows_counters(const struct pd_file *file, uint64_t read_format, const struct pd_counts *read)
{
	if (!read || !(read_format & PD_MASK(PD_READ_FORMAT_ID)) || !file->ids.count)
		return true;
	for (size_t i = 0; i < read->members.count; i++)
		if (!pd_file_find_event(file, PD_ITEM(pd_count, read->members, i)->id))
			return false;
	return true;
}

static bool sample_fits(const struct pd_file *file, const struct pd_event_full *full, const struct pd_sample *sample)
{
	return sample->cpu < 1 << 20 && pd_file_knows_counters(file, full->event.attr->read_format, sample->read);
}

// Whether a record of the kernel can be decoded and has nothing left over.
static bool record_fits(struct pd_file *file, const struct pd_record_head *head, struct pd_bytes record,
			struct pd_arena *arena)
{
	bool is_sample = head->type == PD_RECORD_SAMPLE;
	const struct pd_event_full *full = is_sample ? event_of(file, record) : file->events[0];
	const struct pd_layout *layout = pd_record_layout(head->type);
	enum pd_record_group group = pd_record_group(head->type);
	struct pd_scope scope = { .arena = arena };
	const struct pd_body_head *body;
	struct pd_cursor c;

	if (!full)
		return false;
	memcpy(scope.words, full->words, sizeof(scope.words));
	scope.words[PD_WORD_MISC] = head->misc;
	c = pd_cursor(record.data, record.size, file->header.big_endian);
	body = pd_record_take(layout, group, record, &scope, &c);
	if (!body || body->rest.size >= 8 || (full->trailer_size && !is_sample && !body->sample_id))
		return false;
	return is_sample ? sample_fits(file, full, (const struct pd_sample *)body) : pd_record_is_tight(layout, body);
}

// Ids that an ID_INDEX has: {id, index, cpu, thread}.
static uint64_t count_known_ids(struct pd_file *file, struct pd_bytes record)
{
	enum {
		FIRST = 16,
		ENTRY = 32
	};
	uint64_t count = 0;

	for (size_t at = FIRST; at + ENTRY <= record.size; at += ENTRY)
		count += pd_file_find_event(file, pd_load_u64(record.data + at, file->swap)) != NULL;
	return count;
}

// Whether a record of perf about an event has the id of one.
static bool is_about_known(const struct pd_file *file, const struct pd_record_head *head, struct pd_bytes record)
{
	size_t at = head->type == PD_RECORD_STAT ? 8 : 16;

	return (head->type == PD_RECORD_STAT || head->type == PD_RECORD_EVENT_UPDATE) && at + 8 <= record.size &&
	       pd_file_find_event(file, pd_load_u64(record.data + at, file->swap));
}

// Records that events are tried on.
struct trial {
	uint8_t *data;
	size_t size, capacity;
};

// How many records fit the events.
static uint64_t try_records(struct pd_file *file, const struct trial *trial)
{
	const uint8_t *data = trial->data;
	struct pd_arena arena = { 0 };
	uint64_t fitting = 0;

	for (size_t at = 0; file->event_count && at + PD_RECORD_HEADER_SIZE <= trial->size;) {
		struct pd_record_head head = pd_record_head(data + at, file->swap);
		struct pd_bytes record = { data + at, (size_t)head.size };

		if (!pd_is_record_head(&head) || head.size > trial->size - at) {
			at += 8;
			continue;
		}
		if (head.type < 64)
			fitting += record_fits(file, &head, record, &arena);
		else if (head.type == PD_RECORD_ID_INDEX)
			fitting += count_known_ids(file, record);
		else
			fitting += is_about_known(file, &head, record);
		pd_arena_reset(&arena);
		at += (size_t)head.size;
	}
	pd_arena_fini(&arena);
	return fitting;
}

// Inflates a compressed record, as far as there is room. False if that is all.
static bool inflate(const struct pd_codec *codec, void *state, struct pd_bytes packed, struct trial *to)
{
	struct pd_codec_run run = { .in = packed.data,
				    .in_size = packed.size,
				    .out = to->data + to->size,
				    .out_size = to->capacity - to->size };
	enum pd_codec_result result = codec->run(state, &run);

	to->size = to->capacity - run.out_size;
	return result != PD_CODEC_ERROR && run.out_size && !run.in_size;
}

// What the compressed records of a trial hold.
static struct trial inflate_all(struct pd_file *file, const struct trial *trial)
{
	const struct pd_codec *codec = pd_codec_by_name("zstd");
	struct trial inner = { .data = pd_alloc(TRIAL_BYTES), .capacity = TRIAL_BYTES };
	void *state = codec ? codec->start() : NULL;
	bool more = state && inner.data;

	for (size_t at = 0; more && at + 16 <= trial->size;) {
		struct pd_record_head head = pd_record_head(trial->data + at, file->swap);
		size_t skip = head.type == PD_RECORD_COMPRESSED2 ? 16 : PD_RECORD_HEADER_SIZE;

		if (!pd_is_record_head(&head) || head.size > trial->size - at) {
			at += 8;
			continue;
		}
		if (head.type == PD_RECORD_COMPRESSED || (head.type == PD_RECORD_COMPRESSED2 && head.size > 16)) {
			size_t size = (size_t)head.size - skip;

			if (skip == 16 && pd_load_u64(trial->data + at + 8, file->swap) < size)
				size = (size_t)pd_load_u64(trial->data + at + 8, file->swap);
			more = inflate(codec, state, (struct pd_bytes){ trial->data + at + skip, size }, &inner);
		}
		at += (size_t)head.size;
	}
	if (state)
		codec->close(state);
	return inner;
}

static uint64_t try_events(struct pd_file *file, const struct trial *outer, const struct trial *inner)
{
	return try_records(file, outer) + try_records(file, inner);
}

// Events with bits that no attr has had so far.
static unsigned count_odd_events(const struct pd_file *file)
{
	enum {
		SAMPLE_TYPES = 25,
		READ_FORMATS = 5,
		BRANCH_TYPES = 20
	};
	unsigned count = 0;

	for (size_t i = 0; i < file->event_count; i++) {
		const struct pd_attr *attr = file->events[i]->event.attr;

		count += attr->sample_type >> SAMPLE_TYPES || attr->read_format >> READ_FORMATS ||
			 attr->branch_sample_type >> BRANCH_TYPES || attr->reserved_2;
	}
	return count;
}

// The two lists of events differ: the one that fits more records is right. Not all of an attr shows in records.
static enum pd_status choose_events(struct pd_file *file, const struct pd_event_desc *desc, const struct trial *outer,
				    const struct trial *inner, struct pd_error *error)
{
	uint64_t fitting = try_events(file, outer, inner), others;
	unsigned odd = count_odd_events(file), odd_others;
	struct events table = take_events(file), none;
	pd_problem_fn *problem = file->problem;
	uint64_t counts[4];
	enum pd_status status;

	memcpy(counts, file->problem_counts, sizeof(counts));
	file->problem = NULL;
	status = add_described(file, desc, error);
	file->problem = problem;
	memcpy(file->problem_counts, counts, sizeof(counts));
	others = status < 0 ? 0 : try_events(file, outer, inner);
	odd_others = count_odd_events(file);
	if (status >= 0 && (!table.event_count || (others > fitting && odd_others <= odd) ||
			    (others == fitting && odd_others < odd))) {
		free_events(&table);
		pd_file_report(file, PD_PROBLEM_MENDED, file->header.attrs_offset, "attrs", "taken from EVENT_DESC");
		return PD_OK;
	}
	none = take_events(file);
	free_events(&none);
	put_events(file, &table);
	return status;
}

enum pd_status pd_file_recover_events(struct pd_file *file, uint64_t from, struct pd_error *error)
{
	const struct pd_event_desc *desc = pd_file_event_desc(file);
	struct trial outer, inner;
	enum pd_status status;

	if (!desc || !desc->events.count || pd_file_describes_events(file, desc))
		return PD_OK;
	outer = (struct trial){ .data = pd_alloc(TRIAL_BYTES) };
	if (!outer.data)
		return pd_fail_memory(error);
	status = pd_source_read(&file->main, from, outer.data, TRIAL_BYTES, &outer.size, error);
	if (status >= 0) {
		inner = inflate_all(file, &outer);
		status = choose_events(file, desc, &outer, &inner, error);
		pd_free(inner.data);
	}
	pd_free(outer.data);
	return status;
}

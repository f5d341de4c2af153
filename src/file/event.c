/* SPDX-License-Identifier: MIT */
/* Events: attrs with their ids and names, and where their records keep id and time. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "file/event_name.h"
#include "file/inside.h"
#include "format/record.h"

static unsigned bits_set(uint64_t word, uint64_t mask)
{
	return (unsigned)__builtin_popcountll(word & mask);
}

// Order of the words in samples and trailers: see sample.def and the part sample_id.
static void find_places(struct pd_event_full *full)
{
	uint64_t type = full->event.attr->sample_type;
	bool identifier = type & MASK_SAMPLE_TYPE(IDENTIFIER);
	uint64_t before_time = MASK_SAMPLE_TYPE(IDENTIFIER) | MASK_SAMPLE_TYPE(IP) | MASK_SAMPLE_TYPE(TID);
	uint64_t before_id = before_time | MASK_SAMPLE_TYPE(TIME) | MASK_SAMPLE_TYPE(ADDR);
	uint64_t after_id = MASK_SAMPLE_TYPE(STREAM_ID) | MASK_SAMPLE_TYPE(CPU) | MASK_SAMPLE_TYPE(IDENTIFIER);

	full->sample_time = full->sample_id = PD_NO_WORD;
	full->trailer_time = full->trailer_id = PD_FIELD_MISSING;
	if (type & MASK_SAMPLE_TYPE(TIME))
		full->sample_time = bits_set(type, before_time);
	if (identifier)
		full->sample_id = 0;
	else if (type & MASK_SAMPLE_TYPE(ID))
		full->sample_id = bits_set(type, before_id);
	if (!PD_BITS(full->event.attr->flags, PD_ATTR_SAMPLE_ID_ALL))
		return;
	full->trailer_size = (uint8_t)pd_trailer_size(type);
	if (identifier)
		full->trailer_id = 1;
	else if (type & MASK_SAMPLE_TYPE(ID))
		full->trailer_id = (uint8_t)(1 + bits_set(type, after_id));
	if (type & MASK_SAMPLE_TYPE(TIME))
		full->trailer_time = (uint8_t)(1 + bits_set(type, after_id | MASK_SAMPLE_TYPE(ID)));
}

// Bytes of counter values, 0 if they vary from sample to sample.
static unsigned fixed_counts(uint64_t read_format)
{
	const uint64_t words = MASK_READ_FORMAT(TOTAL_TIME_ENABLED) | MASK_READ_FORMAT(TOTAL_TIME_RUNNING) |
			       MASK_READ_FORMAT(ID) | MASK_READ_FORMAT(LOST);

	return read_format & MASK_READ_FORMAT(GROUP) ? 0 : 8 * (1 + bits_set(read_format, words));
}

static uint8_t *brief_place(struct pd_brief_places *places, size_t offset)
{
	const struct {
		size_t offset;
		uint8_t *place;
	} wanted[] = {
		{ offsetof(struct pd_sample, ip), &places->ip },
		{ offsetof(struct pd_sample, addr), &places->addr },
		{ offsetof(struct pd_sample, period), &places->period },
		{ offsetof(struct pd_sample, pid), &places->pid },
		{ offsetof(struct pd_sample, tid), &places->tid },
		{ offsetof(struct pd_sample, cpu), &places->cpu },
		{ offsetof(struct pd_sample, callchain), &places->callchain },
	};

	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
		if (wanted[i].offset == offset)
			return wanted[i].place;
	return NULL;
}

// Whether a sample has none of the fields from here on.
static bool has_none_of(const struct pd_scope *scope, const struct pd_field *fields, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (pd_when_holds(&fields[i].when, scope, NULL))
			return false;
	return true;
}

// Whether raw data are all that a sample has from here on.
static bool has_raw_alone(const struct pd_scope *scope, const struct pd_field *fields, size_t count)
{
	size_t i = 0;

	while (i < count && !pd_when_holds(&fields[i].when, scope, NULL))
		i++;
	return i < count && fields[i].offset == offsetof(struct pd_sample, raw) &&
	       has_none_of(scope, fields + i + 1, count - i - 1);
}

// Walks the lines of a sample as far as they have fixed places.
static void find_brief_places(struct pd_event_full *full)
{
	struct pd_brief_places *places = &full->brief;
	struct pd_scope scope = { 0 };
	size_t count;
	const struct pd_field *fields = pd_layouts[PD_LAYOUT_sample].fields(&count);
	unsigned at = 0;

	memcpy(scope.words, full->words, sizeof(scope.words));
	memset(places, PD_FIELD_MISSING, sizeof(*places));
	places->whole = true;
	places->raw_last = false;
	for (size_t i = 0; i < count; i++) {
		const struct pd_field *field = &fields[i];
		uint8_t *place = brief_place(places, field->offset);
		unsigned size = field->size;

		if (!pd_when_holds(&field->when, &scope, NULL))
			continue;
		if (field->offset == offsetof(struct pd_sample, read))
			size = fixed_counts(full->event.attr->read_format);
		else if (field->line != PD_LINE_FIELD)
			size = 0;
		if (place)
			*place = (uint8_t)at;
		if (!size) {
			places->whole = places->callchain == at && has_none_of(&scope, fields + i + 1, count - i - 1);
			places->raw_last = has_raw_alone(&scope, fields + i + (places->callchain == at),
							 count - i - (places->callchain == at));
			break;
		}
		at += size;
	}
	places->size = (uint8_t)(places->callchain == PD_FIELD_MISSING ? at : places->callchain + 8u);
	// after counters of a group there is nothing but the callchain to want
	places->sufficient = places->callchain != PD_FIELD_MISSING ||
			     !(full->event.attr->sample_type & MASK_SAMPLE_TYPE(CALLCHAIN));
}

// One comparison for each event: equality with the first is enough.
static void note_uniform(struct pd_file *file, const struct pd_event_full *added)
{
	file->uniform = file->event_count == 1 ||
			(file->uniform && memcmp(added->words, file->events[0]->words, sizeof(added->words)) == 0);
}

enum pd_status pd_file_add_id(struct pd_file *file, size_t event, uint64_t id, struct pd_error *error)
{
	uint64_t index_plus_1 = pd_u64_map_find(&file->ids, id);

	if (!index_plus_1)
		return pd_u64_map_add(&file->ids, id, event + 1) ? PD_OK : pd_fail_memory(error);
	if (index_plus_1 != event + 1)
		pd_file_report(file, PD_PROBLEM_DUPLICATE_ID, PD_NO_OFFSET, NULL,
			       "id %" PRIu64 " belongs to events %" PRIu64 " and %zu", id, index_plus_1 - 1, event);
	return PD_OK;
}

struct pd_event_full *pd_file_find_event(const struct pd_file *file, uint64_t id)
{
	uint64_t index_plus_1 = pd_u64_map_find(&file->ids, id);

	return index_plus_1 ? file->events[index_plus_1 - 1] : NULL;
}

// ---- events without a name, by type and config: chains that lose whoever gets one, which an index of base cannot ----

static struct pd_event_full **chain_of(const struct pd_file *file, uint32_t type, uint64_t config)
{
	return &file->unnamed[(size_t)pd_hash_u64(file->secret, (size_t)pd_hash_u64(file->secret, config) + type) &
			      (file->unnamed_capacity - 1)];
}

static void push_unnamed(struct pd_file *file, struct pd_event_full *full)
{
	struct pd_event_full **chain = chain_of(file, full->event.attr->type, full->event.attr->config);

	full->next_unnamed = *chain;
	*chain = full;
}

static bool add_unnamed(struct pd_file *file, struct pd_event_full *full)
{
	size_t capacity = file->unnamed_capacity ? file->unnamed_capacity * 2 : 64;
	struct pd_event_full **chains;

	if (file->event_count < file->unnamed_capacity) {
		push_unnamed(file, full);
		return true;
	}
	chains = pd_alloc(capacity * sizeof(*chains));
	if (!chains)
		return false;
	pd_free(file->unnamed);
	file->unnamed = chains;
	file->unnamed_capacity = capacity;
	for (size_t i = 0; i < file->event_count; i++)
		if (!file->events[i]->named)
			push_unnamed(file, file->events[i]);
	push_unnamed(file, full);
	return true;
}

struct pd_event_full *pd_file_take_unnamed(struct pd_file *file, uint64_t type, uint64_t config)
{
	struct pd_event_full **at, *full;

	if (!file->unnamed_capacity || type > UINT32_MAX)
		return NULL;
	at = chain_of(file, (uint32_t)type, config);
	while ((full = *at) != NULL) {
		const struct pd_attr *attr = full->event.attr;
		bool wanted = !full->named && attr->type == type && attr->config == config;

		if (wanted || full->named)
			*at = full->next_unnamed;
		else
			at = &full->next_unnamed;
		if (wanted)
			return full;
	}
	return NULL;
}

bool pd_file_set_name(struct pd_file *file, struct pd_event_full *full, const char *name, size_t length)
{
	char *copy = pd_arena_text(&file->arena, name, length);

	if (!copy)
		return false; // the name made from the attr stays
	full->event.name = copy;
	full->named = true;
	return true;
}

// ---- adding ----

static void report_unknown_bits(struct pd_file *file, const struct pd_attr *attr, uint64_t offset)
{
	uint64_t known = 0;

	for (size_t i = 0; i < pd_names_sample_type.count; i++)
		known |= UINT64_C(1) << pd_names_sample_type.items[i].value;
	if (attr->sample_type & ~known)
		pd_file_report(file, PD_PROBLEM_UNKNOWN_SAMPLE_TYPE, offset, "attr.sample_type",
			       "event %zu has unknown bits 0x%" PRIx64, file->event_count, attr->sample_type & ~known);
	if (attr->rest.size)
		pd_file_report(file, PD_PROBLEM_NEWER_ATTR, offset, "attr.size",
			       "event %zu has an attr of %u bytes, %zu more than supported", file->event_count,
			       attr->size, attr->rest.size);
}

enum pd_status pd_file_add_event(struct pd_file *file, const struct pd_attr *attr, uint64_t attr_offset,
				 struct pd_u64s ids, struct pd_error *error)
{
	struct pd_event_full *full = pd_arena_alloc(&file->arena, sizeof(*full));
	char name[512];
	size_t index = file->event_count;

	if (!full || index >= UINT32_MAX - 1 || !PD_GROW(file->events, file->event_capacity, index + 1))
		return pd_fail_memory(error);
	report_unknown_bits(file, attr, attr_offset);
	full->event.index = index;
	full->event.attr = attr;
	full->event.attr_offset = attr_offset;
	full->event.scale = 1;
	full->event.ids.count = ids.count;
	full->event.ids.items = pd_arena_copy(&file->arena, ids.items, ids.count * sizeof(ids.items[0]));
	pd_event_name(attr, NULL, name, sizeof(name));
	full->event.name = pd_arena_text(&file->arena, name, strlen(name));
	if (!full->event.ids.items || !full->event.name)
		return pd_fail_memory(error);
	find_places(full);
	pd_attr_words(full->event.attr, full->words);
	find_brief_places(full);
	if (!add_unnamed(file, full))
		return pd_fail_memory(error);
	file->events[index] = full;
	file->event_count++;
	note_uniform(file, full);
	for (size_t i = 0; i < ids.count; i++) {
		enum pd_status status = pd_file_add_id(file, index, ids.items[i], error);

		if (status < 0)
			return status;
	}
	return PD_OK;
}

// ---- names ----

// EVENT_DESC belongs to the events by position; a foreign one is recognized by its ids.
static bool name_by_event_desc(struct pd_file *file)
{
	const struct pd_event_desc *desc = pd_file_event_desc(file);

	for (size_t i = 0; desc && i < desc->events.count && i < file->event_count; i++) {
		const struct pd_event_desc_entry *entry = PD_ITEM(pd_event_desc_entry, desc->events, i);

		if (!file->events[i]->named && entry->name.length &&
		    !pd_file_set_name(file, file->events[i], entry->name.data, entry->name.length))
			return false;
	}
	return true;
}

static bool has_unnamed(const struct pd_file *file, bool tracepoints_only)
{
	for (size_t i = 0; i < file->event_count; i++)
		if (!file->events[i]->named &&
		    (!tracepoints_only || file->events[i]->event.attr->type == PD_TYPE_TRACEPOINT))
			return true;
	return false;
}

static bool name_by_tracing_data(struct pd_file *file)
{
	const struct pd_tracing_data *data = has_unnamed(file, true) ? pd_file_tracing_data(file) : NULL;
	struct pd_tracepoints walk = { .data = data };
	char tracepoint[256], name[512];
	uint64_t id;

	while (data && pd_tracepoints_next(&walk, &id, tracepoint, sizeof(tracepoint))) {
		struct pd_event_full *full;

		while ((full = pd_file_take_unnamed(file, PD_TYPE_TRACEPOINT, id)) != NULL) {
			pd_event_name(full->event.attr, tracepoint, name, sizeof(name));
			if (!pd_file_set_name(file, full, name, strlen(name)))
				return false;
		}
	}
	return true;
}

// A line "name,type,config" of simpleperf's event_type_info.
static bool name_by_line(struct pd_file *file, const char *line, size_t length)
{
	char numbers[64];
	const char *comma = memchr(line, ',', length);
	unsigned long long type, config;
	struct pd_event_full *full;

	if (!comma || length - (size_t)(comma - line) > sizeof(numbers) - 1)
		return true;
	memcpy(numbers, comma + 1, length - (size_t)(comma - line) - 1);
	numbers[length - (size_t)(comma - line) - 1] = '\0';
	if (sscanf(numbers, "%llu,%llu", &type, &config) != 2)
		return true;
	// what every reader knows has perf's name, modifiers included
	if (type != PD_TYPE_TRACEPOINT && type != PD_TYPE_RAW && type <= PD_TYPE_BREAKPOINT)
		return true;
	while ((full = pd_file_take_unnamed(file, type, config)) != NULL)
		if (!pd_file_set_name(file, full, line, (size_t)(comma - line)))
			return false;
	return true;
}

static bool name_by_meta_info(struct pd_file *file)
{
	const struct pd_simpleperf_meta_info *info = has_unnamed(file, false) ? pd_file_simpleperf_meta_info(file) :
										NULL;

	for (size_t i = 0; info && i < info->pairs.count; i++) {
		const struct pd_simpleperf_pair *pair = PD_ITEM(pd_simpleperf_pair, info->pairs, i);
		const char *line = pair->value.data;

		if (strcmp(pair->key.data, "event_type_info") != 0)
			continue;
		while (*line) {
			size_t length = strcspn(line, "\n");

			if (!name_by_line(file, line, length))
				return false;
			line += length + (line[length] == '\n');
		}
	}
	return true;
}

enum pd_status pd_file_name_events(struct pd_file *file, struct pd_error *error)
{
	if (!name_by_event_desc(file) || !name_by_tracing_data(file) || !name_by_meta_info(file))
		return pd_fail_memory(error);
	return PD_OK;
}

// ---- what the caller sees ----

size_t pd_file_event_count(const struct pd_file *file)
{
	return file->event_count;
}

const struct pd_event *pd_file_event(const struct pd_file *file, size_t index)
{
	return index < file->event_count ? &file->events[index]->event : NULL;
}

const struct pd_event *pd_file_event_by_id(const struct pd_file *file, uint64_t id)
{
	const struct pd_event_full *full = pd_file_find_event(file, id);

	return full ? &full->event : NULL;
}

struct pd_event_full *pd_file_full_event(const struct pd_file *file, size_t index)
{
	return file->events[index];
}

struct pd_event_full *pd_file_first_event(const struct pd_file *file)
{
	return file->event_count ? file->events[0] : NULL;
}

bool pd_file_is_uniform(const struct pd_file *file)
{
	return file->uniform;
}

bool pd_file_has_ids(const struct pd_file *file)
{
	return file->ids.count != 0;
}

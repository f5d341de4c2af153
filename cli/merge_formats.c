/* SPDX-License-Identifier: MIT */
/*
 * Formats of tracepoints of several recordings as one list. A kernel numbers its tracepoints anew in each boot, so the
 * same tracepoint may have several numbers, and one number may be several tracepoints. What has the same text gets the
 * number that was met first; another number is given to what would be taken for something else.
 */
#include "merge.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	MOST_ID = UINT16_MAX /* raw data have 16 bits for it */
};

/* A format: its text in three parts, the number of the middle one. */
struct format {
	struct pd_str system;
	const char *front, *behind; /* of the number */
	size_t front_size, behind_size;
	uint64_t id;
	char *text; /* with the number that it has in the output */
	size_t text_size;
};

struct formats {
	struct format *items;
	size_t count, room;
	uint32_t *slots; /* 1 + index, by hash; 0 is empty */
	size_t slot_count;
	uint8_t used[MOST_ID + 1];
	size_t source; /* the rest of TRACING_DATA is that of this one */
	bool same; /* all recordings have the same */
};

static int no_memory(void)
{
	complain("out of memory");
	return CODE_UNREADABLE;
}

/* ---- one format ---- */

/* Finds the line ID. False if there is none. */
static bool cut_text(struct format *format, struct pd_bytes text)
{
	static const char line[] = "\nID: ";
	const char *data = (const char *)text.data, *end = data + text.size;
	const char *at = text.size ? memmem(data, text.size, line, sizeof(line) - 1) : NULL;

	if (!at)
		return false;
	at += sizeof(line) - 1;
	format->front = data;
	format->front_size = (size_t)(at - data);
	format->id = 0;
	while (at < end && *at >= '0' && *at <= '9' && format->id <= MOST_ID)
		format->id = format->id * 10 + (uint64_t)(*at++ - '0');
	format->behind = at;
	format->behind_size = (size_t)(end - at);
	return format->id && format->id <= MOST_ID;
}

static bool is_same(const struct format *a, const struct format *b)
{
	return a->system.length == b->system.length && a->front_size == b->front_size && a->behind_size == b->behind_size &&
	       !memcmp(a->system.data, b->system.data, a->system.length) && !memcmp(a->front, b->front, a->front_size) &&
	       !memcmp(a->behind, b->behind, a->behind_size);
}

static uint64_t hash_bytes(uint64_t hash, const char *data, size_t size)
{
	for (size_t i = 0; i < size; i++)
		hash = (hash ^ (uint8_t)data[i]) * UINT64_C(0x100000001b3);
	return hash;
}

static uint64_t hash_format(const struct format *format)
{
	uint64_t hash = hash_bytes(UINT64_C(0xcbf29ce484222325), format->system.data, format->system.length);

	hash = hash_bytes(hash, format->front, format->front_size);
	return hash_bytes(hash, format->behind, format->behind_size);
}

/* ---- the list ---- */

static uint32_t *find_slot(const struct formats *formats, const struct format *format)
{
	size_t at = (size_t)hash_format(format) & (formats->slot_count - 1);

	while (formats->slots[at] && !is_same(&formats->items[formats->slots[at] - 1], format))
		at = (at + 1) & (formats->slot_count - 1);
	return &formats->slots[at];
}

static bool grow_slots(struct formats *formats)
{
	uint32_t *old = formats->slots;

	if (formats->slot_count > 2 * formats->count)
		return true;
	formats->slot_count = formats->slot_count ? formats->slot_count * 2 : 1024;
	formats->slots = calloc(formats->slot_count, sizeof(*formats->slots));
	free(old);
	if (!formats->slots)
		return false;
	for (size_t i = 0; i < formats->count; i++)
		*find_slot(formats, &formats->items[i]) = (uint32_t)i + 1;
	return true;
}

/* A number that nothing has, or 0. */
static uint64_t free_id(const struct formats *formats)
{
	for (uint64_t id = MOST_ID; id; id--)
		if (!formats->used[id])
			return id;
	return 0;
}

static bool write_text(struct format *format)
{
	char number[24];
	int length = snprintf(number, sizeof(number), "%" PRIu64, format->id);

	format->text_size = format->front_size + (size_t)length + format->behind_size;
	format->text = malloc(format->text_size + 1);
	if (!format->text)
		return false;
	memcpy(format->text, format->front, format->front_size);
	memcpy(format->text + format->front_size, number, (size_t)length);
	if (format->behind_size)
		memcpy(format->text + format->front_size + length, format->behind, format->behind_size);
	return true;
}

static int add_change(struct source *source, uint64_t from, uint64_t to)
{
	struct changes *changes = &source->tracepoints;

	if (from == to)
		return CODE_FINE;
	if (!room_for(&changes->items, &changes->room, changes->count + 1, sizeof(*changes->items)))
		return no_memory();
	changes->items[changes->count++] = (struct pd_number_change){ from, to };
	return CODE_FINE;
}

static int add_format(struct formats *formats, struct source *source, struct pd_str system, struct pd_bytes text)
{
	struct format format = { .system = system };
	uint64_t own;
	uint32_t *slot;

	if (!cut_text(&format, text)) {
		complain("%s: a tracepoint format without ID is dropped", source->name);
		return CODE_FINE;
	}
	if (!grow_slots(formats) || !room_for(&formats->items, &formats->room, formats->count + 1, sizeof(format)))
		return no_memory();
	own = format.id;
	slot = find_slot(formats, &format);
	if (*slot)
		return add_change(source, own, formats->items[*slot - 1].id);
	if (formats->used[own])
		format.id = free_id(formats);
	if (!format.id) {
		complain("%s: more than %d tracepoints", source->name, MOST_ID);
		return CODE_USAGE;
	}
	if (!write_text(&format))
		return no_memory();
	formats->used[format.id] = 1;
	formats->items[formats->count++] = format;
	*slot = (uint32_t)formats->count;
	return add_change(source, own, format.id);
}

static int add_all(struct formats *formats, struct source *source, const struct pd_tracing_data *data)
{
	int code = CODE_FINE;

	for (size_t i = 0; i < data->systems.count && code == CODE_FINE; i++) {
		const struct pd_tracing_system *system = PD_ITEM(pd_tracing_system, data->systems, i);

		for (size_t j = 0; j < system->formats.count && code == CODE_FINE; j++)
			code = add_format(formats, source, system->name,
					  PD_ITEM(pd_sized_text, system->formats, j)->data);
	}
	return code;
}

static int compare_changes(const void *a, const void *b)
{
	const struct pd_number_change *left = a, *right = b;

	return left->from < right->from ? -1 : left->from > right->from;
}

/* ---- all recordings ---- */

static struct pd_bytes data_of(const struct source *source)
{
	struct pd_bytes bytes = { 0 };

	pd_file_feature_bytes(source->input.file, PD_FEATURE_TRACING_DATA, &bytes, NULL);
	return bytes;
}

static const struct pd_tracing_data *decoded_of(const struct source *source)
{
	return data_of(source).size ? pd_file_tracing_data(source->input.file) : NULL;
}

static bool all_same(const struct merge *merge, size_t first)
{
	struct pd_bytes bytes = data_of(&merge->sources[first]);

	for (size_t i = first + 1; i < merge->source_count; i++) {
		struct pd_bytes other = data_of(&merge->sources[i]);

		if (other.size && (other.size != bytes.size || memcmp(other.data, bytes.data, bytes.size) != 0))
			return false;
	}
	return true;
}

int merge_formats(struct merge *merge)
{
	const struct pd_tracing_data *first = NULL;
	struct formats *formats;
	int code = CODE_FINE;
	size_t at = 0;

	while (at < merge->source_count && !data_of(&merge->sources[at]).size)
		at++;
	if (at == merge->source_count)
		return CODE_FINE;
	formats = merge->formats = calloc(1, sizeof(*formats));
	if (!formats)
		return no_memory();
	formats->source = at;
	formats->same = all_same(merge, at);
	for (size_t i = at; i < merge->source_count && code == CODE_FINE && !formats->same; i++) {
		struct source *source = &merge->sources[i];
		const struct pd_tracing_data *data = decoded_of(source);

		if (!data)
			continue;
		if (first && (first->big_endian != data->big_endian || first->long_size != data->long_size)) {
			complain("%s: tracepoints of a machine with different endianness or size of long than %s "
				 "cannot be in one file", source->name, merge->sources[at].name);
			return CODE_USAGE;
		}
		first = first ? first : data;
		code = add_all(formats, source, data);
		if (source->tracepoints.count)
			qsort(source->tracepoints.items, source->tracepoints.count, sizeof(*source->tracepoints.items),
			      compare_changes);
	}
	return code;
}

void formats_free(struct formats *formats)
{
	if (!formats)
		return;
	for (size_t i = 0; i < formats->count; i++)
		free(formats->items[i].text);
	free(formats->items);
	free(formats->slots);
	free(formats);
}

uint64_t formats_config(const struct source *source, uint64_t config)
{
	for (size_t i = 0; i < source->tracepoints.count; i++)
		if (source->tracepoints.items[i].from == config)
			return source->tracepoints.items[i].to;
	return config;
}

/* ---- writing ---- */

static int compare_systems(const void *a, const void *b)
{
	const struct format *left = a, *right = b;
	int order = strcmp(left->system.data, right->system.data);

	return order ? order : left->id < right->id ? -1 : left->id > right->id;
}

/* Formats of a system stand together. Returns the number of systems. */
static size_t list_systems(const struct formats *formats, struct pd_tracing_system *systems,
			   struct pd_sized_text *texts)
{
	size_t count = 0;

	for (size_t i = 0; i < formats->count; i++) {
		const struct format *format = &formats->items[i];
		struct pd_tracing_system *system = count ? &systems[count - 1] : NULL;

		texts[i].data = (struct pd_bytes){ (const uint8_t *)format->text, format->text_size };
		if (!system || strcmp(system->name.data, format->system.data) != 0) {
			system = &systems[count++];
			*system = (struct pd_tracing_system){
				.name = format->system,
				.formats = { .items = &texts[i], .stride = sizeof(texts[i]) },
			};
		}
		system->formats.count++;
	}
	return count;
}

static enum pd_status write_joined(const struct merge *merge, struct formats *formats, struct pd_writer *writer,
				   struct pd_error *error)
{
	struct pd_tracing_data data = *decoded_of(&merge->sources[formats->source]);
	struct pd_tracing_system *systems = calloc(formats->count + 1, sizeof(*systems));
	struct pd_sized_text *texts = calloc(formats->count + 1, sizeof(*texts));
	enum pd_status status;

	if (systems && texts) {
		qsort(formats->items, formats->count, sizeof(*formats->items), compare_systems);
		data.systems = (struct pd_list){ .items = systems, .stride = sizeof(*systems) };
		data.systems.count = list_systems(formats, systems, texts);
		data.rest = (struct pd_bytes){ 0 };
		status = pd_writer_set_feature(writer, PD_FEATURE_TRACING_DATA, &data, error);
	} else {
		status = out_of_memory(error);
	}
	free(systems);
	free(texts);
	return status;
}

enum pd_status formats_write(const struct merge *merge, struct pd_writer *writer, struct pd_error *error)
{
	struct formats *formats = merge->formats;

	if (!formats)
		return PD_OK;
	if (formats->same || !decoded_of(&merge->sources[formats->source]))
		return pd_writer_join_feature(writer, merge->sources[formats->source].input.file,
					      PD_FEATURE_TRACING_DATA, error);
	return write_joined(merge, formats, writer, error);
}

/* SPDX-License-Identifier: MIT */
/*
 * Formats of tracepoints of several recordings as one list. A kernel numbers its tracepoints anew in each boot, so the
 * same tracepoint may have several numbers, and one number may be several tracepoints. What has the same text gets the
 * number that was met first; another number is given to what would be taken for something else.
 */
#include "edit/merge/merge.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/lookup/hash.h"

enum {
	ID_MAX = UINT16_MAX // raw data have 16 bits for it
};

// A format: its text in three parts, the number of the middle one.
struct format {
	struct pd_str system;
	const char *front, *after; // of the number
	size_t front_size, after_size;
	uint64_t id;
	char *text; // with the number that it has in the output
	size_t text_size;
};

struct pd_merge_formats {
	struct format *items;
	size_t count, capacity;
	struct pd_index index; // of items
	uint64_t seed;
	uint8_t used[ID_MAX + 1];
	size_t source; // the rest of TRACING_DATA is that of this one
	bool same;     // all recordings have the same
};

// ---- one format ----

// Finds the line ID. False if there is none.
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
	while (at < end && *at >= '0' && *at <= '9' && format->id <= ID_MAX)
		format->id = format->id * 10 + (uint64_t)(*at++ - '0');
	format->after = at;
	format->after_size = (size_t)(end - at);
	return format->id && format->id <= ID_MAX;
}

static bool is_same(const struct format *a, const struct format *b)
{
	return a->system.length == b->system.length && a->front_size == b->front_size &&
	       a->after_size == b->after_size && !memcmp(a->system.data, b->system.data, a->system.length) &&
	       !memcmp(a->front, b->front, a->front_size) && !memcmp(a->after, b->after, a->after_size);
}

static uint64_t hash_format(const struct pd_merge_formats *formats, const struct format *format)
{
	uint64_t hash = pd_hash(formats->seed, format->system.data, format->system.length);

	hash = pd_hash(hash, format->front, format->front_size);
	return pd_hash(hash, format->after, format->after_size);
}

// ---- the list ----

static const struct format *find_format(const struct pd_merge_formats *formats, const struct format *format,
					uint64_t hash)
{
	size_t at = (size_t)hash;
	uint32_t number;

	while ((number = pd_index_next(&formats->index, hash, &at)) != PD_INDEX_END)
		if (is_same(&formats->items[number], format))
			return &formats->items[number];
	return NULL;
}

// A number that nothing has, or 0.
static uint64_t free_id(const struct pd_merge_formats *formats)
{
	for (uint64_t id = ID_MAX; id; id--)
		if (!formats->used[id])
			return id;
	return 0;
}

static bool write_text(struct format *format)
{
	char number[24];
	int length = snprintf(number, sizeof(number), "%" PRIu64, format->id);

	format->text_size = format->front_size + (size_t)length + format->after_size;
	format->text = pd_alloc(format->text_size + 1);
	if (!format->text)
		return false;
	memcpy(format->text, format->front, format->front_size);
	memcpy(format->text + format->front_size, number, (size_t)length);
	if (format->after_size)
		memcpy(format->text + format->front_size + length, format->after, format->after_size);
	return true;
}

static enum pd_status add_change(struct pd_merge_source *source, uint64_t from, uint64_t to, struct pd_error *error)
{
	struct pd_number_changes *changes = &source->tracepoints;

	if (from == to)
		return PD_OK;
	if (!PD_GROW(changes->items, changes->capacity, changes->count + 1))
		return pd_fail_memory(error);
	changes->items[changes->count++] = (struct pd_number_change){ from, to };
	return PD_OK;
}

static enum pd_status add_format(struct pd_merge_formats *formats, struct pd_merge_source *source, struct pd_str system,
				 struct pd_bytes text, struct pd_error *error)
{
	struct format format = { .system = system };
	const struct format *same;
	uint64_t own, hash;

	if (!cut_text(&format, text)) {
		pd_merge_warn(source->merge, "%s: a tracepoint format without ID is dropped", source->name);
		return PD_OK;
	}
	own = format.id;
	hash = hash_format(formats, &format);
	same = find_format(formats, &format, hash);
	if (same)
		return add_change(source, own, same->id, error);
	if (formats->used[own])
		format.id = free_id(formats);
	if (!format.id)
		return pd_merge_fail(source->merge, error, PD_ERROR_ARGUMENT, "%s: more than %d tracepoints",
				     source->name, ID_MAX);
	if (!PD_GROW(formats->items, formats->capacity, formats->count + 1) ||
	    !pd_index_add(&formats->index, hash, (uint32_t)formats->count) || !write_text(&format))
		return pd_fail_memory(error);
	formats->used[format.id] = 1;
	formats->items[formats->count++] = format;
	return add_change(source, own, format.id, error);
}

static enum pd_status add_all(struct pd_merge_formats *formats, struct pd_merge_source *source,
			      const struct pd_tracing_data *data, struct pd_error *error)
{
	enum pd_status status = PD_OK;

	for (size_t i = 0; i < data->systems.count && status >= 0; i++) {
		const struct pd_tracing_system *system = PD_ITEM(pd_tracing_system, data->systems, i);

		for (size_t j = 0; j < system->formats.count && status >= 0; j++)
			status = add_format(formats, source, system->name,
					    PD_ITEM(pd_sized_text, system->formats, j)->data, error);
	}
	return status;
}

static int compare_changes(const void *a, const void *b)
{
	const struct pd_number_change *left = a, *right = b;

	return left->from < right->from ? -1 : left->from > right->from;
}

// ---- all recordings ----

static struct pd_bytes data_of(const struct pd_merge_source *source)
{
	struct pd_bytes bytes;

	pd_merge_feature_bytes(source, PD_FEATURE_TRACING_DATA, &bytes);
	return bytes;
}

static const struct pd_tracing_data *decoded_of(const struct pd_merge_source *source)
{
	return data_of(source).size ? pd_file_tracing_data(source->file) : NULL;
}

static bool all_same(const struct pd_merge *merge, size_t first)
{
	struct pd_bytes bytes = data_of(merge->sources[first]);

	for (size_t i = first + 1; i < merge->source_count; i++) {
		struct pd_bytes other = data_of(merge->sources[i]);

		if (other.size && (other.size != bytes.size || memcmp(other.data, bytes.data, bytes.size) != 0))
			return false;
	}
	return true;
}

static enum pd_status join_formats(struct pd_merge *merge, struct pd_merge_formats *formats, struct pd_error *error)
{
	const struct pd_tracing_data *first = NULL;
	enum pd_status status = PD_OK;

	for (size_t i = formats->source; i < merge->source_count && status >= 0; i++) {
		struct pd_merge_source *source = merge->sources[i];
		const struct pd_tracing_data *data = decoded_of(source);

		if (!data)
			continue;
		if (first && (first->big_endian != data->big_endian || first->long_size != data->long_size))
			return pd_merge_fail(
				merge, error, PD_ERROR_ARGUMENT,
				"%s: tracepoints of a machine with different endianness or size of long than %s "
				"cannot be in one file",
				source->name, merge->sources[formats->source]->name);
		first = first ? first : data;
		status = add_all(formats, source, data, error);
		if (source->tracepoints.count)
			qsort(source->tracepoints.items, source->tracepoints.count, sizeof(*source->tracepoints.items),
			      compare_changes);
	}
	return status;
}

enum pd_status pd_merge_plan_formats(struct pd_merge *merge, struct pd_error *error)
{
	struct pd_merge_formats *formats;
	size_t at = 0;

	while (at < merge->source_count && !data_of(merge->sources[at]).size)
		at++;
	if (at == merge->source_count)
		return PD_OK;
	formats = merge->formats = pd_alloc(sizeof(*formats));
	if (!formats)
		return pd_fail_memory(error);
	formats->seed = merge->secret[0];
	formats->source = at;
	formats->same = all_same(merge, at);
	return formats->same ? PD_OK : join_formats(merge, formats, error);
}

void pd_merge_formats_free(struct pd_merge_formats *formats)
{
	if (!formats)
		return;
	for (size_t i = 0; i < formats->count; i++)
		pd_free(formats->items[i].text);
	pd_free(formats->items);
	pd_index_fini(&formats->index);
	pd_free(formats);
}

uint64_t pd_merge_formats_config(const struct pd_merge_source *source, uint64_t config)
{
	for (size_t i = 0; i < source->tracepoints.count; i++)
		if (source->tracepoints.items[i].from == config)
			return source->tracepoints.items[i].to;
	return config;
}

// ---- writing ----

static int compare_systems(const void *a, const void *b)
{
	const struct format *left = a, *right = b;
	int order = strcmp(left->system.data, right->system.data);

	return order ? order : left->id < right->id ? -1 : left->id > right->id;
}

// Formats of a system stand together. Returns the number of systems.
static size_t list_systems(const struct pd_merge_formats *formats, struct pd_tracing_system *systems,
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

static enum pd_status write_joined(const struct pd_merge *merge, struct pd_merge_formats *formats,
				   struct pd_writer *writer, struct pd_error *error)
{
	struct pd_tracing_data data = *decoded_of(merge->sources[formats->source]);
	struct pd_tracing_system *systems = pd_alloc((formats->count + 1) * sizeof(*systems));
	struct pd_sized_text *texts = pd_alloc((formats->count + 1) * sizeof(*texts));
	enum pd_status status;

	if (systems && texts) {
		qsort(formats->items, formats->count, sizeof(*formats->items), compare_systems);
		data.systems = (struct pd_list){ .items = systems, .stride = sizeof(*systems) };
		data.systems.count = list_systems(formats, systems, texts);
		data.rest = (struct pd_bytes){ 0 };
		status = pd_writer_set_feature(writer, PD_FEATURE_TRACING_DATA, &data, error);
	} else {
		status = pd_fail_memory(error);
	}
	pd_free(systems);
	pd_free(texts);
	return status;
}

enum pd_status pd_merge_formats_write(const struct pd_merge *merge, struct pd_writer *writer, struct pd_error *error)
{
	struct pd_merge_formats *formats = merge->formats;

	if (!formats)
		return PD_OK;
	if (formats->same || !decoded_of(merge->sources[formats->source]))
		return pd_writer_join_feature(writer, merge->sources[formats->source]->file, PD_FEATURE_TRACING_DATA,
					      error);
	return write_joined(merge, formats, writer, error);
}

/* SPDX-License-Identifier: MIT */
/*
 * The objects of a file with their build ids, as perf buildid-list lists them. The header has a list of them. Where it has none,
 * as in pipes, what is mapped where a sample was taken makes the list, in the order in which it was mapped first.
 */
#include <string.h>

#include <perfdata/objects.h>
#include <perfdata/stream.h>
#include <perfdata/symbol.h>
#include <perfdata/state.h>

#include "base/error.h"
#include "base/lookup/hash.h"
#include "base/memory.h"
#include "file/file.h"
#include "object/cache/cache.h"
#include "state/locate.h"

enum {
	ID_BYTES = PD_BUILD_ID_SIZE,
	HOST = 0,
	RECORDS_PER_STEP = 16384
};

struct pd_objects {
	struct pd_file *file;
	struct pd_objects_options options;
	struct pd_arena names;
	struct pd_state *state;
	struct pd_symbols *symbols;
	struct pd_listed_object *lines;
	size_t count, capacity;
	struct pd_index index; /* of lines, by name and by name and build id */
	uint64_t seed;
	bool only_hits;
	size_t *shown; // indexes of the lines in the order in which they are listed
	size_t shown_count;
	struct pd_error error;
	enum pd_status status;
};

static bool no_memory(struct pd_objects *list)
{
	list->status = pd_fail_memory(&list->error);
	return false;
}

// ---- the list of the header ----

/* Of a name, or of a name and a build id. */
static uint64_t hash_of(const struct pd_objects *list, const char *name, uint32_t machine, const struct pd_build_id *id)
{
	uint64_t hash = pd_hash(list->seed ^ machine, name, strlen(name));

	return id->size ? pd_hash(~hash, id->bytes, ID_BYTES) : hash;
}

static bool is_line(const struct pd_listed_object *line, const char *name, uint32_t machine,
		    const struct pd_build_id *id)
{
	return line->machine == machine && !strcmp(line->name, name) &&
	       (!id->size || (line->id.size && !memcmp(line->id.bytes, id->bytes, ID_BYTES)));
}

/* The first line of a name, or of a name and a build id; PD_INDEX_END if there is none. */
static uint32_t first_line(const struct pd_objects *list, const char *name, uint32_t machine,
			   const struct pd_build_id *id)
{
	uint64_t hash = hash_of(list, name, machine, id);
	uint32_t first = PD_INDEX_END;
	size_t at = (uint32_t)hash;

	for (uint32_t i; (i = pd_index_next(&list->index, hash, &at)) != PD_INDEX_END;)
		if (i < first && is_line(&list->lines[i], name, machine, id))
			first = i;
	return first;
}

/* Adds a line to the index, unless one before it is found. */
static bool put_line(struct pd_objects *list, size_t index, const struct pd_build_id *id)
{
	const struct pd_listed_object *line = &list->lines[index];

	return first_line(list, line->name, line->machine, id) <= index ||
	       pd_index_add(&list->index, hash_of(list, line->name, line->machine, id), (uint32_t)index) ||
	       no_memory(list);
}

/* Lines have changed places. */
static bool put_lines(struct pd_objects *list)
{
	const struct pd_build_id none = { 0 };

	pd_index_fini(&list->index);
	for (size_t i = 0; i < list->count; i++)
		if (!put_line(list, i, &none) || (list->lines[i].id.size && !put_line(list, i, &list->lines[i].id)))
			return false;
	return true;
}

static bool set_id(struct pd_objects *list, struct pd_listed_object *line, const struct pd_build_id *id)
{
	line->id = *id;
	return !id->size || put_line(list, (size_t)(line - list->lines), id);
}

/* The first line of a name that has this build id or none yet, as perf has it; NULL if there is none. Only the first line of a
 * name has none. */
static struct pd_listed_object *find_line(struct pd_objects *list, const char *name, uint32_t machine,
					  const struct pd_build_id *id)
{
	const struct pd_build_id none = { 0 };
	uint32_t found = first_line(list, name, machine, &none);

	if (found != PD_INDEX_END && id->size && list->lines[found].id.size)
		found = first_line(list, name, machine, id);
	return found != PD_INDEX_END ? &list->lines[found] : NULL;
}

/* The line of a name, a new one if there is none. */
static struct pd_listed_object *line_of(struct pd_objects *list, const char *name, uint32_t machine,
					const struct pd_build_id *id)
{
	const struct pd_build_id none = { 0 };
	struct pd_listed_object *line = find_line(list, name, machine, id);

	if (line)
		return line;
	if (!PD_GROW(list->lines, list->capacity, list->count + 1)) {
		no_memory(list);
		return NULL;
	}
	list->lines[list->count] = (struct pd_listed_object){ .name = pd_arena_text(&list->names, name, strlen(name)),
							      .machine = machine };
	if (!list->lines[list->count].name) {
		no_memory(list);
		return NULL;
	}
	if (!put_line(list, list->count, &none))
		return NULL;
	return &list->lines[list->count++];
}

static uint32_t machine_of(uint32_t pid)
{
	return pid == UINT32_MAX ? HOST : pid ? pid : PD_GUEST_DEFAULT;
}

static bool take_entry(struct pd_objects *list, const struct pd_build_id_entry *entry)
{
	unsigned mode = (unsigned)PD_BITS(entry->misc, PD_MISC_CPUMODE);
	struct pd_build_id none = { 0 };
	struct pd_listed_object *line;

	if (mode == PD_CPUMODE_UNKNOWN || mode == PD_CPUMODE_HYPERVISOR)
		return true;
	line = line_of(list, entry->name, machine_of(entry->pid), &none);
	return line && set_id(list, line, &entry->id);
}

static bool take_header(struct pd_objects *list)
{
	const struct pd_build_ids *ids = pd_file_build_id(list->file);
	struct pd_build_id_walk walk = { .big_endian = pd_file_header(list->file)->big_endian };
	struct pd_build_id_entry entry;

	if (!ids)
		return true;
	walk.records = ids->records;
	while (pd_build_id_next(&walk, &entry)) {
		if (!take_entry(list, &entry))
			return false;
	}
	return true;
}

// ---- what samples are in ----

static bool keep(struct pd_objects *list, enum pd_status status)
{
	if (status < 0)
		list->status = status;
	return status >= 0;
}

static bool take_record(struct pd_objects *list, const struct pd_record *record)
{
	const struct pd_header_build_id *in = pd_as_header_build_id(record);
	struct pd_build_id none = { 0 };

	return !in || line_of(list, in->filename.data, machine_of((uint32_t)in->pid), &none);
}

static bool feed(void *self, struct pd_stream *stream, const struct pd_record *record)
{
	struct pd_objects *list = self;

	if (record->type == PD_RECORD_SAMPLE) {
		pd_stream_pass(stream);
		return true;
	}
	/* They stand in front of the maps that they are for, and so in front in the list. */
	if (record->type == PD_RECORD_HEADER_BUILD_ID && !take_record(list, record))
		return false;
	return keep(list, pd_state_take(list->state, record, &list->error));
}

static struct pd_build_id id_of(const struct pd_object *object)
{
	struct pd_build_id id = { 0 };

	if (object) {
		id.size = object->build_id_size;
		memcpy(id.bytes, object->build_id, object->build_id_size);
	}
	return id;
}

/* perf script calls a module that no list names [name], this list calls it by its path. */
static const char *name_of(const struct pd_dso *dso)
{
	const struct pd_object *object = dso->object;

	return object && object->kind == PD_OBJECT_MODULE && dso->long_name[0] == '[' ? object->path : dso->long_name;
}

static struct pd_listed_object *line_of_dso(struct pd_objects *list, const struct pd_dso *dso)
{
	struct pd_build_id id = id_of(dso->object);
	struct pd_listed_object *line = line_of(list, name_of(dso), dso->object ? dso->object->machine : HOST, &id);

	if (line && !line->id.size && !set_id(list, line, &id))
		return NULL;
	return line;
}

static bool take_mappings(struct pd_objects *list, bool timed)
{
	struct pd_mapping mapping;

	for (size_t i = 0; pd_state_get_mapping(list->state, i, &mapping); i++) {
		struct pd_location location = { .mapping = &mapping, .object = mapping.object };
		struct pd_place place;

		if (!mapping.object || (mapping.from.time_ns != 0) != timed)
			continue;
		place = pd_symbols_at(list->symbols, &location, mapping.from, mapping.start);
		if (place.dso && !line_of_dso(list, place.dso))
			return false;
	}
	return true;
}

/* Objects come in the order in which perf meets them: maps without a time at once, then the build ids that the records
 * of a pipe tell, then the other maps, which wait for their turn. */
static bool take_objects(struct pd_objects *list)
{
	size_t listed_count = pd_file_header(list->file)->mode == PD_MODE_PIPE ? list->count : 0;
	struct pd_listed_object *lines = pd_alloc((listed_count + 1) * sizeof(*lines));

	if (!lines || !take_mappings(list, false)) {
		pd_free(lines);
		return lines ? false : no_memory(list);
	}
	if (listed_count) {
		memcpy(lines, list->lines, listed_count * sizeof(*lines));
		memmove(list->lines, list->lines + listed_count, (list->count - listed_count) * sizeof(*lines));
		memcpy(list->lines + list->count - listed_count, lines, listed_count * sizeof(*lines));
	}
	pd_free(lines);
	return put_lines(list) && take_mappings(list, true);
}

static bool mark(void *self, struct pd_stream *stream, const struct pd_record *record)
{
	struct pd_objects *list = self;
	struct pd_brief brief;
	struct pd_place place;
	struct pd_listed_object *line;

	(void)stream;
	if (!pd_record_brief(record, &brief))
		return true;
	place = pd_symbols_place(list->symbols, brief.pid, brief.cpumode, pd_record_moment(record), brief.ip);
	line = place.dso ? line_of_dso(list, place.dso) : NULL;
	if (line)
		line->hit = true;
	return line || !place.dso;
}

static enum pd_status read_records(struct pd_objects *list,
				   bool (*each)(void *self, struct pd_stream *stream, const struct pd_record *record))
{
	const struct pd_stream_options options = { .size = sizeof(options), .order = PD_ORDER_TIME };
	const struct pd_record *record;
	struct pd_stream *stream = NULL;
	enum pd_status status = pd_stream_open(list->file, &options, &stream, &list->error);
	uint64_t count = 0;

	while (status == PD_OK) {
		status = pd_stream_next(stream, &record, &list->error);
		if (status != PD_OK || !each(list, stream, record))
			break;
		if (list->options.progress && ++count % RECORDS_PER_STEP == 0)
			list->options.progress(list->options.self, stream);
	}
	pd_stream_close(stream);
	return status < 0 ? status : list->status;
}

static enum pd_status find_hits(struct pd_objects *list)
{
	const struct pd_symbols_options options = { .size = sizeof(options), .flags = PD_SYMBOLS_NO_FILES };
	enum pd_status status;

	if (!keep(list, pd_state_new(NULL, &list->state, &list->error)) ||
	    !keep(list, pd_state_take_features(list->state, list->file, &list->error)))
		return list->status;
	status = read_records(list, feed);
	if (status < 0)
		return status;
	if (!keep(list, pd_state_finalize(list->state, &list->error)) ||
	    !keep(list, pd_symbols_new(list->file, list->state, &options, &list->symbols, &list->error)) ||
	    !take_objects(list))
		return list->status;
	if (list->options.again)
		list->options.again(list->options.self);
	return read_records(list, mark);
}

// ---- all of it ----

// The host first, as perf has it.
static void sort(struct pd_objects *list)
{
	size_t count = 0;

	for (int guests = 0; guests < 2; guests++) {
		for (size_t i = 0; i < list->count; i++) {
			const struct pd_listed_object *line = &list->lines[i];

			if ((line->machine != HOST) == guests && (!list->only_hits || line->hit))
				list->shown[count++] = i;
		}
	}
	list->shown_count = count;
}

static enum pd_status read_file(struct pd_objects *list)
{
	bool pipe = pd_file_header(list->file)->mode == PD_MODE_PIPE;
	enum pd_status status = PD_OK;

	// as perf: what AUX data would hit takes too long to find out
	list->only_hits = !pd_file_has_feature(list->file, PD_FEATURE_BUILD_ID) ||
			  (list->options.only_hits && (pipe || !pd_file_has_feature(list->file, PD_FEATURE_AUXTRACE)));
	if (!pipe && !take_header(list))
		return list->status;
	if (list->only_hits || pipe)
		status = find_hits(list);
	if (status < 0)
		return status;
	list->shown = pd_alloc((list->count + 1) * sizeof(*list->shown));
	if (!list->shown)
		return pd_fail_memory(&list->error);
	sort(list);
	return PD_OK;
}

enum pd_status pd_objects_read(struct pd_file *file, const struct pd_objects_options *options,
			       struct pd_objects **objects_out, struct pd_error *error)
{
	struct pd_objects *list = pd_alloc(sizeof(*list));
	size_t size = options->size < sizeof(*options) ? options->size : sizeof(*options);
	enum pd_status status;

	if (!list)
		return pd_fail_memory(error);
	list->file = file;
	list->seed = pd_file_secret(file);
	memcpy(&list->options, options, size);
	status = read_file(list);
	if (status < 0) {
		if (error)
			*error = list->error;
		pd_objects_free(list);
		return status;
	}
	*objects_out = list;
	return PD_OK;
}

void pd_objects_free(struct pd_objects *list)
{
	if (!list)
		return;
	pd_symbols_free(list->symbols);
	pd_state_free(list->state);
	pd_arena_fini(&list->names);
	pd_free(list->lines);
	pd_index_fini(&list->index);
	pd_free(list->shown);
	pd_free(list);
}

const struct pd_listed_object *pd_objects_at(const struct pd_objects *list, size_t index)
{
	return index < list->shown_count ? &list->lines[list->shown[index]] : NULL;
}

bool pd_objects_are_hits(const struct pd_objects *list)
{
	return list->only_hits;
}

// ---- perf's cache ----

void pd_objects_keep_missing(struct pd_objects *list, const struct pd_build_id_cache *cache)
{
	size_t count = 0;

	for (size_t i = 0; i < list->shown_count; i++) {
		const struct pd_listed_object *line = &list->lines[list->shown[i]];

		if (line->id.size && !pd_build_id_cache_find(cache, &line->id))
			list->shown[count++] = list->shown[i];
	}
	list->shown_count = count;
}

/* False if the file is another one now. */
static bool is_unchanged(const struct pd_listed_object *line)
{
	struct pd_build_id id = pd_elf_build_id(line->name);

	return id.size && !memcmp(id.bytes, line->id.bytes, sizeof(id.bytes));
}

/* How many are in the cache then. status_out: the first failure of the cache itself, which is that of all others, too. */
static size_t add_all(const struct pd_objects *list, struct pd_build_id_cache *cache, enum pd_status *status_out,
		      struct pd_error *error)
{
	size_t count = 0;

	*status_out = PD_OK;
	for (size_t i = 0; i < list->shown_count; i++) {
		const struct pd_listed_object *line = &list->lines[list->shown[i]];
		bool there = line->id.size && pd_cache_has(cache, &line->id);
		bool kernel = !strcmp(line->name, "[kernel.kallsyms]");
		enum pd_status status;

		if (!there && line->id.size && line->machine == HOST && (kernel || is_unchanged(line))) {
			status = pd_build_id_cache_add(cache, line->name, NULL, *status_out == PD_OK ? error : NULL);
			there = status == PD_OK;
			if (status == PD_ERROR_SYSTEM && *status_out == PD_OK)
				*status_out = status;
		}
		count += there;
	}
	return count;
}

size_t pd_objects_add_to_cache(const struct pd_objects *list, struct pd_build_id_cache *cache)
{
	enum pd_status status;

	return add_all(list, cache, &status, NULL);
}

static enum pd_status add_recorded(const char *recording, bool all, struct pd_build_id_cache *cache,
				   struct pd_error *error)
{
	const struct pd_objects_options options = { .size = sizeof(options), .only_hits = !all };
	struct pd_objects *objects;
	struct pd_file *file;
	enum pd_status status = pd_file_open(recording, NULL, &file, error);

	if (status < 0)
		return status;
	status = pd_objects_read(file, &options, &objects, error);
	if (status == PD_OK) {
		add_all(objects, cache, &status, error);
		pd_objects_free(objects);
	}
	pd_file_close(file);
	return status;
}

enum pd_status pd_objects_cache(const char *recording, bool all, const char *directory, struct pd_error *error)
{
	struct pd_build_id_cache *cache;
	enum pd_status status = pd_cache_open_partial(directory, &cache, error);

	if (status != PD_OK)
		return status;
	status = add_recorded(recording, all, cache, error);
	pd_build_id_cache_close(cache);
	return status;
}

/* SPDX-License-Identifier: MIT */
/*
 * Build ids of objects: which objects are wanted, what their ids are, and where ids go: into a list in the header of a
 * file, into records of a pipe, or into the maps.
 *
 * What samples are in is known when the sample comes, because all maps were read before: then a list or a pipe gets the
 * id. Where ids stand in the maps themselves, samples are read before too. All objects are known by their maps.
 */
#include "inject_ids.h"

#include <stdlib.h>
#include <string.h>

enum {
	NAME_MOST = 4096
};

bool ids_need_twice(const struct inject_values *values)
{
	return values->build_ids || values->mmap2;
}

bool ids_in_maps(const struct inject_values *values)
{
	return values->mmap2 || values->mmap2_all;
}

/* ---- ids of objects ---- */

static uint32_t pid_of(uint32_t machine)
{
	return !machine ? UINT32_MAX : machine == PD_GUEST_DEFAULT ? 0 : machine;
}

static uint16_t misc_of(const struct pd_object *object)
{
	bool kernel = object->kind == PD_OBJECT_KERNEL || object->kind == PD_OBJECT_MODULE;

	if (object->machine)
		return kernel ? PD_CPUMODE_GUEST_KERNEL : PD_CPUMODE_GUEST_USER;
	return kernel ? PD_CPUMODE_KERNEL : PD_CPUMODE_USER;
}

static bool can_have_id(const struct pd_object *object)
{
	return object->kind == PD_OBJECT_FILE || object->kind == PD_OBJECT_KERNEL || object->kind == PD_OBJECT_MODULE ||
	       object->kind == PD_OBJECT_VDSO;
}

static void ask(struct ids *ids, const struct pd_object *object, struct answer *answer)
{
	const struct pd_build_id *known = ids_find_known(ids, object->path);
	const struct entry *entry = ids_find_entry(ids, object->path, pid_of(object->machine));
	const char *why;

	answer->asked = true;
	if (known) {
		answer->id = *known;
	} else if (entry && !object->build_id_size) {
		answer->id = entry->id;
	} else if (!pd_symbols_build_id(ids->symbols, object, &answer->id, &why)) {
		ids->missing++;
		inject_tell(ids->inject, false, "%s: no build id: %s", object->path, why);
	}
}

/* What is known of an object; NULL without memory. */
static struct answer *answer_of(struct ids *ids, const struct pd_object *object)
{
	struct answer *more;

	if (object->index >= ids->answer_count) {
		size_t count = 2 * object->index + 64;

		more = realloc(ids->answers, count * sizeof(*more));
		if (!more) {
			inject_no_memory(ids->inject);
			return NULL;
		}
		memset(more + ids->answer_count, 0, (count - ids->answer_count) * sizeof(*more));
		ids->answers = more;
		ids->answer_count = count;
	}
	if (!ids->answers[object->index].asked)
		ask(ids, object, &ids->answers[object->index]);
	return &ids->answers[object->index];
}

/* In a pipe the id comes in front of the map, and records are aligned. */
static bool send_entry(struct ids *ids, const struct entry *entry)
{
	struct inject *inject = ids->inject;
	uint32_t length = (uint32_t)strlen(entry->name);
	size_t size = (ids_entry_size(entry) + 7) & ~(size_t)7;
	const struct pd_header_build_id record = {
		.pid = (int32_t)entry->pid,
		.build_id = { entry->id.bytes, PD_BUILD_ID_SIZE },
		.size = entry->id.size,
		.filename = { entry->name, length, (uint32_t)(size - ENTRY_HEAD) },
	};

	if (ids->in_maps || inject->target.wanted.mode != PD_MODE_PIPE)
		return true;
	return inject_keep(inject, pd_writer_add(inject->target.writer, PD_RECORD_HEADER_BUILD_ID, entry->misc, &record,
						 0, &inject->error));
}

static bool list_id(struct ids *ids, const char *name, uint32_t pid, uint16_t misc, const struct pd_build_id *id)
{
	struct entry *entry = ids_find_entry(ids, name, pid);

	if (strlen(name) > NAME_MOST)
		return true;
	if (entry && entry->id.size == id->size && !memcmp(entry->id.bytes, id->bytes, id->size)) {
		ids->already++;
		return true;
	}
	if (!entry) {
		if (!ids_add_entry(ids, name, pid, misc, id))
			return false;
		entry = &ids->entries[ids->entry_count - 1];
	}
	ids_set(entry, id);
	ids->added++;
	return send_entry(ids, entry);
}

bool ids_list_object(struct ids *ids, const struct pd_object *object)
{
	struct answer *answer = can_have_id(object) ? answer_of(ids, object) : NULL;

	if (!answer)
		return ids->inject->status >= 0;
	if (answer->listed || !answer->id.size)
		return true;
	answer->listed = true;
	return list_id(ids, object->path, pid_of(object->machine), misc_of(object), &answer->id);
}

bool ids_add(struct inject *inject, const char *path, const struct pd_build_id *id)
{
	return list_id(inject->ids, path, UINT32_MAX, PD_CPUMODE_USER, id);
}

/* ---- maps ---- */

static bool same_id(const struct pd_mmap2 *map, uint16_t misc, const struct pd_build_id *id)
{
	return misc & PD_MASK(PD_MISC_MMAP_BUILD_ID) && map->build_id_size == id->size &&
	       map->build_id.size >= id->size && !memcmp(map->build_id.data, id->bytes, id->size);
}

static void put_id(struct pd_mmap2 *map, const struct pd_build_id *id)
{
	map->maj = map->min = 0;
	map->ino = map->ino_generation = 0;
	map->build_id_size = id->size;
	map->build_id = (struct pd_bytes){ id->bytes, PD_BUILD_ID_SIZE };
}

static enum verdict_of_inject change_mmap2(struct ids *ids, struct pd_stream *stream, const struct pd_record *record,
					   const struct pd_build_id *id)
{
	const struct pd_mmap2 *map = pd_as_mmap2(record);
	struct inject *inject = ids->inject;
	struct pd_mmap2 changed;

	if (!map || same_id(map, record->misc, id))
		return INJECT_PASS;
	changed = *map;
	put_id(&changed, id);
	ids->changed++;
	return inject_keep(inject, pd_writer_pass_changed(inject->target.writer, stream, record,
							  record->misc | (uint16_t)PD_MASK(PD_MISC_MMAP_BUILD_ID),
							  &changed, &inject->error)) ?
		       INJECT_PASSED :
		       INJECT_FAILED;
}

/* A record without room for an id becomes one that has it. */
static enum verdict_of_inject change_mmap(struct ids *ids, const struct pd_record *record, const struct pd_build_id *id)
{
	const struct pd_mmap *map = pd_as_mmap(record);
	struct inject *inject = ids->inject;
	bool data = record->misc & PD_MASK(PD_MISC_MMAP_DATA);
	struct pd_mmap2 changed;

	if (!map)
		return INJECT_PASS;
	changed = (struct pd_mmap2){
		.rest = map->rest,
		.pid = map->pid,
		.tid = map->tid,
		.addr = map->addr,
		.len = map->len,
		.pgoff = map->pgoff,
		.prot = (uint32_t)PD_MASK(PD_PROT_READ) | (data ? 0 : (uint32_t)PD_MASK(PD_PROT_EXEC)),
		.flags = (uint32_t)PD_MASK(PD_MAP_PRIVATE),
		.filename = map->filename,
		.sample_id = map->sample_id,
	};
	put_id(&changed, id);
	ids->changed++;
	return inject_keep(inject, pd_writer_add(inject->target.writer, PD_RECORD_MMAP2,
						 record->misc | (uint16_t)PD_MASK(PD_MISC_MMAP_BUILD_ID), &changed,
						 inject_event(record), &inject->error)) ?
		       INJECT_PASSED :
		       INJECT_FAILED;
}

static enum verdict_of_inject take_map(struct ids *ids, struct pd_stream *stream, const struct pd_record *record,
				       const struct pd_object *object)
{
	struct answer *answer;

	if (!ids->in_maps)
		return ids_list_object(ids, object) ? INJECT_PASS : INJECT_FAILED;
	if (!can_have_id(object))
		return INJECT_PASS;
	answer = answer_of(ids, object);
	if (!answer)
		return INJECT_FAILED;
	if (!answer->id.size)
		return INJECT_PASS;
	return record->type == PD_RECORD_MMAP2 ? change_mmap2(ids, stream, record, &answer->id) :
						 change_mmap(ids, record, &answer->id);
}

/* A record whose map is looked at for the first time now. */
static enum verdict_of_inject take_new_map(struct ids *ids, struct pd_stream *stream, const struct pd_record *record)
{
	const struct pd_mapping *mapping;

	if (!inject_keep(ids->inject, pd_world_take(ids->world, record, &ids->inject->error)))
		return INJECT_FAILED;
	mapping = pd_world_mapping(ids->world, ids->mapping_count);
	if (!mapping)
		return INJECT_PASS;
	ids->mapping_count++;
	return take_map(ids, stream, record, mapping->object);
}

static enum verdict_of_inject take_old_map(struct ids *ids, struct pd_stream *stream, const struct pd_record *record)
{
	size_t index = ids_mapping_at(ids, record->place);
	const struct pd_object *object = index == SIZE_MAX ? NULL : pd_world_mapping(ids->world, index)->object;

	if (!object)
		return INJECT_PASS;
	if (ids->all_hit || (ids->in_maps && ids->hit_mappings[index]))
		return take_map(ids, stream, record, object);
	if (ids->in_maps) {
		ids->dropped++;
		return INJECT_DROP;
	}
	/* As in perf the list of a file has the vdso, samples or not: it cannot be looked for later. */
	if (object->kind == PD_OBJECT_VDSO && ids->inject->target.wanted.mode != PD_MODE_PIPE)
		return take_map(ids, stream, record, object);
	return INJECT_PASS;
}

/* An id that a pipe tells; one that was given takes its place. */
static enum verdict_of_inject take_told_id(struct ids *ids, struct pd_stream *stream, const struct pd_record *record)
{
	const struct pd_header_build_id *in = pd_as_header_build_id(record);
	const struct pd_build_id *known = in ? ids_find_known(ids, in->filename.data) : NULL;
	struct inject *inject = ids->inject;
	struct pd_header_build_id changed;
	struct pd_build_id id = { .size = PD_BUILD_ID_SIZE };
	struct entry *entry;

	if (!in)
		return INJECT_PASS;
	if (record->misc & PD_MASK(PD_MISC_BUILD_ID_SIZE) && in->size < PD_BUILD_ID_SIZE)
		id.size = in->size;
	memcpy(id.bytes, in->build_id.data, id.size < in->build_id.size ? id.size : in->build_id.size);
	entry = ids_find_entry(ids, in->filename.data, (uint32_t)in->pid);
	if (!entry && !ids_add_entry(ids, in->filename.data, (uint32_t)in->pid, record->misc, &id))
		return INJECT_FAILED;
	entry = ids_find_entry(ids, in->filename.data, (uint32_t)in->pid);
	entry->id = id;
	entry->misc = record->misc;
	if (!known)
		return INJECT_PASS;
	ids_set(entry, known);
	changed = *in;
	changed.build_id = (struct pd_bytes){ entry->id.bytes, PD_BUILD_ID_SIZE };
	changed.size = known->size;
	return inject_keep(inject, pd_writer_pass_changed(inject->target.writer, stream, record, entry->misc, &changed,
							  &inject->error)) ?
		       INJECT_PASSED :
		       INJECT_FAILED;
}

bool ids_look(const struct inject *inject)
{
	const struct ids *ids = inject->ids;

	return ids && ids->only_hits && !ids->in_maps && !ids->all_hit;
}

enum verdict_of_inject ids_record(struct inject *inject, struct pd_stream *stream, const struct pd_record *record)
{
	struct ids *ids = inject->ids;

	if (record->type == PD_RECORD_SAMPLE && ids_look(inject))
		return ids_mark_sample(ids, record) ? INJECT_PASS : INJECT_FAILED;
	if (record->type == PD_RECORD_HEADER_BUILD_ID)
		return take_told_id(ids, stream, record);
	if (record->type != PD_RECORD_MMAP && record->type != PD_RECORD_MMAP2)
		return INJECT_PASS;
	return ids->only_hits ? take_old_map(ids, stream, record) : take_new_map(ids, stream, record);
}

/* ---- the begin and the end ---- */

static int start(struct ids *ids)
{
	struct inject *inject = ids->inject;
	const struct inject_values *values = inject->values;
	const struct pd_symbols_options options = { .size = sizeof(options),
						    .symfs = values->symfs,
						    .flags = values->any_file ? (uint32_t)PD_SYMBOLS_ANY_FILE : 0 };
	int code = values->known ? ids_open_known(ids, values->known) : CODE_FINE;

	if (code != CODE_FINE)
		return code;
	if (!ids_take_list(ids) || !inject_keep(inject, pd_world_new(NULL, &ids->world, &inject->error)) ||
	    !inject_keep(inject,
			 pd_symbols_new(inject->input.file, ids->world, &options, &ids->symbols, &inject->error))) {
		complain("%s", inject->error.message);
		return CODE_UNREADABLE;
	}
	return ids->only_hits ? ids_read_before(ids) : CODE_FINE;
}

int ids_open(struct inject *inject)
{
	const struct inject_values *values = inject->values;

	if (!ids_need_twice(values) && !values->build_ids_all && !values->mmap2_all)
		return CODE_FINE;
	inject->ids = calloc(1, sizeof(*inject->ids));
	if (!inject->ids) {
		complain("out of memory");
		return CODE_UNREADABLE;
	}
	inject->ids->inject = inject;
	inject->ids->only_hits = ids_need_twice(values);
	inject->ids->in_maps = ids_in_maps(values);
	return start(inject->ids);
}

void ids_close(struct inject *inject)
{
	struct ids *ids = inject->ids;

	if (!ids)
		return;
	pd_symbols_free(ids->symbols);
	pd_world_free(ids->world);
	for (size_t i = 0; i < ids->entry_count; i++)
		free(ids->entries[i].name);
	free(ids->entries);
	free(ids->heads);
	free(ids->answers);
	free(ids->known);
	free(ids->known_text);
	free(ids->hit_objects);
	free(ids->hit_mappings);
	free(ids->seen);
	free(ids->views);
	free(ids);
	inject->ids = NULL;
}

void ids_count(const struct inject *inject, struct pd_text *text)
{
	const struct ids *ids = inject->ids;

	if (!ids)
		return;
	if (ids->in_maps)
		pd_text_printf(text, "; build ids in %llu map%s", (unsigned long long)ids->changed,
			       plural(ids->changed));
	else
		pd_text_printf(text, "; %llu build id%s added, %llu %s there already", (unsigned long long)ids->added,
			       plural(ids->added), (unsigned long long)ids->already, was_or_were(ids->already));
	if (ids->dropped)
		pd_text_printf(text, ", %llu map%s without samples dropped", (unsigned long long)ids->dropped,
			       plural(ids->dropped));
	if (ids->missing)
		pd_text_printf(text, ", %llu object%s without one", (unsigned long long)ids->missing,
			       plural(ids->missing));
}

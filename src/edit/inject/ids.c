/* SPDX-License-Identifier: MIT */
/*
 * Build ids of objects, as records come: which objects are wanted, and ids in maps.
 *
 * What samples are in is known when the sample comes, because all maps were read before: then a list or a pipe gets the
 * id. Where ids are in the maps themselves, samples are read before too. All objects are known by their maps.
 */
#include "edit/inject/ids.h"
#include "state/locate.h"

#include <string.h>

enum {
	NAME_MOST = 4096
};

// ---- maps ----

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
	map->reserved_1 = 0;
	map->reserved_2 = 0;
	map->build_id = (struct pd_bytes){ id->bytes, PD_BUILD_ID_SIZE };
}

static enum pd_inject_action change_mmap2(struct pd_inject_ids *ids, struct pd_stream *stream,
					  const struct pd_record *record, const struct pd_build_id *id)
{
	const struct pd_mmap2 *map = pd_as_mmap2(record);
	struct pd_inject *inject = ids->inject;
	struct pd_mmap2 changed;

	if (!map || same_id(map, record->misc, id))
		return PD_INJECT_PASS;
	changed = *map;
	put_id(&changed, id);
	ids->inject->result.changed_map_count++;
	return pd_inject_keep(inject, pd_writer_pass_changed(inject->writer, stream, record,
							     record->misc | (uint16_t)PD_MASK(PD_MISC_MMAP_BUILD_ID),
							     &changed, &inject->error)) ?
		       PD_INJECT_PASSED :
		       PD_INJECT_FAILED;
}

// A record without room for an id becomes one that has it.
static enum pd_inject_action change_mmap(struct pd_inject_ids *ids, const struct pd_record *record,
					 const struct pd_build_id *id)
{
	const struct pd_mmap *map = pd_as_mmap(record);
	struct pd_inject *inject = ids->inject;
	bool data = record->misc & PD_MASK(PD_MISC_MMAP_DATA);
	struct pd_mmap2 changed;

	if (!map)
		return PD_INJECT_PASS;
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
	ids->inject->result.changed_map_count++;
	return pd_inject_keep(inject, pd_writer_add(inject->writer, PD_RECORD_MMAP2,
						    record->misc | (uint16_t)PD_MASK(PD_MISC_MMAP_BUILD_ID), &changed,
						    pd_inject_event(record), &inject->error)) ?
		       PD_INJECT_PASSED :
		       PD_INJECT_FAILED;
}

static enum pd_inject_action take_map(struct pd_inject_ids *ids, struct pd_stream *stream,
				      const struct pd_record *record, const struct pd_object *object)
{
	struct pd_inject_answer *answer;

	if (!ids->in_maps)
		return pd_inject_ids_list_object(ids, object) ? PD_INJECT_PASS : PD_INJECT_FAILED;
	if (!pd_inject_can_have_id(object))
		return PD_INJECT_PASS;
	answer = pd_inject_answer_of(ids, object);
	if (!answer)
		return PD_INJECT_FAILED;
	if (!answer->id.size)
		return PD_INJECT_PASS;
	return record->type == PD_RECORD_MMAP2 ? change_mmap2(ids, stream, record, &answer->id) :
						 change_mmap(ids, record, &answer->id);
}

// A record whose map is looked at for the first time now.
static enum pd_inject_action take_new_map(struct pd_inject_ids *ids, struct pd_stream *stream,
					  const struct pd_record *record)
{
	struct pd_mapping mapping;

	if (!pd_inject_keep(ids->inject, pd_state_take(ids->state, record, &ids->inject->error)))
		return PD_INJECT_FAILED;
	if (!pd_state_get_mapping(ids->state, ids->mapping_count, &mapping))
		return PD_INJECT_PASS;
	ids->mapping_count++;
	return take_map(ids, stream, record, mapping.object);
}

static enum pd_inject_action take_old_map(struct pd_inject_ids *ids, struct pd_stream *stream,
					  const struct pd_record *record)
{
	size_t index = pd_inject_ids_mapping_at(ids, record->place);
	const struct pd_map_kind *kind = index == SIZE_MAX ? NULL : pd_state_map_kind_of(ids->state, (uint32_t)index);
	const struct pd_object *object = kind ? kind->object : NULL;

	if (!object)
		return PD_INJECT_PASS;
	if (ids->all_hit || (ids->in_maps && ids->hit_mappings[index]))
		return take_map(ids, stream, record, object);
	if (ids->in_maps) {
		ids->inject->result.dropped_map_count++;
		return PD_INJECT_DROP;
	}
	// As in perf the list of a file has the vdso, samples or not: it cannot be looked for later.
	if (object->kind == PD_OBJECT_VDSO && pd_writer_mode(ids->inject->writer) != PD_MODE_PIPE)
		return take_map(ids, stream, record, object);
	return PD_INJECT_PASS;
}

// An id that a pipe tells; one that was given takes its place.
static enum pd_inject_action take_pipe_id(struct pd_inject_ids *ids, struct pd_stream *stream,
					  const struct pd_record *record)
{
	const struct pd_header_build_id *in = pd_as_header_build_id(record);
	const struct pd_build_id *known = in ? pd_inject_ids_find_known(ids, in->filename.data) : NULL;
	struct pd_inject *inject = ids->inject;
	struct pd_header_build_id changed;
	struct pd_build_id id = { .size = PD_BUILD_ID_SIZE };
	struct pd_inject_entry *entry;

	if (!in)
		return PD_INJECT_PASS;
	if (record->misc & PD_MASK(PD_MISC_BUILD_ID_SIZE) && in->size < PD_BUILD_ID_SIZE)
		id.size = in->size;
	memcpy(id.bytes, in->build_id.data, id.size < in->build_id.size ? id.size : in->build_id.size);
	entry = pd_inject_ids_find_entry(ids, in->filename.data, (uint32_t)in->pid);
	if (!entry && !pd_inject_ids_add_entry(ids, in->filename.data, (uint32_t)in->pid, record->misc, &id))
		return PD_INJECT_FAILED;
	entry = pd_inject_ids_find_entry(ids, in->filename.data, (uint32_t)in->pid);
	entry->id = id;
	entry->misc = record->misc;
	if (!known)
		return PD_INJECT_PASS;
	pd_inject_ids_set(entry, known);
	changed = *in;
	changed.build_id = (struct pd_bytes){ entry->id.bytes, PD_BUILD_ID_SIZE };
	changed.size = known->size;
	return pd_inject_keep(inject, pd_writer_pass_changed(inject->writer, stream, record, entry->misc, &changed,
							     &inject->error)) ?
		       PD_INJECT_PASSED :
		       PD_INJECT_FAILED;
}

bool pd_inject_ids_marks_hits(const struct pd_inject *inject)
{
	const struct pd_inject_ids *ids = inject->ids;

	return ids && ids->only_hits && !ids->in_maps && !ids->all_hit;
}

enum pd_inject_action pd_inject_ids_record(struct pd_inject *inject, struct pd_stream *stream,
					   const struct pd_record *record)
{
	struct pd_inject_ids *ids = inject->ids;

	if (record->type == PD_RECORD_SAMPLE && pd_inject_ids_marks_hits(inject))
		return pd_inject_ids_mark_sample(ids, record) ? PD_INJECT_PASS : PD_INJECT_FAILED;
	if (record->type == PD_RECORD_HEADER_BUILD_ID)
		return take_pipe_id(ids, stream, record);
	if (record->type != PD_RECORD_MMAP && record->type != PD_RECORD_MMAP2)
		return PD_INJECT_PASS;
	return ids->only_hits ? take_old_map(ids, stream, record) : take_new_map(ids, stream, record);
}

// ---- start and end ----

static enum pd_status open_state(struct pd_inject_ids *ids, struct pd_error *error)
{
	struct pd_inject *inject = ids->inject;
	const struct pd_symbols_options options = { .size = sizeof(options),
						    .symfs = inject->options.symfs,
						    .flags = inject->options.any_file ? (uint32_t)PD_SYMBOLS_ANY_FILE :
											0 };
	enum pd_status status;

	if (!pd_inject_ids_take_list(ids))
		return pd_fail_memory(error);
	status = pd_state_new(NULL, &ids->state, error);
	return status < 0 ? status : pd_symbols_new(inject->file, ids->state, &options, &ids->symbols, error);
}

enum pd_status pd_inject_ids_open(struct pd_inject *inject, struct pd_error *error)
{
	enum pd_status status;

	if (inject->options.build_ids == PD_INJECT_NO_BUILD_IDS)
		return PD_OK;
	inject->ids = pd_alloc(sizeof(*inject->ids));
	if (!inject->ids)
		return pd_fail_memory(error);
	inject->ids->inject = inject;
	inject->ids->seed = pd_file_secret(inject->file);
	inject->ids->only_hits = pd_inject_needs_samples(inject);
	inject->ids->in_maps = pd_inject_is_in_maps(inject);
	status = open_state(inject->ids, error);
	return status < 0 || !inject->ids->only_hits ? status : pd_inject_ids_read_before(inject->ids, error);
}

void pd_inject_ids_close(struct pd_inject *inject)
{
	struct pd_inject_ids *ids = inject->ids;

	if (!ids)
		return;
	pd_symbols_free(ids->symbols);
	pd_state_free(ids->state);
	pd_inject_ids_free_list(ids);
	pd_free(ids->answers);
	pd_free(ids->hit_objects);
	pd_free(ids->hit_mappings);
	pd_free(ids->recent);
	pd_free(ids->views);
	pd_free(ids);
	inject->ids = NULL;
}

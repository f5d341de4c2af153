/* SPDX-License-Identifier: MIT */
/*
 * Build ids by name: those that the caller gives, and the list that the header of a file has.
 */
#include "edit/inject/ids.h"

#include <string.h>

enum {
	NAME_PADDING =
		72 // zeros after a name, as many as are written: ids_entry_size, and up to the next record of a pipe
};

const struct pd_build_id *pd_inject_ids_find_known(const struct pd_inject_ids *ids, const char *path)
{
	const struct pd_inject_options *options = &ids->inject->options;

	for (size_t i = 0; i < options->known_count; i++)
		if (!strcmp(options->known[i].path, path))
			return &options->known[i].id;
	return NULL;
}

// ---- the list ----

static uint64_t hash_of(const struct pd_inject_ids *ids, const char *name)
{
	return pd_hash(ids->seed, name, strlen(name));
}

struct pd_inject_entry *pd_inject_ids_find_entry(const struct pd_inject_ids *ids, const char *name, uint32_t pid)
{
	uint64_t hash = hash_of(ids, name);
	size_t at = (size_t)hash;
	uint32_t i;

	while ((i = pd_index_next(&ids->index, hash, &at)) != PD_INDEX_END)
		if (!strcmp(ids->entries[i].name, name) && ids->entries[i].pid == pid)
			return &ids->entries[i];
	return NULL;
}

bool pd_inject_ids_add_entry(struct pd_inject_ids *ids, const char *name, uint32_t pid, uint16_t misc,
			     const struct pd_build_id *id)
{
	size_t length = strlen(name);
	char *copy = pd_alloc(length + NAME_PADDING);

	if (!copy || !PD_GROW(ids->entries, ids->entry_capacity, ids->entry_count + 1) ||
	    !pd_index_add(&ids->index, hash_of(ids, name), (uint32_t)ids->entry_count)) {
		pd_free(copy);
		return pd_inject_no_memory(ids->inject);
	}
	memcpy(copy, name, length);
	ids->entries[ids->entry_count++] =
		(struct pd_inject_entry){ .name = copy, .pid = pid, .misc = misc, .id = *id };
	return true;
}

void pd_inject_ids_free_list(struct pd_inject_ids *ids)
{
	for (size_t i = 0; i < ids->entry_count; i++)
		pd_free(ids->entries[i].name);
	pd_free(ids->entries);
	pd_index_fini(&ids->index);
}

void pd_inject_ids_set(struct pd_inject_entry *entry, const struct pd_build_id *id)
{
	entry->id = *id;
	entry->misc |= (uint16_t)PD_MASK(PD_MISC_BUILD_ID_SIZE);
}

static void put_number(uint8_t *at, uint64_t value, size_t bytes, bool big)
{
	for (size_t i = 0; i < bytes; i++)
		at[big ? bytes - 1 - i : i] = (uint8_t)(value >> 8 * i);
}

bool pd_inject_ids_take_list(struct pd_inject_ids *ids)
{
	const struct pd_build_ids *list = pd_file_build_id(ids->inject->file);
	struct pd_build_id_walk walk = { .big_endian = pd_file_header(ids->inject->file)->big_endian };
	struct pd_build_id_entry in;

	if (!list)
		return true;
	walk.records = list->records;
	while (pd_build_id_next(&walk, &in)) {
		struct pd_build_id id = { .size = in.id.size };

		memcpy(id.bytes, in.id.bytes, in.id.size);
		if (!pd_inject_ids_add_entry(ids, in.name, in.pid, in.misc, &id))
			return false;
	}
	if (walk.unreadable)
		pd_inject_warn(ids->inject, true, "%zu unreadable bytes of the list of build ids skipped",
			       walk.unreadable);
	return true;
}

// The name is padded as perf does it: quipper refuses a file where it is not.
size_t pd_inject_ids_entry_size(const struct pd_inject_entry *entry)
{
	return PD_INJECT_ENTRY_HEAD + ((strlen(entry->name) + 64) & ~(size_t)63);
}

static void encode_entry(const struct pd_inject_entry *entry, uint8_t *at, bool big)
{
	memset(at, 0, pd_inject_ids_entry_size(entry));
	put_number(at + 4, entry->misc, 2, big);
	put_number(at + 6, pd_inject_ids_entry_size(entry), 2, big);
	put_number(at + 8, entry->pid, 4, big);
	memcpy(at + 12, entry->id.bytes, entry->id.size);
	at[12 + PD_BUILD_ID_SIZE] = entry->misc & PD_MASK(PD_MISC_BUILD_ID_SIZE) ? entry->id.size : 0;
	memcpy(at + PD_INJECT_ENTRY_HEAD, entry->name, strlen(entry->name));
}

bool pd_inject_ids_finish(struct pd_inject *inject)
{
	struct pd_inject_ids *ids = inject->ids;
	struct pd_bytes bytes = { .size = 0 };
	enum pd_status status;
	uint8_t *data;

	if (ids->in_maps || pd_writer_mode(inject->writer) == PD_MODE_PIPE || !ids->entry_count)
		return true;
	for (size_t i = 0; i < ids->entry_count; i++)
		bytes.size += pd_inject_ids_entry_size(&ids->entries[i]);
	data = pd_alloc(bytes.size);
	if (!data)
		return pd_inject_no_memory(inject);
	bytes.data = data;
	for (size_t i = 0, at = 0; i < ids->entry_count; at += pd_inject_ids_entry_size(&ids->entries[i++]))
		encode_entry(&ids->entries[i], data + at, pd_writer_is_big(inject->writer));
	status = pd_writer_set_feature_bytes(inject->writer, PD_FEATURE_BUILD_ID, bytes, &inject->error);
	pd_free(data);
	return pd_inject_keep(inject, status);
}

/* SPDX-License-Identifier: MIT */
/*
 * Build ids by name: those that the command line gives, and the list that the header of a file has.
 */
#include "inject_ids.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	LIST_MOST = 16 << 20,
	NAME_PADDING =
		72 /* zeros behind a name, as many as are written: ids_entry_size, and up to the next record of a pipe */
};

/* ---- ids that were given ---- */

static int digit_of(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* "ID PATH"; the text is cut up. */
static bool take_known(struct known_id *known, char *text)
{
	size_t count = 0;

	text += strspn(text, " \t");
	for (; digit_of(text[0]) >= 0 && digit_of(text[1]) >= 0 && count < PD_BUILD_ID_SIZE; text += 2)
		known->id.bytes[count++] = (uint8_t)(digit_of(text[0]) << 4 | digit_of(text[1]));
	known->id.size = (uint8_t)count;
	if (!count || (*text != ' ' && *text != '\t'))
		return false;
	known->path = text + strspn(text, " \t");
	return *known->path;
}

/* NULL, told, if it cannot be read as a whole. */
static char *read_list(const char *path)
{
	FILE *file = fopen(path, "re");
	char *text = file ? malloc(LIST_MOST) : NULL;
	size_t size = text ? fread(text, 1, LIST_MOST, file) : 0;
	bool whole = text && size < LIST_MOST && !ferror(file);

	if (whole) {
		text[size] = 0;
	} else {
		complain("%s: %s", path, !file ? "cannot be opened" : "cannot be read, or is larger than 16 MiB");
		free(text);
		text = NULL;
	}
	if (file)
		fclose(file);
	return text;
}

int ids_open_known(struct ids *ids, const char *argument)
{
	static const char file[] = "file://";
	bool listed = !strncmp(argument, file, sizeof(file) - 1);
	char *text = listed ? read_list(argument + sizeof(file) - 1) : strdup(argument), *rest = NULL;
	const char *between = listed ? "\n" : ",";
	size_t room = 1;

	ids->known_text = text;
	if (!text)
		return CODE_USAGE;
	for (const char *c = text; *c; c++)
		room += *c == *between;
	ids->known = calloc(room, sizeof(*ids->known));
	if (!ids->known) {
		complain("out of memory");
		return CODE_UNREADABLE;
	}
	for (char *word = strtok_r(text, between, &rest); word; word = strtok_r(NULL, between, &rest)) {
		struct known_id *known = &ids->known[ids->known_count];

		*known = (struct known_id){ 0 };
		if (take_known(known, word)) {
			ids->known_count++;
		} else if (!listed || word[strspn(word, " \t")] != '/') {
			/* what has no id is listed with spaces for it */
			complain("option --known-build-ids: '%s' is not 'ID PATH'", word);
			return CODE_USAGE;
		}
	}
	return CODE_FINE;
}

const struct pd_build_id *ids_find_known(const struct ids *ids, const char *path)
{
	for (size_t i = 0; i < ids->known_count; i++) {
		if (!strcmp(ids->known[i].path, path))
			return &ids->known[i].id;
	}
	return NULL;
}

/* ---- the list ---- */

static size_t hash_of(const char *name)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	for (; *name; name++)
		hash = (hash ^ (uint8_t)*name) * UINT64_C(0x100000001b3);
	return (size_t)(hash ^ hash >> 32);
}

struct entry *ids_find_entry(const struct ids *ids, const char *name, uint32_t pid)
{
	uint32_t i = ids->head_count ? ids->heads[hash_of(name) & (ids->head_count - 1)] : 0;

	while (i && (strcmp(ids->entries[i - 1].name, name) != 0 || ids->entries[i - 1].pid != pid))
		i = ids->entries[i - 1].next;
	return i ? &ids->entries[i - 1] : NULL;
}

static void link_entry(struct ids *ids, size_t index)
{
	uint32_t *head = &ids->heads[hash_of(ids->entries[index].name) & (ids->head_count - 1)];

	ids->entries[index].next = *head;
	*head = (uint32_t)index + 1;
}

static bool grow_entries(struct ids *ids)
{
	size_t room = ids->entry_room ? 2 * ids->entry_room : 64;
	struct entry *entries = realloc(ids->entries, room * sizeof(*entries));
	uint32_t *heads;

	if (!entries)
		return inject_no_memory(ids->inject);
	ids->entries = entries;
	heads = calloc(room, sizeof(*heads));
	if (!heads)
		return inject_no_memory(ids->inject);
	free(ids->heads);
	ids->heads = heads;
	ids->head_count = ids->entry_room = room;
	for (size_t i = 0; i < ids->entry_count; i++)
		link_entry(ids, i);
	return true;
}

bool ids_add_entry(struct ids *ids, const char *name, uint32_t pid, uint16_t misc, const struct pd_build_id *id)
{
	size_t length = strlen(name);
	struct entry *entry;

	if (ids->entry_count == ids->entry_room && !grow_entries(ids))
		return false;
	entry = &ids->entries[ids->entry_count];
	*entry = (struct entry){ .name = calloc(1, length + NAME_PADDING), .pid = pid, .misc = misc, .id = *id };
	if (!entry->name)
		return inject_no_memory(ids->inject);
	memcpy(entry->name, name, length);
	link_entry(ids, ids->entry_count++);
	return true;
}

void ids_set(struct entry *entry, const struct pd_build_id *id)
{
	entry->id = *id;
	entry->misc |= (uint16_t)PD_MASK(PD_MISC_BUILD_ID_SIZE);
}

static void put_number(uint8_t *at, uint64_t value, size_t bytes, bool big)
{
	for (size_t i = 0; i < bytes; i++)
		at[big ? bytes - 1 - i : i] = (uint8_t)(value >> 8 * i);
}

bool ids_take_list(struct ids *ids)
{
	const struct pd_build_ids *list = pd_file_build_id(ids->inject->input.file);
	struct pd_build_id_walk walk = { .big_endian = pd_file_header(ids->inject->input.file)->big_endian };
	struct pd_build_id_entry in;

	if (!list)
		return true;
	walk.records = list->records;
	while (pd_build_id_next(&walk, &in)) {
		struct pd_build_id id = { .size = in.id.size };

		memcpy(id.bytes, in.id.bytes, in.id.size);
		if (!ids_add_entry(ids, in.name, in.pid, in.misc, &id))
			return false;
	}
	if (walk.unreadable)
		inject_tell(ids->inject, true, "%zu unreadable bytes of the list of build ids skipped",
			    walk.unreadable);
	return true;
}

/* The name is padded as perf does it: quipper refuses a file where it is not. */
size_t ids_entry_size(const struct entry *entry)
{
	return ENTRY_HEAD + ((strlen(entry->name) + 64) & ~(size_t)63);
}

static void encode_entry(const struct entry *entry, uint8_t *at, bool big)
{
	memset(at, 0, ids_entry_size(entry));
	put_number(at + 4, entry->misc, 2, big);
	put_number(at + 6, ids_entry_size(entry), 2, big);
	put_number(at + 8, entry->pid, 4, big);
	memcpy(at + 12, entry->id.bytes, entry->id.size);
	at[12 + PD_BUILD_ID_SIZE] = entry->misc & PD_MASK(PD_MISC_BUILD_ID_SIZE) ? entry->id.size : 0;
	memcpy(at + ENTRY_HEAD, entry->name, strlen(entry->name));
}

static bool is_output_big(const struct inject *inject)
{
	if (inject->target.wanted.endian == PD_ENDIAN_SAME)
		return pd_file_header(inject->input.file)->big_endian;
	return inject->target.wanted.endian == PD_ENDIAN_BIG;
}

bool ids_finish(struct inject *inject)
{
	struct ids *ids = inject->ids;
	struct pd_bytes bytes = { .size = 0 };
	enum pd_status status;
	uint8_t *data;

	if (ids->in_maps || inject->target.wanted.mode == PD_MODE_PIPE || !ids->entry_count)
		return true;
	for (size_t i = 0; i < ids->entry_count; i++)
		bytes.size += ids_entry_size(&ids->entries[i]);
	data = malloc(bytes.size);
	if (!data)
		return inject_no_memory(inject);
	bytes.data = data;
	for (size_t i = 0, at = 0; i < ids->entry_count; at += ids_entry_size(&ids->entries[i++]))
		encode_entry(&ids->entries[i], data + at, is_output_big(inject));
	status = pd_writer_set_feature_bytes(inject->target.writer, PD_FEATURE_BUILD_ID, bytes, &inject->error);
	free(data);
	return inject_keep(inject, status);
}

/* SPDX-License-Identifier: MIT */
/*
 * Build ids of objects: which objects are wanted, what their ids are, and where ids go: into a list in the header of a
 * file, into records of a pipe, or into the maps.
 *
 * What samples are in is known when the sample comes, because all maps were read before: then a list or a pipe gets the
 * id. Where ids stand in the maps themselves, samples are read before too. All objects are known by their maps.
 */
#include "build_ids.h"
#include "inject.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	ID_BYTES = 20,
	ID_ROOM = 24, /* with its size, and reserved bytes */
	ENTRY_HEAD = 12 + ID_ROOM, /* of an entry of the list, up to the name */
	NAME_MOST = 4096,
	SEEN = 1 << 16, /* addresses that are known to be marked */
	VIEWS = 1 << 10
};

/* An entry of the list. */
struct entry {
	char *name;
	uint32_t pid; /* of the machine */
	uint16_t misc;
	struct pd_build_id id;
	uint32_t next; /* with the same hash, from 1; 0 is none */
};

struct known_id {
	const char *path;
	struct pd_build_id id;
};

/* What is known of an object. */
struct answer {
	bool asked;
	bool listed; /* it has an entry */
	struct pd_build_id id;
};

/* An address that is marked already. */
struct seen {
	uint64_t maps, addr;
};

struct thread_view {
	uint32_t pid, tid;
	bool used;
	struct pd_view view;
};

struct ids {
	struct inject *inject;
	struct pd_world *world;
	struct pd_symbols *symbols;
	bool only_hits, in_maps;
	bool all_hit;
	char *known_text;
	struct known_id *known;
	size_t known_count;
	struct entry *entries;
	size_t entry_count, entry_room;
	uint32_t *heads; /* by hash of the name, from 1 */
	size_t head_count;
	struct answer *answers; /* by index of the object */
	size_t answer_count;
	size_t mapping_count; /* that were there after the first reading, or that were seen */
	uint8_t *hit_objects, *hit_mappings;
	struct seen *seen;
	struct thread_view *views;
	uint64_t added, already, missing, dropped, changed;
};

bool ids_need_twice(const struct inject_values *values)
{
	return values->build_ids || values->mmap2;
}

bool ids_in_maps(const struct inject_values *values)
{
	return values->mmap2 || values->mmap2_all;
}

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
	for (; digit_of(text[0]) >= 0 && digit_of(text[1]) >= 0 && count < ID_BYTES; text += 2)
		known->id.bytes[count++] = (uint8_t)(digit_of(text[0]) << 4 | digit_of(text[1]));
	known->id.size = (uint8_t)count;
	if (!count || (*text != ' ' && *text != '\t'))
		return false;
	known->path = text + strspn(text, " \t");
	return *known->path;
}

static char *read_list(const char *path)
{
	FILE *file = fopen(path, "re");
	size_t room = 0, size = 0;
	char *text = NULL, *more;

	while (file && size < (16u << 20)) {
		size_t got;

		if (size + 1 >= room) {
			room = room ? 2 * room : 4096;
			more = realloc(text, room);
			if (!more)
				break;
			text = more;
		}
		got = fread(text + size, 1, room - size - 1, file);
		size += got;
		if (!got)
			break;
	}
	if (text)
		text[size] = 0;
	if (!file)
		complain("%s: cannot be opened", path);
	else
		fclose(file);
	return text;
}

static int open_known(struct ids *ids, const char *argument)
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

static const struct pd_build_id *find_known(const struct ids *ids, const char *path)
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

static struct entry *find_entry(const struct ids *ids, const char *name, uint32_t pid)
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

static bool add_entry(struct ids *ids, const char *name, uint32_t pid, uint16_t misc, const struct pd_build_id *id)
{
	struct entry *entry;

	if (ids->entry_count == ids->entry_room && !grow_entries(ids))
		return false;
	entry = &ids->entries[ids->entry_count];
	*entry = (struct entry){ .name = strdup(name), .pid = pid, .misc = misc, .id = *id };
	if (!entry->name)
		return inject_no_memory(ids->inject);
	link_entry(ids, ids->entry_count++);
	return true;
}

static void set_id(struct entry *entry, const struct pd_build_id *id)
{
	entry->id = *id;
	entry->misc |= (uint16_t)PD_MASK(PD_MISC_BUILD_ID_SIZE);
}

static void put_number(uint8_t *at, uint64_t value, size_t bytes, bool big)
{
	for (size_t i = 0; i < bytes; i++)
		at[big ? bytes - 1 - i : i] = (uint8_t)(value >> 8 * i);
}

/* The list that the file has. */
static bool take_list(struct ids *ids)
{
	const struct pd_build_ids *list = pd_file_build_id(ids->inject->input.file);
	struct build_id_walk walk = { .big_endian = pd_file_header(ids->inject->input.file)->big_endian };
	struct build_id_entry in;

	if (!list)
		return true;
	walk.records = list->records;
	while (build_ids_next(&walk, &in)) {
		struct pd_build_id id = { .size = in.id.size };

		memcpy(id.bytes, in.id.bytes, in.id.size);
		if (!add_entry(ids, in.name, in.pid, in.misc, &id))
			return false;
	}
	if (walk.unreadable)
		inject_tell(ids->inject, "%zu bytes of the list of build ids make no sense and are left out", walk.unreadable);
	return true;
}

static size_t entry_size(const struct entry *entry)
{
	return (ENTRY_HEAD + strlen(entry->name) + 1 + 7) & ~(size_t)7;
}

static void encode_entry(const struct entry *entry, uint8_t *at, bool big)
{
	memset(at, 0, entry_size(entry));
	put_number(at + 4, entry->misc, 2, big);
	put_number(at + 6, entry_size(entry), 2, big);
	put_number(at + 8, entry->pid, 4, big);
	memcpy(at + 12, entry->id.bytes, entry->id.size);
	at[12 + ID_BYTES] = entry->misc & PD_MASK(PD_MISC_BUILD_ID_SIZE) ? entry->id.size : 0;
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
		bytes.size += entry_size(&ids->entries[i]);
	data = malloc(bytes.size);
	if (!data)
		return inject_no_memory(inject);
	bytes.data = data;
	for (size_t i = 0, at = 0; i < ids->entry_count; at += entry_size(&ids->entries[i++]))
		encode_entry(&ids->entries[i], data + at, is_output_big(inject));
	status = pd_writer_set_feature_bytes(inject->target.writer, PD_FEATURE_BUILD_ID, bytes, &inject->error);
	free(data);
	return inject_keep(inject, status);
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
	const struct pd_build_id *known = find_known(ids, object->path);
	const struct entry *entry = find_entry(ids, object->path, pid_of(object->machine));
	const char *why;

	answer->asked = true;
	if (known) {
		answer->id = *known;
	} else if (entry && !object->build_id_size) {
		answer->id = entry->id;
	} else if (!pd_symbols_build_id(ids->symbols, object, &answer->id, &why)) {
		ids->missing++;
		inject_tell(ids->inject, "%s: no build id: %s", object->path, why);
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

/* In a pipe the id comes in front of the map. */
static bool send_entry(struct ids *ids, const struct entry *entry)
{
	struct inject *inject = ids->inject;
	uint32_t length = (uint32_t)strlen(entry->name);
	const struct pd_header_build_id record = {
		.pid = (int32_t)entry->pid,
		.build_id = { entry->id.bytes, ID_BYTES },
		.size = entry->id.size,
		.filename = { entry->name, length, (uint32_t)(entry_size(entry) - ENTRY_HEAD) },
	};

	if (ids->in_maps || inject->target.wanted.mode != PD_MODE_PIPE)
		return true;
	return inject_keep(inject, pd_writer_add(inject->target.writer, PD_RECORD_HEADER_BUILD_ID, entry->misc, &record, 0,
						 &inject->error));
}

static bool list_id(struct ids *ids, const char *name, uint32_t pid, uint16_t misc, const struct pd_build_id *id)
{
	struct entry *entry = find_entry(ids, name, pid);

	if (strlen(name) > NAME_MOST)
		return true;
	if (entry && entry->id.size == id->size && !memcmp(entry->id.bytes, id->bytes, id->size)) {
		ids->already++;
		return true;
	}
	if (!entry) {
		if (!add_entry(ids, name, pid, misc, id))
			return false;
		entry = &ids->entries[ids->entry_count - 1];
	}
	set_id(entry, id);
	ids->added++;
	return send_entry(ids, entry);
}

/* False after a failure. */
static bool list_object(struct ids *ids, const struct pd_object *object)
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

/* ---- what samples are in ---- */

static bool is_before(struct pd_moment a, struct pd_moment b)
{
	return a.time_ns != b.time_ns ? a.time_ns < b.time_ns : a.order < b.order;
}

/* The map that a record made: they come in the order of the file. SIZE_MAX if it made none. */
static size_t mapping_at(const struct ids *ids, uint64_t place)
{
	size_t low = 0, high = ids->mapping_count;
	const struct pd_mapping *mapping;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (pd_world_mapping(ids->world, middle)->from.order < place)
			low = middle + 1;
		else
			high = middle;
	}
	mapping = pd_world_mapping(ids->world, low);
	return mapping && mapping->from.order == place ? low : SIZE_MAX;
}

static bool hit(struct ids *ids, const struct pd_location *location)
{
	uint8_t *object = &ids->hit_objects[location->object->index];
	size_t mapping;

	if (ids->in_maps) {
		mapping = mapping_at(ids, location->mapping->from.order);
		if (mapping != SIZE_MAX)
			ids->hit_mappings[mapping] = 1;
	} else if (!*object) {
		*object = 1;
		return list_object(ids, location->object);
	}
	return true;
}

/* False after a failure. */
static bool mark(struct ids *ids, const struct pd_brief *brief, const struct pd_view *view, unsigned cpumode,
		 struct pd_moment when, uint64_t addr)
{
	uint64_t maps = view->maps ^ (uint64_t)cpumode << 61;
	uint64_t hash = (maps * UINT64_C(0x9e3779b97f4a7c15)) ^ (addr * UINT64_C(0xff51afd7ed558ccd));
	struct seen *seen = &ids->seen[hash >> 48 & (SEEN - 1)];
	struct pd_location location;

	if (seen->maps == maps && seen->addr == addr)
		return true;
	*seen = (struct seen){ maps, addr };
	return !pd_world_locate(ids->world, brief->pid, cpumode, when, addr, &location) || hit(ids, &location);
}

static const struct pd_view *view_of(struct ids *ids, uint32_t pid, uint32_t tid, struct pd_moment when)
{
	struct thread_view *view = &ids->views[tid & (VIEWS - 1)];

	if (view->used && view->pid == pid && view->tid == tid && !is_before(when, view->view.from) &&
	    is_before(when, view->view.until))
		return &view->view;
	*view = (struct thread_view){ .pid = pid, .tid = tid, .used = true };
	pd_world_view(ids->world, pid, tid, when, &view->view);
	return &view->view;
}

static bool mark_chain(struct ids *ids, const struct pd_brief *brief, const struct pd_view *view, struct pd_moment when)
{
	struct pd_u64s chain = brief->callchain;
	unsigned cpumode = brief->cpumode;

	for (size_t i = 0; i < chain.count; i++) {
		if (chain.items[i] < PD_CONTEXT_MAX) {
			if (!mark(ids, brief, view, cpumode, when, chain.items[i]))
				return false;
		} else if (chain.items[i] == (uint64_t)PD_CONTEXT_KERNEL) {
			cpumode = PD_CPUMODE_KERNEL;
		} else if (chain.items[i] == (uint64_t)PD_CONTEXT_USER) {
			cpumode = PD_CPUMODE_USER;
		} else if (chain.items[i] != (uint64_t)PD_CONTEXT_HV) {
			break;
		}
	}
	return true;
}

/* What else of a sample is named by maps. */
static bool mark_targets(struct ids *ids, const struct pd_record *record, const struct pd_brief *brief,
			 const struct pd_view *view, struct pd_moment when)
{
	uint64_t type = record->event ? record->event->attr->sample_type : 0;
	const struct pd_sample *sample;

	if (brief->addr && !mark(ids, brief, view, PD_CPUMODE_UNKNOWN, when, brief->addr))
		return false;
	if (!PD_BITS(type, PD_SAMPLE_TYPE_BRANCH_STACK) || !(sample = pd_as_sample(record)) || !sample->branch_stack)
		return true;
	for (size_t i = 0; i < sample->branch_stack->entries.count; i++) {
		const struct pd_branch *branch = PD_ITEM(pd_branch, sample->branch_stack->entries, i);

		if (!mark(ids, brief, view, PD_CPUMODE_UNKNOWN, when, branch->from) ||
		    !mark(ids, brief, view, PD_CPUMODE_UNKNOWN, when, branch->to))
			return false;
	}
	return true;
}

static bool mark_sample(struct ids *ids, const struct pd_record *record)
{
	const struct pd_view *view;
	struct pd_moment when;
	struct pd_brief brief;

	/* What is damaged is told by whoever needs it. */
	if (!pd_record_brief(record, &brief))
		return true;
	when = pd_record_moment(record);
	view = view_of(ids, brief.pid, brief.tid, when);
	return mark(ids, &brief, view, brief.cpumode, when, brief.ip) && mark_chain(ids, &brief, view, when) &&
	       (!ids->in_maps || mark_targets(ids, record, &brief, view, when));
}

static bool feed(void *self, struct pd_stream *stream, const struct pd_record *record)
{
	struct ids *ids = self;

	if (record->type == PD_RECORD_SAMPLE) {
		pd_stream_pass(stream);
		return true;
	}
	/* Which maps are needed is not known. */
	if (record->type == PD_RECORD_AUXTRACE_INFO || record->type == PD_RECORD_AUXTRACE)
		ids->all_hit = true;
	return inject_keep(ids->inject, pd_world_take(ids->world, record, &ids->inject->error));
}

static bool look(void *self, struct pd_stream *stream, const struct pd_record *record)
{
	(void)stream;
	return record->type != PD_RECORD_SAMPLE || mark_sample(self, record);
}

static bool has_stacks(struct pd_file *file)
{
	for (size_t i = 0; i < pd_file_event_count(file); i++) {
		if (PD_BITS(pd_file_event(file, i)->attr->sample_type, PD_SAMPLE_TYPE_STACK_USER))
			return true;
	}
	return false;
}

static bool settle(struct ids *ids)
{
	size_t objects = 0;

	if (!inject_keep(ids->inject, pd_world_settle(ids->world, &ids->inject->error)))
		return false;
	while (pd_world_mapping(ids->world, ids->mapping_count))
		ids->mapping_count++;
	while (pd_world_object(ids->world, objects))
		objects++;
	ids->hit_objects = calloc(objects + 1, 1);
	ids->hit_mappings = calloc(ids->mapping_count + 1, 1);
	ids->seen = malloc(SEEN * sizeof(*ids->seen));
	ids->views = calloc(VIEWS, sizeof(*ids->views));
	if (!ids->hit_objects || !ids->hit_mappings || !ids->seen || !ids->views)
		return inject_no_memory(ids->inject);
	memset(ids->seen, 0xff, SEEN * sizeof(*ids->seen));
	return true;
}

static int walk(struct ids *ids, record_fn *each)
{
	struct inject *inject = ids->inject;
	int code = input_walk(&inject->input, each, ids);

	progress_clear(&inject->input.progress);
	input_again(&inject->input);
	return code;
}

static int read_before(struct ids *ids)
{
	struct inject *inject = ids->inject;
	int code = walk(ids, feed);

	if (code == CODE_FINE && inject->status >= 0)
		settle(ids);
	ids->all_hit |= ids->in_maps && has_stacks(inject->input.file);
	if (code == CODE_FINE && inject->status >= 0 && ids->in_maps && !ids->all_hit)
		code = walk(ids, look);
	if (code == CODE_FINE && inject->status < 0) {
		complain("%s", inject->error.message);
		code = CODE_UNREADABLE;
	}
	return code;
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
	map->build_id = (struct pd_bytes){ id->bytes, ID_BYTES };
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
		return list_object(ids, object) ? INJECT_PASS : INJECT_FAILED;
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
	size_t index = mapping_at(ids, record->place);
	const struct pd_object *object = index == SIZE_MAX ? NULL : pd_world_mapping(ids->world, index)->object;

	if (!object)
		return INJECT_PASS;
	if (ids->all_hit || (ids->in_maps && ids->hit_mappings[index]))
		return take_map(ids, stream, record, object);
	if (ids->in_maps) {
		ids->dropped++;
		return INJECT_DROP;
	}
	/* As in perf the vdso is always listed: it cannot be looked for later. */
	return object->kind == PD_OBJECT_VDSO ? take_map(ids, stream, record, object) : INJECT_PASS;
}

/* An id that a pipe tells; one that was given takes its place. */
static enum verdict_of_inject take_told_id(struct ids *ids, struct pd_stream *stream, const struct pd_record *record)
{
	const struct pd_header_build_id *in = pd_as_header_build_id(record);
	const struct pd_build_id *known = in ? find_known(ids, in->filename.data) : NULL;
	struct inject *inject = ids->inject;
	struct pd_header_build_id changed;
	struct pd_build_id id = { .size = ID_BYTES };
	struct entry *entry;

	if (!in)
		return INJECT_PASS;
	if (record->misc & PD_MASK(PD_MISC_BUILD_ID_SIZE) && in->size < ID_BYTES)
		id.size = in->size;
	memcpy(id.bytes, in->build_id.data, id.size < in->build_id.size ? id.size : in->build_id.size);
	entry = find_entry(ids, in->filename.data, (uint32_t)in->pid);
	if (!entry && !add_entry(ids, in->filename.data, (uint32_t)in->pid, record->misc, &id))
		return INJECT_FAILED;
	entry = find_entry(ids, in->filename.data, (uint32_t)in->pid);
	entry->id = id;
	entry->misc = record->misc;
	if (!known)
		return INJECT_PASS;
	set_id(entry, known);
	changed = *in;
	changed.build_id = (struct pd_bytes){ entry->id.bytes, ID_BYTES };
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
		return mark_sample(ids, record) ? INJECT_PASS : INJECT_FAILED;
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
	int code = values->known ? open_known(ids, values->known) : CODE_FINE;

	if (code != CODE_FINE)
		return code;
	if (!take_list(ids) || !inject_keep(inject, pd_world_new(NULL, &ids->world, &inject->error)) ||
	    !inject_keep(inject, pd_symbols_new(inject->input.file, ids->world, &options, &ids->symbols, &inject->error))) {
		complain("%s", inject->error.message);
		return CODE_UNREADABLE;
	}
	return ids->only_hits ? read_before(ids) : CODE_FINE;
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
		pd_text_printf(text, "; build ids in %llu maps", (unsigned long long)ids->changed);
	else
		pd_text_printf(text, "; %llu build ids added, %llu were there", (unsigned long long)ids->added,
			       (unsigned long long)ids->already);
	if (ids->dropped)
		pd_text_printf(text, ", %llu maps that no sample is in left out", (unsigned long long)ids->dropped);
	if (ids->missing)
		pd_text_printf(text, ", %llu objects have none", (unsigned long long)ids->missing);
}

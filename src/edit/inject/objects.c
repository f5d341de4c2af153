/* SPDX-License-Identifier: MIT */
// Build ids of objects: asking for them, and putting them into the list or, in a pipe, into records.
#include "edit/inject/ids.h"

#include <string.h>

enum {
	NAME_MAX_BYTES = 4096
};

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

bool pd_inject_can_have_id(const struct pd_object *object)
{
	return object->kind == PD_OBJECT_FILE || object->kind == PD_OBJECT_KERNEL || object->kind == PD_OBJECT_MODULE ||
	       object->kind == PD_OBJECT_VDSO;
}

static void ask(struct pd_inject_ids *ids, const struct pd_object *object, struct pd_inject_answer *answer)
{
	const struct pd_build_id *known = pd_inject_ids_find_known(ids, object->path);
	const struct pd_inject_entry *entry = pd_inject_ids_find_entry(ids, object->path, pid_of(object->machine));
	const char *why;

	answer->asked = true;
	if (known) {
		answer->id = *known;
	} else if (entry && !object->build_id_size) {
		answer->id = entry->id;
	} else if (!pd_symbols_build_id(ids->symbols, object, &answer->id, &why)) {
		ids->inject->result.missing_id_count++;
		pd_inject_warn(ids->inject, false, "%s: no build id: %s", object->path, why);
	}
}

// What is known of an object; NULL without memory.
struct pd_inject_answer *pd_inject_answer_of(struct pd_inject_ids *ids, const struct pd_object *object)
{
	size_t capacity = ids->answer_count;

	if (object->index >= capacity) {
		if (!PD_GROW(ids->answers, capacity, (size_t)object->index + 1)) {
			pd_inject_no_memory(ids->inject);
			return NULL;
		}
		memset(ids->answers + ids->answer_count, 0, (capacity - ids->answer_count) * sizeof(*ids->answers));
		ids->answer_count = capacity;
	}
	if (!ids->answers[object->index].asked)
		ask(ids, object, &ids->answers[object->index]);
	return &ids->answers[object->index];
}

// In a pipe the id comes in front of the map, and records are aligned.
static bool send_entry(struct pd_inject_ids *ids, const struct pd_inject_entry *entry)
{
	struct pd_inject *inject = ids->inject;
	uint32_t length = (uint32_t)strlen(entry->name);
	size_t size = (pd_inject_ids_entry_size(entry) + 7) & ~(size_t)7;
	const struct pd_header_build_id record = {
		.pid = (int32_t)entry->pid,
		.build_id = { entry->id.bytes, PD_BUILD_ID_SIZE },
		.size = entry->id.size,
		.filename = { entry->name, length, (uint32_t)(size - PD_INJECT_ENTRY_HEAD) },
	};

	if (ids->in_maps || pd_writer_mode(inject->writer) != PD_MODE_PIPE)
		return true;
	return pd_inject_keep(inject, pd_writer_add(inject->writer, PD_RECORD_HEADER_BUILD_ID, entry->misc, &record, 0,
						    &inject->error));
}

static bool list_id(struct pd_inject_ids *ids, const char *name, uint32_t pid, uint16_t misc,
		    const struct pd_build_id *id)
{
	struct pd_inject_entry *entry = pd_inject_ids_find_entry(ids, name, pid);

	if (strlen(name) > NAME_MAX_BYTES)
		return true;
	if (entry && entry->id.size == id->size && !memcmp(entry->id.bytes, id->bytes, id->size)) {
		ids->inject->result.present_id_count++;
		return true;
	}
	if (!entry) {
		if (!pd_inject_ids_add_entry(ids, name, pid, misc, id))
			return false;
		entry = &ids->entries[ids->entry_count - 1];
	}
	pd_inject_ids_set(entry, id);
	ids->inject->result.added_id_count++;
	return send_entry(ids, entry);
}

bool pd_inject_ids_list_object(struct pd_inject_ids *ids, const struct pd_object *object)
{
	struct pd_inject_answer *answer = pd_inject_can_have_id(object) ? pd_inject_answer_of(ids, object) : NULL;

	if (!answer)
		return ids->inject->status >= 0;
	if (answer->listed || !answer->id.size)
		return true;
	answer->listed = true;
	return list_id(ids, object->path, pid_of(object->machine), misc_of(object), &answer->id);
}

bool pd_inject_ids_add(struct pd_inject *inject, const char *path, const struct pd_build_id *id)
{
	return list_id(inject->ids, path, UINT32_MAX, PD_CPUMODE_USER, id);
}

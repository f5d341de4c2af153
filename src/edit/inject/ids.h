/* SPDX-License-Identifier: MIT */
/*
 * The inside of the part that is about build ids, from below: list.c has the list of them, objects.c asks for the id of an
 * object, hits.c knows what samples are in, ids.c puts ids into maps.
 */
#ifndef PD_INJECT_IDS_H
#define PD_INJECT_IDS_H

#include "edit/inject/inject.h"
#include "base/lookup/hash.h"

enum {
	PD_INJECT_ENTRY_HEAD = 36 // bytes of an entry of the list, up to the name
};

// An entry of the list.
struct pd_inject_entry {
	char *name;   // with the zeros after it that it is written with
	uint32_t pid; // of the machine
	uint16_t misc;
	struct pd_build_id id;
};

// What is known of an object.
struct pd_inject_answer {
	bool asked;
	bool listed; // it has an entry
	struct pd_build_id id;
};

// An address that was met.
struct pd_inject_recent {
	uint64_t maps, addr;
};

struct pd_inject_view {
	uint32_t pid, tid;
	bool used;
	struct pd_view view;
};

struct pd_inject_ids {
	struct pd_inject *inject;
	struct pd_state *state;
	struct pd_symbols *symbols;
	bool only_hits, in_maps;
	bool all_hit;
	struct pd_inject_entry *entries;
	size_t entry_count, entry_capacity;
	struct pd_index index; // of entries, by name
	uint64_t seed;
	struct pd_inject_answer *answers; // by index of the object
	size_t answer_count;
	size_t mapping_count; // that were there after the first reading, or that were found
	uint8_t *hit_objects, *hit_mappings;
	struct pd_inject_recent *recent;
	struct pd_inject_view *views;
};

// ---- list.c ----

// A build id that the caller gives, or NULL.
const struct pd_build_id *pd_inject_ids_find_known(const struct pd_inject_ids *ids, const char *path);
struct pd_inject_entry *pd_inject_ids_find_entry(const struct pd_inject_ids *ids, const char *name, uint32_t pid);
// Returns false without memory, as the next.
bool pd_inject_ids_add_entry(struct pd_inject_ids *ids, const char *name, uint32_t pid, uint16_t misc,
			     const struct pd_build_id *id);
// The list that the file has.
bool pd_inject_ids_take_list(struct pd_inject_ids *ids);
void pd_inject_ids_set(struct pd_inject_entry *entry, const struct pd_build_id *id);
// Bytes of an entry; a multiple of 8, which newer versions of perf want.
size_t pd_inject_ids_entry_size(const struct pd_inject_entry *entry);
void pd_inject_ids_free_list(struct pd_inject_ids *ids);

// ---- objects.c ----

bool pd_inject_can_have_id(const struct pd_object *object);
// What is known of an object; NULL without memory.
struct pd_inject_answer *pd_inject_answer_of(struct pd_inject_ids *ids, const struct pd_object *object);
// Asks for the id of an object and puts it into the list; false after a failure.
bool pd_inject_ids_list_object(struct pd_inject_ids *ids, const struct pd_object *object);

// ---- hits.c ----

// Reads the maps, and the samples if maps depend on them.
enum pd_status pd_inject_ids_read_before(struct pd_inject_ids *ids, struct pd_error *error);
// The map that a record made. SIZE_MAX if it made none.
size_t pd_inject_ids_mapping_at(const struct pd_inject_ids *ids, uint64_t place);
// Notes what a sample is in; false after a failure.
bool pd_inject_ids_mark_sample(struct pd_inject_ids *ids, const struct pd_record *record);

#endif

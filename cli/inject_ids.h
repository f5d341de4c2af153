/* SPDX-License-Identifier: MIT */
/*
 * The inside of the part of perfdata inject that is about build ids: inject_ids.c asks for ids and puts them into maps,
 * inject_list.c has the list of them, inject_hits.c knows what samples are in.
 */
#ifndef CLI_INJECT_IDS_H
#define CLI_INJECT_IDS_H

#include "inject.h"

enum {
	ENTRY_HEAD = 36 /* bytes of an entry of the list, up to the name */
};

/* An entry of the list. */
struct entry {
	char *name;   /* with the zeros behind it that it is written with */
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

/* ---- inject_list.c ---- */

/* Takes the argument of --known-build-ids. Says what is wrong and returns another code than CODE_FINE then. */
int ids_open_known(struct ids *ids, const char *argument);
const struct pd_build_id *ids_find_known(const struct ids *ids, const char *path);
struct entry *ids_find_entry(const struct ids *ids, const char *name, uint32_t pid);
/* All return false without memory. */
bool ids_add_entry(struct ids *ids, const char *name, uint32_t pid, uint16_t misc, const struct pd_build_id *id);
/* The list that the file has. */
bool ids_take_list(struct ids *ids);
void ids_set(struct entry *entry, const struct pd_build_id *id);
/* Bytes of an entry; a multiple of 8, which newer perfs want. */
size_t ids_entry_size(const struct entry *entry);

/* ---- inject_hits.c ---- */

/* Reads the maps, and the samples if maps depend on them. Says what is wrong and returns another code than CODE_FINE
 * then. */
int ids_read_before(struct ids *ids);
/* The map that a record made. SIZE_MAX if it made none. */
size_t ids_mapping_at(const struct ids *ids, uint64_t place);
/* Notes what a sample is in; false after a failure. */
bool ids_mark_sample(struct ids *ids, const struct pd_record *record);

/* ---- inject_ids.c ---- */

/* Asks for the id of an object and puts it into the list; false after a failure. */
bool ids_list_object(struct ids *ids, const struct pd_object *object);

#endif

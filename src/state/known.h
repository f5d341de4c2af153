/* SPDX-License-Identifier: MIT */
/*
 * MMAP2 records that were decoded before. Thousands of processes map the same objects, so most of these records differ from
 * earlier ones in the process, the address and the time only; those are taken without decoding them again.
 */
#ifndef PD_STATE_KNOWN_H
#define PD_STATE_KNOWN_H

#include <perfdata/stream.h>

#include "base/lookup/hash.h"
#include "base/memory.h"

struct pd_file;
struct pd_event_full;

struct pd_known_map {
	const uint8_t *bytes; // from the length of the mapping to the end of the path
	uint32_t size;        // of the record
	uint32_t kind;        // see pd_map_kind
	uint16_t misc;
};

// All of it is true of one file and one form of records; where another comes, it begins anew.
struct pd_known_maps {
	const struct pd_file *file;
	const struct pd_event_full *event;
	uint64_t quirks;
	size_t trailer_size; // what is behind the path
	struct pd_index index;
	struct pd_known_map *items;
	size_t count, capacity;
	struct pd_arena arena; // of bytes
};

// What differs.
struct pd_known_record {
	uint32_t pid, tid;
	uint64_t addr;
};

// Of a record that is known.
struct pd_known_record pd_known_map_read(const struct pd_record *record);
// What is known of the record, or NULL.
const struct pd_known_map *pd_known_map_find(const struct pd_known_maps *known, uint64_t seed,
					     const struct pd_record *record);
// The record was decoded: it is this kind, and what is behind its path begins at text_end. Does nothing where that is not
// worth it, or there is no memory.
void pd_known_map_add(struct pd_known_maps *known, uint64_t seed, const struct pd_record *record,
		      const uint8_t *text_end, uint32_t kind);
void pd_known_maps_fini(struct pd_known_maps *known);

#endif

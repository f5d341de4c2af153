/* SPDX-License-Identifier: MIT */
#include "state/known.h"

#include <string.h>

#include "stream/read/stream.h"

enum {
	COMMON_FROM = PD_RECORD_HEADER_SIZE + 16, // pid, tid and addr differ
	COUNT_MOST = 1 << 14,
	HASHED = 32,       // length, offset, device and inode, or build id
	SAME_HASH_MOST = 8 // of one hash
};

// Few differ in what is not hashed. Where many do, most of them are decoded again and again.
static uint64_t hash_of(uint64_t seed, const struct pd_record *record, size_t common)
{
	return pd_hash(seed ^ record->misc ^ (uint64_t)record->bytes.size << 16, record->bytes.data + COMMON_FROM,
		       common < HASHED ? common : HASHED);
}

struct pd_known_record pd_known_map_read(const struct pd_record *record)
{
	const uint8_t *body = record->bytes.data + PD_RECORD_HEADER_SIZE;

	return (struct pd_known_record){ pd_load_u32(body, false), pd_load_u32(body + 4, false),
					 pd_load_u64(body + 8, false) };
}

static bool is_of_form(const struct pd_known_maps *known, const struct pd_record *record)
{
	return known->file == pd_record_file(record) && known->event == pd_record_full_event(record) &&
	       known->quirks == pd_file_quirks(known->file);
}

const struct pd_known_map *pd_known_map_find(const struct pd_known_maps *known, uint64_t seed,
					     const struct pd_record *record)
{
	size_t size = record->bytes.size, common, at;
	uint64_t hash;

	if (!known->count || size < COMMON_FROM + known->trailer_size || !is_of_form(known, record))
		return NULL;
	common = size - known->trailer_size - COMMON_FROM;
	hash = hash_of(seed, record, common);
	at = (uint32_t)hash;
	for (uint32_t i; (i = pd_index_next(&known->index, hash, &at)) != PD_INDEX_END;) {
		const struct pd_known_map *map = &known->items[i];

		if (map->size == size && map->misc == record->misc &&
		    memcmp(map->bytes, record->bytes.data + COMMON_FROM, common) == 0)
			return map;
	}
	return NULL;
}

static bool has_enough_of(const struct pd_known_maps *known, uint64_t hash)
{
	size_t at = (uint32_t)hash, count = 0;

	while (pd_index_next(&known->index, hash, &at) != PD_INDEX_END)
		count++;
	return count >= SAME_HASH_MOST;
}

static void begin_anew(struct pd_known_maps *known, const struct pd_record *record, size_t trailer_size)
{
	pd_index_fini(&known->index);
	pd_arena_reset(&known->arena);
	known->count = 0;
	known->file = pd_record_file(record);
	known->event = pd_record_full_event(record);
	known->quirks = pd_file_quirks(known->file);
	known->trailer_size = trailer_size;
}

void pd_known_map_add(struct pd_known_maps *known, uint64_t seed, const struct pd_record *record,
		      const uint8_t *text_end, uint32_t kind)
{
	size_t size = record->bytes.size, text = (size_t)(text_end - record->bytes.data), common = text - COMMON_FROM;
	uint64_t hash = hash_of(seed, record, common);
	const uint8_t *bytes;

	if (pd_record_is_swapped(record))
		return;
	if (!known->file || known->trailer_size != size - text || !is_of_form(known, record))
		begin_anew(known, record, size - text);
	if (known->count == COUNT_MOST || has_enough_of(known, hash) ||
	    !PD_GROW(known->items, known->capacity, known->count + 1))
		return;
	bytes = pd_arena_copy(&known->arena, record->bytes.data + COMMON_FROM, common);
	if (!bytes || !pd_index_add(&known->index, hash, (uint32_t)known->count))
		return;
	known->items[known->count++] = (struct pd_known_map){ bytes, (uint32_t)size, kind, record->misc };
}

void pd_known_maps_fini(struct pd_known_maps *known)
{
	pd_index_fini(&known->index);
	pd_arena_fini(&known->arena);
	pd_free(known->items);
	*known = (struct pd_known_maps){ 0 };
}

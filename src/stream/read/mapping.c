/* SPDX-License-Identifier: MIT */
/* MMAP2 records whose bit MMAP_BUILD_ID is wrong. */
#include "stream/read/inside.h"

enum {
	MINOR_BITS = 20, // of a device, in the kernel
	SIZE_OF_SHA1 = 20,
	SIZE_OF_MD5 = 16
};

static bool was_asked_for(const struct pd_record *record)
{
	return record->event && PD_BITS(record->event->attr->flags, PD_ATTR_BUILD_ID);
}

// The kernel fills ids up with zeros. A device with 8 as major number looks as an id of 8 bytes that begin with a small number.
static bool is_build_id(const struct pd_record *record, const struct pd_mmap2 *map)
{
	const uint8_t *id = map->build_id.data;

	if (map->build_id_size > map->build_id.size || map->reserved_1 || map->reserved_2)
		return false;
	if (map->build_id_size == SIZE_OF_SHA1 || map->build_id_size == SIZE_OF_MD5 || was_asked_for(record))
		return true;
	for (size_t i = map->build_id_size; i < map->build_id.size; i++)
		if (id[i])
			return false;
	return map->build_id_size && pd_load_u32(id, pd_record_context(record)->swap) >> MINOR_BITS;
}

bool pd_mmap2_recover(const struct pd_record *record, struct pd_mmap2 *map)
{
	bool big = pd_record_is_big(record), swap = pd_record_context(record)->swap;
	const uint8_t *at = map->build_id.data;

	if (record->type != PD_RECORD_MMAP2 || !(record->misc & PD_MASK(PD_MISC_MMAP_BUILD_ID)) ||
	    map->build_id.size != PD_BUILD_ID_SIZE || is_build_id(record, map))
		return false;
	map->maj = big ? (uint32_t)map->build_id_size << 24 | (uint32_t)map->reserved_1 << 16 | map->reserved_2 :
			 map->build_id_size | (uint32_t)map->reserved_1 << 8 | (uint32_t)map->reserved_2 << 16;
	map->min = pd_load_u32(at, swap);
	map->ino = pd_load_u64(at + 4, swap);
	map->ino_generation = pd_load_u64(at + 12, swap);
	map->build_id_size = map->reserved_1 = 0;
	map->reserved_2 = 0;
	map->build_id = (struct pd_bytes){ 0 };
	return true;
}

const void *pd_record_unmark(const struct pd_record *record, const void *decoded, uint16_t *misc,
			     struct pd_mmap2 *memory)
{
	if (record->type != PD_RECORD_MMAP2)
		return decoded;
	*memory = *(const struct pd_mmap2 *)decoded;
	if (!pd_mmap2_recover(record, memory))
		return decoded;
	*misc &= (uint16_t)~PD_MASK(PD_MISC_MMAP_BUILD_ID);
	return memory;
}

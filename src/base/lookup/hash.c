/* SPDX-License-Identifier: MIT */
#include "base/lookup/hash.h"

#include <string.h>
#include <sys/random.h>

#include "base/memory.h"

uint64_t pd_hash(uint64_t seed, const void *data, size_t size)
{
	const uint8_t *at = data;
	uint64_t hash = pd_hash_u64(seed, size), word;

	for (; size >= 8; size -= 8, at += 8) {
		memcpy(&word, at, 8);
		hash = pd_hash_u64(seed, hash ^ word);
	}
	if (size) {
		word = 0;
		memcpy(&word, at, size);
		hash = pd_hash_u64(seed, hash ^ word);
	}
	return hash;
}

uint64_t pd_hash_secret(void)
{
	uint64_t secret;

	// without random numbers, where memory is
	if (getrandom(&secret, sizeof(secret), GRND_NONBLOCK) != (ssize_t)sizeof(secret))
		secret = (uintptr_t)&secret;
	return secret;
}

static void insert_slot(struct pd_index *index, struct pd_index_slot slot)
{
	size_t at = slot.hash & (index->capacity - 1);

	while (index->slots[at].number_plus_1)
		at = (at + 1) & (index->capacity - 1);
	index->slots[at] = slot;
}

static bool grow(struct pd_index *index, size_t capacity)
{
	struct pd_index old = *index;

	index->capacity = capacity;
	index->slots = index->capacity > SIZE_MAX / sizeof(*index->slots) ?
			       NULL :
			       pd_alloc_table(index->capacity * sizeof(*index->slots));
	if (!index->slots) {
		*index = old;
		return false;
	}
	for (size_t i = 0; i < old.capacity; i++) {
		if (old.slots[i].number_plus_1)
			insert_slot(index, old.slots[i]);
	}
	pd_free(old.slots);
	return true;
}

void pd_index_reserve(struct pd_index *index, size_t count)
{
	size_t capacity = index->capacity ? index->capacity : 64;

	while (capacity / 2 < count && capacity < SIZE_MAX / 2)
		capacity *= 2;
	if (capacity > index->capacity)
		grow(index, capacity);
}

bool pd_index_add(struct pd_index *index, uint64_t hash, uint32_t number)
{
	if (index->count >= index->capacity / 2 && !grow(index, index->capacity ? index->capacity * 2 : 64))
		return false;
	insert_slot(index, (struct pd_index_slot){ (uint32_t)hash, number + 1 });
	index->count++;
	return true;
}

void pd_index_fini(struct pd_index *index)
{
	pd_free(index->slots);
	*index = (struct pd_index){ 0 };
}

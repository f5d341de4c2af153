/* SPDX-License-Identifier: MIT */
#include "base/lookup/strings.h"

#include <string.h>

uint32_t pd_strings_add(struct pd_strings *strings, struct pd_arena *arena, const char *string, size_t size)
{
	uint64_t hash = pd_hash(strings->seed, string, size);
	size_t at = (uint32_t)hash;
	const char *copy;

	for (uint32_t i; (i = pd_index_next(&strings->index, hash, &at)) != PD_INDEX_END;)
		if (strncmp(strings->items[i], string, size) == 0 && !strings->items[i][size])
			return i;
	copy = strings->count < PD_INDEX_END - 1 ? pd_arena_text(arena, string, size) : NULL;
	if (!copy || !PD_GROW(strings->items, strings->capacity, strings->count + 1) ||
	    !pd_index_add(&strings->index, hash, (uint32_t)strings->count))
		return PD_INDEX_END;
	strings->items[strings->count] = copy;
	return (uint32_t)strings->count++;
}

const char *pd_strings_once(struct pd_strings *strings, struct pd_arena *arena, const char *string)
{
	uint32_t number = pd_strings_add(strings, arena, string, strlen(string));

	return number == PD_INDEX_END ? NULL : strings->items[number];
}

void pd_strings_fini(struct pd_strings *strings)
{
	pd_free(strings->items);
	pd_index_fini(&strings->index);
	strings->items = NULL;
	strings->count = strings->capacity = 0;
}

/* SPDX-License-Identifier: MIT */
/* Strings that are kept once each, numbered in the order in which they were added. */
#ifndef PD_BASE_LOOKUP_STRINGS_H
#define PD_BASE_LOOKUP_STRINGS_H

#include "base/lookup/hash.h"
#include "base/memory.h"

// Zeros are no strings; who wants a seed sets it before the first one.
struct pd_strings {
	const char **items; // by number, in the arena
	size_t count, capacity;
	struct pd_index index;
	uint64_t seed;
};

// The number of a string of size bytes, none of them 0, which is copied into the arena if it is new. PD_INDEX_END if there is
// no memory.
uint32_t pd_strings_add(struct pd_strings *strings, struct pd_arena *arena, const char *string, size_t size);
// The same string, as it is kept, or NULL.
const char *pd_strings_once(struct pd_strings *strings, struct pd_arena *arena, const char *string);
// The arena stays.
void pd_strings_fini(struct pd_strings *strings);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Sorting of many items by a number in each, some bits of it at a time, the lowest first. Equal ones keep their order. The
 * functions are inline so that the key and the size of an item are known where they are used.
 */
#ifndef PD_BASE_RADIX_H
#define PD_BASE_RADIX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum {
	PD_RADIX_BITS = 11,
	PD_RADIX_DIGITS = 1 << PD_RADIX_BITS
};

// What an item is sorted by.
typedef uint64_t pd_radix_key_fn(const void *item);

static inline __attribute__((always_inline)) bool pd_radix_is_sorted(const void *items, size_t count, size_t size,
								     pd_radix_key_fn *key)
{
	const char *at = items;

	for (size_t i = 1; i < count; i++, at += size)
		if (key(at + size) < key(at))
			return false;
	return true;
}

static inline __attribute__((always_inline)) void pd_radix_pass(const char *from, char *to, size_t count, size_t size,
								pd_radix_key_fn *key, unsigned shift)
{
	size_t starts[PD_RADIX_DIGITS] = { 0 }, sum = 0;

	for (size_t i = 0; i < count; i++)
		starts[key(from + i * size) >> shift & (PD_RADIX_DIGITS - 1)]++;
	for (size_t i = 0; i < PD_RADIX_DIGITS; i++) {
		size_t here = starts[i];

		starts[i] = sum;
		sum += here;
	}
	for (size_t i = 0; i < count; i++)
		memcpy(to + starts[key(from + i * size) >> shift & (PD_RADIX_DIGITS - 1)]++ * size, from + i * size,
		       size);
}

// Sorts items, with memory for as many in spare. Returns which of both has them now.
static inline __attribute__((always_inline)) void *pd_radix_sort(void *items, void *spare, size_t count, size_t size,
								 pd_radix_key_fn *key)
{
	uint64_t differing = 0;

	for (size_t i = 1; i < count; i++)
		differing |= key((char *)items + i * size) ^ key(items);
	for (unsigned shift = 0; shift < 64 && differing >> shift; shift += PD_RADIX_BITS) {
		void *from = items;

		if (!(differing >> shift & (PD_RADIX_DIGITS - 1)))
			continue;
		pd_radix_pass(from, spare, count, size, key, shift);
		items = spare;
		spare = from;
	}
	return items;
}

#endif

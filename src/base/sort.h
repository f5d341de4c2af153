/* SPDX-License-Identifier: MIT */
/*
 * Sorting on several threads: by two words next to each other in memory, and only where both are equal by what
 * a function says, which may look anywhere.
 */
#ifndef PD_BASE_SORT_H
#define PD_BASE_SORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// An item of a list: sorted by first, second, then the function, then number.
struct pd_sorted {
	uint64_t first, second;
	uint32_t number;
};

// Compares two items by their numbers, as strcmp does.
typedef int pd_sort_fn(const void *self, uint32_t a, uint32_t b);
// threads as in pd_part_count. False if there is no memory.
bool pd_sort(struct pd_sorted *items, size_t count, pd_sort_fn *compare, const void *self, size_t threads);

#endif

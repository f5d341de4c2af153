/* SPDX-License-Identifier: MIT */
/*
 * Memory between two pages that cannot be touched. Bytes that end at the upper page show every read
 * after them, bytes that begin at the lower one every read in front.
 */
#ifndef PD_TEST_GUARD_H
#define PD_TEST_GUARD_H

#include <stddef.h>
#include <stdint.h>

struct guard {
	void *mapping;
	size_t mapped;
	uint8_t *begin;
	uint8_t *end;
};

// Ends the program if there is no memory.
void guard_init(struct guard *guard, size_t size);
void guard_fini(struct guard *guard);

#endif

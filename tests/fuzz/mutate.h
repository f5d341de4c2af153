/* SPDX-License-Identifier: MIT */
/*
 * Mutants of perf.data made by the tables of the format: numbers, counts, sizes and texts of records, attrs and
 * features get values that hurt, records are swapped, doubled, removed, cut, or become records of another type.
 */
#ifndef PD_TEST_MUTATE_H
#define PD_TEST_MUTATE_H

#include <stddef.h>
#include <stdint.h>

// As LLVMFuzzerCustomMutator.
size_t mutate(uint8_t *data, size_t size, size_t max_size, unsigned seed);

#endif

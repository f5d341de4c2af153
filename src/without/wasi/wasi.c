/* SPDX-License-Identifier: MIT */
#include "without/wasi/wasi.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"

struct sorter {
	size_t size;
	int (*compare)(const void *, const void *, void *);
	void *self;
};

// Merges two sorted runs that lie one after the other.
static void merge_runs(const struct sorter *sorter, const char *from, size_t left, size_t count, char *to)
{
	const char *one = from, *two = from + left * sorter->size;
	const char *one_end = two, *two_end = from + count * sorter->size;

	while (one < one_end && two < two_end) {
		const char **next = sorter->compare(one, two, sorter->self) <= 0 ? &one : &two;

		memcpy(to, *next, sorter->size);
		*next += sorter->size;
		to += sorter->size;
	}
	memcpy(to, one, (size_t)(one_end - one));
	memcpy(to + (one_end - one), two, (size_t)(two_end - two));
}

// Without memory for a copy, elements are put in their places one by one.
static void insert_all(const struct sorter *sorter, char *items, size_t count)
{
	for (size_t i = 1; i < count; i++) {
		for (size_t k = i; k > 0; k--) {
			char *one = items + (k - 1) * sorter->size, *two = one + sorter->size;

			if (sorter->compare(one, two, sorter->self) <= 0)
				break;
			for (size_t byte = 0; byte < sorter->size; byte++) {
				char spare = one[byte];

				one[byte] = two[byte];
				two[byte] = spare;
			}
		}
	}
}

void qsort_r(void *items, size_t count, size_t size, int (*compare)(const void *, const void *, void *), void *self)
{
	const struct sorter sorter = { size, compare, self };
	char *from = items, *to = count < SIZE_MAX / (size ? size : 1) ? pd_realloc(NULL, count * size + 1) : NULL;
	char *copy = to;

	if (!copy) {
		insert_all(&sorter, items, count);
		return;
	}
	for (size_t run = 1; run < count; run *= 2) {
		char *spare = from;

		for (size_t i = 0; i < count; i += 2 * run) {
			size_t both = count - i < 2 * run ? count - i : 2 * run;

			merge_runs(&sorter, from + i * size, run < both ? run : both, both, to + i * size);
		}
		from = to;
		to = spare;
	}
	if (from == copy && count)
		memcpy(items, copy, count * size);
	pd_free(copy);
}

#ifndef PD_WITHOUT_FILES_H
int mkostemp(char *path, int flags)
{
	static unsigned number;
	size_t length = strlen(path);

	for (unsigned tries = 0; length >= 6 && tries < 1000; tries++) {
		int fd;

		snprintf(path + length - 6, 7, "%06u", number++ % 1000000);
		fd = open(path, O_RDWR | O_CREAT | O_EXCL | flags, 0600);
		if (fd >= 0 || errno != EEXIST)
			return fd;
	}
	errno = EINVAL;
	return -1;
}
#endif

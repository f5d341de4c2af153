/* SPDX-License-Identifier: MIT */
/* Work in parts, each on a thread of its own. */
#ifndef CLI_PARTS_H
#define CLI_PARTS_H

#include <stddef.h>

enum {
	PARTS_MOST = 64,
	/* Bytes behind what a part writes all the time, so that no other is in the same line of the processor's cache; some
	 * processors fetch two at once. */
	PARTS_APART = 128,
};

/* How many threads an argument of --threads stands for: 0 means one for each processor that may be used. At most
 * PARTS_MOST. */
size_t thread_count(size_t wanted);
/* In how many parts so many things are done: one for each thread, but none with fewer than least. */
size_t part_count(size_t threads, size_t count, size_t least);
/* Calls work for each part, and comes back when all are done. The calling thread does the first one, and those for which
 * there is no thread. */
void parts_do(size_t parts, void (*work)(void *self, size_t part), void *self);

/* Where a part of so many things in a row begins; part parts begins at the end. */
static inline size_t part_begin(size_t count, size_t parts, size_t part)
{
	return count / parts * part + (part < count % parts ? part : count % parts);
}

#endif

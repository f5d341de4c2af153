/* SPDX-License-Identifier: MIT */
/* Binary search. */
#ifndef PD_BASE_LOOKUP_SEARCH_H
#define PD_BASE_LOOKUP_SEARCH_H

/*
 * Sets result to the first index of [begin, end) for which a condition on the index i is false, or to end. The condition
 * must be true up to some index and false from there on:
 *
 *	PD_SEARCH(at, 0, count, i, items[i].addr <= addr);
 *	return at ? &items[at - 1] : NULL; // the last one that begins at or before addr
 *
 * begin and end are read once; i has the type of result.
 */
#define PD_SEARCH(result, begin, end, i, condition)                                   \
	do {                                                                          \
		__typeof__(result) pd_low = (begin), pd_high = (end);                 \
                                                                                      \
		while (pd_low < pd_high) {                                            \
			const __typeof__(result) i = pd_low + (pd_high - pd_low) / 2; \
                                                                                      \
			if (condition)                                                \
				pd_low = i + 1;                                       \
			else                                                          \
				pd_high = i;                                          \
		}                                                                     \
		(result) = pd_low;                                                    \
	} while (0)

/*
 * Sets result to the last index of [0, count) for which a condition on the index i is true, or to 0 if there is none. The
 * condition must be true up to some index and false from there on. It has no branches, for where it cannot be foreseen what
 * the condition gives, as for addresses.
 */
#define PD_SEARCH_LAST(result, count, i, condition)                                           \
	do {                                                                                  \
		__typeof__(result) pd_low = 0, pd_left = (count);                             \
                                                                                              \
		while (pd_left > 1) {                                                         \
			const __typeof__(result) pd_half = pd_left / 2, i = pd_low + pd_half; \
                                                                                              \
			pd_low += (condition) ? pd_half : 0;                                  \
			pd_left -= pd_half;                                                   \
		}                                                                             \
		(result) = pd_low;                                                            \
	} while (0)

#endif

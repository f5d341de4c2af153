/* SPDX-License-Identifier: MIT */
/*
 * Random numbers of the tests: the same from the same seed on every machine. A test prints its
 * seed, and takes one as an argument, so that a failure can be made again.
 */
#ifndef PD_TEST_RANDOM_H
#define PD_TEST_RANDOM_H

#include <stdbool.h>
#include <stdint.h>

struct random {
	uint64_t state;
};

static inline uint64_t random_next(struct random *random)
{
	uint64_t v = random->state += UINT64_C(0x9e3779b97f4a7c15);

	v = (v ^ v >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	v = (v ^ v >> 27) * UINT64_C(0x94d049bb133111eb);
	return v ^ v >> 31;
}

// 0 to limit - 1. The small bias does not matter here.
static inline uint64_t random_below(struct random *random, uint64_t limit)
{
	return random_next(random) % limit;
}

// True once in n times.
static inline bool random_once_in(struct random *random, uint64_t n)
{
	return random_below(random, n) == 0;
}

// A number of any size: 0, small, all bits, or random of random length.
static inline uint64_t random_number(struct random *random)
{
	switch (random_below(random, 6)) {
	case 0:
		return random_below(random, 4);
	case 1:
		return UINT64_MAX - random_below(random, 3);
	default:
		return random_next(random) >> random_below(random, 64);
	}
}

#endif

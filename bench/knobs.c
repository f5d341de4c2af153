/* SPDX-License-Identifier: MIT */
/*
 * A program whose functions take known shares of its time, in rounds of fixed work. usage: knobs ROUNDS [NAME=FACTOR]...: the named
 * function (large, middle, small or memory) does FACTOR times its work.
 *
 * -DMOVED: what "small" does is done in "middle"; -DRENAMED: "small" has another name; -DINLINED: it has none.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OWN __attribute__((noinline, noclone))
#ifdef INLINED
#define SMALL static inline __attribute__((always_inline)) void small
#elif defined(RENAMED)
#define SMALL OWN static void tiny
#define small tiny
#else
#define SMALL OWN static void small
#endif

enum {
	WORDS = 1 << 21
};

static uint32_t table[WORDS];
static volatile uint64_t result;

OWN static void large(long count)
{
	double value = 0.3;

	for (long i = 0; i < count; i++)
		value = value * 3.7 * (1.0 - value);
	result = (uint64_t)(value * 1000);
}

SMALL(long count)
{
	uint64_t hash = 14695981039346656037u;

	for (long i = 0; i < count; i++)
		hash = (hash ^ (uint64_t)(i & 255)) * 1099511628211u;
	result = hash;
}

OWN static void middle(long count, long moved)
{
	uint64_t state = 88172645463325252u;

	for (long i = 0; i < count; i++) {
		state ^= state << 13;
		state ^= state >> 7;
		state ^= state << 17;
	}
	for (long i = 0; i < moved; i++)
		state = (state ^ (uint64_t)(i & 255)) * 1099511628211u;
	result = state;
}

OWN static void memory(long count)
{
	uint32_t at = (uint32_t)result & (WORDS - 1);

	for (long i = 0; i < count; i++)
		at = (table[at] + (uint32_t)i) & (WORDS - 1);
	result = at;
}

static double factor(int count, char **words, const char *name)
{
	size_t length = strlen(name);

	for (int i = 2; i < count; i++)
		if (strncmp(words[i], name, length) == 0 && words[i][length] == '=')
			return atof(words[i] + length + 1);
	return 1;
}

int main(int count, char **words)
{
	long rounds = count > 1 ? atol(words[1]) : 100;
	long small_work = (long)(220000 * factor(count, words, "small"));

	for (uint32_t i = 0; i < WORDS; i++)
		table[i] = i * 2654435761u;
	for (long i = 0; i < rounds; i++) {
		large((long)(400000 * factor(count, words, "large")));
#ifdef MOVED
		middle((long)(690000 * factor(count, words, "middle")), small_work);
#else
		middle((long)(690000 * factor(count, words, "middle")), 0);
		small(small_work);
#endif
		memory((long)(9300 * factor(count, words, "memory")));
	}
	return 0;
}

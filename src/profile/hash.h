/* SPDX-License-Identifier: MIT */
/* A hash over words, for keys that come out of a file: seeded, so that nobody can choose what falls together. */
#ifndef PD_PROFILE_HASH_H
#define PD_PROFILE_HASH_H

#include <stddef.h>
#include <stdint.h>

// Both halves of a product, folded: every bit of either factor reaches many bits of the result.
static inline uint64_t pd_fold(uint64_t a, uint64_t b)
{
#ifdef __SIZEOF_INT128__
	__extension__ typedef unsigned __int128 wide;
	wide product = (wide)a * b;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
#else
	uint64_t low = (uint32_t)a * (uint64_t)(uint32_t)b, high = (a >> 32) * (b >> 32);
	uint64_t cross = (a >> 32) * (uint32_t)b + (low >> 32), other = (b >> 32) * (uint32_t)a + (uint32_t)cross;

	return (other << 32 | (uint32_t)low) ^ (high + (cross >> 32) + (other >> 32));
#endif
}

static inline uint64_t pd_hash_words(uint64_t seed, const uint64_t *words, size_t count)
{
	// depend on the seed, so that no word can be chosen to make a factor zero
	const uint64_t odd = seed * UINT64_C(0x9e3779b97f4a7c15) | 1, even = odd + UINT64_C(0xc2b2ae3d27d4eb4f);
	uint64_t a = odd + count, b = even;
	size_t i;

	// two chains, so that one product need not wait for the other
	for (i = 0; i + 4 <= count; i += 4) {
		a = pd_fold(words[i] ^ a, words[i + 1] ^ odd);
		b = pd_fold(words[i + 2] ^ b, words[i + 3] ^ even);
	}
	for (; i < count; i++)
		a = pd_fold(words[i] ^ a, odd);
	return pd_fold(a ^ even, b ^ odd);
}

#endif

/* SPDX-License-Identifier: MIT */
/* A hash over words, for keys that come out of a file: seeded, so that nobody can choose what falls together. */
#ifndef PD_PROFILE_COLLECT_HASH_H
#define PD_PROFILE_COLLECT_HASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pd_tag {
	uint64_t low, high;
};

#ifdef __SIZEOF_INT128__
__extension__ typedef unsigned __int128 pd_wide;

static inline pd_wide pd_wide_product(uint64_t a, uint64_t b)
{
	return (pd_wide)a * b;
}

static inline void pd_wide_add(pd_wide *sum, pd_wide more)
{
	*sum += more;
}

static inline struct pd_tag pd_wide_halves(pd_wide wide)
{
	return (struct pd_tag){ (uint64_t)wide, (uint64_t)(wide >> 64) };
}
#else
typedef struct pd_tag pd_wide;

static inline pd_wide pd_wide_product(uint64_t a, uint64_t b)
{
	uint64_t low = (uint32_t)a * (uint64_t)(uint32_t)b, high = (a >> 32) * (b >> 32);
	uint64_t cross = (a >> 32) * (uint32_t)b + (low >> 32), other = (b >> 32) * (uint32_t)a + (uint32_t)cross;

	return (pd_wide){ other << 32 | (uint32_t)low, high + (cross >> 32) + (other >> 32) };
}

static inline void pd_wide_add(pd_wide *sum, pd_wide more)
{
	sum->low += more.low;
	sum->high += more.high + (sum->low < more.low);
}

static inline struct pd_tag pd_wide_halves(pd_wide wide)
{
	return wide;
}
#endif

static inline struct pd_tag pd_product(uint64_t a, uint64_t b)
{
	return pd_wide_halves(pd_wide_product(a, b));
}

// Both halves of a product, folded: every bit of either factor reaches many bits of the result.
static inline uint64_t pd_fold(uint64_t a, uint64_t b)
{
	struct pd_tag product = pd_product(a, b);

	return product.low ^ product.high;
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

// The same over numbers of 32 bits.
static inline uint64_t pd_hash_halves(uint64_t seed, const uint32_t *halves, size_t count)
{
	const uint64_t odd = seed * UINT64_C(0x9e3779b97f4a7c15) | 1, even = odd + UINT64_C(0xc2b2ae3d27d4eb4f);
	uint64_t a = odd + count, b = even;
	size_t i;

	for (i = 0; i + 4 <= count; i += 4) {
		a = pd_fold(((uint64_t)halves[i] << 32 | halves[i + 1]) ^ a, odd);
		b = pd_fold(((uint64_t)halves[i + 2] << 32 | halves[i + 3]) ^ b, even);
	}
	for (; i < count; i++)
		a = pd_fold(halves[i] ^ a, odd);
	return pd_fold(a ^ even, b ^ odd);
}

/*
 * Tags: 128 bits that stand for a key of many words, so that the words need not be kept. Products of pairs of words, each
 * with a secret added, are summed up (this is NH of UMAC, RFC 4418, with words of 64 bits): whatever two keys are, the
 * chance that the secrets make their tags the same is one in 2^64.
 */
enum {
	PD_TAG_HEAD = 12, // words in front of a chain
	PD_TAG_CHAIN_MOST = 160,
};

struct pd_secrets {
	uint64_t words[PD_TAG_HEAD + PD_TAG_CHAIN_MOST];
};

static inline void pd_secrets_fill(struct pd_secrets *secrets, uint64_t seed)
{
	for (size_t i = 0; i < PD_TAG_HEAD + PD_TAG_CHAIN_MOST; i++)
		secrets->words[i] = pd_hash_words(seed, &(uint64_t){ i }, 1);
}

static inline void pd_tag_add(pd_wide *sum, const uint64_t *secrets, uint64_t a, uint64_t b)
{
	pd_wide_add(sum, pd_wide_product(a + secrets[0], b + secrets[1]));
}

static inline void pd_tag_add_words(pd_wide *sum, const uint64_t *secrets, const uint64_t *words, size_t count)
{
	size_t i;

	for (i = 0; i + 2 <= count; i += 2)
		pd_tag_add(sum, secrets + i, words[i], words[i + 1]);
	if (i < count)
		pd_tag_add(sum, secrets + i, words[i], 0);
}

// The low half is not 0, which stands for none.
static inline struct pd_tag pd_tag_end(pd_wide sum)
{
	struct pd_tag tag = pd_wide_halves(sum);

	tag.low += !tag.low;
	return tag;
}

static inline bool pd_same_tag(const struct pd_tag *a, const struct pd_tag *b)
{
	return a->low == b->low && a->high == b->high;
}

// For tables: low bits of products are not even.
static inline uint64_t pd_tag_hash(const struct pd_tag *tag)
{
	return pd_fold(tag->low ^ UINT64_C(0xc2b2ae3d27d4eb4f), tag->high ^ UINT64_C(0x9e3779b97f4a7c15));
}

#endif

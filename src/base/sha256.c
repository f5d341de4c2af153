/* SPDX-License-Identifier: MIT */
#include "base/sha256.h"

#include <string.h>

static const uint32_t rounds[64] = {
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
	0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
	0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
	0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
	0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
	0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
	0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
	0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static uint32_t turn(uint32_t word, unsigned bits)
{
	return word >> bits | word << (32 - bits);
}

static uint32_t load(const uint8_t *at)
{
	return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

static void store(uint8_t *at, uint32_t word)
{
	for (unsigned i = 0; i < 4; i++)
		at[i] = (uint8_t)(word >> (24 - 8 * i));
}

static void take_block(uint32_t state[8], const uint8_t *block)
{
	uint32_t w[64], v[8];

	for (unsigned i = 0; i < 16; i++)
		w[i] = load(block + 4 * (size_t)i);
	for (unsigned i = 16; i < 64; i++) {
		uint32_t low = turn(w[i - 15], 7) ^ turn(w[i - 15], 18) ^ w[i - 15] >> 3;
		uint32_t high = turn(w[i - 2], 17) ^ turn(w[i - 2], 19) ^ w[i - 2] >> 10;

		w[i] = w[i - 16] + low + w[i - 7] + high;
	}
	memcpy(v, state, sizeof(v));
	for (unsigned i = 0; i < 64; i++) {
		uint32_t e = turn(v[4], 6) ^ turn(v[4], 11) ^ turn(v[4], 25);
		uint32_t a = turn(v[0], 2) ^ turn(v[0], 13) ^ turn(v[0], 22);
		uint32_t first = v[7] + e + ((v[4] & v[5]) ^ (~v[4] & v[6])) + rounds[i] + w[i];
		uint32_t second = a + ((v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]));

		memmove(v + 1, v, 7 * sizeof(v[0]));
		v[4] += first;
		v[0] = first + second;
	}
	for (unsigned i = 0; i < 8; i++)
		state[i] += v[i];
}

void pd_sha256_begin(struct pd_sha256 *sha)
{
	static const uint32_t start[8] = { 0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
					   0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19 };

	memcpy(sha->state, start, sizeof(start));
	sha->size = 0;
}

void pd_sha256_add(struct pd_sha256 *sha, const void *data, size_t size)
{
	const uint8_t *at = data;

	while (size) {
		size_t used = sha->size % PD_SHA256_BLOCK;
		size_t some = PD_SHA256_BLOCK - used < size ? PD_SHA256_BLOCK - used : size;

		memcpy(sha->block + used, at, some);
		sha->size += some;
		at += some;
		size -= some;
		if (used + some == PD_SHA256_BLOCK)
			take_block(sha->state, sha->block);
	}
}

void pd_sha256_end(struct pd_sha256 *sha, uint8_t out[PD_SHA256_BYTES])
{
	static const uint8_t padding[PD_SHA256_BLOCK] = { 0x80 };
	uint64_t bits = sha->size * 8;
	uint8_t length[8];

	pd_sha256_add(sha, padding, 1 + (PD_SHA256_BLOCK + 55 - sha->size % PD_SHA256_BLOCK) % PD_SHA256_BLOCK);
	store(length, (uint32_t)(bits >> 32));
	store(length + 4, (uint32_t)bits);
	pd_sha256_add(sha, length, sizeof(length));
	for (unsigned i = 0; i < 8; i++)
		store(out + 4 * (size_t)i, sha->state[i]);
}

void pd_hmac_key(struct pd_hmac *hmac, const void *key, size_t size)
{
	uint8_t block[PD_SHA256_BLOCK] = { 0 };

	if (size > sizeof(block)) {
		pd_sha256_begin(&hmac->inner);
		pd_sha256_add(&hmac->inner, key, size);
		pd_sha256_end(&hmac->inner, block);
	} else if (size) {
		memcpy(block, key, size);
	}
	for (size_t i = 0; i < sizeof(block); i++)
		block[i] ^= 0x36;
	pd_sha256_begin(&hmac->inner);
	pd_sha256_add(&hmac->inner, block, sizeof(block));
	for (size_t i = 0; i < sizeof(block); i++)
		block[i] ^= 0x36 ^ 0x5c;
	pd_sha256_begin(&hmac->outer);
	pd_sha256_add(&hmac->outer, block, sizeof(block));
}

void pd_hmac_end(struct pd_hmac *hmac, uint8_t out[PD_SHA256_BYTES])
{
	uint8_t inner[PD_SHA256_BYTES];

	pd_sha256_end(&hmac->inner, inner);
	pd_sha256_add(&hmac->outer, inner, sizeof(inner));
	pd_sha256_end(&hmac->outer, out);
}

/* SPDX-License-Identifier: MIT */
/*
 * SHA-256 (FIPS 180-4) and HMAC with it (RFC 2104): what turns a name into another one that cannot be turned back, or
 * found by trying names, without the key.
 */
#ifndef PD_BASE_SHA256_H
#define PD_BASE_SHA256_H

#include <stddef.h>
#include <stdint.h>

enum {
	PD_SHA256_BYTES = 32,
	PD_SHA256_BLOCK = 64
};

struct pd_sha256 {
	uint32_t state[8];
	uint64_t size; /* bytes taken so far */
	uint8_t block[PD_SHA256_BLOCK];
};

void pd_sha256_begin(struct pd_sha256 *sha);
void pd_sha256_add(struct pd_sha256 *sha, const void *data, size_t size);
void pd_sha256_end(struct pd_sha256 *sha, uint8_t out[PD_SHA256_BYTES]);

/* A key that is ready for use: copy it for each message. */
struct pd_hmac {
	struct pd_sha256 inner, outer;
};

void pd_hmac_key(struct pd_hmac *hmac, const void *key, size_t size);
/* The tag of what was added to hmac->inner. */
void pd_hmac_end(struct pd_hmac *hmac, uint8_t out[PD_SHA256_BYTES]);

#endif

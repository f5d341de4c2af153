/* SPDX-License-Identifier: MIT */
/*
 * SHA-256 (FIPS 180-4) and HMAC with it (RFC 2104): what turns a name into another one that cannot be turned back, or
 * found by trying names, without the key.
 */
#ifndef CLI_HMAC_H
#define CLI_HMAC_H

#include <stddef.h>
#include <stdint.h>

enum {
	SHA256_BYTES = 32,
	SHA256_BLOCK = 64
};

struct sha256 {
	uint32_t state[8];
	uint64_t size; /* bytes taken so far */
	uint8_t block[SHA256_BLOCK];
};

void sha256_begin(struct sha256 *sha);
void sha256_add(struct sha256 *sha, const void *data, size_t size);
void sha256_end(struct sha256 *sha, uint8_t out[SHA256_BYTES]);

/* A key that is ready for use: copy it for each message. */
struct hmac {
	struct sha256 inner, outer;
};

void hmac_key(struct hmac *hmac, const void *key, size_t size);
/* The tag of what was added to hmac->inner. */
void hmac_end(struct hmac *hmac, uint8_t out[SHA256_BYTES]);

#endif

/* SPDX-License-Identifier: MIT */
/* SHA-256 by the examples of FIPS 180-4, HMAC by the test cases of RFC 4231. */
#include "hmac.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned failures;

static void expect(const char *what, const uint8_t *tag, size_t size, const char *wanted)
{
	char digits[2 * SHA256_BYTES + 1];

	for (size_t i = 0; i < size; i++)
		snprintf(digits + 2 * i, 3, "%02x", tag[i]);
	if (strcmp(digits, wanted) != 0) {
		printf("not ok: %s: %s\n", what, digits);
		failures++;
	}
}

static void check_sha(const char *text, size_t times, size_t piece, const char *wanted)
{
	uint8_t tag[SHA256_BYTES];
	struct sha256 sha;

	sha256_begin(&sha);
	for (size_t i = 0; i < times; i++) {
		for (size_t at = 0, all = strlen(text); at < all; at += piece)
			sha256_add(&sha, text + at, all - at < piece ? all - at : piece);
	}
	sha256_end(&sha, tag);
	expect(text, tag, sizeof(tag), wanted);
}

static void check_hmac(const char *what, const void *key, size_t key_size, const void *data, size_t size, size_t shown,
		       const char *wanted)
{
	uint8_t tag[SHA256_BYTES];
	struct hmac ready, hmac;

	hmac_key(&ready, key, key_size);
	for (unsigned i = 0; i < 2; i++) { /* the key stays good */
		hmac = ready;
		sha256_add(&hmac.inner, data, size);
		hmac_end(&hmac, tag);
		expect(what, tag, shown, wanted);
	}
}

int main(void)
{
	static const char long_key[] = "This is a test using a larger than block-size key and a larger than block-size "
				       "data. The key needs to be hashed before being used by the HMAC algorithm.";
	static const char two_blocks[] = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
	uint8_t key[131], data[50];

	for (size_t piece = 1; piece < 60; piece += 7) {
		check_sha("", 1, piece, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
		check_sha("abc", 1, piece, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
		check_sha(two_blocks, 1, piece, "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
	}
	check_sha("aaaaaaaaaa", 100000, 10, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");

	memset(key, 0x0b, 20);
	check_hmac("case 1", key, 20, "Hi There", 8, 32,
		   "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
	check_hmac("case 2", "Jefe", 4, "what do ya want for nothing?", 28, 32,
		   "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
	memset(key, 0xaa, sizeof(key));
	memset(data, 0xdd, sizeof(data));
	check_hmac("case 3", key, 20, data, 50, 32, "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe");
	memset(data, 0xcd, sizeof(data));
	for (uint8_t i = 0; i < 25; i++)
		key[i] = (uint8_t)(i + 1);
	check_hmac("case 4", key, 25, data, 50, 32, "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b");
	memset(key, 0x0c, 20);
	check_hmac("case 5", key, 20, "Test With Truncation", 20, 16, "a3b6167473100ee06e0c796c2955552b");
	memset(key, 0xaa, sizeof(key));
	check_hmac("case 6", key, 131, "Test Using Larger Than Block-Size Key - Hash Key First", 54, 32,
		   "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
	check_hmac("case 7", key, 131, long_key, sizeof(long_key) - 1, 32,
		   "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2");
	printf("%u failures\n", failures);
	return failures != 0;
}

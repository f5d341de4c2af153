/* SPDX-License-Identifier: MIT */
/* SHA-256 by the examples of FIPS 180-4, HMAC by the test cases of RFC 4231. */
#include "base/sha256.h"
#include "../test.h"

static bool is_expected(const uint8_t *tag, size_t size, const char *expected)
{
	char digits[2 * PD_SHA256_BYTES + 1];

	for (size_t i = 0; i < size; i++)
		snprintf(digits + 2 * i, 3, "%02x", tag[i]);
	return strcmp(digits, expected) == 0;
}

static bool check_sha(const char *text, size_t times, size_t piece, const char *wanted)
{
	uint8_t tag[PD_SHA256_BYTES];
	struct pd_sha256 sha;

	pd_sha256_begin(&sha);
	for (size_t i = 0; i < times; i++) {
		for (size_t at = 0, all = strlen(text); at < all; at += piece)
			pd_sha256_add(&sha, text + at, all - at < piece ? all - at : piece);
	}
	pd_sha256_end(&sha, tag);
	return is_expected(tag, sizeof(tag), wanted);
}

static bool check_hmac(const void *key, size_t key_size, const void *data, size_t size, size_t shown,
		       const char *wanted)
{
	uint8_t tag[PD_SHA256_BYTES];
	struct pd_hmac ready, hmac;
	bool good = true;

	pd_hmac_key(&ready, key, key_size);
	for (unsigned i = 0; i < 2; i++) { /* the key stays good */
		hmac = ready;
		pd_sha256_add(&hmac.inner, data, size);
		pd_hmac_end(&hmac, tag);
		good = good && is_expected(tag, shown, wanted);
	}
	return good;
}

TEST(sha256)
{
	static const char two_blocks[] = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";

	for (size_t piece = 1; piece < 60; piece += 7) {
		CHECK(check_sha("", 1, piece, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"));
		CHECK(check_sha("abc", 1, piece, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"));
		CHECK(check_sha(two_blocks, 1, piece,
				"248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"));
	}
	CHECK(check_sha("aaaaaaaaaa", 100000, 10, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"));
}

TEST(hmac)
{
	static const char long_key[] = "This is a test using a larger than block-size key and a larger than block-size "
				       "data. The key needs to be hashed before being used by the HMAC algorithm.";
	uint8_t key[131], data[50];

	memset(key, 0x0b, 20);
	CHECK(check_hmac(key, 20, "Hi There", 8, 32,
			 "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"));
	CHECK(check_hmac("Jefe", 4, "what do ya want for nothing?", 28, 32,
			 "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"));
	memset(key, 0xaa, sizeof(key));
	memset(data, 0xdd, sizeof(data));
	CHECK(check_hmac(key, 20, data, 50, 32, "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe"));
	memset(data, 0xcd, sizeof(data));
	for (uint8_t i = 0; i < 25; i++)
		key[i] = (uint8_t)(i + 1);
	CHECK(check_hmac(key, 25, data, 50, 32, "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b"));
	memset(key, 0x0c, 20);
	CHECK(check_hmac(key, 20, "Test With Truncation", 20, 16, "a3b6167473100ee06e0c796c2955552b"));
	memset(key, 0xaa, sizeof(key));
	CHECK(check_hmac(key, 131, "Test Using Larger Than Block-Size Key - Hash Key First", 54, 32,
			 "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"));
	CHECK(check_hmac(key, 131, long_key, sizeof(long_key) - 1, 32,
			 "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2"));
}

RUN(TEST_CASE(sha256), TEST_CASE(hmac))

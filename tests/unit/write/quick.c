/* SPDX-License-Identifier: MIT */
/*
 * Frames of the quick packer, inflated by libzstd: bytes without order, records that differ a little, runs, pieces of each
 * small size and of sizes around blocks; from memory that ends where the piece does.
 */
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zstd.h>

#include "write/inside.h"

#include "../test.h"

enum {
	MOST = PD_PACK_PIECE,
	BLOCK = PD_PACK_BLOCK
};

static void *state;
static uint8_t *memory; // MOST bytes, and after them nothing may be read
static uint8_t packed[MOST + (64 << 10)], inflated[MOST + 1];
static size_t packed_size;
static uint64_t seed = 1;

static uint64_t any(void)
{
	seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
	return seed >> 33 ^ seed << 20;
}

static void begin(void)
{
	if (state)
		return;
	state = pd_packer_quick.start(0);
	memory = mmap(NULL, MOST + 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (!state || memory == MAP_FAILED || mprotect(memory + MOST, 65536, PROT_NONE) < 0)
		exit(1);
}

// Whether the last bytes of the memory come back.
static bool comes_back(size_t size)
{
	const uint8_t *data = memory + MOST - size;
	const char *reason = NULL;
	size_t capacity = pd_packer_quick.bound(size);

	packed_size = pd_packer_quick.finish(state, data, size, packed, capacity, &reason);
	return packed_size && packed_size <= capacity &&
	       ZSTD_decompress(inflated, sizeof(inflated), packed, packed_size) == size &&
	       memcmp(inflated, data, size) == 0;
}

static void fill_any(void)
{
	for (size_t i = 0; i < MOST; i++)
		memory[i] = (uint8_t)(any() >> 24);
}

// Words out of a few, so that matches of all lengths and distances come about; now and then a byte differs.
static void fill_words(uint64_t kinds, uint64_t spoil)
{
	for (size_t i = 0; i < MOST; i += 8) {
		uint64_t word = (any() >> 8) % kinds * UINT64_C(0x0101010101010101);

		memcpy(memory + i, &word, 8);
		if ((any() >> 8) % spoil == 0)
			memory[i + (any() >> 8) % 8] ^= 0x40;
	}
}

// Records of several kinds with a time that goes on.
static void fill_records(void)
{
	uint64_t time = 1234567890123;

	for (size_t at = 0; at + 64 <= MOST; at += 64) {
		uint64_t kind = (any() >> 8) % 3;
		uint64_t words[8] = { 0x40000000000009,
				      kind,
				      0xffffffff81234567 + kind,
				      0x100000001000 * kind,
				      time += any() % 5000,
				      1,
				      0x7f0000001000,
				      0x20 + (any() >> 8) % 4 };

		memcpy(memory + at, words, sizeof(words));
	}
}

TEST(test_quick__nothing_in_common)
{
	begin();
	fill_any();
	CHECK(comes_back(MOST));
	CHECK(packed_size <= MOST + 64);
	CHECK(comes_back(BLOCK + 1));
}

TEST(test_quick__records)
{
	begin();
	fill_records();
	CHECK(comes_back(MOST));
	CHECK(packed_size * 5 < MOST);
}

TEST(test_quick__one_run)
{
	begin();
	memset(memory, 0, MOST);
	CHECK(comes_back(MOST));
	CHECK(packed_size < 400);
	memset(memory, 0x5a, MOST);
	CHECK(comes_back(MOST - 3));
}

TEST(test_quick__each_small_size)
{
	begin();
	fill_words(2, 9);
	for (size_t size = 0; size < 1000; size++)
		CHECK(size ? comes_back(size) :
			     pd_packer_quick.finish(state, memory, 0, packed, 100, &(const char *){ NULL }));
	for (size_t size = BLOCK - 20; size < BLOCK + 20; size++)
		CHECK(comes_back(size));
}

// A block that is not worth it stands between others: what they remember is what the reader does.
TEST(test_quick__raw_between_packed)
{
	begin();
	for (unsigned i = 0; i < 8; i++) {
		fill_words(5, 30);
		for (size_t at = i * BLOCK; at < (i + 1) * (size_t)BLOCK; at += 8)
			if (at % 4096 > 16)
				memcpy(memory + at, &(uint64_t){ any() * any() }, 8);
		CHECK(comes_back(MOST));
	}
}

// Long literals, a long match, and after it one from far away: the numbers of both sequences are long.
TEST(test_quick__long_and_far)
{
	enum {
		SOURCE = 2048,
		PLAIN = 20 << 10,
		RUN = 40 << 10
	};

	begin();
	for (size_t far = 0; far < 8; far++) {
		uint8_t *at = memory + 7 * BLOCK;

		fill_any();
		memset(memory + SOURCE, 0, 7 * BLOCK - SOURCE);
		memset(at + PLAIN, 0, RUN);
		memcpy(at + PLAIN + RUN + 64, memory, SOURCE - 8 * far);
		CHECK(comes_back(MOST));
		CHECK(packed_size < BLOCK);
	}
}

// Words that differ in a byte or two, at one distance: runs of less than a word, and gaps at each place of a chunk.
TEST(test_quick__thin_differences)
{
	enum {
		RECORD = 1016
	};

	begin();
	for (unsigned kind = 1; kind < 40; kind++) {
		fill_any();
		for (size_t i = RECORD; i < MOST; i++)
			memory[i] = (uint8_t)(memory[i - RECORD] + ((any() >> 8) % kind == 0));
		CHECK(comes_back(MOST));
		CHECK(comes_back((size_t)(any() >> 8) % MOST + 1));
	}
}

TEST(test_quick__all_kinds)
{
	static const uint64_t kinds[] = { 1, 2, 3, 7, 50, 2000 }, spoils[] = { 2, 10, 100, 5000, 1000000 };

	begin();
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		for (size_t j = 0; j < sizeof(spoils) / sizeof(spoils[0]); j++) {
			fill_words(kinds[i], spoils[j]);
			CHECK(comes_back(MOST));
			CHECK(comes_back((size_t)(any() >> 8) % MOST + 1));
		}
}

TEST(test_quick__too_large)
{
	const char *reason = NULL;

	begin();
	CHECK(!pd_packer_quick.finish(state, memory, MOST, packed, MOST, &reason));
	CHECK_STR(reason, "no room");
	pd_packer_quick.close(state);
	munmap(memory, MOST + 65536);
}

RUN(TEST_CASE(test_quick__nothing_in_common), TEST_CASE(test_quick__records), TEST_CASE(test_quick__one_run),
    TEST_CASE(test_quick__each_small_size), TEST_CASE(test_quick__raw_between_packed),
    TEST_CASE(test_quick__long_and_far), TEST_CASE(test_quick__thin_differences), TEST_CASE(test_quick__all_kinds),
    TEST_CASE(test_quick__too_large))

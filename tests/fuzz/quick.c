/* SPDX-License-Identifier: MIT */
/*
 * Frames of the quick packer over made-up bytes: pieces of any size, put together of bytes without order, runs, words out of
 * a few, and copies from near and far with some bytes changed, each of any length. One after another they are inflated by
 * libzstd and compared. Nothing may be read after a piece, nor written after its bound.
 *
 * usage: quick [ROUNDS [SEED]]
 * exit status: 0; 1 a round did not come back, its seed is printed; 77 without libzstd
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef HAVE_ZSTD
#include <zstd.h>

#include "write/write.h"

enum {
	SKIPPED = 77,
	MOST_PIECES = 3,
	MOST = MOST_PIECES * PD_PACK_PIECE,
	BLOCK = 128 << 10,
	GUARD = 64, // bytes after what is packed, that stay
	GUARD_BYTE = 0xa5
};

static uint64_t seed;

static uint64_t any(void)
{
	seed += UINT64_C(0x9e3779b97f4a7c15);
	uint64_t value = (seed ^ seed >> 30) * UINT64_C(0xbf58476d1ce4e5b9);

	value = (value ^ value >> 27) * UINT64_C(0x94d049bb133111eb);
	return value ^ value >> 31;
}

static size_t below(size_t limit)
{
	return (size_t)(any() % limit);
}

// Of each magnitude as often as of every other; from 1 on.
static size_t any_length(size_t most)
{
	size_t length = 1 + below((size_t)1 << below(21));

	if (below(2))
		length = (length + 7) & ~(size_t)7;
	return length < most ? length : most;
}

// Sizes near those where something changes are as frequent as all others.
static size_t any_size(void)
{
	static const size_t edges[] = { 0, 16, 64, BLOCK, 2 * BLOCK, PD_PACK_PIECE, 2 * PD_PACK_PIECE, MOST };
	size_t edge = edges[below(sizeof(edges) / sizeof(edges[0]))] + below(40);

	if (below(2))
		return any_length(MOST);
	return edge > 20 && edge - 20 < MOST ? edge - 20 : edge > MOST ? MOST : edge;
}

// ---- what pieces are made of ----

static void put_any(uint8_t *data, size_t at, size_t size)
{
	for (size_t i = 0; i < size; i++)
		data[at + i] = (uint8_t)any();
}

static void put_run(uint8_t *data, size_t at, size_t size)
{
	memset(data + at, (int)below(3), size);
}

static void put_words(uint8_t *data, size_t at, size_t size)
{
	size_t kinds = 1 + below(40);

	for (size_t i = 0; i < size; i++)
		data[at + i] = (uint8_t)(i % 8 ? i % 8 : below(kinds));
}

// Copies may overlap themselves, as those of a reader do.
static void put_copy(uint8_t *data, size_t at, size_t size)
{
	size_t distance = any_length(at ? at : 1), change = below(3) ? 1 + below((size_t)1 << below(13)) : SIZE_MAX;

	if (!at) {
		put_any(data, at, size);
		return;
	}
	for (size_t i = 0; i < size; i++)
		data[at + i] = (uint8_t)(data[at + i - distance] + (below(change) == 0));
}

// Records of one size, of which a few words differ from one to the next.
static void put_records(uint8_t *data, size_t at, size_t size)
{
	size_t record = 16 + 8 * any_length(1200), word = 8 * below(record / 8);
	uint64_t time = any();

	for (size_t i = 0; i < size; i++)
		data[at + i] = i < record ? (uint8_t)any() : data[at + i - record];
	for (size_t i = word; i + 8 <= size; i += record) {
		time += below(100000);
		memcpy(data + at + i, &time, sizeof(time));
		if (!below(3) && i + 24 <= size)
			put_any(data, at + i + 8, 1 + below(16));
	}
}

// Too little comes again to make a block worth it, but something does.
static void put_spare(uint8_t *data, size_t at, size_t size)
{
	size_t each = 512 + 8 * below(600), distance = 8 * (1 + below(each / 8));

	put_any(data, at, size);
	for (size_t i = each; i + 32 < size; i += each)
		memmove(data + at + i, data + at + i - distance, 16 + below(16));
}

static void fill(uint8_t *data, size_t size)
{
	static void (*const kinds[])(uint8_t *, size_t, size_t) = { put_any,  put_run,     put_words, put_copy,
								    put_copy, put_records, put_spare };
	size_t length;

	for (size_t at = 0; at < size; at += length) {
		length = any_length(size - at);
		kinds[below(sizeof(kinds) / sizeof(kinds[0]))](data, at, length);
	}
}

// ---- a round ----

// A frame out of memory of its own, so that a sanitizer sees what lies behind. 0 if it cannot be.
static size_t pack(void *state, const uint8_t *data, size_t size, uint8_t *packed)
{
	size_t capacity = pd_packer_quick.bound(size), packed_size;
	uint8_t *piece = malloc(size ? size : 1);
	const char *reason = NULL;

	if (!piece)
		return 0;
	memcpy(piece, data, size);
	memset(packed + capacity, GUARD_BYTE, GUARD);
	packed_size = pd_packer_quick.finish(state, piece, size, packed, capacity, &reason);
	free(piece);
	for (size_t i = 0; i < GUARD; i++)
		if (packed[capacity + i] != GUARD_BYTE)
			return 0;
	return packed_size <= capacity ? packed_size : 0;
}

static const char *round_of(void *state, uint8_t *data, uint8_t *packed, uint8_t *inflated)
{
	size_t size = any_size(), end = 0, got;

	fill(data, size);
	for (size_t at = 0; at < size || !end;) {
		size_t piece = below(2) ? PD_PACK_PIECE : any_length(PD_PACK_PIECE), one;

		piece = piece < size - at ? piece : size - at;
		one = pack(state, data + at, piece, packed + end);
		if (!one)
			return "a piece was not packed, or too far";
		// frames one after another are inflated at once
		at += piece;
		end += one;
		if (end > 2 * (size_t)MOST)
			break;
		size = end > MOST ? at : size;
	}
	got = ZSTD_decompress(inflated, MOST, packed, end);
	if (ZSTD_isError(got))
		return ZSTD_getErrorName(got);
	return got == size && memcmp(data, inflated, size) == 0 ? NULL : "other bytes come back";
}

int main(int count, char **words)
{
	uint64_t rounds = count > 1 ? strtoull(words[1], NULL, 0) : 300;
	uint64_t first = count > 2 ? strtoull(words[2], NULL, 0) : 1;
	size_t most_packed = 2 * (size_t)MOST + pd_packer_quick.bound(PD_PACK_PIECE) + GUARD;
	uint8_t *data = malloc(MOST), *packed = malloc(most_packed), *inflated = malloc(MOST);
	void *state = pd_packer_quick.start(0);
	const char *wrong = data && packed && inflated && state ? NULL : "no memory";

	for (uint64_t i = 0; i < rounds && !wrong; i++) {
		seed = (first + i) * UINT64_C(0xd1342543de82ef95);
		wrong = round_of(state, data, packed, inflated);
		if (wrong)
			printf("seed %" PRIu64 ": %s\n", first + i, wrong);
	}
	if (!wrong)
		printf("%" PRIu64 " rounds came back\n", rounds);
	pd_packer_quick.close(state);
	free(data);
	free(packed);
	free(inflated);
	return wrong ? 1 : 0;
}
#else
int main(void)
{
	printf("built without zstd\n");
	return 77;
}
#endif

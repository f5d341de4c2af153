/* SPDX-License-Identifier: MIT */
/*
 * Compressed records as readers take them, by libzstd: one at a time, each of which must give something (perf takes one that
 * gives nothing for the end of the file), together what was put in, and never more than a reader was told to have room for.
 * Random pieces of noise, registers, stacks, branches and what hardly differs, through each packer.
 */
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zstd.h>

#include "write/inside.h"

#include "../test.h"

enum {
	MOST = 4 << 20,        // bytes that a round puts at most
	LEFT_OVER = UINT16_MAX // of a record whose end is in the next compressed one
};

static uint8_t plain[MOST], inflated[MOST + PD_PACK_MMAP_LEN];
static uint64_t seed;

static uint64_t any(void)
{
	seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
	return seed >> 32 | seed << 32;
}

static uint64_t below(uint64_t end)
{
	return (any() & UINT32_MAX) % end;
}

// ---- what is recorded ----

static uint64_t noise(size_t i)
{
	(void)i;
	return any();
}

// A value in each word, of 32 bits or less.
static uint64_t registers(size_t i)
{
	return i % 7 == 0 ? 0x7f1234560000 + below(1 << 20) : any() & UINT64_MAX >> below(64);
}

// From, to and flags: addresses of a megabyte of code.
static uint64_t branches(size_t i)
{
	return i % 3 == 2 ? below(4) | below(300) << 4 : 0x55d0aa000000 + below(1 << 20);
}

// Mostly zeros and addresses, and noise now and then.
static uint64_t stack(size_t i)
{
	return below(4) ? 0 : below(3) ? 0x7ffc00000000 + 8 * below(4096) : any() >> (i % 2 ? 32 : 0);
}

static uint64_t same(size_t i)
{
	return i % 128 == 0 ? i : 0x40000000000009;
}

static uint64_t (*const kinds[])(size_t) = { noise, registers, branches, stack, same };

enum {
	KINDS = sizeof(kinds) / sizeof(kinds[0])
};

// Stretches of up to 300 KiB of a kind each; kind KINDS: of any.
static size_t fill(size_t kind)
{
	size_t words = (64 + below(MOST - 64)) / 8;

	for (size_t i = 0; i < words;) {
		size_t end = i + 1 + below(300 << 7), chosen = kind < KINDS ? kind : below(KINDS);

		for (; i < end && i < words; i++)
			memcpy(plain + 8 * i, &(uint64_t){ kinds[chosen](i) }, 8);
	}
	return 8 * words;
}

// ---- there and back ----

// In pieces of any size, as records, spans of records and rings come.
static bool put(struct pd_writer *writer, struct pd_write_part *part, size_t size)
{
	static const size_t most[] = { 200, 65536, PD_PACK_PIECE };
	struct pd_error error;

	for (size_t at = 0; at < size;) {
		size_t piece = 8 + below(most[below(3)]), left = size - at;

		piece = below(8) ? piece : PD_PACK_PIECE;
		piece = piece < left ? piece : left;
		piece = piece < PD_PACK_PIECE ? piece : PD_PACK_PIECE;
		if (pd_pack_put(writer, part, plain + at, piece, &error) < 0)
			return false;
		if (!below(20) && pd_pack_flush(writer, part, &error) < 0)
			return false;
		at += piece;
	}
	return pd_pack_flush(writer, part, &error) >= 0 && pd_output_flush(&part->out, &error) >= 0;
}

// Bytes that one record gives; 0: none, or it is damaged, or there are more than a reader has room for.
static size_t inflate(ZSTD_DCtx *context, const uint8_t *data, size_t size, uint8_t *to)
{
	ZSTD_inBuffer in = { data, size, 0 };
	ZSTD_outBuffer out = { to, PD_PACK_MMAP_LEN - LEFT_OVER, 0 };
	size_t before;

	do {
		before = out.pos;
		if (ZSTD_isError(ZSTD_decompressStream(context, &out, &in)))
			return 0;
	} while (in.pos < in.size || out.pos != before);
	return out.pos;
}

static bool comes_back(const uint8_t *file, size_t file_size, size_t wanted)
{
	ZSTD_DCtx *context = ZSTD_createDCtx();
	size_t got = 0, given = 1, at = 0;

	while (at < file_size && given && got <= wanted) {
		uint32_t type = pd_load_u32(file + at, PD_HOST_BIG);
		uint16_t size = pd_load_u16(file + at + 6, PD_HOST_BIG);
		bool padded = type == PD_RECORD_COMPRESSED2;
		size_t data_size = padded ? (size_t)pd_load_u64(file + at + 8, PD_HOST_BIG) : size - 8u;

		given = inflate(context, file + at + (padded ? 16 : 8), data_size, inflated + got);
		got += given;
		at += size;
	}
	ZSTD_freeDCtx(context);
	return given && at == file_size && got == wanted && !memcmp(inflated, plain, wanted);
}

static bool round_trip(struct pd_writer *writer, size_t kind)
{
	int fd = memfd_create("packed", 0);
	struct pd_write_part part = { 0 };
	struct pd_error error;
	size_t size = fill(kind);
	bool fine = fd >= 0 && pd_output_init(&part.out, fd, false, "packed", &error) >= 0 && put(writer, &part, size);
	off_t end = lseek(fd, 0, SEEK_END);
	uint8_t *file = mmap(NULL, (size_t)end, PROT_READ, MAP_PRIVATE, fd, 0);

	fine = fine && file != MAP_FAILED && comes_back(file, (size_t)end, size);
	munmap(file, (size_t)end);
	pd_pack_fini(&part.pack);
	pd_output_fini(&part.out);
	close(fd);
	return fine;
}

static bool all_kinds(struct pd_writer *writer)
{
	static const uint32_t types[] = { PD_RECORD_COMPRESSED, PD_RECORD_COMPRESSED2 };

	writer->name = (char *)"packed";
	for (size_t i = 0; i < 2 * (KINDS + 1); i++) {
		writer->pack_type = types[i % 2];
		for (seed = 10 * i; seed < 10 * i + 3; seed++) {
			uint64_t begun = seed;

			if (!round_trip(writer, i / 2)) {
				printf("# kind %zu, type %u, seed %llu\n", i / 2, writer->pack_type,
				       (unsigned long long)begun);
				return false;
			}
			seed = begun;
		}
	}
	return true;
}

TEST(test_pack__quick)
{
	CHECK(all_kinds(&(struct pd_writer){ .quick = true, .whole_frames = true }));
}

TEST(test_pack__stream)
{
	CHECK(all_kinds(&(struct pd_writer){ .level = 1 }));
}

TEST(test_pack__frames)
{
	CHECK(all_kinds(&(struct pd_writer){ .level = 1, .whole_frames = true }));
}

TEST(test_pack__higher_levels)
{
	CHECK(all_kinds(&(struct pd_writer){ .level = 5 }));
	CHECK(all_kinds(&(struct pd_writer){ .level = 7, .whole_frames = true }));
}

RUN(TEST_CASE(test_pack__quick), TEST_CASE(test_pack__stream), TEST_CASE(test_pack__frames),
    TEST_CASE(test_pack__higher_levels))

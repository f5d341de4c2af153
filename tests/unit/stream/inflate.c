/* SPDX-License-Identifier: MIT */
/*
 * Compressed records, made here with libzstd: one stream of zstd that goes on from record to
 * record, records cut anywhere, frames that end, and the records of 6.16 to 7.2 that claim the
 * bytes of their neighbours.
 */
#include "../opened.h"

#include <zstd.h>

static struct opened o;

// A compressor whose frame stays open, as that of perf record -z.
struct packer {
	ZSTD_CStream *stream;
	uint8_t data[256 << 10];
	size_t size;
};

static struct packer packer;

// Compresses and flushes; the bytes are in packer.data. end: ends the frame.
static bool pack(const void *data, size_t size, bool end)
{
	ZSTD_inBuffer in = { data, size, 0 };
	ZSTD_outBuffer out = { packer.data, sizeof(packer.data), 0 };
	size_t left;

	if (!packer.stream)
		packer.stream = ZSTD_createCStream();
	left = ZSTD_compressStream2(packer.stream, &out, &in, end ? ZSTD_e_end : ZSTD_e_flush);
	packer.size = out.pos;
	return left == 0 && in.pos == size;
}

static void pack_anew(void)
{
	ZSTD_freeCStream(packer.stream);
	packer.stream = NULL;
}

static void put_compressed(struct image *image, const void *data, size_t size)
{
	size_t at = image_record(image, PD_RECORD_COMPRESSED, 0);

	image_bytes(image, data, size);
	image_end(image, at);
}

static void put_compressed2(struct image *image, const void *data, size_t size)
{
	size_t at = image_record(image, PD_RECORD_COMPRESSED2, 0);

	image_u64(image, size);
	image_bytes(image, data, size);
	image_zeros(image, (8 - size % 8) % 8);
	image_end(image, at);
}

// LOST records that count from first on.
static void put_lost(struct image *image, uint64_t first, uint64_t count)
{
	for (uint64_t i = 0; i < count; i++) {
		size_t at = image_record(image, PD_RECORD_LOST, 0);

		image_u64(image, 0), image_u64(image, first + i);
		image_end(image, at);
	}
}

static uint64_t number_of(const struct pd_record *record)
{
	const struct pd_lost *lost = record ? pd_as_lost(record) : NULL;

	return lost ? lost->lost : UINT64_MAX;
}

static void open_file_of(struct image *image)
{
	image_file_end(image);
	opened_open(&o, image, 0);
	pack_anew();
}

TEST(test_inflate__records_inside_come_after_the_one_they_are_in)
{
	for (unsigned form = 0; form < 4; form++) {
		struct image image = { .big = form & 1 }, inner = { .big = form & 1 };
		const struct pd_record *record;

		image_file(&image, 0, 0);
		put_lost(&inner, 1, 2);
		CHECK(pack(inner.data, inner.size, false));
		if (form & 2)
			put_compressed2(&image, packer.data, packer.size);
		else
			put_compressed(&image, packer.data, packer.size);
		put_lost(&image, 9, 1);
		image_free(&inner);
		open_file_of(&image);
		record = opened_next(&o);
		CHECK(record);
		CHECK(record->type == (form & 2 ? PD_RECORD_COMPRESSED2 : PD_RECORD_COMPRESSED) && !record->flags);
		CHECK(record->inner_offset == PD_NO_OFFSET);
		record = opened_next(&o);
		CHECK(number_of(record) == 1 && record->flags == PD_RECORD_INFLATED);
		CHECK(record->offset == 184 && record->inner_offset == 0);
		record = opened_next(&o);
		CHECK(number_of(record) == 2 && record->inner_offset == 24);
		record = opened_next(&o);
		CHECK(number_of(record) == 9 && !record->flags && record->index == 3);
		CHECK(!opened_next(&o) && o.status == PD_END && opened_told(&o, "compressed-damage") == 0);
	}
}

TEST(test_inflate__records_straddle)
{
	// 24 bytes each; cut at every place
	for (size_t cut = 1; cut < 72; cut++) {
		struct image image = { 0 }, inner = { 0 };

		image_file(&image, 0, 0);
		put_lost(&inner, 1, 3);
		CHECK(pack(inner.data, cut, false));
		put_compressed(&image, packer.data, packer.size);
		put_lost(&image, 9, 1);
		CHECK(pack(inner.data + cut, inner.size - cut, false));
		put_compressed(&image, packer.data, packer.size);
		image_free(&inner);
		open_file_of(&image);
		CHECK(opened_next(&o));
		for (uint64_t i = 1; i <= cut / 24; i++)
			CHECK(number_of(opened_next(&o)) == i);
		CHECK(number_of(opened_next(&o)) == 9);
		CHECK(opened_next(&o)->type == PD_RECORD_COMPRESSED);
		for (uint64_t i = cut / 24 + 1; i <= 3; i++)
			CHECK(number_of(opened_next(&o)) == i);
		CHECK(!opened_next(&o) && o.status == PD_END && o.problem_count == 0);
	}
}

TEST(test_inflate__compressed_bytes_cut_anywhere)
{
	// as simpleperf does: pieces of a fixed size, several frames
	struct image image = { 0 }, inner = { 0 }, packed = { 0 };
	uint64_t wanted = 1;

	for (unsigned i = 0; i < 3; i++) {
		inner.size = 0;
		put_lost(&inner, 1 + i * 10, 10);
		CHECK(pack(inner.data, inner.size, true));
		image_bytes(&packed, packer.data, packer.size);
	}
	image_file(&image, 0, 0);
	for (size_t at = 0; at < packed.size; at += 13)
		put_compressed(&image, packed.data + at, packed.size - at < 13 ? packed.size - at : 13);
	image_free(&inner);
	image_free(&packed);
	open_file_of(&image);
	for (const struct pd_record *record; (record = opened_next(&o)) != NULL;)
		if (record->flags & PD_RECORD_INFLATED)
			CHECK(number_of(record) == wanted++);
	CHECK(o.status == PD_END && wanted == 31 && o.problem_count == 0);
}

TEST(test_inflate__much_out_of_little)
{
	// 21845 records are 8 bytes less than four blocks of zstd: the end of them comes when all
	// input is taken
	static const uint64_t counts[] = { 10922, 10923, 21845, 21846, 100000 };

	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		struct image image = { 0 }, inner = { 0 };
		uint64_t seen = 0;

		image_file(&image, 0, 0);
		for (uint64_t j = 0; j < counts[i]; j++)
			put_lost(&inner, 7, 1);
		CHECK(pack(inner.data, inner.size, false) && packer.size < 65535 - 8);
		put_compressed(&image, packer.data, packer.size);
		image_free(&inner);
		open_file_of(&image);
		CHECK(opened_next(&o));
		for (const struct pd_record *record; (record = opened_next(&o)) != NULL; seen++)
			CHECK(number_of(record) == 7);
		CHECK(o.status == PD_END && seen == counts[i] && o.problem_count == 0);
	}
}

// What cannot be compressed, in whole records of 32 KiB.
static void put_noise(struct image *image, unsigned count)
{
	uint64_t word = 1;

	for (unsigned i = 0; i < count; i++) {
		size_t at = image_record(image, PD_RECORD_AUXTRACE_INFO, 0);

		for (unsigned j = 0; j < 4095; j++)
			image_u64(image, word = word * UINT64_C(6364136223846793005) + 1442695040888963407);
		image_end(image, at);
	}
}

// More than 64 KiB in several COMPRESSED2 records, the first of which claims the bytes of all.
static void make_claiming(struct image *image)
{
	struct image inner = { 0 };
	size_t first, most = 65528 - 16;

	put_noise(&inner, 5);
	put_lost(&inner, 1, 3);
	pack(inner.data, inner.size, false);
	image_file(image, 0, 0);
	first = image->size;
	for (size_t at = 0; at < packer.size; at += most)
		put_compressed2(image, packer.data + at, packer.size - at < most ? packer.size - at : most);
	image_set(image, first + 6, (image->size - first) & 0xffff, 2);
	image_set(image, first + 8, image->size - first - 16, 8);
	put_lost(image, 9, 1);
	image_free(&inner);
}

TEST(test_inflate__compressed2_that_claims_its_neighbours)
{
	struct image image = { 0 };
	unsigned noise = 0, outer = 0;
	uint64_t sum = 0;

	make_claiming(&image);
	open_file_of(&image);
	for (const struct pd_record *record; (record = opened_next(&o)) != NULL;) {
		noise += record->type == PD_RECORD_AUXTRACE_INFO;
		outer += record->type == PD_RECORD_COMPRESSED2;
		if (record->type == PD_RECORD_LOST)
			sum = sum * 10 + number_of(record);
	}
	CHECK(o.status == PD_END && outer == 3 && noise == 5 && sum == 1239);
	CHECK(opened_told(&o, "compressed2-size") == 1 && opened_told(&o, "compressed-damage") == 0);
}

TEST(test_inflate__damage_ends_the_inside_but_not_the_file)
{
	struct image image = { 0 }, inner = { 0 };
	size_t damaged;

	image_file(&image, 0, 0);
	put_lost(&inner, 1, 5);
	CHECK(pack(inner.data, inner.size, false));
	put_compressed(&image, packer.data, packer.size);
	damaged = image.size + 8;
	CHECK(pack(inner.data, inner.size, false));
	put_compressed(&image, packer.data, packer.size);
	memset(image.data + damaged, 0xff, packer.size);
	put_lost(&image, 9, 1);
	image_free(&inner);
	open_file_of(&image);
	CHECK(opened_next(&o));
	for (uint64_t i = 1; i <= 5; i++)
		CHECK(number_of(opened_next(&o)) == i);
	CHECK(opened_next(&o)->type == PD_RECORD_COMPRESSED);
	CHECK(number_of(opened_next(&o)) == 9 && !opened_next(&o) && o.status == PD_END);
	CHECK(opened_told(&o, "compressed-damage") == 1);
}

TEST(test_inflate__record_inside_with_a_size_that_cannot_be)
{
	struct image image = { 0 }, inner = { 0 };

	image_file(&image, 0, 0);
	image_u32(&inner, PD_RECORD_LOST), image_u32(&inner, 0), image_zeros(&inner, 16);
	CHECK(pack(inner.data, inner.size, false));
	put_compressed(&image, packer.data, packer.size);
	put_lost(&image, 9, 1);
	image_free(&inner);
	open_file_of(&image);
	CHECK(opened_next(&o) && number_of(opened_next(&o)) == 9 && !opened_next(&o) && o.status == PD_END);
	CHECK(opened_told(&o, "compressed-damage") == 1);
}

TEST(test_inflate__inside_that_ends_inside_a_record)
{
	struct image image = { 0 }, inner = { 0 };

	image_file(&image, 0, 0);
	put_lost(&inner, 1, 2);
	CHECK(pack(inner.data, inner.size - 8, false));
	put_compressed(&image, packer.data, packer.size);
	image_free(&inner);
	open_file_of(&image);
	CHECK(opened_next(&o) && number_of(opened_next(&o)) == 1 && !opened_next(&o) && o.status == PD_END);
	CHECK(opened_told(&o, "compressed-tail") == 1);
}

TEST(test_inflate__no_compression_inside_of_compression)
{
	struct image image = { 0 }, inner = { 0 };

	image_file(&image, 0, 0);
	put_compressed(&inner, "not looked at...", 16);
	put_lost(&inner, 1, 1);
	CHECK(pack(inner.data, inner.size, false));
	put_compressed(&image, packer.data, packer.size);
	image_free(&inner);
	open_file_of(&image);
	CHECK(opened_next(&o) && opened_next(&o)->type == PD_RECORD_COMPRESSED && number_of(opened_next(&o)) == 1);
	CHECK(!opened_next(&o) && opened_told(&o, "nested-compression") == 1);
}

TEST(test_inflate__limit)
{
	struct pd_open_options options = {
		.size = sizeof(options), .problem = opened_problem, .self = &o, .inflate_limit = 100
	};
	struct image image = { 0 }, inner = { 0 };

	opened_close(&o);
	image_file(&image, 0, 0);
	put_lost(&inner, 1, 1000);
	CHECK(pack(inner.data, inner.size, false));
	put_compressed(&image, packer.data, packer.size);
	put_lost(&image, 9, 1);
	image_file_end(&image);
	image_free(&inner);
	o.status = pd_file_open_memory(image.data, image.size, &options, &o.file, &o.error);
	CHECK(o.status == PD_OK);
	while (opened_next(&o))
		;
	CHECK(o.status == PD_END && opened_told(&o, "inflate-limit") == 1);
	opened_close(&o);
	image_free(&image);
	pack_anew();
}

// A file of noise, compressed as a whole, without its last bytes.
static void make_whole(struct image *whole, size_t missing)
{
	struct image image = { 0 };

	image_file(&image, 0, 0);
	put_noise(&image, 5);
	put_lost(&image, 1, 1);
	image_file_end(&image);
	pack(image.data, image.size, true);
	pack_anew();
	image_bytes(whole, packer.data, packer.size - missing);
	image_free(&image);
}

TEST(test_inflate__file_compressed_as_a_whole)
{
	for (unsigned cut = 0; cut < 2; cut++) {
		struct image whole = { 0 };
		unsigned count = 0;

		make_whole(&whole, cut * 100);
		opened_open(&o, &whole, 0);
		CHECK(o.status == PD_OK);
		CHECK_STR(pd_file_header(o.file)->compression, "zstd");
		while (opened_next(&o))
			count++;
		CHECK(o.status == PD_END && (cut ? count >= 3 && count < 6 : count == 6));
		CHECK(opened_told(&o, "bad-compression") == cut && opened_told(&o, "data-past-end") == cut);
	}
}

TEST(test_inflate__file_of_which_nothing_can_be_inflated)
{
	struct image whole = { 0 };

	make_whole(&whole, 0);
	whole.size = 20;
	opened_open(&o, &whole, 0);
	CHECK(o.status == PD_ERROR_FORMAT);
	CHECK(strstr(o.error.message, "compressed data is truncated"));
	opened_close(&o);
}

RUN(TEST_CASE(test_inflate__records_inside_come_after_the_one_they_are_in), TEST_CASE(test_inflate__records_straddle),
    TEST_CASE(test_inflate__compressed_bytes_cut_anywhere), TEST_CASE(test_inflate__much_out_of_little),
    TEST_CASE(test_inflate__compressed2_that_claims_its_neighbours),
    TEST_CASE(test_inflate__damage_ends_the_inside_but_not_the_file),
    TEST_CASE(test_inflate__record_inside_with_a_size_that_cannot_be),
    TEST_CASE(test_inflate__inside_that_ends_inside_a_record),
    TEST_CASE(test_inflate__no_compression_inside_of_compression), TEST_CASE(test_inflate__limit),
    TEST_CASE(test_inflate__file_compressed_as_a_whole), TEST_CASE(test_inflate__file_of_which_nothing_can_be_inflated))

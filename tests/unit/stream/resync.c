/* SPDX-License-Identifier: MIT */
/* Careful streams: what is a record after damage, and what only looks like one. */
#include "../opened.h"

#include <inttypes.h>

static struct opened o;
static struct pd_stream *stream;

enum {
	BEGIN = 184, // of the records
	STACK = 512, // bytes of raw data of a sample
	NAME_SIZE = 16,
	MMAP2_SIZE = 72 + NAME_SIZE,
};

static const uint64_t sample_type = PD_MASK(PD_SAMPLE_TYPE_IP) | PD_MASK(PD_SAMPLE_TYPE_TID) |
				    PD_MASK(PD_SAMPLE_TYPE_TIME) | PD_MASK(PD_SAMPLE_TYPE_RAW);

// A record as it is in the data; of size MMAP2_SIZE if its name is.
static void put_named_mmap2(struct image *image, uint64_t addr, size_t name_size)
{
	size_t at = image_record(image, PD_RECORD_MMAP2, 2);

	image_u32(image, 5), image_u32(image, 5);
	image_u64(image, addr), image_u64(image, 0x1000), image_u64(image, 0);
	image_zeros(image, 24);                   // device, inode
	image_u32(image, 5), image_u32(image, 2); // protection, flags
	image_text(image, "/usr/bin/perf", name_size);
	image_end(image, at);
}

static void put_mmap2(struct image *image, uint64_t addr)
{
	put_named_mmap2(image, addr, NAME_SIZE);
}

// Its raw data are zeros, with inner records in the middle: as in a copy of the stack of a program that reads records.
static size_t put_sample(struct image *image, unsigned number, unsigned inner)
{
	size_t at = image_record(image, PD_RECORD_SAMPLE, 2), raw;

	image_u64(image, 0x401000 + number);
	image_u32(image, 5), image_u32(image, 5);
	image_u64(image, 1000000 + number);
	image_u32(image, STACK + 4);
	raw = image->size;
	image_zeros(image, 132); // the next one begins at a multiple of 8
	for (unsigned i = 0; i < inner; i++)
		put_mmap2(image, 0x7f0000000000 + i * 0x1000);
	image_zeros(image, STACK + 4 - (image->size - raw));
	image_end(image, at);
	return at;
}

// What a careful stream makes of the data: records of each type.
static void count_records(struct image *image, unsigned *samples, unsigned *others, struct pd_losses *losses)
{
	const struct pd_stream_options careful = { .size = sizeof(careful), .careful = true };
	const struct pd_record *record;

	opened_open(&o, image, 0);
	*samples = *others = 0;
	CHECK(o.status == PD_OK);
	CHECK(pd_stream_open(o.file, &careful, &stream, NULL) == PD_OK);
	while ((o.status = pd_stream_next(stream, &record, NULL)) == PD_OK)
		*(record->type == PD_RECORD_SAMPLE ? samples : others) += 1;
	CHECK(o.status == PD_END);
	pd_stream_losses(stream, losses);
	pd_stream_close(stream);
	opened_close(&o);
}

// What stands inside of a sample that is cut off is the sample's, wherever the cut is.
TEST(test_resync__no_records_from_inside_of_a_torn_sample)
{
	struct image whole = { 0 };
	struct pd_losses losses;
	unsigned samples, others;
	size_t last, tried = 0;

	image_file(&whole, sample_type, 0);
	for (unsigned i = 0; i < 4; i++)
		put_sample(&whole, i, 0);
	last = put_sample(&whole, 4, 3);
	for (size_t end = last + 16; end < whole.size; end++) {
		struct image image = { 0 };

		// one that ends where an inner record ends is a sample whose size is damaged, see below
		if (end >= last + 168 + MMAP2_SIZE && (end - last - 168) % MMAP2_SIZE == 0 &&
		    end <= last + 168 + 3 * MMAP2_SIZE)
			continue;
		image_bytes(&image, whole.data, end);
		image_set(&image, 48, end - BEGIN, 8);
		count_records(&image, &samples, &others, &losses);
		CHECK(samples == 4 && others == 0);
		CHECK(losses.cut_bytes == end - last);
		tried++;
	}
	CHECK(tried > STACK);
	image_free(&whole);
}

// A size that leads after the end hides no records that go on to the end.
TEST(test_resync__goes_on_after_a_damaged_size_near_the_end)
{
	for (unsigned after = 2; after < 6; after++) {
		struct image image = { 0 };
		struct pd_losses losses;
		unsigned samples, others;
		size_t damaged;

		image_file(&image, sample_type, 0);
		for (unsigned i = 0; i < 4; i++)
			put_sample(&image, i, 0);
		damaged = put_sample(&image, 4, 0);
		for (unsigned i = 0; i < after; i++)
			put_mmap2(&image, 0x7f0000000000 + i * 0x1000);
		put_sample(&image, 5, 0);
		image_set(&image, damaged + 6, 0xfff8, 2);
		image_set(&image, 48, image.size - BEGIN, 8);
		count_records(&image, &samples, &others, &losses);
		CHECK(samples == 5 && others == after);
		CHECK(losses.cut_bytes == 0 && losses.bytes > 0);
	}
}

// A time of some minutes begins with the type of a record that only pipes have; its size leads to a sound one.
TEST(test_resync__a_number_that_looks_like_a_header)
{
	struct image image = { 0 };
	struct pd_losses losses;
	unsigned samples, others;
	size_t fake, third;

	image_file(&image, sample_type, 0);
	put_sample(&image, 0, 0);
	image_u64(&image, UINT64_MAX); // damaged
	fake = image_record(&image, PD_RECORD_HEADER_EVENT_TYPE, 0x6650);
	for (unsigned i = 1; i < 8; i++) {
		third = put_sample(&image, i, 0);
		if (i == 3)
			image_set(&image, fake + 6, third - fake, 2);
	}
	image_set(&image, 48, image.size - BEGIN, 8);
	count_records(&image, &samples, &others, &losses);
	CHECK(samples == 8 && others == 0 && losses.bytes == 16);
}

// A damaged size may lead to another record: those between are whole, also if one of them is odd.
TEST(test_resync__goes_on_after_a_size_that_leads_to_a_record)
{
	struct image image = { 0 };
	struct pd_losses losses;
	unsigned samples, others;
	size_t places[12];

	image_file(&image, sample_type, 0);
	for (unsigned i = 0; i < 12; i++) {
		places[i] = put_sample(&image, i, 0);
		if (i == 6)
			put_named_mmap2(&image, 0x7f0000000000, 2 * NAME_SIZE);
	}
	image_set(&image, places[4] + 6, places[8] - places[4], 2);
	image_set(&image, 48, image.size - BEGIN, 8);
	count_records(&image, &samples, &others, &losses);
	CHECK(samples == 11 && others == 1);
}

// What was in the ring before: stacks that are shorter than their room keep it. One sample in each sample from one on.
static void put_stale(struct image *image, size_t at, unsigned count, size_t size)
{
	for (unsigned i = 0; i < count && at + size <= image->size; i++, at += size) {
		struct image stale = { 0 };
		size_t begin = image_record(&stale, PD_RECORD_SAMPLE, 2);

		image_u64(&stale, 0x400000 + i);
		image_u32(&stale, 5), image_u32(&stale, 5);
		image_u64(&stale, 500000 + i);
		image_u32(&stale, (uint32_t)(size - stale.size - 4));
		image_set(&stale, begin + 6, size, 2);
		memcpy(image->data + at, stale.data, stale.size);
		image_free(&stale);
	}
}

struct stale_case {
	const char *what;
	unsigned count;  // of stale samples in a row
	ptrdiff_t drift; // bytes that they are larger
	size_t damage;   // offset in the damaged sample; its header or its thread
};

// After a damage go on the records that are whole, not those which stand in them.
TEST(test_resync__no_records_of_before_from_inside_of_samples)
{
	static const struct stale_case cases[] = {
		{ "a few that end, a damaged thread", 12, 16, 16 },
		{ "a few that end, a damaged header", 12, 16, 4 },
		{ "less than one sample, a damaged thread", 2, -400, 16 },
		{ "in all that follow, a damaged thread", 1000, 0, 16 },
		{ "in all that follow, a damaged header", 1000, 0, 4 },
	};

	for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
		struct image image = { 0 };
		struct pd_losses losses;
		unsigned samples, others;
		size_t damaged = 0, at = 0, size;

		image_file(&image, sample_type, 0);
		for (unsigned i = 0; i < 450; i++) {
			at = put_sample(&image, i, 0);
			damaged = i == 4 ? at : damaged;
		}
		size = image.size - at;
		put_stale(&image, damaged + 104, cases[c].count, size + (size_t)cases[c].drift);
		image_set(&image, damaged + cases[c].damage, UINT64_C(0xfedcba9876543210), 8);
		image_set(&image, 48, image.size - BEGIN, 8);
		count_records(&image, &samples, &others, &losses);
		if (samples != 449 || others || losses.bytes != size)
			fprintf(stderr, "%s: %u samples, %u others, %" PRIu64 " of %zu bytes left out\n", cases[c].what,
				samples, others, losses.bytes, size);
		CHECK(samples == 449 && others == 0 && losses.bytes == size);
	}
}

// With AUX data perf looks ids up, also where there is one event.
TEST(test_resync__no_records_with_ids_of_no_event)
{
	static const uint64_t type = PD_MASK(PD_SAMPLE_TYPE_IP) | PD_MASK(PD_SAMPLE_TYPE_TIME) |
				     PD_MASK(PD_SAMPLE_TYPE_ID);
	struct image image = { 0 };
	struct pd_losses losses;
	unsigned samples, others;
	size_t damaged = 0;

	image_file(&image, type, image_flag(&image, IMAGE_SAMPLE_ID_ALL));
	for (unsigned i = 0; i < 6; i++) {
		size_t at = image_record(&image, PD_RECORD_COMM, 0);

		image_u32(&image, 5), image_u32(&image, 5);
		image_text(&image, "perf", 8);
		image_u64(&image, 1000000 + i);
		damaged = i == 3 ? image.size : damaged;
		image_u64(&image, 77);
		image_end(&image, at);
	}
	image_set(&image, damaged + 4, 0xdead, 2);
	image_file_end(&image);
	// ids of the event
	image_set(&image, BEGIN - 16, image.size, 8);
	image_set(&image, BEGIN - 8, 8, 8);
	image_u64(&image, 77);
	count_records(&image, &samples, &others, &losses);
	CHECK(samples == 0 && others == 5 && losses.records == 1);
}

RUN(TEST_CASE(test_resync__a_number_that_looks_like_a_header),
    TEST_CASE(test_resync__no_records_from_inside_of_a_torn_sample),
    TEST_CASE(test_resync__goes_on_after_a_size_that_leads_to_a_record),
    TEST_CASE(test_resync__no_records_of_before_from_inside_of_samples),
    TEST_CASE(test_resync__no_records_with_ids_of_no_event),
    TEST_CASE(test_resync__goes_on_after_a_damaged_size_near_the_end))

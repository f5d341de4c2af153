/* SPDX-License-Identifier: MIT */
/*
 * Scanners against a walk alone: where they begin and end, and that a walk with them cuts the file and shows its records as
 * it does without, whatever is in the file. And a walk over a file, which leaves large samples unread, against one over the same bytes in
 * memory.
 */
#include <stdio.h>

#include "../opened.h"
#include "tally.h"

#include "stream/cut/scanner.h"

enum {
	ID_IP_TIME = 0x10005, // the id in front
	SAMPLES = 80000,      // regions for four threads
	SAMPLE_SIZE = 32,
	DATA = 280, // where the records begin
	LARGE = 60000,
	STACK = 8000,
};

static struct opened o;
static FILE *on_disk; // of o, or NULL

// ---- files ----

static void make_sample(struct image *image, uint64_t id, uint64_t time_ns)
{
	size_t record = image_record(image, 9, 2);

	image_u64(image, id);
	image_u64(image, 0x400000 + time_ns % 4096);
	image_u64(image, time_ns);
	image_end(image, record);
}

// Inside of it is what looks like samples.
static void make_nest(struct image *image, uint64_t time_ns)
{
	size_t record = image_record(image, 9, 2);

	image_u64(image, 1);
	image_u64(image, 0x400000);
	image_u64(image, time_ns);
	while (image->size - record < LARGE)
		make_sample(image, 1, time_ns + 1);
	image_end(image, record);
}

// With the copy of a stack, say.
static void make_large(struct image *image, uint64_t time_ns)
{
	size_t record = image_record(image, 9, 2);

	image_u64(image, 1);
	image_u64(image, 0x400000);
	image_u64(image, time_ns);
	image_zeros(image, STACK + time_ns % 1000 / 8 * 8);
	image_end(image, record);
}

static void make_comm(struct image *image)
{
	size_t record = image_record(image, 3, 0);

	image_u32(image, 100);
	image_u32(image, 100);
	image_text(image, "busy", 16);
	image_end(image, record);
}

static void make_tail(struct image *image)
{
	size_t record = image_record(image, 71, 0);

	image_u64(image, 64);
	image_zeros(image, 32);
	image_end(image, record);
	image_zeros(image, 64);
}

enum oddity {
	NOTHING,
	NESTS,      // samples with samples in them
	TAILS,      // records with bytes after them
	NO_RECORDS, // bytes that are none
	UNKNOWN_IDS,
	STACKS,  // samples that are large
	NEW_IDS, // records that say what ids there are
	UNKNOWN_TYPES,
	NO_TIMES,
	HOLDERS, // records that hold others
	ODDITIES
};

static void make_oddity(struct image *image, enum oddity oddity, size_t i)
{
	if (oddity == NESTS && i % 2000 == 0)
		make_nest(image, 10 * i + 1);
	if (oddity == STACKS && i / 30 % 20 == 3)
		make_large(image, 10 * i + 1);
	if (oddity == TAILS && i % 20000 == 10)
		make_tail(image);
	if (oddity == NO_RECORDS && i % 20000 == 10)
		image_zeros(image, 16);
	if (oddity == UNKNOWN_IDS && i % 20000 == 10)
		make_sample(image, 99, 10 * i + 1);
	if (oddity == NO_TIMES && i % 500 == 3)
		make_sample(image, 1, 0);
	if (oddity == UNKNOWN_TYPES && i % 20000 == 10) {
		size_t record = image_record(image, 60, 0);

		image_zeros(image, 8);
		image_end(image, record);
	}
	if (oddity == HOLDERS && i == SAMPLES - 3) {
		size_t record = image_record(image, 81, 0);

		image_zeros(image, 8);
		image_end(image, record);
	}
	// simpleperf's: event 0 has one more id, 2
	if (oddity == NEW_IDS && i == 10) {
		size_t record = image_record(image, 32774, 0);

		image_u64(image, 1);
		image_u64(image, 0);
		image_u64(image, 2);
		image_end(image, record);
	}
}

// Bytes anywhere become others, some of them in headers.
static void damage(struct image *image, uint64_t seed)
{
	for (uint64_t i = 0; i < 1 + seed % 40; i++) {
		uint64_t random = tally_mix(seed * 1000 + i + 1);
		size_t at = DATA + random % (image->size - DATA);

		if (random >> 63)
			at = DATA + (at - DATA) / SAMPLE_SIZE * SAMPLE_SIZE + (random >> 40) % 8;
		image->data[at] = (uint8_t)(random >> 48);
	}
}

// Two events, so that ids matter. With a seed it is damaged.
static void make_file(enum oddity oddity, bool big, uint64_t seed, struct image *image_out)
{
	const uint64_t ids[] = { 1, 7 };
	struct image image = { .big = big };

	image_header(&image, 80);
	image_attrs_at(&image, 104, 160);
	for (size_t i = 0; i < 2; i++) {
		image_attr(&image, 1, i, ID_IP_TIME, 0, 0);
		image_u64(&image, 264 + 8 * i);
		image_u64(&image, 8);
	}
	for (size_t i = 0; i < 2; i++)
		image_u64(&image, ids[i]);
	image_data_at(&image, DATA, 0);
	for (size_t i = 0; i < SAMPLES; i++) {
		make_oddity(&image, oddity, i);
		if (i % 3000 == 0)
			make_comm(&image);
		make_sample(&image, oddity == NEW_IDS && i > SAMPLES / 2 ? 2 : i % 5000 ? 1 : 7, 10 * i + 1);
	}
	image_set(&image, 48, image.size - DATA, 8);
	if (seed)
		damage(&image, seed);
	*image_out = image;
}

static void open_file(enum oddity oddity, bool big, uint64_t seed)
{
	struct image image;

	make_file(oddity, big, seed, &image);
	opened_open(&o, &image, 0);
}

// The bytes that are left of it, in memory or on the disk.
static void open_part(enum oddity oddity, bool big, uint64_t seed, size_t cut, bool disk)
{
	const struct pd_open_options options = { .size = sizeof(options), .problem = opened_problem, .self = &o };
	struct image image;

	make_file(oddity, big, seed, &image);
	image.size -= cut;
	if (!disk) {
		opened_open(&o, &image, 0);
		return;
	}
	opened_close(&o);
	on_disk = tmpfile();
	CHECK(on_disk && fwrite(image.data, 1, image.size, on_disk) == image.size && fflush(on_disk) == 0);
	rewind(on_disk);
	image_free(&image);
	o.status = pd_file_open_fd(fileno(on_disk), &options, &o.file, &o.error);
}

// ---- where scanners begin and end ----

TEST(scanner__each_comes_to_where_the_next_begins)
{
	struct pd_scanners *scanners;
	const struct pd_part *part;
	uint64_t at, limit;

	open_file(NOTHING, false, 0);
	CHECK(o.status == PD_OK);
	part = pd_file_part(o.file, 0);
	scanners = pd_scanners_start(o.file, 4);
	CHECK(scanners);
	limit = pd_scanners_limit(scanners);
	CHECK(limit == part->begin + (part->end - part->begin) / 4);
	CHECK(!pd_scanners_at(scanners, limit - 1));
	for (at = limit; at < limit + SAMPLE_SIZE + 24; at++) {
		const struct pd_scanner *found = pd_scanners_at(scanners, at);

		if (!found)
			continue;
		for (int i = 1; i < 4; i++) {
			CHECK(found && found->begin == at && found->end > at);
			CHECK(found->pieces.record_count * SAMPLE_SIZE == found->end - at);
			CHECK(found->others.size > 0);
			at = found->end;
			found = pd_scanners_at(scanners, at);
		}
		break;
	}
	CHECK(at == part->end);
	CHECK(pd_scanners_limit(scanners) == UINT64_MAX);
	pd_scanners_end(scanners);
	opened_close(&o);
}

TEST(scanner__of_no_use)
{
	open_file(NOTHING, false, 0);
	CHECK(!pd_scanners_start(o.file, 1));
	CHECK(pd_file_put_feature(o.file, PD_FEATURE_COMPRESSED, 0, (struct pd_bytes){ 0 }, NULL) == PD_OK);
	CHECK(!pd_scanners_start(o.file, 4));
	opened_close(&o);
}

// ---- walks ----

struct passed {
	struct pd_pieces pieces;
	uint64_t others, others_sum; // shown
	size_t problems;
	enum pd_status status;
};

static enum pd_status note_other(void *self, struct pd_stream *stream, const struct pd_record *record,
				 struct pd_error *error)
{
	struct passed *passed = self;

	(void)stream;
	(void)error;
	passed->others++;
	// their order counts
	passed->others_sum = tally_mix(passed->others_sum ^ tally_record_hash(record) ^ record->index);
	pd_record_as(record, record->type);
	return PD_OK;
}

static void walk_opened(size_t threads, struct passed *passed)
{
	struct pd_visitor visitor = { .self = passed, .record = note_other };

	*passed = (struct passed){ 0 };
	passed->status = pd_stream_open(o.file, NULL, &o.stream, &o.error);
	if (passed->status >= 0)
		passed->status = pd_pieces_pass(&passed->pieces, o.stream, &visitor, threads, &o.error);
	passed->problems = o.problem_count;
}

static void walk(enum oddity oddity, bool big, uint64_t seed, size_t threads, struct passed *passed)
{
	open_file(oddity, big, seed);
	walk_opened(threads, passed);
}

static bool same_pieces(const struct pd_pieces *a, const struct pd_pieces *b)
{
	uint64_t count[2] = { 0 }, bytes[2] = { 0 };
	bool timeless[2] = { false };

	for (size_t i = 0; i < a->count; i++) {
		count[0] += a->items[i].count;
		bytes[0] += a->items[i].end - a->items[i].begin;
		timeless[0] |= a->items[i].timeless;
	}
	for (size_t i = 0; i < b->count; i++) {
		if (b->items[i].place != count[1])
			return false;
		count[1] += b->items[i].count;
		bytes[1] += b->items[i].end - b->items[i].begin;
		timeless[1] |= b->items[i].timeless;
	}
	return count[0] == count[1] && bytes[0] == bytes[1] && timeless[0] == timeless[1] && a->once == b->once &&
	       a->record_count == b->record_count && a->times.oldest_ns == b->times.oldest_ns &&
	       a->times.newest_ns == b->times.newest_ns && a->reported.count == b->reported.count;
}

// Frees both.
static bool same_passes(struct passed *a, struct passed *b, const char *of, enum oddity oddity, uint64_t number)
{
	bool same = a->status == PD_OK && b->status == PD_OK && a->others == b->others &&
		    a->others_sum == b->others_sum && a->problems == b->problems && same_pieces(&a->pieces, &b->pieces);

	if (!same)
		printf("# %s, oddity %d, %llu: status %d %d, others %llu %llu, records %llu %llu, problems %zu %zu\n",
		       of, (int)oddity, (unsigned long long)number, a->status, b->status, (unsigned long long)a->others,
		       (unsigned long long)b->others, (unsigned long long)a->pieces.record_count,
		       (unsigned long long)b->pieces.record_count, a->problems, b->problems);
	pd_pieces_fini(&a->pieces);
	pd_pieces_fini(&b->pieces);
	opened_close(&o);
	if (on_disk)
		fclose(on_disk);
	on_disk = NULL;
	return same;
}

static bool same_walk(enum oddity oddity, bool big, uint64_t seed, size_t threads)
{
	struct passed alone, together;

	walk(oddity, big, seed, 1, &alone);
	walk(oddity, big, seed, threads, &together);
	return same_passes(&alone, &together, "threads", oddity, seed);
}

// Of a file that may be damaged, and end anywhere.
static bool same_on_disk(enum oddity oddity, bool big, uint64_t seed, size_t cut)
{
	struct passed memory, disk;

	open_part(oddity, big, seed, cut, false);
	walk_opened(1, &memory);
	open_part(oddity, big, seed, cut, true);
	walk_opened(1, &disk);
	return same_passes(&memory, &disk, "on disk", oddity, seed + cut);
}

TEST(scanner__walks_are_the_same)
{
	for (int oddity = NOTHING; oddity < ODDITIES; oddity++)
		for (size_t threads = 2; threads <= 8; threads *= 2) {
			CHECK(same_walk((enum oddity)oddity, false, 0, threads));
			CHECK(same_walk((enum oddity)oddity, true, 0, threads));
		}
}

TEST(scanner__walks_over_damage_are_the_same)
{
	for (uint64_t seed = 1; seed <= 12; seed++)
		CHECK(same_walk((enum oddity)(seed % HOLDERS), seed % 2, seed, 2 + seed % 6));
}

TEST(scanner__walks_over_files_are_the_same)
{
	for (int oddity = NOTHING; oddity < ODDITIES; oddity++) {
		CHECK(same_on_disk((enum oddity)oddity, false, 0, 0));
		CHECK(same_on_disk((enum oddity)oddity, true, 0, 0));
	}
	for (uint64_t seed = 1; seed <= 6; seed++)
		CHECK(same_on_disk(STACKS, seed % 2, seed, 0));
	// the end is in a sample of some kind
	for (size_t cut = 1; cut < (size_t)30 * STACK; cut += 1 + cut)
		CHECK(same_on_disk(STACKS, false, 0, cut));
}

// What was read so far by this process; 0: unknown.
static uint64_t bytes_read(void)
{
	FILE *file = fopen("/proc/self/io", "r");
	unsigned long long bytes = 0;

	if (file && fscanf(file, "rchar: %llu", &bytes) != 1)
		bytes = 0;
	if (file)
		fclose(file);
	return bytes;
}

TEST(scanner__large_samples_are_left_unread)
{
	struct passed passed;
	uint64_t before, size;

	open_part(STACKS, false, 0, 0, true);
	size = pd_file_part(o.file, 0)->end;
	before = bytes_read();
	walk_opened(1, &passed);
	CHECK(size > (uint64_t)30000000);
	CHECK(!before || bytes_read() - before < size / 3);
	pd_pieces_fini(&passed.pieces);
	opened_close(&o);
	fclose(on_disk);
	on_disk = NULL;
}

TEST(scanner__a_walk_that_is_stopped)
{
	for (size_t threads = 1; threads <= 4; threads++) {
		struct passed passed;

		o.stop_after = 2;
		walk(UNKNOWN_IDS, false, 0, threads, &passed);
		CHECK(passed.status == PD_ERROR_STOPPED);
		CHECK(passed.problems == 2);
		pd_pieces_fini(&passed.pieces);
		o.stop_after = 0;
		opened_close(&o);
	}
}

RUN(TEST_CASE(scanner__each_comes_to_where_the_next_begins), TEST_CASE(scanner__of_no_use),
    TEST_CASE(scanner__walks_are_the_same), TEST_CASE(scanner__walks_over_damage_are_the_same),
    TEST_CASE(scanner__walks_over_files_are_the_same), TEST_CASE(scanner__large_samples_are_left_unread),
    TEST_CASE(scanner__a_walk_that_is_stopped))

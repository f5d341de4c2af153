/* SPDX-License-Identifier: MIT */
/*
 * Headers of records and the trailer of those that are no samples: its order, its place, and that
 * it may be missing.
 */
#include "format/record.h"
#include "format/text/print.h"
#include "../image.h"
#include "../test.h"

enum {
	ALL_TRAILER = 0x102c6
}; // IDENTIFIER, CPU, STREAM_ID, ID, TIME, TID: 0x10000, 0x80, 0x200, 0x40, 4, 2

static struct pd_arena arena;

static const void *take(uint32_t type, struct image *image, uint64_t trailer, struct pd_scope *scope)
{
	static uint8_t *kept;
	struct pd_cursor cursor = pd_cursor(NULL, 0, image->big);
	struct pd_bytes bytes;

	free(kept);
	kept = malloc(image->size);
	memcpy(kept, image->data, image->size);
	bytes = (struct pd_bytes){ kept, image->size };
	image_free(image);
	pd_arena_reset(&arena);
	*scope = (struct pd_scope){ .arena = &arena };
	scope->words[PD_WORD_TRAILER] = trailer;
	return pd_record_take(pd_record_layout(type), pd_record_group(type), bytes, scope, &cursor);
}

TEST(test_record__head)
{
	static const uint8_t little[] = { 9, 0, 0, 0, 2, 0x40, 0x28, 1 };
	static const uint8_t big[] = { 0, 0, 0, 9, 0x40, 2, 1, 0x28 };
	struct pd_record_head head = pd_record_head(little, PD_HOST_BIG);

	CHECK(head.type == 9 && head.misc == 0x4002 && head.size == 0x128);
	head = pd_record_head(big, !PD_HOST_BIG);
	CHECK(head.type == 9 && head.misc == 0x4002 && head.size == 0x128);
}

TEST(test_record__head_of_simpleperf_has_a_size_of_32_bits)
{
	// 32769: the high half of the size stands where misc is elsewhere
	static const uint8_t bytes[] = { 1, 0x80, 0, 0, 3, 0, 0x28, 1 };
	struct pd_record_head head = pd_record_head(bytes, PD_HOST_BIG);

	CHECK(head.type == 32769 && head.misc == 0 && head.size == 0x30128);
}

TEST(test_record__trailer_in_the_order_of_the_wire)
{
	for (unsigned big = 0; big < 2; big++) {
		struct image image = { .big = big };
		const struct pd_sample_id *id;
		struct pd_scope scope;
		size_t at = image_record(&image, PD_RECORD_COMM, 0);

		image_u32(&image, 1), image_u32(&image, 1), image_text(&image, "myapp", 16);
		image_u32(&image, 100), image_u32(&image, 101); // TID
		image_u64(&image, 102);                         // TIME
		image_u64(&image, 103);                         // ID
		image_u64(&image, 104);                         // STREAM_ID
		image_u32(&image, 105), image_u32(&image, 0);   // CPU
		image_u64(&image, 106);                         // IDENTIFIER
		image_end(&image, at);
		id = ((const struct pd_comm *)take(PD_RECORD_COMM, &image, ALL_TRAILER, &scope))->sample_id;
		CHECK(id);
		CHECK(id->pid == 100 && id->tid == 101 && id->time_ns == 102 && id->id == 103);
		CHECK(id->stream_id == 104 && id->cpu == 105 && id->identifier == 106);
	}
}

TEST(test_record__text_in_front_of_a_trailer_ends_there)
{
	struct image image = { 0 };
	const struct pd_comm *comm;
	struct pd_scope scope;
	size_t at = image_record(&image, PD_RECORD_COMM, 0);

	image_u32(&image, 1), image_u32(&image, 1), image_text(&image, "myapp", 8);
	image_u64(&image, 1000);
	image_end(&image, at);
	comm = take(PD_RECORD_COMM, &image, PD_MASK(PD_SAMPLE_TYPE_TIME), &scope);
	CHECK(comm);
	CHECK(comm->comm.size == 8 && comm->sample_id->time_ns == 1000 && comm->rest.size == 0);
}

TEST(test_record__trailer_that_is_missing)
{
	struct image image = { 0 };
	const struct pd_task *task;
	struct pd_scope scope;
	size_t at = image_record(&image, PD_RECORD_EXIT, 0);

	image_u32(&image, 1), image_u32(&image, 2), image_u32(&image, 3), image_u32(&image, 4), image_u64(&image, 5);
	image_end(&image, at);
	task = take(PD_RECORD_EXIT, &image, ALL_TRAILER, &scope);
	CHECK(task);
	CHECK(!task->sample_id && task->ppid == 2 && task->time_ns == 5);
	// what the record is encoded with
	CHECK(scope.words[PD_WORD_TRAILER] == 0);
}

TEST(test_record__trailer_is_for_records_of_the_kernel_only)
{
	struct image image = { 0 };
	const struct pd_stat_round *round;
	struct pd_scope scope;
	size_t at = image_record(&image, PD_RECORD_STAT_ROUND, 0);

	image_u64(&image, 1), image_u64(&image, 2), image_u64(&image, 3);
	image_end(&image, at);
	round = take(PD_RECORD_STAT_ROUND, &image, PD_MASK(PD_SAMPLE_TYPE_TIME), &scope);
	CHECK(round);
	CHECK(!round->sample_id && round->time_ns == 2 && round->rest.size == 8);
}

TEST(test_record__empty_body_with_trailer)
{
	struct image image = { 0 };
	const struct pd_switch *record;
	struct pd_scope scope;
	size_t at = image_record(&image, PD_RECORD_SWITCH, 0);

	image_u64(&image, 7);
	image_end(&image, at);
	record = take(PD_RECORD_SWITCH, &image, PD_MASK(PD_SAMPLE_TYPE_TIME), &scope);
	CHECK(record);
	CHECK(record->sample_id->time_ns == 7);
	at = image_record(&image, PD_RECORD_SWITCH, 0);
	image_end(&image, at);
	record = take(PD_RECORD_SWITCH, &image, PD_MASK(PD_SAMPLE_TYPE_TIME), &scope);
	CHECK(record);
	CHECK(!record->sample_id);
}

TEST(test_record__put_writes_the_size_it_took)
{
	struct pd_sample_id id = { .time_ns = 9 };
	struct pd_lost lost = { .sample_id = &id, .id = 1, .lost = 2 };
	struct pd_record_head head = { .type = PD_RECORD_LOST, .misc = 0x1234 };
	struct pd_scope scope = { 0 };
	uint8_t bytes[64];
	struct pd_buffer buffer = pd_buffer(bytes, sizeof(bytes), true);

	scope.words[PD_WORD_TRAILER] = PD_MASK(PD_SAMPLE_TYPE_TIME);
	pd_record_put(&buffer, &head, pd_record_layout(PD_RECORD_LOST), PD_GROUP_KERNEL, &scope, &lost);
	CHECK(!buffer.failed && buffer.need == 32);
	CHECK(memcmp(bytes, "\0\0\0\x02\x12\x34\0\x20", 8) == 0);
	CHECK(bytes[31] == 9);
	// a second record follows the first
	pd_record_put(&buffer, &head, pd_record_layout(PD_RECORD_LOST), PD_GROUP_KERNEL, &scope, &lost);
	CHECK(!buffer.failed && buffer.need == 64 && bytes[63] == 9);
}

RUN(TEST_CASE(test_record__head), TEST_CASE(test_record__head_of_simpleperf_has_a_size_of_32_bits),
    TEST_CASE(test_record__trailer_in_the_order_of_the_wire),
    TEST_CASE(test_record__text_in_front_of_a_trailer_ends_there), TEST_CASE(test_record__trailer_that_is_missing),
    TEST_CASE(test_record__trailer_is_for_records_of_the_kernel_only), TEST_CASE(test_record__empty_body_with_trailer),
    TEST_CASE(test_record__put_writes_the_size_it_took))

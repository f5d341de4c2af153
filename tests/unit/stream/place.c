/* SPDX-License-Identifier: MIT */
/* Which event a record belongs to, and when it was, by the id and the time at their places. */
#include "../opened.h"

static struct opened o;

enum {
	IP = 1 << 0,
	TID = 1 << 1,
	TIME = 1 << 2,
	ADDR = 1 << 3,
	ID = 1 << 6,
	CPU = 1 << 7,
	PERIOD = 1 << 8,
	STREAM_ID = 1 << 9,
	IDENTIFIER = 1 << 16,
};

// A pipe with two events, whose ids are 11 and 12.
static void begin_two(struct image *image, uint64_t sample_type, bool sample_id_all)
{
	image_pipe(image);
	for (uint64_t i = 0; i < 2; i++) {
		size_t at = image_record(image, PD_RECORD_HEADER_ATTR, 0);

		image_attr(image, 1, i, sample_type, 0, sample_id_all ? image_flag(image, IMAGE_SAMPLE_ID_ALL) : 0);
		image_u64(image, 11 + i);
		image_end(image, at);
	}
}

// The words of a sample in their order; id, time and the rest.
static void put_sample(struct image *image, uint64_t type, uint64_t id, uint64_t time_ns)
{
	static const uint32_t before[] = { IP, TID, TIME, ADDR, ID, STREAM_ID, CPU, PERIOD };
	size_t at = image_record(image, PD_RECORD_SAMPLE, 0);

	if (type & IDENTIFIER)
		image_u64(image, id);
	for (size_t i = 0; i < sizeof(before) / sizeof(before[0]); i++)
		if (type & before[i])
			image_u64(image, before[i] == TIME ? time_ns : before[i] == ID ? id : 0xbad);
	image_end(image, at);
}

static void put_trailer(struct image *image, uint64_t type, uint64_t id, uint64_t time_ns)
{
	static const uint32_t order[] = { TID, TIME, ID, STREAM_ID, CPU, IDENTIFIER };

	for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++)
		if (type & order[i])
			image_u64(image, order[i] == TIME ? time_ns : order[i] & (ID | IDENTIFIER) ? id : 0xbad);
}

static void put_comm(struct image *image, uint64_t type, uint64_t id, uint64_t time_ns)
{
	size_t at = image_record(image, PD_RECORD_COMM, 0);

	image_u32(image, 1), image_u32(image, 1), image_text(image, "comm", 8);
	put_trailer(image, type, id, time_ns);
	image_end(image, at);
}

static const struct pd_record *open_and_skip(struct image *image, unsigned count)
{
	opened_open(&o, image, 0);
	while (count-- && opened_next(&o))
		;
	return opened_next(&o);
}

TEST(test_place__id_and_time_at_every_place)
{
	static const uint64_t types[] = {
		IDENTIFIER | IP | TID | TIME | CPU | PERIOD, // as perf record has it
		IP | TID | TIME | ID | PERIOD,
		IP | TID | TIME | ADDR | ID | STREAM_ID | CPU | PERIOD,
		IDENTIFIER | TIME,
		ID | TIME,
		IDENTIFIER | IP | TID | TIME | ADDR | ID | STREAM_ID | CPU | PERIOD,
	};

	for (size_t i = 0; i < 2 * sizeof(types) / sizeof(types[0]); i++) {
		uint64_t type = types[i / 2];
		struct image image = { .big = i & 1 };
		const struct pd_record *record;

		begin_two(&image, type, true);
		put_sample(&image, type, 12, 1000);
		put_sample(&image, type, 11, 1001);
		put_comm(&image, type, 12, 1002);
		record = open_and_skip(&image, 2);
		CHECK(record);
		CHECK(record->time_ns == 1000 && record->event && record->event->index == 1);
		CHECK(pd_as_sample(record)->time_ns == 1000 && PD_SAMPLE_ID(pd_as_sample(record)) == 12);
		record = opened_next(&o);
		CHECK(record);
		CHECK(record->time_ns == 1001 && record->event && record->event->index == 0);
		record = opened_next(&o);
		CHECK(record);
		CHECK(record->time_ns == 1002 && record->event && record->event->index == 1);
		CHECK(pd_as_comm(record)->sample_id->time_ns == 1002);
		CHECK(!opened_next(&o) && o.status == PD_END && o.problem_count == 0);
	}
}

TEST(test_place__one_event_needs_no_id)
{
	struct image image = { 0 };
	const struct pd_record *record;
	size_t at;

	image_pipe(&image);
	at = image_record(&image, PD_RECORD_HEADER_ATTR, 0);
	image_attr(&image, 1, 0, IDENTIFIER | TIME, 0, 0), image_u64(&image, 11);
	image_end(&image, at);
	put_sample(&image, IDENTIFIER | TIME, 999, 5);
	record = open_and_skip(&image, 1);
	CHECK(record);
	CHECK(record->event->index == 0 && record->time_ns == 5 && o.problem_count == 0);
}

TEST(test_place__records_of_perf_itself_have_id_0)
{
	struct image image = { 0 };
	const struct pd_record *record;

	begin_two(&image, IDENTIFIER | TIME, true);
	put_comm(&image, IDENTIFIER | TIME, 0, 0);
	record = open_and_skip(&image, 2);
	CHECK(record);
	CHECK(record->event->index == 0 && record->time_ns == PD_NO_TIME && o.problem_count == 0);
}

TEST(test_place__unknown_id)
{
	struct image image = { 0 };
	const struct pd_record *record;

	begin_two(&image, IDENTIFIER | TIME, true);
	put_sample(&image, IDENTIFIER | TIME, 13, 5);
	put_comm(&image, IDENTIFIER | TIME, 13, 6);
	record = open_and_skip(&image, 2);
	CHECK(record);
	CHECK(!record->event && opened_told(&o, "unknown-id") == 1);
	// samples of all events look alike, so it can be decoded
	CHECK(pd_as_sample(record)->identifier == 13 && record->time_ns == 5);
	record = opened_next(&o);
	CHECK(record);
	CHECK(!record->event && pd_as_comm(record)->sample_id->identifier == 13);
}

TEST(test_place__unknown_id_where_samples_differ)
{
	struct image image = { 0 };
	size_t at;

	image_pipe(&image);
	for (uint64_t i = 0; i < 2; i++) {
		at = image_record(&image, PD_RECORD_HEADER_ATTR, 0);
		image_attr(&image, 1, i, IDENTIFIER | (i ? IP : TIME), 0, 0), image_u64(&image, 11 + i);
		image_end(&image, at);
	}
	put_sample(&image, IDENTIFIER | IP, 12, 0);
	put_sample(&image, IDENTIFIER | IP, 13, 0);
	CHECK(pd_as_sample(open_and_skip(&image, 2))->ip == 0xbad);
	CHECK(!pd_as_sample(opened_next(&o)) && opened_told(&o, "unknown-id") == 1);
}

TEST(test_place__no_trailer_without_sample_id_all)
{
	struct image image = { 0 };
	const struct pd_record *record;

	begin_two(&image, IDENTIFIER | TIME, false);
	put_comm(&image, 0, 0, 0);
	put_sample(&image, IDENTIFIER | TIME, 12, 7);
	record = open_and_skip(&image, 2);
	CHECK(record);
	CHECK(record->time_ns == PD_NO_TIME && !pd_as_comm(record)->sample_id);
	CHECK(record->event && record->event->index == 0);
	CHECK(opened_next(&o)->event->index == 1);
}

TEST(test_place__trailer_that_is_missing)
{
	struct image image = { 0 };
	const struct pd_record *record;
	size_t at;

	begin_two(&image, IDENTIFIER | TIME, true);
	// the name would reach into the trailer
	at = image_record(&image, PD_RECORD_COMM, 0);
	image_u32(&image, 1), image_u32(&image, 1), image_text(&image, "long name here", 16);
	image_end(&image, at);
	record = open_and_skip(&image, 2);
	CHECK(record);
	CHECK(record->time_ns == PD_NO_TIME && !pd_as_comm(record)->sample_id);
	CHECK_STR(pd_as_comm(record)->comm.data, "long name here");
	CHECK(opened_told(&o, "unknown-id") == 0);
}

TEST(test_place__time_0_is_none)
{
	struct image image = { 0 };

	begin_two(&image, IDENTIFIER | TIME, true);
	put_sample(&image, IDENTIFIER | TIME, 12, 0);
	CHECK(open_and_skip(&image, 2)->time_ns == PD_NO_TIME);
}

TEST(test_place__records_of_tools_have_no_event)
{
	struct image image = { 0 };
	const struct pd_record *record;

	begin_two(&image, IDENTIFIER | TIME, true);
	image_end(&image, image_record(&image, PD_RECORD_FINISHED_ROUND, 0));
	record = open_and_skip(&image, 2);
	CHECK(record);
	CHECK(!record->event && record->time_ns == PD_NO_TIME);
	opened_close(&o);
}

// Samples of user stacks are larger than any number of words that stands for "nowhere" may be.
TEST(test_place__large_samples_without_time_and_id)
{
	struct image image = { 0 };
	const struct pd_record *record;

	begin_two(&image, IP | PERIOD, false);
	for (unsigned i = 0; i < 3; i++) {
		size_t at = image_record(&image, PD_RECORD_SAMPLE, 0);

		for (unsigned word = 0; word < 7000; word++)
			image_u64(&image, 11 + word);
		image_end(&image, at);
	}
	record = open_and_skip(&image, 2);
	CHECK(record && record->event && record->event->index == 0);
	CHECK(record->time_ns == PD_NO_TIME);
	while ((record = opened_next(&o)) != NULL)
		CHECK(record->time_ns == PD_NO_TIME && record->event && record->event->index == 0);
	CHECK(o.status == PD_END && o.problem_count == 0);
	opened_close(&o);
}

RUN(TEST_CASE(test_place__id_and_time_at_every_place), TEST_CASE(test_place__one_event_needs_no_id),
    TEST_CASE(test_place__records_of_perf_itself_have_id_0), TEST_CASE(test_place__unknown_id),
    TEST_CASE(test_place__unknown_id_where_samples_differ), TEST_CASE(test_place__no_trailer_without_sample_id_all),
    TEST_CASE(test_place__trailer_that_is_missing), TEST_CASE(test_place__time_0_is_none),
    TEST_CASE(test_place__records_of_tools_have_no_event), TEST_CASE(test_place__large_samples_without_time_and_id))

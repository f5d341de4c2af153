/* SPDX-License-Identifier: MIT */
/*
 * Two whole files, byte for byte, that real perf reads: a little-endian pipe of 432 bytes and a
 * big-endian file of 492. Both have one event (software, IP|TID|TIME|PERIOD, sample_id_all), a
 * COMM, an MMAP2 and samples.
 */
#include "../opened.h"

static struct opened o;

static const char pipe_bytes[] = "50455246494c4532 1000000000000000 4000000000004800 0100000040000000"
				 "0000000000000000 0100000000000000 0701000000000000 0000000000000000"
				 "0000040000000000 0000000000000000 0000000000000000 0300000000202800"
				 "6400000064000000 6d79617070000000 6400000064000000 e803000000000000"
				 "0a00000002006800 6400000064000000 0000400000000000 0010000000000000"
				 "0000000000000000 0800000001000000 2a00000000000000 0000000000000000"
				 "0500000002000000 2f62696e2f747275 6500000000000000 6400000064000000"
				 "e903000000000000 0900000002002800 0001400000000000 6400000064000000"
				 "d007000000000000 0700000000000000 0900000002002800 0101400000000000"
				 "6400000064000000 d107000000000000 0700000000000000 0900000002002800"
				 "0201400000000000 6400000064000000 d207000000000000 0700000000000000"
				 "0900000002002800 0301400000000000 6400000064000000 d307000000000000"
				 "0700000000000000 0900000002002800 0401400000000000 6400000064000000"
				 "d407000000000000 0700000000000000";

static const char file_bytes[] = "32454c4946524550 0000000000000068 0000000000000050 0000000000000068"
				 "0000000000000050 00000000000000b8 00000000000000e0 0000000000000000"
				 "0000000000000000 0000000000000008 0000000000000000 0000000000000000"
				 "0000000000000000 0000000100000040 0000000000000000 0000000000000001"
				 "0000000000000107 0000000000000000 0000200000000000 0000000000000000"
				 "0000000000000000 0000000000000068 0000000000000000 0000000320000028"
				 "0000006400000064 6d79617070000000 0000006400000064 00000000000003e8"
				 "0000000a00020068 0000006400000064 0000000000400000 0000000000001000"
				 "0000000000000000 0000000800000001 000000000000002a 0000000000000000"
				 "0000000500000002 2f62696e2f747275 6500000000000000 0000006400000064"
				 "00000000000003e8 0000000900020028 0000000000400100 0000006400000064"
				 "00000000000007d0 0000000000000007 0000000900020028 0000000000400101"
				 "0000006400000064 00000000000007d1 0000000000000007 00000000000001a8"
				 "0000000000000044 00000040686f7374 7900000000000000 0000000000000000"
				 "0000000000000000 0000000000000000 0000000000000000 0000000000000000"
				 "0000000000000000 00000000";

static bool is_comm(const struct pd_record *record)
{
	const struct pd_comm *comm = record ? pd_as_comm(record) : NULL;

	return comm && record->misc == 0x2000 && record->time_ns == 1000 && record->event && comm->pid == 100 &&
	       comm->tid == 100 && strcmp(comm->comm.data, "myapp") == 0 && comm->sample_id &&
	       comm->sample_id->pid == 100 && comm->sample_id->time_ns == 1000 && comm->rest.size == 0;
}

static bool is_mmap2(const struct pd_record *record, uint64_t time_ns)
{
	const struct pd_mmap2 *mmap2 = record ? pd_as_mmap2(record) : NULL;

	return mmap2 && record->misc == PD_CPUMODE_USER && record->time_ns == time_ns && mmap2->addr == 0x400000 &&
	       mmap2->len == 0x1000 && mmap2->maj == 8 && mmap2->min == 1 && mmap2->ino == 42 && mmap2->prot == 5 &&
	       mmap2->flags == 2 && strcmp(mmap2->filename.data, "/bin/true") == 0;
}

static bool is_sample(const struct pd_record *record, uint64_t number)
{
	const struct pd_sample *sample = record ? pd_as_sample(record) : NULL;

	return sample && record->time_ns == 2000 + number && sample->ip == 0x400100 + number && sample->pid == 100 &&
	       sample->tid == 100 && sample->time_ns == 2000 + number && sample->period == 7 &&
	       record->event == pd_file_event(o.file, 0);
}

TEST(test_golden__pipe)
{
	struct image image = { 0 };
	const struct pd_record *record;

	image_hex(&image, pipe_bytes);
	CHECK(image.size == 432);
	opened_open(&o, &image, 0);
	CHECK(o.status == PD_OK && pd_file_header(o.file)->mode == PD_MODE_PIPE);
	record = opened_next(&o);
	CHECK(record);
	CHECK(record->type == PD_RECORD_HEADER_ATTR && record->offset == 16 && record->time_ns == PD_NO_TIME);
	CHECK(pd_file_event_count(o.file) == 1 && pd_file_event(o.file, 0)->attr->type == 1);
	CHECK(pd_file_event(o.file, 0)->attr_offset == 24);
	record = opened_next(&o);
	CHECK(is_comm(record) && record->offset == 88 && record->index == 1);
	CHECK(is_mmap2(opened_next(&o), 1001));
	for (uint64_t i = 0; i < 5; i++)
		CHECK(is_sample(opened_next(&o), i));
	CHECK(!opened_next(&o) && o.status == PD_END && o.problem_count == 0);
}

TEST(test_golden__file)
{
	struct image image = { .big = true };
	const struct pd_record *record;

	image_hex(&image, file_bytes);
	CHECK(image.size == 492);
	opened_open(&o, &image, 0);
	CHECK(o.status == PD_OK && pd_file_header(o.file)->mode == PD_MODE_FILE && pd_file_header(o.file)->big_endian);
	CHECK(pd_file_header(o.file)->data_offset == 0xb8 && pd_file_header(o.file)->data_size == 0xe0);
	CHECK(pd_file_event(o.file, 0)->attr->flags == PD_MASK(PD_ATTR_SAMPLE_ID_ALL));
	CHECK_STR(pd_file_hostname(o.file)->value.data, "hosty");
	record = opened_next(&o);
	CHECK(is_comm(record) && record->offset == 0xb8);
	CHECK(is_mmap2(opened_next(&o), 1000));
	CHECK(is_sample(opened_next(&o), 0) && is_sample(opened_next(&o), 1));
	CHECK(!opened_next(&o) && o.status == PD_END && o.problem_count == 0);
}

TEST(test_golden__every_cut_is_read_to_its_end)
{
	for (size_t size = 104; size < 492; size++) {
		struct image image = { .big = true };
		size_t count = 0;

		image_hex(&image, file_bytes);
		image.size = size;
		opened_open(&o, &image, 0);
		CHECK(o.status == PD_OK);
		while (opened_next(&o))
			count++;
		CHECK(o.status == PD_END);
		// 40, 104, 40 and 40 bytes from 184 on; after them the features, which are damaged
		// instead
		CHECK(count == (size_t)(size >= 224) + (size >= 328) + (size >= 368) + (size >= 408));
		pd_file_hostname(o.file);
		CHECK(o.problem_count > 0);
	}
	opened_close(&o);
}

RUN(TEST_CASE(test_golden__pipe), TEST_CASE(test_golden__file), TEST_CASE(test_golden__every_cut_is_read_to_its_end))

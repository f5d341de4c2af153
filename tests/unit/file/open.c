/* SPDX-License-Identifier: MIT */
/*
 * Headers, attrs and ids: what files of all ages look like, and what is told of those that are
 * damaged.
 */
#include "../opened.h"

#include <unistd.h>

static struct opened o;

// ---- header ----

TEST(test_open__file_in_both_orders)
{
	for (unsigned big = 0; big < 2; big++) {
		struct image image = { .big = big };
		const struct pd_header *header;

		image_file(&image, 0x107, image_flag(&image, IMAGE_SAMPLE_ID_ALL));
		image_zeros(&image, 8);
		image_set(&image, 184, 68, 4), image_set(&image, 190, 8, 2);
		image_file_end(&image);
		opened_open(&o, &image, 0);
		CHECK(o.status == PD_OK);
		header = pd_file_header(o.file);
		CHECK(header->mode == PD_MODE_FILE && header->version == 2 && header->big_endian == big);
		CHECK(header->size == 104 && header->attr_size == 80 && header->data_offset == 184);
		CHECK(header->data_size == 8 && header->file_size == 192 && !header->unfinished && !header->truncated);
		CHECK(pd_file_event_count(o.file) == 1 && pd_file_event(o.file, 0)->attr->sample_type == 0x107);
		CHECK(PD_BITS(pd_file_event(o.file, 0)->attr->flags, PD_ATTR_SAMPLE_ID_ALL));
		CHECK(pd_file_event(o.file, 0)->attr_offset == 104);
		CHECK(o.problem_count == 0);
		CHECK_STR(pd_file_name(o.file), "memory");
		CHECK(pd_file_part_count(o.file) == 1);
		CHECK_STR(pd_file_part_name(o.file, 0), "");
	}
}

TEST(test_open__pipe_in_both_orders)
{
	for (unsigned big = 0; big < 2; big++) {
		struct image image = { .big = big };

		image_pipe(&image);
		opened_open(&o, &image, 0);
		CHECK(o.status == PD_OK);
		CHECK(pd_file_header(o.file)->mode == PD_MODE_PIPE && pd_file_header(o.file)->big_endian == big);
		CHECK(pd_file_event_count(o.file) == 0);
	}
}

TEST(test_open__version_1_tells_its_order_by_the_size_of_an_attr)
{
	for (unsigned big = 0; big < 2; big++) {
		for (uint64_t attr_size = 80; attr_size <= 120; attr_size += 8) {
			struct image image = { .big = big };

			image_header(&image, attr_size);
			memcpy(image.data, "PERFFILE", 8);
			image_attr(&image, 1, 3, 0x107, 0, 0);
			image_set(&image, 104 + 4, attr_size - 16, 4);
			image_zeros(&image, attr_size - 64);
			image_attrs_at(&image, 104, attr_size);
			image_data_at(&image, 104 + attr_size, 8);
			image_record(&image, 68, 0), image_set(&image, image.size - 2, 8, 2);
			opened_open(&o, &image, 0);
			CHECK(o.status == PD_OK);
			CHECK(pd_file_header(o.file)->version == 1 && pd_file_header(o.file)->big_endian == big);
			CHECK(pd_file_event_count(o.file) == 1 && pd_file_event(o.file, 0)->attr->config == 3);
		}
	}
}

TEST(test_open__version_1_of_no_order_is_refused)
{
	struct image image = { 0 };

	image_header(&image, 999);
	memcpy(image.data, "PERFFILE", 8);
	opened_open(&o, &image, 0);
	CHECK(o.status == PD_ERROR_FORMAT && o.error.offset == 16);
}

TEST(test_open__header_of_72_bytes_has_no_features)
{
	struct image image = { 0 };

	image_file(&image, 0, 0);
	image_set(&image, 8, 72, 8);
	image_set(&image, 72, 8, 8); // would be HOSTNAME
	image_record(&image, 68, 0), image_set(&image, image.size - 2, 8, 2);
	image_file_end(&image);
	opened_open(&o, &image, 0);
	CHECK(o.status == PD_OK);
	CHECK(pd_file_header(o.file)->feature_bits[0] == 0 && pd_file_event_count(o.file) == 1);
}

TEST(test_open__what_is_no_perf_data)
{
	static const struct {
		const char *bytes;
		size_t size;
	} files[] = {
		{ "", 0 },
		{ "P", 1 },
		{ "PERFILE", 7 },
		{ "PERFILE2", 8 },
		{ "PERFILE2\x68\0\0\0\0\0\0", 15 },
		{ "\x7f"
		  "ELF0000000000000",
		  16 },
		{ "2ELIFREP\0\0\0\0\0\0\0\x01", 16 },
		{ "PERFILE2\x68\0\0\0\0\0\0\0", 16 },
	};

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		struct image image = { 0 };

		image_bytes(&image, files[i].bytes, files[i].size);
		opened_open(&o, &image, 0);
		CHECK(o.status == PD_ERROR_FORMAT && o.error.status == PD_ERROR_FORMAT);
		CHECK(strstr(o.error.message, "not a perf.data") && o.error.offset <= files[i].size);
		CHECK(strncmp(o.error.message, "memory: offset ", 15) == 0);
	}
}

TEST(test_open__no_such_file)
{
	struct pd_file *file = NULL;
	struct pd_error error;

	CHECK(pd_file_open("/nonexistent/perf.data", NULL, &file, &error) == PD_ERROR_SYSTEM);
	CHECK(!file && error.os_errno != 0);
	CHECK(pd_file_open("/", NULL, &file, NULL) == PD_ERROR_SYSTEM && !file);
	pd_file_close(NULL);
}

// ---- features in the bitmap ----

// A big-endian file with HOSTNAME, CLN_SIZE (34) and FILE of simpleperf (128), the bitmap in words
// of 8 or 4 bytes.
static void make_bitmap(struct image *image, unsigned word_size)
{
	size_t table;

	image->big = true;
	image_file(image, 0, 0);
	if (word_size == 8) {
		image_set(image, 72, UINT64_C(1) << 34 | 1 << 3, 8);
		image_set(image, 88, 1, 8);
	} else {
		image_set(image, 72, 1 << 3, 4), image_set(image, 76, 1 << 2, 4);
		image_set(image, 88, 1, 4);
	}
	image_record(image, 68, 0), image_set(image, image->size - 2, 8, 2);
	image_file_end(image);
	table = image->size;
	image_zeros(image, 48);
	for (unsigned i = 0; i < 3; i++) {
		image_set(image, table + 16 * i, image->size, 8);
		image_set(image, table + 16 * i + 8, i == 0 ? 68 : i == 1 ? 4 : 0, 8);
		if (i == 0)
			image_pstr(image, "hosty", 64);
		if (i == 1)
			image_u32(image, 256);
	}
}

TEST(test_open__bitmap_of_big_endian_in_words_of_8_and_4_bytes)
{
	for (unsigned word_size = 4; word_size <= 8; word_size += 4) {
		struct image image = { 0 };
		struct pd_feature_section section;

		make_bitmap(&image, word_size);
		opened_open(&o, &image, 0);
		CHECK(o.status == PD_OK);
		CHECK(pd_file_header(o.file)->feature_bits[0] == (UINT64_C(1) << 34 | 8));
		CHECK(pd_file_header(o.file)->feature_bits[2] == 1);
		CHECK_STR(pd_file_hostname(o.file)->value.data, "hosty");
		CHECK(pd_file_cln_size(o.file)->bytes == 256);
		CHECK(pd_file_feature_at(o.file, 2, &section) && section.number == 128 && section.size == 0);
		CHECK(!pd_file_feature_at(o.file, 3, &section));
	}
}

TEST(test_open__bitmap_of_big_endian_before_there_was_a_hostname)
{
	for (unsigned word_size = 4; word_size <= 8; word_size += 4) {
		struct image image = { .big = true };

		// TRACING_DATA and BUILD_ID only
		image_file(&image, 0, 0);
		image_set(&image, 72, 6, word_size);
		image_record(&image, 68, 0), image_set(&image, image.size - 2, 8, 2);
		image_file_end(&image);
		image_u64(&image, image.size), image_u64(&image, 0);
		image_u64(&image, image.size - 16), image_u64(&image, 0);
		opened_open(&o, &image, 0);
		CHECK(o.status == PD_OK);
		CHECK(pd_file_header(o.file)->feature_bits[0] == 6 && pd_file_build_id(o.file) && o.problem_count == 0);
	}
}

// ---- sections ----

TEST(test_open__unfinished_file_has_records_but_no_features)
{
	struct image image = { 0 };
	const struct pd_record *record;

	image_file(&image, 0, 0);
	image_set(&image, 72, 0xd6717ffc, 8);
	image_record(&image, 68, 0), image_set(&image, image.size - 2, 8, 2);
	opened_open(&o, &image, 0);
	CHECK(o.status == PD_OK);
	CHECK(pd_file_header(o.file)->unfinished && opened_told(&o, "unfinished") == 1);
	CHECK(pd_file_header(o.file)->feature_bits[0] == 0);
	record = opened_next(&o);
	CHECK(record);
	CHECK(record->type == 68 && record->offset == 184);
	CHECK(!opened_next(&o) && o.status == PD_END);
}

TEST(test_open__data_past_the_end)
{
	struct image image = { 0 };

	image_file(&image, 0, 0);
	image_set(&image, 72, 8, 8);
	image_record(&image, 68, 0), image_set(&image, image.size - 2, 8, 2);
	image_set(&image, 48, 100000, 8);
	opened_open(&o, &image, 0);
	CHECK(o.status == PD_OK);
	CHECK(pd_file_header(o.file)->truncated && opened_told(&o, "data-past-end") == 1);
	CHECK(opened_next(&o) && !opened_next(&o) && o.status == PD_END);
}

TEST(test_open__data_whose_end_overflows)
{
	struct image image = { 0 };

	image_file(&image, 0, 0);
	image_record(&image, 68, 0), image_set(&image, image.size - 2, 8, 2);
	image_set(&image, 48, UINT64_MAX - 16, 8);
	opened_open(&o, &image, 0);
	CHECK(o.status == PD_OK);
	CHECK(opened_told(&o, "data-past-end") == 1 && opened_next(&o) && !opened_next(&o));
}

TEST(test_open__attrs_after_the_data)
{
	struct image image = { 0 };
	uint64_t attrs;

	image_header(&image, 80);
	image_record(&image, 68, 0), image_set(&image, image.size - 2, 8, 2);
	attrs = image.size;
	image_attr(&image, 1, 9, 0, 0, 0);
	image_zeros(&image, 16);
	image_attrs_at(&image, attrs, 80);
	image_data_at(&image, 104, 8);
	opened_open(&o, &image, 0);
	CHECK(o.status == PD_OK);
	CHECK(pd_file_event_count(o.file) == 1 && pd_file_event(o.file, 0)->attr->config == 9);
	CHECK(opened_next(&o) && !opened_next(&o) && o.problem_count == 0);
}

TEST(test_open__attr_of_a_newer_kernel)
{
	struct image image = { 0 };

	image_header(&image, 176 + 16);
	image_attr(&image, 1, 9, 0, 0, 0);
	image_set(&image, 104 + 4, 176, 4);
	image_zeros(&image, 176 - 64 + 16);
	image_attrs_at(&image, 104, 192);
	image_data_at(&image, image.size, 8);
	image_record(&image, 68, 0), image_set(&image, image.size - 2, 8, 2);
	opened_open(&o, &image, 0);
	CHECK(o.status == PD_OK);
	CHECK(pd_file_event(o.file, 0)->attr->config == 9 && opened_told(&o, "newer-attr") == 1);
	CHECK(pd_file_event(o.file, 0)->attr->rest.size == 32);
}

TEST(test_open__attr_smaller_than_its_table_entry)
{
	struct image image = { 0 };

	// the entry has room for 72 bytes, the attr says 64
	image_header(&image, 88);
	image_attr(&image, 1, 9, 0, 0, 0);
	image_zeros(&image, 8 + 16);
	image_attrs_at(&image, 104, 88);
	image_data_at(&image, image.size, 8);
	image_record(&image, 68, 0), image_set(&image, image.size - 2, 8, 2);
	opened_open(&o, &image, 0);
	CHECK(o.status == PD_OK);
	CHECK(pd_file_event_count(o.file) == 1 && opened_told(&o, "attr-stride") == 1);
}

TEST(test_open__attr_sizes_that_make_no_sense)
{
	static const uint64_t sizes[] = { 0, 1, 16, 79, UINT64_C(1) << 32, UINT64_MAX };

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct image image = { 0 };

		image_file(&image, 0, 0);
		image_record(&image, 68, 0), image_set(&image, image.size - 2, 8, 2);
		image_file_end(&image);
		image_set(&image, 16, sizes[i], 8);
		opened_open(&o, &image, 0);
		CHECK(o.status == PD_OK);
		CHECK(pd_file_event_count(o.file) == 0 && opened_told(&o, "bad-attrs") == 1 &&
		      opened_told(&o, "no-events") == 1);
		CHECK(opened_next(&o));
	}
}

TEST(test_open__attrs_past_the_end)
{
	static const uint64_t places[][2] = {
		{ 104, 8000 }, { 100000, 80 }, { UINT64_MAX - 8, 80 }, { 104, UINT64_MAX }, { UINT64_MAX, UINT64_MAX }
	};

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		struct image image = { 0 };

		image_file(&image, 0, 0);
		image_record(&image, 68, 0), image_set(&image, image.size - 2, 8, 2);
		image_file_end(&image);
		image_attrs_at(&image, places[i][0], places[i][1]);
		opened_open(&o, &image, 0);
		CHECK(o.status == PD_OK && opened_told(&o, "bad-attrs") == 1);
	}
}

// ---- ids ----

// Two events with the ids 11 and 12, and 13 or what is wanted.
static void make_two_events(struct image *image, uint64_t last_id)
{
	image_header(image, 80);
	image_u64(image, 11), image_u64(image, 12), image_u64(image, last_id);
	for (uint32_t i = 0; i < 2; i++) {
		image_attr(image, 1, i, 0x10107, 0, image_flag(image, IMAGE_SAMPLE_ID_ALL));
		image_u64(image, i ? 120 : 104), image_u64(image, i ? 8 : 16);
	}
	image_attrs_at(image, 128, 160);
	image_data_at(image, image->size, 8);
	image_record(image, 68, 0), image_set(image, image->size - 2, 8, 2);
}

TEST(test_open__ids_find_their_events)
{
	for (unsigned big = 0; big < 2; big++) {
		struct image image = { .big = big };

		make_two_events(&image, 13);
		opened_open(&o, &image, 0);
		CHECK(o.status == PD_OK && o.problem_count == 0);
		CHECK(pd_file_event(o.file, 0)->ids.count == 2 && pd_file_event(o.file, 0)->ids.items[1] == 12);
		CHECK(pd_file_event_by_id(o.file, 11)->index == 0 && pd_file_event_by_id(o.file, 12)->index == 0);
		CHECK(pd_file_event_by_id(o.file, 13)->index == 1 && !pd_file_event_by_id(o.file, 14));
		CHECK(!pd_file_event_by_id(o.file, 0));
	}
}

TEST(test_open__id_of_two_events)
{
	struct image image = { 0 };

	make_two_events(&image, 11);
	opened_open(&o, &image, 0);
	CHECK(o.status == PD_OK);
	CHECK(opened_told(&o, "duplicate-id") == 1 && pd_file_event_by_id(o.file, 11)->index == 0);
}

TEST(test_open__ids_past_the_end)
{
	static const uint64_t places[][2] = {
		{ 104, 100000 }, { 100000, 8 }, { UINT64_MAX, 8 }, { 104, UINT64_MAX - 7 }, { 104, 7 }
	};

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		struct image image = { 0 };

		make_two_events(&image, 13);
		image_set(&image, 128 + 64, places[i][0], 8), image_set(&image, 128 + 72, places[i][1], 8);
		opened_open(&o, &image, 0);
		CHECK(o.status == PD_OK);
		CHECK(opened_told(&o, "bad-ids") == 1 && pd_file_event(o.file, 0)->ids.count == 0);
		CHECK(pd_file_event_by_id(o.file, 13)->index == 1);
	}
}

TEST(test_open__many_ids)
{
	enum {
		COUNT = 5000
	};
	struct image image = { 0 };
	uint64_t attr;

	image_header(&image, 80);
	for (uint64_t i = 0; i < COUNT; i++)
		image_u64(&image, i * 64 + 1);
	attr = image.size;
	image_attr(&image, 1, 0, 0, 0, 0);
	image_u64(&image, 104), image_u64(&image, COUNT * 8);
	image_attrs_at(&image, attr, 80);
	image_data_at(&image, image.size, 8);
	image_record(&image, 68, 0), image_set(&image, image.size - 2, 8, 2);
	opened_open(&o, &image, 0);
	CHECK(o.status == PD_OK);
	for (uint64_t i = 0; i < COUNT; i++) {
		CHECK(pd_file_event_by_id(o.file, i * 64 + 1));
		CHECK(!pd_file_event_by_id(o.file, i * 64 + 2));
	}
}

// ---- ways to open ----

TEST(test_open__stopped_by_the_problem_function)
{
	struct image image = { 0 };

	image_file(&image, 0, 0);
	o.stop_after = 1;
	opened_open(&o, &image, 0);
	CHECK(o.status == PD_ERROR_STOPPED && o.problem_count == 1);
	opened_close(&o);
}

TEST(test_open__descriptor_that_cannot_seek)
{
	struct image image = { 0 };
	struct pd_file *file = NULL;
	struct pd_error error;
	int ends[2];

	make_two_events(&image, 13);
	CHECK(pipe(ends) == 0);
	CHECK(write(ends[1], image.data, image.size) == (ssize_t)image.size);
	close(ends[1]);
	CHECK(pd_file_open_fd(ends[0], NULL, &file, &error) == PD_OK);
	CHECK(pd_file_event_count(file) == 2 && pd_file_event_by_id(file, 13));
	CHECK(strncmp(pd_file_name(file), "fd ", 3) == 0);
	pd_file_close(file);
	CHECK(close(ends[0]) == 0); // it stayed open
	image_free(&image);
}

TEST(test_open__descriptor_from_its_position)
{
	struct image image = { 0 };
	struct pd_file *file = NULL;
	FILE *temp = tmpfile();

	CHECK(temp);
	make_two_events(&image, 13);
	CHECK(fwrite("something else", 14, 1, temp) == 1);
	CHECK(fwrite(image.data, image.size, 1, temp) == 1 && fflush(temp) == 0);
	CHECK(lseek(fileno(temp), 14, SEEK_SET) == 14);
	CHECK(pd_file_open_fd(fileno(temp), NULL, &file, NULL) == PD_OK);
	CHECK(pd_file_event_count(file) == 2 && pd_file_header(file)->file_size == image.size);
	pd_file_close(file);
	fclose(temp);
	image_free(&image);
	opened_close(&o);
}

TEST(test_open__directory_whose_data_are_a_pipe)
{
	char dir[] = "/tmp/perfdata-test-XXXXXX", path[64];
	struct image image = { 0 };
	const struct pd_record *record;
	struct pd_stream *stream = NULL;
	struct pd_file *file = NULL;
	FILE *data;

	image_pipe(&image);
	image_u32(&image, PD_RECORD_FINISHED_ROUND), image_u16(&image, 0), image_u16(&image, 8);
	CHECK(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/data", dir);
	data = fopen(path, "w");
	CHECK(data && fwrite(image.data, image.size, 1, data) == 1 && fclose(data) == 0);
	CHECK(pd_file_open(dir, NULL, &file, NULL) == PD_OK);
	CHECK(pd_file_header(file)->mode == PD_MODE_PIPE);
	CHECK_STR(pd_file_part_name(file, 0), "data");
	CHECK(pd_stream_open(file, NULL, &stream, NULL) == PD_OK);
	CHECK(pd_stream_next(stream, &record, NULL) == PD_OK && record->type == PD_RECORD_FINISHED_ROUND);
	CHECK(pd_stream_next(stream, &record, NULL) == PD_END);
	pd_stream_close(stream);
	pd_file_close(file);
	CHECK(unlink(path) == 0 && rmdir(dir) == 0);
	image_free(&image);
	opened_close(&o);
}

RUN(TEST_CASE(test_open__file_in_both_orders), TEST_CASE(test_open__pipe_in_both_orders),
    TEST_CASE(test_open__version_1_tells_its_order_by_the_size_of_an_attr),
    TEST_CASE(test_open__version_1_of_no_order_is_refused), TEST_CASE(test_open__header_of_72_bytes_has_no_features),
    TEST_CASE(test_open__what_is_no_perf_data), TEST_CASE(test_open__no_such_file),
    TEST_CASE(test_open__bitmap_of_big_endian_in_words_of_8_and_4_bytes),
    TEST_CASE(test_open__bitmap_of_big_endian_before_there_was_a_hostname),
    TEST_CASE(test_open__unfinished_file_has_records_but_no_features), TEST_CASE(test_open__data_past_the_end),
    TEST_CASE(test_open__data_whose_end_overflows), TEST_CASE(test_open__attrs_after_the_data),
    TEST_CASE(test_open__attr_of_a_newer_kernel), TEST_CASE(test_open__attr_smaller_than_its_table_entry),
    TEST_CASE(test_open__attr_sizes_that_make_no_sense), TEST_CASE(test_open__attrs_past_the_end),
    TEST_CASE(test_open__ids_find_their_events), TEST_CASE(test_open__id_of_two_events),
    TEST_CASE(test_open__ids_past_the_end), TEST_CASE(test_open__many_ids),
    TEST_CASE(test_open__stopped_by_the_problem_function), TEST_CASE(test_open__descriptor_that_cannot_seek),
    TEST_CASE(test_open__descriptor_from_its_position), TEST_CASE(test_open__directory_whose_data_are_a_pipe))

/* SPDX-License-Identifier: MIT */
/* Records one after another: sizes, bytes that follow a record, damage, pieces, places to go on. */
#include "../opened.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static struct opened o;

// A whole record with a body of zeros.
static void put_record(struct image *image, uint32_t type, size_t body)
{
	size_t at = image_record(image, type, 0);

	image_zeros(image, body);
	image_end(image, at);
}

// A pipe with one event without ids.
static void begin_pipe(struct image *image, uint64_t sample_type)
{
	size_t at;

	image_pipe(image);
	at = image_record(image, PD_RECORD_HEADER_ATTR, 0);
	image_attr(image, 1, 0, sample_type, 0, 0);
	image_end(image, at);
}

static void open_file_of(struct image *image)
{
	image_file_end(image);
	opened_open(&o, image, 0);
}

// ---- types and sizes ----

TEST(test_stream__unknown_types_are_handed_out)
{
	struct image image = { 0 };
	const struct pd_record *record;
	const void *decoded;
	struct pd_error error;

	image_file(&image, 0, 0);
	put_record(&image, 63, 16);
	put_record(&image, 63, 16);
	put_record(&image, 200, 0);
	open_file_of(&image);
	record = opened_next(&o);
	CHECK(record);
	CHECK(record->type == 63 && record->bytes.size == 24 && !pd_record_as(record, 63));
	CHECK(pd_record_decode(record, &decoded, &error) == PD_ERROR_UNSUPPORTED && error.offset == 184);
	CHECK(opened_next(&o)->type == 63);
	CHECK(opened_next(&o)->type == 200 && !opened_next(&o) && o.status == PD_END);
	// once for each type
	CHECK(opened_told(&o, "unknown-record") == 2 && o.problem_count == 2);
}

TEST(test_stream__as_gives_its_own_type_only)
{
	struct image image = { 0 };
	const struct pd_record *record;

	image_file(&image, 0, 0);
	put_record(&image, PD_RECORD_LOST, 16);
	open_file_of(&image);
	record = opened_next(&o);
	CHECK(record);
	CHECK(pd_as_lost(record) && !pd_as_comm(record) && !pd_as_sample(record));
}

TEST(test_stream__record_that_does_not_fit_its_layout)
{
	struct image image = { 0 };
	const struct pd_record *record;
	const void *decoded;
	struct pd_error error;

	image_file(&image, 0, 0);
	put_record(&image, PD_RECORD_LOST, 8);
	put_record(&image, PD_RECORD_FINISHED_ROUND, 0);
	open_file_of(&image);
	record = opened_next(&o);
	CHECK(record);
	CHECK(pd_record_decode(record, &decoded, &error) == PD_ERROR_FORMAT && error.offset == 184);
	CHECK(strstr(error.message, "lost.lost"));
	CHECK(!pd_as_lost(record) && !pd_as_lost(record) && opened_told(&o, "bad-record") == 1);
	CHECK(opened_next(&o)->type == PD_RECORD_FINISHED_ROUND && !opened_next(&o));
}

TEST(test_stream__goes_on_after_a_size_that_cannot_be)
{
	for (uint16_t size = 0; size < 8; size++) {
		struct image image = { 0 };
		const struct pd_record *record;

		image_file(&image, 0, 0);
		put_record(&image, PD_RECORD_LOST, 16);
		image_record(&image, 77777, 0), image_set(&image, image.size - 2, size, 2);
		image_zeros(&image, 40);
		put_record(&image, PD_RECORD_LOST, 16);
		put_record(&image, PD_RECORD_COMM, 16);
		open_file_of(&image);
		CHECK(opened_next(&o)->offset == 184);
		record = opened_next(&o);
		CHECK(record);
		CHECK(record->type == PD_RECORD_LOST && record->offset == 184 + 24 + 48);
		CHECK(opened_next(&o)->type == PD_RECORD_COMM && !opened_next(&o) && o.status == PD_END);
		CHECK(opened_told(&o, "bad-record-size") == 1 && opened_told(&o, "resync") == 1);
	}
}

// The record whose size is wrong cannot be told from a good one, but what follows lies as it did.
TEST(test_stream__goes_on_after_a_size_that_moves_all)
{
	for (unsigned wrong = 25; wrong < 32; wrong++) {
		struct image image = { 0 };
		size_t count = 0;

		image_file(&image, 0, 0);
		for (unsigned i = 0; i < 20; i++)
			put_record(&image, PD_RECORD_LOST, 16);
		image_set(&image, 184 + 24 + 6, wrong, 2);
		open_file_of(&image);
		while (opened_next(&o))
			count++;
		CHECK(o.status == PD_END && count == 19);
		CHECK(opened_told(&o, "bad-record-size") == 1 && opened_told(&o, "resync") == 1);
	}
}

TEST(test_stream__end_inside_a_record)
{
	struct image image = { 0 };

	image_file(&image, 0, 0);
	put_record(&image, PD_RECORD_LOST, 16);
	image_u32(&image, PD_RECORD_LOST), image_u16(&image, 0), image_u16(&image, 24), image_zeros(&image, 8);
	open_file_of(&image);
	CHECK(opened_next(&o) && !opened_next(&o) && o.status == PD_END);
	CHECK(opened_told(&o, "truncated-record") == 1 && o.problems[0].offset == 184 + 24);
}

TEST(test_stream__file_that_shrinks_is_no_silent_end)
{
	struct image image = { 0 };
	struct pd_open_options options = { .size = sizeof(options), .problem = opened_problem, .self = &o };
	FILE *temp = tmpfile();
	size_t count = 0;

	image_file(&image, 0, 0);
	for (unsigned i = 0; i < 20000; i++)
		put_record(&image, PD_RECORD_LOST, 16);
	image_file_end(&image);
	CHECK(temp && fwrite(image.data, image.size, 1, temp) == 1 && fflush(temp) == 0);
	image_free(&image);
	opened_close(&o);
	CHECK(lseek(fileno(temp), 0, SEEK_SET) == 0);
	o.status = pd_file_open_fd(fileno(temp), &options, &o.file, &o.error);
	CHECK(o.status == PD_OK && opened_next(&o));
	CHECK(ftruncate(fileno(temp), 184 + 24 * 15000) == 0);
	while (opened_next(&o))
		count++;
	CHECK(o.status == PD_END && count == 14999);
	CHECK(opened_told(&o, "truncated-record") == 1 && o.problems[0].offset == 184 + 24 * 15000);
	opened_close(&o);
	fclose(temp);
}

TEST(test_stream__odd_sizes_move_what_follows)
{
	struct image image = { .big = true };
	size_t at;

	begin_pipe(&image, 0);
	at = image_record(&image, PD_RECORD_HEADER_FEATURE, 0);
	image_u64(&image, PD_FEATURE_HOSTNAME), image_pstr(&image, "hosty", 7);
	image_end(&image, at);
	at = image_record(&image, PD_RECORD_LOST, 0);
	image_u64(&image, 5), image_u64(&image, 6);
	image_end(&image, at);
	opened_open(&o, &image, 0);
	CHECK(opened_next(&o) && opened_next(&o));
	CHECK_STR(pd_file_hostname(o.file)->value.data, "hosty");
	CHECK(pd_as_lost(opened_next(&o))->lost == 6);
}

// ---- bytes that follow a record ----

TEST(test_stream__tail_of_auxtrace)
{
	for (unsigned taken = 0; taken < 2; taken++) {
		struct image image = { .big = true };
		const struct pd_record *record;
		struct pd_bytes tail;
		size_t at;

		image_file(&image, 0, 0);
		at = image_record(&image, PD_RECORD_AUXTRACE, 0);
		image_u64(&image, 16), image_zeros(&image, 16), image_u32(&image, 3), image_zeros(&image, 12);
		image_end(&image, at);
		image_bytes(&image, "sixteen of trace", 16);
		put_record(&image, PD_RECORD_FINISHED_ROUND, 0);
		open_file_of(&image);
		record = opened_next(&o);
		CHECK(record);
		CHECK(record->tail_size == 16 && record->bytes.size == 48 && pd_as_auxtrace(record)->idx == 3);
		if (taken) {
			CHECK(pd_stream_tail(o.stream, &tail, NULL) == PD_OK);
			CHECK(tail.size == 16 && memcmp(tail.data, "sixteen of trace", 16) == 0);
			// again, and the record is still there
			CHECK(pd_stream_tail(o.stream, &tail, NULL) == PD_OK && tail.size == 16);
			CHECK(pd_as_auxtrace(record)->idx == 3);
		}
		record = opened_next(&o);
		CHECK(record);
		CHECK(record->type == PD_RECORD_FINISHED_ROUND && record->tail_size == 0);
		CHECK(pd_stream_tail(o.stream, &tail, NULL) == PD_OK && tail.size == 0);
		CHECK(!opened_next(&o) && o.problem_count == 0);
	}
}

TEST(test_stream__tail_that_is_cut)
{
	static const uint64_t sizes[] = { 17, 1000, UINT64_C(1) << 40, UINT64_MAX };

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct image image = { 0 };
		struct pd_bytes tail;
		size_t at;

		image_file(&image, 0, 0);
		at = image_record(&image, PD_RECORD_AUXTRACE, 0);
		image_u64(&image, sizes[i]), image_zeros(&image, 32);
		image_end(&image, at);
		image_zeros(&image, 16);
		open_file_of(&image);
		CHECK(opened_next(&o));
		CHECK(pd_stream_tail(o.stream, &tail, NULL) == PD_OK && tail.size == 16);
		CHECK(!opened_next(&o) && o.status == PD_END && opened_told(&o, "truncated-tail") == 1);
	}
}

static size_t put_tracing_blob(struct image *image)
{
	size_t begin = image->size;

	image_bytes(image, "\x17\x08\x44tracing", 10), image_text(image, "0.6", 4);
	image_u8(image, image->big), image_u8(image, 8), image_u32(image, 4096);
	image_text(image, "header_page", 12), image_u64(image, 0);
	image_text(image, "header_event", 13), image_u64(image, 0);
	image_u32(image, 0), image_u32(image, 0), image_u32(image, 0), image_u32(image, 0);
	while ((image->size - begin) % 8)
		image_u8(image, 0);
	return image->size - begin;
}

TEST(test_stream__tracing_data_after_12_or_16_bytes)
{
	for (unsigned form = 0; form < 4; form++) {
		struct image image = { .big = form & 1 };
		const struct pd_record *record;
		size_t at;

		begin_pipe(&image, 0);
		at = image_record(&image, PD_RECORD_HEADER_TRACING_DATA, 0);
		image_u32(&image, 0);
		if (form & 2)
			image_u32(&image, 0);
		image_end(&image, at);
		image_set(&image, at + 8, put_tracing_blob(&image), 4);
		put_record(&image, PD_RECORD_FINISHED_ROUND, 0);
		opened_open(&o, &image, 0);
		CHECK(opened_next(&o));
		record = opened_next(&o);
		CHECK(record);
		CHECK(record->bytes.size == (form & 2 ? 16 : 12) &&
		      record->tail_size == pd_as_header_tracing_data(record)->size);
		CHECK(opened_next(&o)->type == PD_RECORD_FINISHED_ROUND && !opened_next(&o));
		CHECK(pd_file_tracing_data(o.file)->page_size == 4096 && o.problem_count == 0);
	}
}

// ---- metadata in pipes ----

TEST(test_stream__pipe_learns_events_and_features)
{
	struct image image = { 0 };
	size_t at;

	begin_pipe(&image, 0);
	at = image_record(&image, PD_RECORD_HEADER_FEATURE, 0);
	image_u64(&image, PD_FEATURE_NRCPUS), image_u32(&image, 4), image_u32(&image, 2);
	image_end(&image, at);
	at = image_record(&image, PD_RECORD_HEADER_FEATURE, 0);
	image_u64(&image, 35); // the end marker of a newer perf
	image_end(&image, at);
	at = image_record(&image, PD_RECORD_HEADER_ATTR, 0);
	image_attr(&image, 1, 2, 0, 0, 0), image_u64(&image, 77);
	image_end(&image, at);
	opened_open(&o, &image, 0);
	CHECK(pd_file_event_count(o.file) == 0 && opened_next(&o) && pd_file_event_count(o.file) == 1);
	CHECK(!pd_file_nrcpus(o.file) && opened_next(&o) && pd_file_nrcpus(o.file)->online == 2);
	CHECK(opened_next(&o) && opened_next(&o) && !opened_next(&o));
	CHECK(pd_file_event_count(o.file) == 2 && pd_file_event_by_id(o.file, 77)->index == 1);
	CHECK(!pd_file_feature(o.file, 35) && o.problem_count == 0);
	// a second pass over what can seek does not learn twice
	pd_stream_close(o.stream);
	o.stream = NULL;
	o.status = PD_OK;
	while (opened_next(&o))
		;
	CHECK(o.status == PD_END && pd_file_event_count(o.file) == 2);
}

TEST(test_stream__event_update_gives_unit_and_scale)
{
	struct image image = { .big = true };
	size_t at;

	image_pipe(&image);
	at = image_record(&image, PD_RECORD_HEADER_ATTR, 0);
	image_attr(&image, 1, 0, 0, 0, 0), image_u64(&image, 42);
	image_end(&image, at);
	at = image_record(&image, PD_RECORD_EVENT_UPDATE, 0);
	image_u64(&image, 0), image_u64(&image, 42), image_text(&image, "msec", 24);
	image_end(&image, at);
	at = image_record(&image, PD_RECORD_EVENT_UPDATE, 0);
	image_u64(&image, 1), image_u64(&image, 42), image_u64(&image, 0x3eb0c6f7a0b5ed8d);
	image_end(&image, at);
	opened_open(&o, &image, 0);
	while (opened_next(&o))
		;
	CHECK(pd_file_event_count(o.file) == 1);
	CHECK_STR(pd_file_event(o.file, 0)->unit, "msec");
	CHECK(pd_file_event(o.file, 0)->scale == 1e-6);
}

TEST(test_stream__sample_before_any_event)
{
	struct image image = { 0 };

	image_pipe(&image);
	put_record(&image, PD_RECORD_SAMPLE, 8);
	opened_open(&o, &image, 0);
	CHECK(!pd_as_sample(opened_next(&o)) && opened_told(&o, "no-attr-yet") == 1);
}

// ---- simpleperf ----

TEST(test_stream__pieces_of_a_record_are_joined)
{
	struct image image = { 0 }, whole = { 0 };
	const struct pd_record *record;
	size_t at = image_record(&whole, PD_RECORD_SIMPLEPERF_KERNEL_SYMBOL, 0);

	// a record of 100000 bytes in two pieces
	image_u32(&whole, 100000 - 12), image_zeros(&whole, 100000 - 12 - 4), image_bytes(&whole, "last", 4);
	image_set(&whole, at + 4, whole.size >> 16, 2), image_set(&whole, at + 6, whole.size & 0xffff, 2);
	image_file(&image, 0, 0);
	for (unsigned i = 0; i < 2; i++) {
		at = image_record(&image, PD_RECORD_SIMPLEPERF_SPLIT, 0);
		image_bytes(&image, whole.data + i * 60000, i ? 40000 : 60000);
		image_end(&image, at);
	}
	put_record(&image, PD_RECORD_SIMPLEPERF_SPLIT_END, 0);
	put_record(&image, PD_RECORD_FINISHED_ROUND, 0);
	image_free(&whole);
	open_file_of(&image);
	CHECK(opened_next(&o)->type == PD_RECORD_SIMPLEPERF_SPLIT &&
	      opened_next(&o)->type == PD_RECORD_SIMPLEPERF_SPLIT);
	CHECK(opened_next(&o)->type == PD_RECORD_SIMPLEPERF_SPLIT_END);
	record = opened_next(&o);
	CHECK(record);
	CHECK(record->type == PD_RECORD_SIMPLEPERF_KERNEL_SYMBOL && record->bytes.size == 100000);
	CHECK(pd_as_simpleperf_kernel_symbol(record)->kallsyms.size == 100000 - 12);
	CHECK(memcmp(record->bytes.data + 99996, "last", 4) == 0);
	CHECK(opened_next(&o)->type == PD_RECORD_FINISHED_ROUND && !opened_next(&o) && o.problem_count == 0);
}

TEST(test_stream__pieces_that_do_not_join)
{
	for (unsigned with_end = 0; with_end < 2; with_end++) {
		struct image image = { 0 };

		image_file(&image, 0, 0);
		put_record(&image, PD_RECORD_SIMPLEPERF_SPLIT, 40);
		if (with_end)
			put_record(&image, PD_RECORD_SIMPLEPERF_SPLIT_END, 0);
		open_file_of(&image);
		while (opened_next(&o))
			;
		CHECK(o.status == PD_END && opened_told(&o, "split-record") == 1);
	}
}

// ---- going to a place, progress, directories ----

TEST(test_stream__seek)
{
	struct image image = { 0 };
	uint64_t done, total;
	struct pd_error error;

	image_file(&image, 0, 0);
	for (unsigned i = 0; i < 10; i++)
		put_record(&image, PD_RECORD_LOST, 16);
	open_file_of(&image);
	CHECK(opened_next(&o));
	CHECK(pd_stream_seek(o.stream, 184 + 24 * 8, &error) == PD_OK);
	CHECK(opened_next(&o)->offset == 184 + 24 * 8);
	pd_stream_progress(o.stream, &done, &total);
	CHECK(total == 240 && done >= 24 * 8 && done <= 240);
	CHECK(opened_next(&o) && !opened_next(&o) && o.status == PD_END);
	CHECK(pd_stream_seek(o.stream, 184, &error) == PD_OK);
	o.status = PD_OK;
	CHECK(opened_next(&o)->offset == 184);
	CHECK(pd_stream_seek(o.stream, 183, &error) == PD_ERROR_ARGUMENT);
	CHECK(pd_stream_seek(o.stream, 184 + 240, &error) == PD_ERROR_ARGUMENT);
}

static bool write_file(const char *path, const void *data, size_t size)
{
	FILE *file = fopen(path, "wb");
	bool fine = file && (size == 0 || fwrite(data, size, 1, file) == 1);

	return (!file || fclose(file) == 0) && fine;
}

// A directory with data, data.0 (empty), data.2 and data.10, and things that are no parts.
static bool make_directory(char *dir)
{
	struct image image = { 0 }, part = { 0 };
	char path[64];
	bool fine = mkdtemp(dir) != NULL;
	size_t at;

	image_file(&image, 0, 0);
	image_set(&image, 72, UINT64_C(1) << PD_FEATURE_DIR_FORMAT, 8);
	put_record(&image, PD_RECORD_FINISHED_INIT, 0);
	image_file_end(&image);
	image_u64(&image, image.size + 16), image_u64(&image, 8), image_u64(&image, 1);
	snprintf(path, sizeof(path), "%s/data", dir);
	fine = fine && write_file(path, image.data, image.size);
	for (unsigned i = 0; i <= 10 && fine; i += i == 2 ? 8 : 2) {
		part.size = 0;
		if (i) {
			at = image_record(&part, PD_RECORD_LOST, 0);
			image_u64(&part, 0), image_u64(&part, i);
			image_end(&part, at);
		}
		snprintf(path, sizeof(path), "%s/data.%u", dir, i);
		fine = write_file(path, part.data, part.size);
	}
	snprintf(path, sizeof(path), "%s/data.9", dir);
	fine = fine && mkdir(path, 0700) == 0;
	snprintf(path, sizeof(path), "%s/other", dir);
	fine = fine && write_file(path, "junk", 4);
	image_free(&image);
	image_free(&part);
	return fine;
}

static void remove_directory(const char *dir)
{
	static const char *const names[] = { "data", "data.0", "data.2", "data.10", "other", "data.9" };
	char path[64];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, names[i]);
		remove(path);
	}
	rmdir(dir);
}

TEST(test_stream__directory)
{
	char dir[] = "/tmp/perfdata-test-XXXXXX";
	const struct pd_record *record;

	opened_close(&o);
	CHECK(make_directory(dir));
	o.status = pd_file_open(dir, NULL, &o.file, &o.error);
	remove_directory(dir);
	CHECK(o.status == PD_OK && pd_file_header(o.file)->mode == PD_MODE_DIRECTORY);
	CHECK(pd_file_part_count(o.file) == 4);
	CHECK_STR(pd_file_part_name(o.file, 0), "data");
	CHECK_STR(pd_file_part_name(o.file, 2), "data.2");
	CHECK_STR(pd_file_part_name(o.file, 3), "data.10");
	CHECK(opened_next(&o)->type == PD_RECORD_FINISHED_INIT);
	record = opened_next(&o);
	CHECK(record);
	CHECK(record->part == 2 && record->offset == 0 && pd_as_lost(record)->lost == 2);
	record = opened_next(&o);
	CHECK(record);
	CHECK(record->part == 3 && pd_as_lost(record)->lost == 10 && record->index == 2);
	CHECK(!opened_next(&o) && o.status == PD_END);
	opened_close(&o);
}

TEST(test_stream__pipe_is_read_once)
{
	struct image image = { 0 };
	struct pd_stream *second;
	int ends[2];

	begin_pipe(&image, 0);
	put_record(&image, PD_RECORD_LOST, 16);
	CHECK(pipe(ends) == 0 && write(ends[1], image.data, image.size) == (ssize_t)image.size);
	close(ends[1]);
	opened_close(&o);
	o.status = pd_file_open_fd(ends[0], NULL, &o.file, &o.error);
	CHECK(o.status == PD_OK);
	CHECK(opened_next(&o) && opened_next(&o)->type == PD_RECORD_LOST && !opened_next(&o));
	CHECK(pd_stream_open(o.file, NULL, &second, NULL) == PD_ERROR_ARGUMENT);
	opened_close(&o);
	close(ends[0]);
	image_free(&image);
	pd_stream_close(NULL);
}

RUN(TEST_CASE(test_stream__unknown_types_are_handed_out), TEST_CASE(test_stream__as_gives_its_own_type_only),
    TEST_CASE(test_stream__record_that_does_not_fit_its_layout),
    TEST_CASE(test_stream__goes_on_after_a_size_that_cannot_be),
    TEST_CASE(test_stream__goes_on_after_a_size_that_moves_all), TEST_CASE(test_stream__end_inside_a_record),
    TEST_CASE(test_stream__file_that_shrinks_is_no_silent_end), TEST_CASE(test_stream__odd_sizes_move_what_follows),
    TEST_CASE(test_stream__tail_of_auxtrace), TEST_CASE(test_stream__tail_that_is_cut),
    TEST_CASE(test_stream__tracing_data_after_12_or_16_bytes), TEST_CASE(test_stream__pipe_learns_events_and_features),
    TEST_CASE(test_stream__event_update_gives_unit_and_scale), TEST_CASE(test_stream__sample_before_any_event),
    TEST_CASE(test_stream__pieces_of_a_record_are_joined), TEST_CASE(test_stream__pieces_that_do_not_join),
    TEST_CASE(test_stream__seek), TEST_CASE(test_stream__directory), TEST_CASE(test_stream__pipe_is_read_once))

/* SPDX-License-Identifier: MIT */
/* What pd_check counts and tells of a whole file, and records as text and JSON. */
#include <perfdata/print.h>

#include "../opened.h"

static struct opened o;

static void put_words(struct image *image, uint32_t type, uint16_t misc, unsigned count, uint64_t word)
{
	size_t at = image_record(image, type, misc);

	for (unsigned i = 0; i < count; i++)
		image_u64(image, word);
	image_end(image, at);
}

static void check(struct image *image, struct pd_check_result *result)
{
	image_file_end(image);
	opened_open(&o, image, 0);
	if (o.status == PD_OK)
		o.status = pd_check(o.file, result, &o.error);
}

TEST(test_check__counts)
{
	struct image image = { .big = true };
	struct pd_check_result result;

	image_file(&image, 1, 0);
	put_words(&image, PD_RECORD_SAMPLE, 0, 1, 5);
	put_words(&image, PD_RECORD_SAMPLE, 0, 1, 5);
	put_words(&image, PD_RECORD_LOST, 0, 2, 7);
	put_words(&image, PD_RECORD_LOST_SAMPLES, 0, 1, 3);
	put_words(&image, PD_RECORD_THROTTLE, 0, 3, 1);
	put_words(&image, PD_RECORD_AUX, 0, 3, 1);
	put_words(&image, 63, 0, 1, 1);
	put_words(&image, PD_RECORD_COMM, 0, 1, 1);
	check(&image, &result);
	CHECK(o.status == PD_OK);
	CHECK(result.record_count == 8 && result.sample_count == 2 && result.lost_records == 7);
	CHECK(result.lost_samples == 3 && result.throttle_count == 1 && result.undecoded_count == 2);
	CHECK(opened_told(&o, "lost-records") == 1 && opened_told(&o, "lost-samples") == 1);
	CHECK(opened_told(&o, "throttled") == 1 && opened_told(&o, "aux-truncated") == 1);
	CHECK(opened_told(&o, "unknown-record") == 1 && opened_told(&o, "bad-record") == 1);
	CHECK(result.problem_count[PD_DAMAGE] == 1);
	CHECK(result.problem_count[PD_DAMAGE] == pd_file_problem_count(o.file, PD_DAMAGE));
}

TEST(test_check__summary)
{
	const struct pd_check_result result = { .record_count = 1, .sample_count = 2, .problem_count[PD_WARNING] = 3 };
	struct pd_text *text = pd_text_new();

	pd_print_check(text, "a", &result);
	pd_json_check(text, "a", &result);
	pd_print_check(text, "b", &(const struct pd_check_result){ 0 });
	pd_text_printf(text, "%c", 0);
	CHECK(strcmp((const char *)pd_text_bytes(text).data,
		     "a: 1 record, 2 samples: damage 0, warning 3, info 0\n"
		     "{\"summary\":{\"file\":\"a\",\"records\":1,\"samples\":2,\"undecoded\":0,\"lost_records\":0,"
		     "\"lost_samples\":0,\"throttled\":0,\"damage\":0,\"warning\":3,\"info\":0}}\n"
		     "b: 0 records, 0 samples: no problem\n") == 0);
	pd_text_free(text);
}

TEST(test_check__sound_file_has_no_problem)
{
	struct image image = { 0 };
	struct pd_check_result result;

	image_file(&image, 1, 0);
	put_words(&image, PD_RECORD_SAMPLE, 0, 1, 5);
	check(&image, &result);
	CHECK(o.status == PD_OK && result.record_count == 1 && o.problem_count == 0);
}

TEST(test_check__what_is_left_over)
{
	struct image image = { 0 };
	struct pd_check_result result;

	image_file(&image, 1, 0);
	put_words(&image, PD_RECORD_SAMPLE, 0, 2, 5);
	check(&image, &result);
	CHECK(o.status == PD_OK && opened_told(&o, "leftover") == 1 && result.problem_count[PD_DAMAGE] == 0);
}

TEST(test_check__promised_trailer_is_missing)
{
	struct image image = { 0 };
	struct pd_check_result result;

	image_file(&image, 1 | 4, image_flag(&image, IMAGE_SAMPLE_ID_ALL));
	put_words(&image, PD_RECORD_LOST_SAMPLES, 0, 1, 0);
	check(&image, &result);
	CHECK(o.status == PD_OK && opened_told(&o, "no-trailer") == 1 && opened_told(&o, "no-samples") == 1);
}

TEST(test_check__sizes_that_newer_perf_refuses)
{
	struct image image = { 0 };
	struct pd_check_result result;
	size_t at;

	image_file(&image, 1, 0);
	put_words(&image, PD_RECORD_SAMPLE, 0, 1, 5);
	at = image_record(&image, PD_RECORD_FINISHED_ROUND, 0);
	image_zeros(&image, 4);
	image_end(&image, at);
	check(&image, &result);
	CHECK(o.status == PD_OK && opened_told(&o, "misaligned-size") == 1);
}

TEST(test_check__stopped)
{
	struct image image = { 0 };
	struct pd_check_result result;

	image_file(&image, 1, 0);
	put_words(&image, 63, 0, 1, 1);
	put_words(&image, 62, 0, 1, 1);
	o.stop_after = 1;
	check(&image, &result);
	CHECK(o.status == PD_ERROR_STOPPED && o.problem_count == 1);
	o.stop_after = 0;
}

// ---- text ----

static const char *printed(const struct pd_record *record, bool json)
{
	static char kept[4096];
	struct pd_text *text = pd_text_new();
	struct pd_bytes bytes;

	if (!text)
		return "";
	(json ? pd_json_record : pd_print_record)(text, record);
	bytes = pd_text_bytes(text);
	snprintf(kept, sizeof(kept), "%.*s", (int)bytes.size, (const char *)bytes.data);
	pd_text_free(text);
	return kept;
}

TEST(test_check__record_as_text_is_safe_for_a_terminal)
{
	struct image image = { 0 };
	const struct pd_record *record;
	size_t at;

	image_file(&image, 1, 0);
	at = image_record(&image, PD_RECORD_COMM, 0);
	image_u32(&image, 1), image_u32(&image, 2), image_text(&image, "\x1b[2J\"\\\x07", 16);
	image_end(&image, at);
	image_file_end(&image);
	opened_open(&o, &image, 0);
	CHECK(o.status == PD_OK);
	record = opened_next(&o);
	CHECK(record);
	CHECK(strstr(printed(record, false), "comm: \\x1b[2J\"\\\\x07"));
	CHECK(!strchr(printed(record, false), '\x1b'));
	CHECK(strstr(printed(record, true), "\"comm\":\"\\u001b[2J\\\"\\\\\\u0007\""));
}

TEST(test_check__damaged_record_is_printed_as_bytes)
{
	struct image image = { 0 };
	const struct pd_record *record;

	image_file(&image, 1, 0);
	put_words(&image, PD_RECORD_LOST, 0, 1, 0xab);
	image_file_end(&image);
	opened_open(&o, &image, 0);
	record = opened_next(&o);
	CHECK(record);
	CHECK(strstr(printed(record, false), "LOST"));
	CHECK(strstr(printed(record, true), "\"type\":\"LOST\""));
	opened_close(&o);
}

static void put_mapping(struct image *image, uint32_t maj, uint32_t min, uint64_t ino, uint64_t generation)
{
	size_t at = image_record(image, PD_RECORD_MMAP2, 1 << PD_MISC_MMAP_BUILD_ID_SHIFT);

	image_zeros(image, 32);
	image_u32(image, maj);
	image_u32(image, min);
	image_u64(image, ino);
	image_u64(image, generation);
	image_zeros(image, 8);
	image_text(image, "/a", 8);
	image_end(image, at);
}

static void check_devices(bool big)
{
	static const uint32_t majors[] = { 254, 259, 8, 0 };
	struct image image = { .big = big };
	struct pd_check_result result;

	image_file(&image, 1, 0);
	for (unsigned i = 0; i < 4; i++)
		put_mapping(&image, majors[i], i, 1000 + i, 0);
	image_file_end(&image);
	opened_open(&o, &image, 0);
	for (unsigned i = 0; i < 4; i++) {
		const struct pd_record *record = opened_next(&o);
		const struct pd_mmap2 *map = record ? pd_as_mmap2(record) : NULL;
		struct pd_mmap2 mended = map ? *map : (struct pd_mmap2){ 0 };

		CHECK(map && map->build_id.size == 20 && pd_mmap2_recover(record, &mended));
		CHECK(mended.maj == majors[i] && mended.min == i && mended.ino == 1000 + i && !mended.ino_generation);
		CHECK(!mended.build_id.size && !mended.build_id_size && !mended.reserved_1 && !mended.reserved_2);
	}
	CHECK(pd_check(o.file, &result, &o.error) == PD_OK && opened_told(&o, "no-build-id") == 4);
	opened_close(&o);
}

TEST(test_check__devices_marked_as_build_ids)
{
	check_devices(false);
	check_devices(true);
}

RUN(TEST_CASE(test_check__counts), TEST_CASE(test_check__summary), TEST_CASE(test_check__sound_file_has_no_problem),
    TEST_CASE(test_check__what_is_left_over), TEST_CASE(test_check__promised_trailer_is_missing),
    TEST_CASE(test_check__sizes_that_newer_perf_refuses), TEST_CASE(test_check__stopped),
    TEST_CASE(test_check__devices_marked_as_build_ids), TEST_CASE(test_check__record_as_text_is_safe_for_a_terminal),
    TEST_CASE(test_check__damaged_record_is_printed_as_bytes))

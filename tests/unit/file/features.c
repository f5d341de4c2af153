/* SPDX-License-Identifier: MIT */
/* The table of features after the data, and features on demand. */
#include "file/file.h"
#include "../opened.h"

static struct opened o;

enum {
	RECORD_END = 184 + 8
};

// A file with one record and the features of bits; their sections are filled in by put_feature.
static void begin_features(struct image *image, uint64_t bits)
{
	image_file(image, 0, 0);
	image_set(image, 72, bits, 8);
	image_record(image, 68, 0), image_set(image, image->size - 2, 8, 2);
	image_file_end(image);
	image_zeros(image, 16 * (size_t)__builtin_popcountll(bits));
}

// The next size bytes of the image are the index-th feature.
static void put_feature(struct image *image, size_t index, uint64_t size)
{
	image_set(image, RECORD_END + 16 * index, image->size, 8);
	image_set(image, RECORD_END + 16 * index + 8, size, 8);
}

#define BIT_OF(NAME) (UINT64_C(1) << PD_FEATURE_##NAME)

TEST(test_features__are_found_and_decoded)
{
	struct image image = { .big = true };
	struct pd_feature_section section;
	struct pd_bytes bytes;

	begin_features(&image, BIT_OF(HOSTNAME) | BIT_OF(NRCPUS) | BIT_OF(STAT));
	put_feature(&image, 0, 10), image_pstr(&image, "hosty", 6);
	put_feature(&image, 1, 8), image_u32(&image, 4), image_u32(&image, 3);
	put_feature(&image, 2, 0);
	opened_open(&o, &image, 0);
	CHECK(o.status == PD_OK);
	CHECK_STR(pd_file_hostname(o.file)->value.data, "hosty");
	// available comes first, whatever old texts say
	CHECK(pd_file_nrcpus(o.file)->available == 4 && pd_file_nrcpus(o.file)->online == 3);
	CHECK(pd_file_stat(o.file) && !pd_file_branch_stack(o.file));
	CHECK(pd_file_feature_at(o.file, 1, &section) && section.number == PD_FEATURE_NRCPUS && section.size == 8);
	CHECK(!pd_file_feature_at(o.file, 3, &section));
	CHECK(pd_file_feature_bytes(o.file, PD_FEATURE_NRCPUS, &bytes, NULL) == PD_OK && bytes.size == 8);
	CHECK(pd_file_feature_bytes(o.file, PD_FEATURE_ARCH, &bytes, NULL) == PD_ERROR_ARGUMENT);
	CHECK(pd_file_feature_bytes(o.file, 1000, &bytes, NULL) == PD_ERROR_ARGUMENT);
	CHECK(!pd_file_feature(o.file, 1000) && o.problem_count == 0);
	// the same struct every time
	CHECK(pd_file_nrcpus(o.file) == pd_file_nrcpus(o.file));
}

TEST(test_features__unknown_ones_have_a_place_in_the_table)
{
	struct image image = { 0 };
	struct pd_bytes bytes;
	struct pd_check_result result;

	begin_features(&image, BIT_OF(CLN_SIZE) | UINT64_C(1) << 33 | UINT64_C(1) << 60 | BIT_OF(HOSTNAME));
	put_feature(&image, 0, 10), image_pstr(&image, "hosty", 6);
	put_feature(&image, 1, 8), image_u32(&image, 62), image_u32(&image, 0);
	put_feature(&image, 2, 4), image_u32(&image, 64);
	put_feature(&image, 3, 5), image_bytes(&image, "newer", 5);
	opened_open(&o, &image, 0);
	CHECK(o.status == PD_OK);
	CHECK(pd_file_cln_size(o.file)->bytes == 64 && !pd_file_feature(o.file, 60));
	CHECK(pd_file_feature_bytes(o.file, 60, &bytes, NULL) == PD_OK);
	CHECK(bytes.size == 5 && memcmp(bytes.data, "newer", 5) == 0);
	CHECK(pd_check(o.file, &result, NULL) == PD_OK && opened_told(&o, "unknown-feature") == 1);
}

TEST(test_features__may_stand_anywhere)
{
	struct image image = { 0 };

	// a hole after the table, and the second before the first
	begin_features(&image, BIT_OF(HOSTNAME) | BIT_OF(OSRELEASE));
	image_zeros(&image, 37);
	put_feature(&image, 1, 10), image_pstr(&image, "6.1.0", 6);
	put_feature(&image, 0, 10), image_pstr(&image, "hosty", 6);
	opened_open(&o, &image, 0);
	CHECK(o.status == PD_OK);
	CHECK_STR(pd_file_hostname(o.file)->value.data, "hosty");
	CHECK_STR(pd_file_osrelease(o.file)->value.data, "6.1.0");
}

TEST(test_features__past_the_end)
{
	static const uint64_t places[][2] = { { 200, 100000 }, { 100000, 1 }, { UINT64_MAX, 1 }, { 1, UINT64_MAX } };

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		struct image image = { 0 };

		begin_features(&image, BIT_OF(HOSTNAME) | BIT_OF(OSRELEASE));
		put_feature(&image, 1, 10), image_pstr(&image, "6.1.0", 6);
		image_set(&image, RECORD_END, places[i][0], 8), image_set(&image, RECORD_END + 8, places[i][1], 8);
		opened_open(&o, &image, 0);
		CHECK(o.status == PD_OK);
		CHECK(!pd_file_hostname(o.file) && opened_told(&o, "feature-past-end") == 1);
		CHECK_STR(pd_file_osrelease(o.file)->value.data, "6.1.0");
	}
}

TEST(test_features__table_that_is_cut)
{
	struct image image = { 0 };

	begin_features(&image, BIT_OF(HOSTNAME) | BIT_OF(OSRELEASE));
	image.size = RECORD_END + 20;
	opened_open(&o, &image, 0);
	CHECK(o.status == PD_OK);
	CHECK(opened_told(&o, "bad-feature-table") == 1 && !pd_file_osrelease(o.file));
	CHECK(opened_next(&o));
}

TEST(test_features__damaged_one_is_told_once)
{
	struct image image = { 0 };

	begin_features(&image, BIT_OF(HOSTNAME));
	put_feature(&image, 0, 10), image_u32(&image, 1000), image_zeros(&image, 6);
	opened_open(&o, &image, 0);
	CHECK(o.status == PD_OK);
	CHECK(!pd_file_hostname(o.file) && !pd_file_hostname(o.file) && opened_told(&o, "bad-feature") == 1);
	CHECK(pd_file_problem_count(o.file, PD_WARNING) == 1);
}

TEST(test_features__larger_than_the_limit)
{
	struct image image = { 0 };
	struct pd_bytes bytes;
	struct pd_error error;

	begin_features(&image, BIT_OF(HOSTNAME));
	put_feature(&image, 0, 100000), image_pstr(&image, "hosty", 99996);
	opened_open(&o, &image, 50000);
	CHECK(o.status == PD_OK);
	CHECK(!pd_file_hostname(o.file));
	CHECK(pd_file_feature_bytes(o.file, PD_FEATURE_HOSTNAME, &bytes, &error) == PD_ERROR_LIMIT);
}

TEST(test_features__cpu_topology_needs_the_number_of_cpus)
{
	for (unsigned with = 0; with < 2; with++) {
		struct image image = { 0 };
		size_t index = 0;

		begin_features(&image, BIT_OF(CPU_TOPOLOGY) | (with ? BIT_OF(NRCPUS) : 0));
		if (with)
			put_feature(&image, index++, 8), image_u32(&image, 1), image_u32(&image, 1);
		put_feature(&image, index, 16);
		image_u32(&image, 0), image_u32(&image, 0), image_u32(&image, 5), image_u32(&image, 6);
		opened_open(&o, &image, 0);
		CHECK(o.status == PD_OK);
		CHECK(pd_file_cpu_topology(o.file)->places.count == with);
		CHECK(pd_file_cpu_topology(o.file)->rest.size == (with ? 0 : 8));
	}
}

TEST(test_features__build_ids_of_old_files_lack_the_pid)
{
	// the name of the kernel shows where names begin
	for (unsigned old = 0; old < 2; old++) {
		struct image image = { 0 };
		uint16_t size = old ? 56 : 60;

		begin_features(&image, BIT_OF(BUILD_ID));
		put_feature(&image, 0, size);
		image_u32(&image, 0), image_u16(&image, 1), image_u16(&image, size);
		image_zeros(&image, old ? 24 : 28);
		image_text(&image, "[kernel.kallsyms]", 24);
		opened_open(&o, &image, 0);
		CHECK(o.status == PD_OK && pd_file_build_id(o.file)->records.size == size);
		CHECK(pd_file_quirks(o.file) == (old ? MASK_QUIRKS(BUILD_ID_NO_PID) : 0));
		CHECK(o.problem_count == 0);
	}
}

TEST(test_features__name_the_events)
{
	struct image image = { 0 };

	begin_features(&image, BIT_OF(EVENT_DESC));
	put_feature(&image, 0, 8 + 64 + 4 + 4 + 8);
	image_u32(&image, 1), image_u32(&image, 64);
	image_attr(&image, 1, 0, 0, 0, 0);
	image_u32(&image, 0), image_pstr(&image, "my-name", 8);
	opened_open(&o, &image, 0);
	CHECK(o.status == PD_OK);
	CHECK_STR(pd_file_event(o.file, 0)->name, "my-name");
}

TEST(test_features__machine)
{
	struct image image = { 0 };

	begin_features(&image, BIT_OF(E_MACHINE));
	put_feature(&image, 0, 8), image_u32(&image, 183), image_u32(&image, 0);
	opened_open(&o, &image, 0);
	CHECK(o.status == PD_OK && pd_file_machine(o.file) == PD_ARCH_ARM64);
	begin_features(&image, BIT_OF(ARCH) | BIT_OF(E_MACHINE));
	put_feature(&image, 0, 12), image_pstr(&image, "s390x", 8);
	put_feature(&image, 1, 8), image_u32(&image, 62), image_u32(&image, 0);
	opened_open(&o, &image, 0);
	CHECK(o.status == PD_OK && pd_file_machine(o.file) == PD_ARCH_S390);
	opened_close(&o);
}

RUN(TEST_CASE(test_features__are_found_and_decoded), TEST_CASE(test_features__unknown_ones_have_a_place_in_the_table),
    TEST_CASE(test_features__may_stand_anywhere), TEST_CASE(test_features__past_the_end),
    TEST_CASE(test_features__table_that_is_cut), TEST_CASE(test_features__damaged_one_is_told_once),
    TEST_CASE(test_features__larger_than_the_limit), TEST_CASE(test_features__cpu_topology_needs_the_number_of_cpus),
    TEST_CASE(test_features__build_ids_of_old_files_lack_the_pid), TEST_CASE(test_features__name_the_events),
    TEST_CASE(test_features__machine))

/* SPDX-License-Identifier: MIT */
/* Numbers come back as they were put, track by track, out of memory and of the temporary file. */
#include "export/feed/spool.h"

#include "../test.h"

enum {
	TRACKS = 5,
	MANY = 4000000 // more than are kept in memory
};

static uint64_t number_of(size_t track, size_t index)
{
	uint64_t mixed = (index + track * 7919) * UINT64_C(0x9e3779b97f4a7c15);

	// short and long ones
	return mixed >> (mixed & 63);
}

static bool put_all(struct pd_spool *spool, struct pd_spool_track *tracks, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!pd_spool_put(spool, &tracks[i % TRACKS], number_of(i % TRACKS, i)))
			return false;
	return true;
}

static bool same_track(struct pd_spool *spool, const struct pd_spool_track *tracks, size_t track, size_t count)
{
	struct pd_spool_reader reader;
	uint64_t value;

	pd_spool_begin(&reader, spool, &tracks[track]);
	for (size_t i = track; i < count; i += TRACKS)
		if (!pd_spool_get(&reader, &value) || value != number_of(track, i))
			return false;
	return !pd_spool_get(&reader, &value);
}

static bool comes_back(size_t count, bool *with_file_out)
{
	struct pd_spool_track tracks[TRACKS] = { 0 };
	struct pd_spool spool;
	bool same;

	pd_spool_init(&spool, NULL);
	same = put_all(&spool, tracks, count);
	for (size_t i = 0; same && i < TRACKS; i++)
		same = same_track(&spool, tracks, i, count) && same_track(&spool, tracks, i, count);
	*with_file_out = spool.opened;
	for (size_t i = 0; i < TRACKS; i++)
		pd_spool_track_fini(&tracks[i]);
	pd_spool_fini(&spool);
	return same;
}

TEST(test_spool__gives_back_what_was_put)
{
	static const size_t counts[] = { 0, 1, 4, 1000, 100000 };
	bool with_file;

	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		CHECK(comes_back(counts[i], &with_file));
		CHECK(!with_file);
	}
}

TEST(test_spool__has_what_is_in_the_file)
{
	bool with_file;

	CHECK(comes_back(MANY, &with_file));
	CHECK(with_file);
}

TEST(test_spool__says_that_there_is_no_file)
{
	struct pd_spool_track tracks[TRACKS] = { 0 };
	struct pd_spool spool;

	pd_spool_init(&spool, "/nothing/here");
	CHECK(!put_all(&spool, tracks, MANY));
	CHECK(spool.status == PD_ERROR_SYSTEM && strstr(spool.error.message, "/nothing/here"));
	for (size_t i = 0; i < TRACKS; i++)
		pd_spool_track_fini(&tracks[i]);
	pd_spool_fini(&spool);
}

RUN(TEST_CASE(test_spool__gives_back_what_was_put), TEST_CASE(test_spool__has_what_is_in_the_file),
    TEST_CASE(test_spool__says_that_there_is_no_file))

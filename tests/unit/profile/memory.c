/* SPDX-License-Identifier: MIT */
/*
 * Every allocation of a profile fails once, each in turn: reading then fails with PD_ERROR_MEMORY, or gives what it gives
 * with all memory. Allocations are wrapped by the linker (--wrap); that nothing is lost is what the sanitizers look for.
 */
#include <perfdata/perfdata.h>

#include <stdlib.h>

#include "../failing.h"
#include "../test.h"

static uint64_t samples_of(const struct pd_profile *profile)
{
	struct pd_profile_entry entry;
	uint64_t sum = 0;

	for (size_t i = 0; pd_profile_entry(profile, i, &entry); i++)
		sum += entry.samples;
	return sum;
}

// With one thread, so that it is the same allocation each time.
static bool every_turn(const struct pd_profile_options *options, uint64_t *samples_out, long *failures_out)
{
	struct pd_profile *profile;
	enum pd_status status;
	struct pd_file *file;
	bool good = true;

	for (long turn = -1; good; turn++) {
		if (pd_file_open(PERFDATA_TEST_DATA "/hot.data", NULL, &file, NULL) != PD_OK)
			return false;
		profile = NULL;
		has_failed = false;
		left = turn;
		status = pd_profile_read(file, options, &profile, NULL);
		left = -1;
		if (status == PD_OK && turn < 0)
			*samples_out = samples_of(profile);
		good = status == PD_OK ? samples_of(profile) == *samples_out : has_failed && status == PD_ERROR_MEMORY;
		*failures_out += status < 0;
		pd_profile_free(profile);
		pd_file_close(file);
		if (turn >= 0 && !has_failed)
			break;
	}
	return good;
}

TEST(test_profile__says_so_when_memory_runs_out)
{
	struct pd_profile_options options = { .size = sizeof(options), .threads = 1 };
	uint64_t samples = 0;
	long failures = 0;

	CHECK(every_turn(&options, &samples, &failures));
	CHECK(samples == 81 && failures > 20);
}

TEST(test_profile__says_so_when_memory_for_slices_runs_out)
{
	struct pd_profile_options options = { .size = sizeof(options), .threads = 1, .slices = true };
	uint64_t samples = 0;
	long failures = 0;

	CHECK(every_turn(&options, &samples, &failures));
	CHECK(samples == 81 && failures > 20);
}

RUN(TEST_CASE(test_profile__says_so_when_memory_runs_out),
    TEST_CASE(test_profile__says_so_when_memory_for_slices_runs_out))

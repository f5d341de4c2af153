/* SPDX-License-Identifier: MIT */
/* Problems counted by their kind, in one pass over a file and in a second one. */
#include <perfdata/check.h>

#include "test.h"

TEST(test_problem__counted)
{
	static struct pd_problem_counts counts;

	CHECK(pd_problem_count(&counts, "a") == 0 && pd_problem_count(&counts, "b") == 0);
	CHECK(pd_problem_count(&counts, "a") == 1 && counts.kind_count == 2 && counts.kinds[0].count == 2);
	pd_problem_count_again(&counts);
	CHECK(pd_problem_count(&counts, "b") == UINT64_MAX && counts.kinds[1].count == 1);
	CHECK(pd_problem_count(&counts, "c") == 0 && pd_problem_count(&counts, "c") == 1);
}

TEST(test_problem__more_kinds_than_fit)
{
	static struct pd_problem_counts counts;
	static char codes[PD_PROBLEM_KINDS + 2][8];

	for (size_t i = 0; i < PD_PROBLEM_KINDS + 2; i++) {
		snprintf(codes[i], sizeof(codes[i]), "%zu", i);
		CHECK(pd_problem_count(&counts, codes[i]) == (i < PD_PROBLEM_KINDS ? 0 : i - PD_PROBLEM_KINDS + 1));
	}
	CHECK(counts.kind_count == PD_PROBLEM_KINDS && counts.kinds[PD_PROBLEM_KINDS - 1].count == 3);
}

RUN(TEST_CASE(test_problem__counted), TEST_CASE(test_problem__more_kinds_than_fit))

/* SPDX-License-Identifier: MIT */
/* Features of perf by the libraries that are built in. */
#include <perfdata/base.h>

#include "test.h"

static bool is_there(const char *wanted)
{
	const char *name, *macro;
	bool there;

	for (size_t i = 0; (name = pd_build_feature(i, &there, &macro)) != NULL; i++)
		if (!strcmp(name, wanted))
			return there && !strncmp(macro, "HAVE_", 5);
	return false;
}

static bool has_library(const char *wanted)
{
	const char *name;
	bool built_in;

	for (size_t i = 0; (name = pd_build_part(i, &built_in, NULL)) != NULL; i++)
		if (!strncmp(name, wanted, strlen(wanted)))
			return built_in;
	return false;
}

TEST(test_features__there)
{
	CHECK(is_there("dwarf") && is_there("libunwind") && is_there("libpython") && is_there("libtraceevent"));
	CHECK(!is_there("libperl") && !is_there("bpf"));
	CHECK(is_there("zstd") == has_library("zstd") && is_there("zlib") == has_library("zlib"));
}

RUN(TEST_CASE(test_features__there))

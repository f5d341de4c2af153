/* SPDX-License-Identifier: MIT */
/* Formats by name, and the programs that show them. */
#include <perfdata/export.h>

#include "test.h"

TEST(test_viewers__formats)
{
	struct pd_export_format format;

	CHECK(pd_export_format_find("pprof", &format) && format.binary);
	CHECK_STR(format.suffix, ".pb.gz");
	CHECK(!pd_export_format_find("none", &format) && !pd_export_format_find(NULL, &format));
}

TEST(test_viewers__listed)
{
	const struct pd_export_viewer *viewer;
	struct pd_export_format format;
	size_t count = 0;

	for (; (viewer = pd_export_viewer(count)) != NULL; count++)
		CHECK(viewer->name && viewer->otherwise && pd_export_format_find(viewer->format, &format));
	CHECK(count >= 4 && !pd_export_viewer(count));
}

RUN(TEST_CASE(test_viewers__formats), TEST_CASE(test_viewers__listed))

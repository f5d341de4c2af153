/* SPDX-License-Identifier: MIT */
/* Every allocation fails in turn while probes are defined, listed and asked for. */
#include <perfdata/probe.h>

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "failing.h"
#include "unit/test.h"

static const char *const samples[] = { PERFDATA_SAMPLES };
static char tracefs[] = "/tmp/perfdata-probes-XXXXXX";

static enum pd_status do_all(struct pd_text *text, const struct pd_probe_options *options, const char *action,
			     const char *item, struct pd_error *error)
{
	const struct pd_probe_step step = { action, item };

	return pd_probe_run(text, options, &step, 1, NULL, 0, error);
}

// Whether each failure is reported, or changes nothing but what is known.
static bool survives(const char *action, const char *item)
{
	const struct pd_probe_options options = {
		.size = sizeof(options), .object = samples[0], .tracefs = tracefs, .ranges = true, .externs = true
	};
	long failures = 0;

	for (long n = 0; n < 100000; n++) {
		struct pd_text *text = pd_text_new();
		struct pd_error error = { .offset = 0 };
		enum pd_status status;

		left = n;
		has_failed = false;
		status = do_all(text, &options, action, item, &error);
		left = -1;
		pd_text_free(text);
		if (!has_failed)
			return status == PD_OK && failures > 0;
		failures++;
		if (status < 0 && !error.message[0]) {
			fprintf(stderr, "# %s: allocation %ld: no message\n", action, n);
			return false;
		}
	}
	return false;
}

static bool make_files(void)
{
	char path[128];
	FILE *file;

	if (!mkdtemp(tracefs))
		return false;
	snprintf(path, sizeof(path), "%s/events", tracefs);
	if (mkdir(path, 0700))
		return false;
	snprintf(path, sizeof(path), "%s/uprobe_events", tracefs);
	file = fopen(path, "w");
	if (!file)
		return false;
	fprintf(file, "p:probe_a/x %s:0x1139 id=%%di:s32\np:probe_a/y %s:0x1140\n", samples[0], samples[0]);
	return fclose(file) == 0;
}

TEST(test_memory__begin)
{
	CHECK(make_files());
}

TEST(test_memory__define)
{
	CHECK(survives("definition", "handle id=request->id request->name:string $vars counter"));
	CHECK(survives("definition", "twice $params"));
	CHECK(survives("definition", "sample.c:20"));
}

TEST(test_memory__ask)
{
	CHECK(survives("vars", "handle"));
	CHECK(survives("line", "handle"));
	CHECK(survives("funcs", "*"));
	CHECK(survives("list", ""));
}

TEST(test_memory__end)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/events", tracefs);
	CHECK(rmdir(path) == 0);
	snprintf(path, sizeof(path), "%s/uprobe_events", tracefs);
	CHECK(unlink(path) == 0 && rmdir(tracefs) == 0);
}

RUN(TEST_CASE(test_memory__begin), TEST_CASE(test_memory__define), TEST_CASE(test_memory__ask),
    TEST_CASE(test_memory__end))

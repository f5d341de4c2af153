/* SPDX-License-Identifier: MIT */
/*
 * Every allocation of an import fails once, each in turn: it fails with PD_ERROR_MEMORY then, or writes what it writes with all
 * memory. Allocations are wrapped by the linker (--wrap).
 */
#include <perfdata/perfdata.h>

#include <stdlib.h>

#include "../failing.h"
#include "../test.h"

static enum pd_status pull(void *self, void *data, size_t size, size_t *got_out, struct pd_error *error)
{
	(void)error;
	*got_out = fread(data, 1, size, self);
	return PD_OK;
}

// The output is kept in memory that never fails.
struct made {
	unsigned char data[1 << 17];
	size_t size;
};

static enum pd_status put(void *self, const void *data, size_t size, struct pd_error *error)
{
	struct made *made = self;

	(void)error;
	if (size > sizeof(made->data) - made->size)
		return PD_ERROR_LIMIT;
	memcpy(made->data + made->size, data, size);
	made->size += size;
	return PD_OK;
}

static enum pd_status import(FILE *file, const char *format, struct made *made, struct pd_import_result *result)
{
	const struct pd_writer_options how = { .size = sizeof(how) };
	const struct pd_import_options options = {
		.size = sizeof(options), .format = format, .pull = pull, .self = file
	};
	struct pd_writer *writer;
	enum pd_status status;

	rewind(file);
	made->size = 0;
	status = pd_writer_open_put(put, made, "memory", &how, &writer, NULL);
	if (status < 0)
		return status;
	status = pd_import_run(&options, writer, result, NULL);
	if (status >= 0)
		return pd_writer_finish(writer, NULL);
	pd_writer_abort(writer);
	return status;
}

// How many failures there were; 0 if one was not told.
static long every_turn(const char *path, const char *format)
{
	static struct made whole, made;
	struct pd_import_result all, result;
	FILE *file = fopen(path, "rb");
	bool good = file && import(file, format, &whole, &all) == PD_OK;
	long failures = 0;

	for (long turn = 0; good; turn++) {
		enum pd_status status;

		has_failed = false;
		left = turn;
		status = import(file, format, &made, &result);
		left = -1;
		good = status == PD_OK ? made.size == whole.size && !memcmp(made.data, whole.data, made.size) :
					 has_failed && status == PD_ERROR_MEMORY;
		if (!good)
			printf("# %s: allocation %ld: %s\n", format, turn, pd_status_name(status));
		failures += status < 0;
		if (!has_failed)
			break;
	}
	if (file)
		fclose(file);
	return good ? failures : 0;
}

TEST(test_import__says_so_when_memory_runs_out)
{
	CHECK(every_turn(PERFDATA_SEEDS "/hot-group.pb", "quipper") > 20);
	CHECK(every_turn(PERFDATA_SEEDS "/hot-records.txt", "quipper-text") > 20);
	CHECK(every_turn(PERFDATA_SEEDS "/hot.folded", "folded") > 10);
	CHECK(every_turn(PERFDATA_SEEDS "/hot-group.script", "perf-script") > 10);
	CHECK(every_turn(PERFDATA_SEEDS "/hot-multi.pprof", "pprof") > 10);
	CHECK(every_turn(PERFDATA_SEEDS "/hot-group.json", "speedscope") > 10);
	CHECK(every_turn(PERFDATA_SEEDS "/report.simpleperf", "simpleperf") > 10);
}

TEST(test_import__knows_its_formats)
{
	struct pd_import_format format;
	const struct pd_import_options options = { .size = sizeof(options), .format = "nothing" };
	size_t count = 0;

	while (pd_import_format(count, &format))
		count++;
	CHECK(count >= 6);
	CHECK(pd_import_run(&options, NULL, NULL, NULL) == PD_ERROR_ARGUMENT);
}

RUN(TEST_CASE(test_import__says_so_when_memory_runs_out), TEST_CASE(test_import__knows_its_formats))

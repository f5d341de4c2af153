/* SPDX-License-Identifier: MIT */
/*
 * Every allocation of an export fails once, each in turn: it fails with PD_ERROR_MEMORY then, or writes what it writes with
 * all memory. Allocations are wrapped by the linker (--wrap); that nothing is lost is what the sanitizers look for.
 */
#include <perfdata/perfdata.h>

#include <limits.h>
#include <stdlib.h>

#include "../exported.h"
#include "../failing.h"
#include "../test.h"

#define SAMPLES PERFDATA_TEST_DATA "/hot.data"
#define BRANCHES PERFDATA_TEST_DATA "/../fuzz/corpus/export/branches"

static enum pd_status export_file(const char *path, const char *format, struct pd_text *text, uint64_t *told_out)
{
	struct exported exported = { .text = text };
	const struct pd_export_options options = exported_options(&exported, format);
	struct pd_export *export_ = NULL;
	struct pd_export_dropped dropped;
	struct pd_text *words = pd_text_new();
	enum pd_status status = pd_file_open(path, NULL, &exported.file, NULL);

	if (status >= 0)
		status = pd_export_new(&options, text, &export_, NULL);
	if (status >= 0)
		status = pd_export_run(export_, exported.file, NULL);
	*told_out = export_ ? pd_export_result(export_).damaged : 0;
	for (size_t i = 0; export_ && pd_export_dropped(export_, i, &dropped); i++)
		*told_out += dropped.count;
	if (export_ && words && pd_print_export_dropped(export_, words) != pd_export_dropped(export_, 0, &dropped))
		status = PD_ERROR_ARGUMENT;
	pd_text_free(words);
	pd_export_free(export_);
	pd_symbols_free(exported.symbols);
	pd_file_close(exported.file);
	return status;
}

static bool same_text(const struct pd_text *one, const struct pd_text *other)
{
	struct pd_bytes a = pd_text_bytes(one), b = pd_text_bytes(other);

	return a.size == b.size && !memcmp(a.data, b.data, a.size);
}

// How many failures there were; 0 if one was not told.
static long every_turn(const char *recording, const char *format)
{
	struct pd_text *whole = pd_text_new();
	long failures = 0;
	uint64_t told, told_before;
	enum pd_status first = whole ? export_file(recording, format, whole, &told_before) : PD_ERROR_MEMORY;
	const char *path = first == PD_ERROR_NO_MATCH ? BRANCHES : recording;
	bool good = first == PD_OK || export_file(path, format, whole, &told_before) == PD_OK;

	for (long turn = 0; good; turn++) {
		struct pd_text *text = pd_text_new();
		enum pd_status status;

		has_failed = false;
		left = turn;
		status = export_file(path, format, text, &told);
		left = -1;
		// without symbols an export ends by what its caller says; what cannot be decoded without memory is told
		good = status == PD_OK ? told > told_before || same_text(text, whole) :
					 has_failed && (status == PD_ERROR_MEMORY || status == PD_ERROR_STOPPED ||
							told > told_before);
		if (!good)
			printf("# %s: allocation %ld: %s\n", format, turn, pd_status_name(status));
		failures += status < 0;
		pd_text_free(text);
		if (!has_failed)
			break;
	}
	pd_text_free(whole);
	return good ? failures : 0;
}

TEST(test_export__says_so_when_memory_runs_out)
{
	struct pd_export_format format;

	for (size_t i = 0; pd_export_format(i, &format); i++) {
		// SQLite has memory of its own
		long failures = format.own_file ? LONG_MAX : every_turn(SAMPLES, format.name);

		// what is of whole recordings needs no symbols
		CHECK(failures > (format.whole ? 15 : 40));
	}
}

TEST(test_export__knows_its_formats)
{
	struct pd_export_options options = { .size = sizeof(options), .format = "nothing" };
	struct pd_export *export_ = NULL;
	struct pd_export_format format;
	struct pd_error error;

	CHECK(pd_export_new(&options, NULL, &export_, &error) == PD_ERROR_ARGUMENT && !export_);
	options.format = NULL;
	CHECK(pd_export_new(&options, NULL, &export_, &error) == PD_ERROR_ARGUMENT && !export_);
	CHECK(!pd_export_format(1000, &format));
	pd_export_free(NULL);
}

RUN(TEST_CASE(test_export__says_so_when_memory_runs_out), TEST_CASE(test_export__knows_its_formats))

/* SPDX-License-Identifier: MIT */
/*
 * Every allocation of a view and of each of its answers fails once, each in turn: it is said then, or the answer is what it is
 * with all memory. Allocations are wrapped by the linker (--wrap).
 */
#include <perfdata/perfdata.h>

#include "../failing.h"
#include "../test.h"

static struct pd_symbols *open_symbols(void *self, struct pd_file *file, const struct pd_state *state)
{
	const struct pd_symbols_options options = { .size = sizeof(options), .flags = PD_SYMBOLS_NO_FILES };
	struct pd_symbols *symbols;

	(void)self;
	return pd_symbols_new(file, state, &options, &symbols, NULL) < 0 ? NULL : symbols;
}

static const struct pd_viewer_options all = { .size = sizeof(all), .symbols = open_symbols, .threads = 1 };

// What an answer is, by a sum of its bytes; 0 if there was no memory, or a record says so itself.
static uint64_t answer_of(const char *path, const struct pd_viewer_parameter *parameters, size_t count, long turn)
{
	struct pd_viewer_answer answer;
	struct pd_file *file;
	struct pd_viewer *viewer = NULL;
	uint64_t sum = 0;

	if (pd_file_open(PERFDATA_TEST_DATA "/hot.data", NULL, &file, NULL) < 0)
		return 0;
	if (pd_viewer_new(file, &all, &viewer, NULL) == PD_OK) {
		has_failed = false;
		left = turn;
		if (pd_viewer_answer(viewer, path, parameters, count, &answer, NULL) == PD_OK && answer.code == 200) {
			sum = 1;
			for (size_t i = 0; i < answer.body.size; i++)
				sum = sum * 31 + answer.body.data[i];
		}
		left = -1;
		if (has_failed && sum && memmem(answer.body.data, answer.body.size, "\"error\":", 8))
			sum = 0;
	}
	pd_viewer_free(viewer);
	pd_file_close(file);
	return sum;
}

static bool every_turn(const char *path, const struct pd_viewer_parameter *parameters, size_t count)
{
	uint64_t whole = answer_of(path, parameters, count, -1), sum;

	for (long turn = 0; whole; turn++) {
		sum = answer_of(path, parameters, count, turn);
		if (!has_failed)
			return sum == whole;
		if (sum && sum != whole) {
			printf("# %s: allocation %ld: another answer\n", path, turn);
			return false;
		}
	}
	printf("# %s: no answer\n", path);
	return false;
}

TEST(test_viewer__answers_without_memory)
{
	const struct pd_viewer_parameter few[] = { { "count", "3" } },
					 part[] = { { "comm", "hot" }, { "sort", "sym" } };

	CHECK(every_turn("", NULL, 0));
	CHECK(every_turn("data", NULL, 0));
	CHECK(every_turn("records", few, 1));
	CHECK(every_turn("script", few, 1));
	CHECK(every_turn("report", part, 2));
	CHECK(every_turn("cut", part, 1));
}

TEST(test_viewer__says_so_when_memory_runs_out)
{
	struct pd_file *file;
	struct pd_viewer *viewer;
	long turn = 0;

	do {
		enum pd_status status;

		CHECK(pd_file_open(PERFDATA_TEST_DATA "/hot.data", NULL, &file, NULL) == PD_OK);
		has_failed = false;
		left = turn++;
		status = pd_viewer_new(file, &all, &viewer, NULL);
		left = -1;
		CHECK(status == PD_OK || (has_failed && !viewer));
		pd_viewer_free(viewer);
		pd_file_close(file);
	} while (has_failed);
	CHECK(turn > 100);
}

TEST(test_viewer__knows_its_paths)
{
	struct pd_viewer_answer answer;
	struct pd_file *file;
	struct pd_viewer *viewer;

	CHECK(pd_file_open(PERFDATA_TEST_DATA "/hot.data", NULL, &file, NULL) == PD_OK);
	CHECK(pd_viewer_new(file, NULL, &viewer, NULL) == PD_ERROR_ARGUMENT && !viewer);
	CHECK(pd_viewer_new(file, &all, &viewer, NULL) == PD_OK);
	CHECK(pd_viewer_answer(viewer, "../data", NULL, 0, &answer, NULL) == PD_OK && answer.code == 404);
	CHECK(pd_viewer_answer(viewer, "data", NULL, 0, &answer, NULL) == PD_OK && answer.code == 200);
	CHECK(answer.body.data == pd_viewer_data(viewer).data && answer.body.size > 8);
	pd_viewer_free(viewer);
	pd_file_close(file);
}

RUN(TEST_CASE(test_viewer__answers_without_memory), TEST_CASE(test_viewer__says_so_when_memory_runs_out),
    TEST_CASE(test_viewer__knows_its_paths))

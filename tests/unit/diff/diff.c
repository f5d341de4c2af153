/* SPDX-License-Identifier: MIT */
/* Comparisons through the public header: methods, orders, perf's text, refusals, hostile names, and lack of memory. */
#include "compared.h"

static const struct thread old_threads[] = {
	{ "alpha", 40, 0x1000 }, { "beta", 40, 0x1000 }, { "gone", 20, 0x1000 }, { 0 }
};
static const struct thread new_threads[] = {
	{ "alpha", 30, 0x1000 }, { "beta", 60, 0x1000 }, { "fresh", 10, 0x1000 }, { 0 }
};

/* Compares two recordings by thread; NULL if that fails. */
static struct pd_diff *compare(const struct pd_diff_options *options, const struct thread *old,
			       const struct thread *new, const char *sort)
{
	struct pd_file *files[] = { record_threads(old), record_threads(new) };
	struct pd_diff *diff = NULL;
	enum pd_status status = files[0] && files[1] ? pd_diff_new(options, &diff, &error) : PD_ERROR_MEMORY;

	for (size_t i = 0; i < 2 && status == PD_OK; i++)
		status = add_file(diff, i, i ? "new.data" : "old.data", files[i], sort);
	if (status == PD_OK)
		status = pd_diff_finish(diff, &error);
	for (size_t i = 0; i < 2; i++)
		pd_file_close(files[i]);
	if (status == PD_OK)
		return diff;
	pd_diff_free(diff);
	return NULL;
}

static char *print(const struct pd_diff *diff, const struct pd_diff_text_options *options)
{
	struct pd_text *text = pd_text_new();
	char *string = NULL;

	if (text && pd_diff_text(diff, options, text, &error) == PD_OK)
		string = string_of(text);
	pd_text_free(text);
	return string;
}

TEST(methods)
{
	struct pd_diff_options options = { .size = sizeof(options) };

	CHECK(pd_diff_method_parse("delta", &options, &error) == PD_OK && options.method == PD_DIFF_DELTA);
	CHECK(pd_diff_method_parse("ratio", &options, &error) == PD_OK && options.method == PD_DIFF_RATIO);
	CHECK(pd_diff_method_parse("wdiff:-3,5", &options, &error) == PD_OK && options.method == PD_DIFF_WDIFF);
	CHECK(options.old_weight == -3 && options.new_weight == 5);
	CHECK(pd_diff_method_parse("wdiff", &options, &error) == PD_ERROR_ARGUMENT);
	CHECK(pd_diff_method_parse("wdiff:0,1", &options, &error) == PD_ERROR_ARGUMENT);
	CHECK(pd_diff_method_parse("wdiff:1,2x", &options, &error) == PD_ERROR_ARGUMENT);
	CHECK(pd_diff_method_parse("deltas", &options, &error) == PD_ERROR_ARGUMENT);
}

TEST(text)
{
	const struct pd_diff_options options = { .size = sizeof(options) };
	struct pd_diff *diff = compare(&options, old_threads, new_threads, "comm");
	char *string;

	CHECK(diff);
	string = print(diff, NULL);
	CHECK_STR(string, "# Event 'cpu-clock'\n#\n"
			  "# Baseline  Delta Abs  Command\n"
			  "# ........  .........  .......\n#\n"
			  "    40.00%    +20.00%  beta   \n"
			  "    40.00%    -10.00%  alpha  \n"
			  "              +10.00%  fresh  \n"
			  "    20.00%             gone   \n");
	free(string);
	pd_diff_free(diff);
}

TEST(columns)
{
	const struct pd_diff_options options = {
		.size = sizeof(options), .method = PD_DIFF_RATIO, .by_baseline = true, .baseline_only = true
	};
	const struct pd_diff_text_options how = {
		.size = sizeof(how), .separator = ',', .show_formula = true, .show_period = true
	};
	struct pd_diff *diff = compare(&options, old_threads, new_threads, "comm");
	char *string;

	CHECK(diff && pd_diff_event(diff, 0)->row_count == 2);
	string = print(diff, &how);
	CHECK(string && strstr(string, "\n50.00   ,40000         ,      0.750000,30000 / 40000 "));
	CHECK(strstr(string, ",60000         ,beta   \n50.00   ,40000         ,      0.750000,"));
	free(string);
	pd_diff_free(diff);
}

/* What is in no function is one row for each object, shown as the first address. */
TEST(unresolved)
{
	static const struct thread one[] = { { "a", 3, 0x3000 }, { "a", 2, 0x2000 }, { 0 } };
	static const struct thread two[] = { { "a", 3, 0x1000 }, { "a", 2, 0x4000 }, { 0 } };
	struct pd_diff *diff = compare(NULL, one, two, "sym");
	struct pd_diff_sum sum;

	CHECK(diff && pd_diff_event(diff, 0)->row_count == 1 && !pd_diff_event(diff, 1));
	CHECK_STR(pd_diff_cell(diff, 0, 0, 0), "[.] 0x0000000000002000");
	CHECK(pd_diff_sum(diff, 0, 0, 1, 0, &sum) && sum.present && sum.samples == 5 && sum.period == 5000);
	CHECK(!pd_diff_sum(diff, 0, 1, 0, 0, &sum) && !pd_diff_sum(diff, 0, 0, 2, 0, &sum));
	CHECK(pd_diff_total(diff, 0, 0, 0, &sum) && sum.samples == 5);
	pd_diff_free(diff);
}

TEST(refusals)
{
	const struct pd_diff_options beyond = { .size = sizeof(beyond), .order = 2 };
	struct pd_file *file = record_threads(old_threads);
	struct pd_diff *diff = NULL;

	CHECK(file && pd_diff_new(&(struct pd_diff_options){ 0 }, &diff, &error) == PD_ERROR_ARGUMENT);
	CHECK(pd_diff_new(&beyond, &diff, &error) == PD_OK);
	CHECK(add_file(diff, 1, "a", file, "comm") == PD_ERROR_ARGUMENT);
	CHECK(add_file(diff, 0, "a", file, "comm") == PD_OK);
	CHECK(pd_diff_finish(diff, &error) == PD_ERROR_ARGUMENT);
	CHECK(add_file(diff, 1, "a", file, "pid") == PD_ERROR_ARGUMENT);
	CHECK(add_file(diff, 1, "a", file, "comm") == PD_OK);
	CHECK(pd_diff_finish(diff, &error) == PD_ERROR_ARGUMENT);
	pd_diff_free(diff);
	pd_file_close(file);
}

TEST(hostile_names)
{
	static const struct thread threads[] = { { "a,b\\x1b[2Jc", 3, 0x1000 }, { 0 } };
	const struct pd_diff_text_options escaped = { .size = sizeof(escaped), .escape = true, .separator = ',' };
	struct pd_diff *diff = compare(NULL, threads, threads, "comm");
	char *string;

	CHECK(diff);
	string = print(diff, &escaped);
	CHECK(string && strstr(string, "a.b\\x1b[2Jc") && !strchr(string, 0x1b));
	free(string);
	pd_diff_free(diff);
}

static enum pd_status compare_files(struct pd_file *const files[2], struct pd_text *text)
{
	struct pd_diff *diff = NULL;
	enum pd_status status = pd_diff_new(NULL, &diff, &error);

	/* more runs than there is room for at first */
	for (size_t i = 0; i < 10 && status == PD_OK; i++)
		status = add_file(diff, i, "some.data", files[i % 2], "comm,sym");
	if (status == PD_OK)
		status = pd_diff_finish(diff, &error);
	if (status == PD_OK)
		status = pd_diff_text(diff, NULL, text, &error);
	pd_diff_free(diff);
	return status;
}

TEST(memory_runs_out)
{
	struct pd_file *files[] = { record_threads(old_threads), record_threads(new_threads) };
	enum pd_status status = PD_ERROR_MEMORY;
	long at = 0;

	CHECK(files[0] && files[1]);
	for (; status != PD_OK; at++) {
		struct pd_text *text = pd_text_new();

		has_failed = false;
		left = at;
		status = compare_files(files, text);
		left = -1;
		CHECK(status == PD_OK || status == PD_ERROR_MEMORY);
		CHECK(status != PD_OK || !pd_text_failed(text));
		CHECK(at < 100000);
		if (!has_failed)
			CHECK(status == PD_OK);
		pd_text_free(text);
	}
	CHECK(at > 100);
	for (size_t i = 0; i < 2; i++)
		pd_file_close(files[i]);
}

int main(void)
{
	static const struct test_case cases[] = { TEST_CASE(methods),        TEST_CASE(text),
						  TEST_CASE(columns),        TEST_CASE(unresolved),
						  TEST_CASE(refusals),       TEST_CASE(hostile_names),
						  TEST_CASE(memory_runs_out) };
	int failed = !mkdtemp(folder) || test_run(cases, sizeof(cases) / sizeof(cases[0]));

	rmdir(folder);
	return failed;
}

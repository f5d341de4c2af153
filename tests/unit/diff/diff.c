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

/* Three runs of each side; NULL if that fails. */
static struct pd_diff *compare_runs(const struct thread *const *runs, size_t sides, size_t count)
{
	const struct pd_diff_options options = { .size = sizeof(options), .ratings = true, .join_names = true };
	struct pd_diff *diff = NULL;
	enum pd_status status = pd_diff_new(&options, &diff, &error);

	for (size_t i = 0; i < count && status == PD_OK; i++) {
		struct pd_file *file = record_threads(runs[i]);

		status = file ? add_file(diff, i * sides / count, "a\x1b[2J.data", file, "comm") : PD_ERROR_MEMORY;
		pd_file_close(file);
	}
	if (status == PD_OK)
		status = pd_diff_finish(diff, &error);
	if (status == PD_OK)
		return diff;
	pd_diff_free(diff);
	return NULL;
}

static const struct thread old_runs[3][5] = {
	{ { "main", 500, 1 }, { "f.part.0", 300, 1 }, { "same", 200, 1 }, { 0 } },
	{ { "main", 510, 1 }, { "f.part.0", 290, 1 }, { "same", 200, 1 }, { 0 } },
	{ { "main", 490, 1 }, { "f.part.0", 305, 1 }, { "same", 205, 1 }, { "rare", 2, 1 }, { 0 } },
};
static const struct thread new_runs[3][5] = {
	{ { "main", 700, 1 }, { "f.part.0", 180, 1 }, { "same", 120, 1 }, { 0 } },
	{ { "main", 690, 1 }, { "f.part.0", 185, 1 }, { "same", 125, 1 }, { 0 } },
	{ { "main", 705, 1 }, { "f.part.0", 175, 1 }, { "same", 120, 1 }, { 0 } },
};

TEST(ratings)
{
	const struct thread *const runs[] = { old_runs[0], old_runs[1], old_runs[2],
					      new_runs[0], new_runs[1], new_runs[2] };
	struct pd_diff *diff = compare_runs(runs, 2, 6);
	struct pd_diff_change change;

	CHECK(diff && pd_diff_run_count(diff, 0) == 3 && pd_diff_run_count(diff, 1) == 3);
	CHECK(pd_diff_tested(diff, 0, 1) == 3);
	CHECK_STR(pd_diff_cell(diff, 0, 0, 0), "main");
	CHECK(pd_diff_change(diff, 0, 0, 1, &change) && change.rating == PD_DIFF_REAL);
	CHECK(change.change > 0.19 && change.change < 0.21 && change.low > 0.15 && change.high < 0.25);
	CHECK(pd_diff_change(diff, 0, 1, 1, &change) && change.rating == PD_DIFF_REAL && change.because == 0);
	CHECK(pd_diff_change(diff, 0, 3, 1, &change) && change.rating == PD_DIFF_UNTESTED);
	CHECK(!pd_diff_change(diff, 0, 4, 1, &change) && !pd_diff_change(diff, 0, 0, 2, &change));
	pd_diff_free(diff);
}

static bool holds(const char *condition, double old, double new, enum pd_diff_rating rating)
{
	const struct pd_diff_change change = {
		.old_share = old, .new_share = new, .change = new - old, .rating = rating
	};
	struct pd_diff_gate *gate = NULL;
	bool result = pd_diff_gate_new(condition, &gate, &error) == PD_OK && pd_diff_gate_holds(gate, &change);

	pd_diff_gate_free(gate);
	return result;
}

TEST(conditions)
{
	static const char *const wrong[] = { "",
					     "change",
					     "change >",
					     "change > x",
					     "change > nan",
					     "change = 2",
					     "real and",
					     "real or real",
					     "realand maybe",
					     "speed > 2",
					     "change > 2%%",
					     "and",
					     "change > 2 real",
					     "change > 1e999" };
	struct pd_diff_gate *gate;

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		CHECK(pd_diff_gate_new(wrong[i], &gate, &error) == PD_ERROR_ARGUMENT);
	CHECK(holds("self > 2% and significant", 0.10, 0.13, PD_DIFF_REAL));
	CHECK(!holds("self > 2% and significant", 0.10, 0.13, PD_DIFF_MAYBE));
	CHECK(!holds("self > 2% and significant", 0.10, 0.11, PD_DIFF_REAL));
	CHECK(holds(" growth>=25 and maybe ", 0.125, 0.25, PD_DIFF_MAYBE) &&
	      !holds("growth < 2", 0, 0.1, PD_DIFF_REAL));
	CHECK(holds("change < -1.5%", 0.1, 0.05, PD_DIFF_NOISE) && !holds("change < 100", 0.1, 0, PD_DIFF_UNTESTED));
	CHECK(holds("old <= 50 and new >= 75", 0.5, 0.75, PD_DIFF_NOISE));
	CHECK(pd_diff_gate_new("change > 1 and real", &gate, &error) == PD_OK && pd_diff_gate_needs_runs(gate));
	pd_diff_gate_free(gate);
}

/* What fails is counted, with or without a text. */
TEST(failures)
{
	const struct thread *const runs[] = { old_runs[0], old_runs[1], old_runs[2],
					      new_runs[0], new_runs[1], new_runs[2] };
	struct pd_diff *diff = compare_runs(runs, 2, 6);
	struct pd_text *text = pd_text_new();
	struct pd_diff_gate *gate = NULL;
	size_t count;

	CHECK(diff && text && pd_diff_gate_new("change > 10% and real", &gate, &error) == PD_OK);
	CHECK(!pd_diff_gate_lacks_runs(diff, gate));
	count = pd_diff_gate_text(diff, gate, text);
	CHECK(count == 1 && pd_diff_gate_text(diff, gate, NULL) == 1);
	CHECK(text_has(text, "fail: ") && text_has(text, ": main: ") && text_has(text, "% (real)\n"));
	pd_diff_gate_free(gate);
	pd_diff_free(diff);
	diff = compare_runs(runs, 2, 2);
	CHECK(diff && pd_diff_gate_new("change > 10% and real", &gate, &error) == PD_OK);
	CHECK(pd_diff_gate_lacks_runs(diff, gate) && !pd_diff_gate_text(diff, gate, text));
	pd_diff_gate_free(gate);
	pd_diff_free(diff);
	pd_text_free(text);
}

/* Names cannot break out of a table or of a string. */
TEST(hostile_output)
{
	static const struct thread old[] = { { "a|<b>`*", 900, 1 }, { "b\\x1b]x", 100, 1 }, { 0 } };
	static const struct thread new[] = { { "a|<b>`*", 100, 1 }, { "b\\x1b]x", 900, 1 }, { 0 } };
	const struct thread *const runs[] = { old, new };
	struct pd_diff *diff = compare_runs(runs, 2, 2);
	struct pd_text *text = pd_text_new();
	struct pd_diff_gate *gate;

	CHECK(diff && text && pd_diff_markdown(diff, text, &error) == PD_OK);
	CHECK(text_has(text, "| maybe | a\\|&#60;b&#62;\\`\\* |") && !text_has(text, "\033"));
	CHECK(!text_has(text, "a|") && !text_has(text, "<b"));
	pd_text_clear(text);
	CHECK(pd_diff_gate_new("change > 1", &gate, &error) == PD_OK &&
	      pd_diff_junit(diff, gate, text, &error) == PD_OK);
	CHECK(text_has(text, "failures=\"1\"") && text_has(text, "name=\"a|&#60;b&#62;`*\"/>") &&
	      !text_has(text, "\033"));
	pd_diff_gate_free(gate);
	pd_text_clear(text);
	CHECK(pd_diff_json(diff, text, &error) == PD_OK && !text_has(text, "\033"));
	CHECK(text_has(text, "\"rating\": \"maybe\"") || text_has(text, "\"rating\":\"maybe\""));
	pd_text_free(text);
	pd_diff_free(diff);
}

/* With one run a side nothing is real, however large. */
TEST(single_runs)
{
	const struct thread *const runs[] = { old_runs[0], new_runs[0] };
	struct pd_diff *diff = compare_runs(runs, 2, 2);
	struct pd_diff_change change;

	CHECK(diff && pd_diff_change(diff, 0, 0, 1, &change));
	CHECK(change.rating == PD_DIFF_MAYBE && change.runs_needed >= 3);
	pd_diff_free(diff);
}

/* A against A. */
TEST(nothing_changed)
{
	const struct thread *const runs[] = { old_runs[0], old_runs[1], old_runs[2],
					      old_runs[0], old_runs[1], old_runs[2] };
	struct pd_diff *diff = compare_runs(runs, 2, 6);
	struct pd_diff_change change;
	struct pd_text *text = pd_text_new();

	CHECK(diff && text);
	for (size_t i = 0; pd_diff_change(diff, 0, i, 1, &change); i++)
		CHECK(change.change == 0 && change.rating <= PD_DIFF_NOISE);
	CHECK(pd_diff_rating_text(diff, NULL, text, &error) == PD_OK && text_has(text, "# No row changed.\n"));
	CHECK(strstr(pd_diff_warning(diff, 0), "the same samples"));
	pd_text_free(text);
	pd_diff_free(diff);
}

/* ---- saved ---- */

static char saved_path[64];

/* Writes runs of threads as a saved profile. */
static enum pd_status save_threads(const struct thread *const *runs, size_t count)
{
	struct pd_diff *diff = NULL;
	struct pd_text *text = pd_text_new();
	enum pd_status status = pd_diff_new(NULL, &diff, &error);
	FILE *stream;

	for (size_t i = 0; i < count && status == PD_OK; i++) {
		struct pd_file *file = record_threads(runs[i]);

		status = add_file(diff, 0, "a\tb\n\\.data", file, "comm");
		pd_file_close(file);
	}
	if (status == PD_OK)
		status = pd_diff_save(diff, text, &error);
	snprintf(saved_path, sizeof(saved_path), "%s/saved", folder);
	stream = status == PD_OK ? fopen(saved_path, "w") : NULL;
	if (stream) {
		fwrite(pd_text_bytes(text).data, 1, pd_text_bytes(text).size, stream);
		fclose(stream);
	}
	pd_text_free(text);
	pd_diff_free(diff);
	return stream ? PD_OK : status;
}

/* Two saved sides as JSON. */
static enum pd_status compare_saved(struct pd_text *text)
{
	const struct pd_diff_options options = { .size = sizeof(options), .per = "run" };
	struct pd_diff *diff = NULL;
	enum pd_status status = pd_diff_new(&options, &diff, &error);

	for (size_t i = 0; i < 2 && status == PD_OK; i++)
		status = pd_diff_add_saved(diff, i, saved_path, &error);
	if (status == PD_OK)
		status = pd_diff_finish(diff, &error);
	if (status == PD_OK)
		status = pd_diff_json(diff, text, &error);
	pd_diff_free(diff);
	return status;
}

/* What is saved says what the recordings say, whatever the names are. */
TEST(saved)
{
	static const struct thread one[] = { { "a\\tb", 30, 1 }, { "c\\x1bd\\\\", 10, 1 }, { 0 } };
	static const struct thread two[] = { { "a\\tb", 31, 1 }, { "e", 10, 1 }, { 0 } };
	const struct thread *const runs[] = { one, two };
	struct pd_text *text = pd_text_new();
	enum pd_status status = PD_ERROR_MEMORY;
	FILE *stream;

	CHECK(text && save_threads(runs, 2) == PD_OK && pd_diff_is_saved(saved_path));
	CHECK(compare_saved(text) == PD_OK && text_has(text, "\"samples\":41") && text_has(text, "a\\tb\\n\\\\.data"));
	for (long at = 0; status != PD_OK; at++) {
		left = at;
		pd_text_clear(text);
		status = compare_saved(text);
		left = -1;
		CHECK((status == PD_OK || status == PD_ERROR_MEMORY) && at < 10000);
		if (pd_text_failed(text)) {
			pd_text_free(text);
			text = pd_text_new();
		}
	}
	stream = fopen(saved_path, "w");
	CHECK(stream && fputs("perfdata-profile 2\nend\n", stream) >= 0 && fclose(stream) == 0);
	CHECK(compare_saved(text) == PD_ERROR_FORMAT);
	unlink(saved_path);
	CHECK(!pd_diff_is_saved(saved_path) && compare_saved(text) == PD_ERROR_SYSTEM);
	pd_text_free(text);
}

static enum pd_status compare_files(struct pd_file *const files[2], struct pd_text *text)
{
	struct pd_diff *diff = NULL;
	const struct pd_diff_options options = { .size = sizeof(options), .ratings = true, .join_names = true };
	enum pd_status status = pd_diff_new(&options, &diff, &error);

	/* more runs than there is room for at first */
	for (size_t i = 0; i < 10 && status == PD_OK; i++)
		status = add_file(diff, i / 3, "some.data", files[i / 3 % 2], "comm,sym");
	if (status == PD_OK)
		status = pd_diff_finish(diff, &error);
	if (status == PD_OK)
		status = pd_diff_text(diff, NULL, text, &error);
	if (status == PD_OK)
		status = pd_diff_rating_text(diff, NULL, text, &error);
	if (status == PD_OK)
		status = pd_diff_json(diff, text, &error);
	if (status == PD_OK)
		status = pd_diff_markdown(diff, text, &error);
	pd_diff_free(diff);
	return status;
}

TEST(memory_runs_out)
{
	struct pd_file *files[] = { record_threads(old_threads), record_threads(new_threads) };
	enum pd_status status;
	long at = 0;

	CHECK(files[0] && files[1]);
	/* what only makes it faster may lack memory */
	do {
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
		at++;
	} while (has_failed);
	CHECK(at > 100);
	for (size_t i = 0; i < 2; i++)
		pd_file_close(files[i]);
}

int main(void)
{
	static const struct test_case cases[] = {
		TEST_CASE(methods),  TEST_CASE(text),           TEST_CASE(columns),     TEST_CASE(unresolved),
		TEST_CASE(refusals), TEST_CASE(hostile_names),  TEST_CASE(ratings),     TEST_CASE(conditions),
		TEST_CASE(failures), TEST_CASE(hostile_output), TEST_CASE(single_runs), TEST_CASE(nothing_changed),
		TEST_CASE(saved),    TEST_CASE(memory_runs_out)
	};
	int failed = !mkdtemp(folder) || test_run(cases, sizeof(cases) / sizeof(cases[0]));

	rmdir(folder);
	return failed;
}

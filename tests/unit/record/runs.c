/* SPDX-License-Identifier: MIT */
/* Recordings of a command, or of two in turn: their order, files and commands; what is refused; and lack of memory. */
#include <perfdata/recorder.h>

#include "../failing.h"
#include "../test.h"

static struct pd_error error;

static char *const one[] = { (char[]){ "make" }, (char[]){ "-j" }, NULL }, *const two[] = {
	(char[]){ "a" }, (char[]){ "1" }, (char[]){ "--vs" }, (char[]){ "b" }, NULL
};

static bool is_run(const struct pd_record_runs *runs, size_t index, const char *path, const char *program)
{
	char *const *command = NULL;
	const char *got = pd_record_runs_at(runs, index, &command);

	return got && !strcmp(got, path) && !strcmp(command[0], program);
}

static bool is_list(const struct pd_record_runs *runs, const char *wanted)
{
	struct pd_text *text = pd_text_new();
	bool same;

	if (!text)
		return false;
	pd_record_runs_text(runs, text);
	same = pd_text_bytes(text).size == strlen(wanted) && !memcmp(pd_text_bytes(text).data, wanted, strlen(wanted));
	pd_text_free(text);
	return same;
}

TEST(one_command)
{
	struct pd_record_runs *runs;
	char *const *command;

	CHECK(pd_record_runs_new(10, "x.d/perf.data", one, &runs, &error) == PD_OK);
	CHECK(is_run(runs, 0, "x.d/perf-01.data", "make") && is_run(runs, 9, "x.d/perf-10.data", "make"));
	CHECK(!pd_record_runs_at(runs, 10, &command));
	pd_record_runs_free(runs);
	CHECK(pd_record_runs_new(2, "x.d/perf", one, &runs, &error) == PD_OK);
	CHECK(is_run(runs, 0, "x.d/perf-1", "make") && is_list(runs, " x.d/perf-1,x.d/perf-2 NEW[,NEW...]"));
	pd_record_runs_free(runs);
}

TEST(two_in_turn)
{
	struct pd_record_runs *runs;
	char *const *command;

	CHECK(pd_record_runs_new(2, "p.data", two, &runs, &error) == PD_OK);
	CHECK(is_run(runs, 0, "p-a-1.data", "a") && is_run(runs, 1, "p-b-1.data", "b"));
	CHECK(is_run(runs, 2, "p-b-2.data", "b") && is_run(runs, 3, "p-a-2.data", "a"));
	CHECK(pd_record_runs_at(runs, 0, &command) && !strcmp(command[1], "1") && !command[2]);
	CHECK(!pd_record_runs_at(runs, 4, &command));
	CHECK(is_list(runs, " p-a-1.data,p-a-2.data p-b-1.data,p-b-2.data"));
	pd_record_runs_free(runs);
	CHECK_STR(two[2], "--vs");
}

TEST(refused)
{
	char *const first[] = { (char[]){ "--vs" }, (char[]){ "b" }, NULL }, *const last[] = { (char[]){ "a" },
											       (char[]){ "--vs" },
											       NULL };
	char *const three[] = { (char[]){ "a" },    (char[]){ "--vs" }, (char[]){ "b" },
				(char[]){ "--vs" }, (char[]){ "c" },    NULL };
	struct pd_record_runs *runs;

	CHECK(pd_record_runs_new(0, "p", one, &runs, &error) == PD_ERROR_ARGUMENT);
	CHECK(pd_record_runs_new(PD_RECORD_RUNS_MOST + 1, "p", one, &runs, &error) == PD_ERROR_ARGUMENT);
	CHECK_STR(error.message, "the number must be between 1 and 999");
	CHECK(pd_record_runs_new(1, "p", first, &runs, &error) == PD_ERROR_ARGUMENT);
	CHECK(pd_record_runs_new(1, "p", last, &runs, &error) == PD_ERROR_ARGUMENT);
	CHECK(pd_record_runs_new(1, "p", three, &runs, &error) == PD_ERROR_ARGUMENT);
	CHECK_STR(error.message, "--vs stands between two commands");
}

TEST(no_memory)
{
	for (long n = 0;; n++) {
		struct pd_record_runs *runs = NULL;
		enum pd_status status;

		left = n;
		has_failed = false;
		status = pd_record_runs_new(PD_RECORD_RUNS_MOST, "p.data", two, &runs, &error);
		left = -1;
		pd_record_runs_free(runs);
		CHECK(status == (has_failed ? PD_ERROR_MEMORY : PD_OK));
		if (!has_failed)
			break;
	}
}

RUN(TEST_CASE(one_command), TEST_CASE(two_in_turn), TEST_CASE(refused), TEST_CASE(no_memory))

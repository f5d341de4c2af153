/* SPDX-License-Identifier: MIT */
/*
 * Holds runs over whole files against plain streams: with one, two and five threads, with a sink that cannot be forked
 * in both orders, and with a window in the middle of the time.
 * usage: test-runs FILE-OR-DIRECTORY...
 * Exit status: 0 the same was seen, 1 not, 3 a file was refused.
 */
#include "tally.h"

#include <inttypes.h>
#include <stdio.h>

struct seen {
	struct tally tally, first;
	uint64_t problems[4];
	uint64_t late;
	struct pd_window window;
	bool half; // choose the middle of the time
	enum pd_status status;
};

static bool count_late(void *self, const struct pd_problem *problem)
{
	uint64_t *late = self;

	*late += strcmp(problem->code, "late-records") == 0;
	return true;
}

static enum pd_status see_first(void *self, struct pd_stream *stream, const struct pd_record *record,
				struct pd_error *error)
{
	struct seen *seen = self;

	return tally_take(&seen->first, stream, record, error);
}

static enum pd_status see_ready(void *self, struct pd_window *window, struct pd_error *error)
{
	struct seen *seen = self;

	(void)error;
	seen->window = *window;
	if (seen->half) {
		window->from_ns = window->first_ns + (window->last_ns - window->first_ns) / 3;
		window->to_ns = window->last_ns - (window->last_ns - window->first_ns) / 3;
		seen->tally.from_ns = window->from_ns;
		seen->tally.to_ns = window->to_ns;
	}
	return PD_OK;
}

// Opens the file and looks at it in one way: -1 with a plain stream.
static void look(const char *path, int threads, enum pd_order order, struct seen *seen)
{
	struct pd_open_options open_options = {
		.size = sizeof(open_options), .problem = count_late, .self = &seen->late, .keep = true
	};
	struct pd_run_options options = {
		.size = sizeof(options),
		.order = order,
		.self = seen,
		.first = see_first,
		.ready = see_ready,
	};
	struct pd_error error = { 0 };
	struct pd_file *file;

	seen->tally.decodes = seen->first.decodes = true;
	seen->status = pd_file_open(path, &open_options, &file, &error);
	if (seen->status == PD_OK) {
		options.threads = threads < 0 ? 0 : (unsigned)threads;
		seen->status = threads < 0 ? tally_stream(&seen->tally, file, order, &error) :
					     tally_run(&seen->tally, file, &options, &error);
		for (unsigned i = 0; i < 4; i++)
			seen->problems[i] = pd_file_problem_count(file, (enum pd_severity)i);
		pd_file_close(file);
	}
	if (seen->status < 0)
		printf("%s: %s\n", path, error.message);
}

static bool same(const struct seen *a, const struct seen *b)
{
	uint64_t others = a->tally.records - a->tally.samples;

	return b->status == PD_OK && tally_same(&a->tally, &b->tally) && b->first.records == others &&
	       b->first.others_sum == a->tally.others_sum;
}

static bool try_run(const char *path, const struct seen *plain, unsigned threads, enum pd_order order)
{
	struct seen seen = { 0 };

	look(path, (int)threads, order, &seen);
	if (!same(plain, &seen)) {
		printf("%s: %u threads, order %u: %" PRIu64 " records of %" PRIu64 ", %" PRIu64 " in the first walk\n",
		       path, threads, order, seen.tally.records, plain->tally.records, seen.first.records);
		return false;
	}
	seen.problems[PD_WARNING] -= seen.late;
	if (memcmp(plain->problems, seen.problems, sizeof(seen.problems)) != 0) {
		printf("%s: %u threads, order %u: %" PRIu64 " %" PRIu64 " %" PRIu64 " problems, not %" PRIu64
		       " %" PRIu64 " %" PRIu64 "\n",
		       path, threads, order, seen.problems[1], seen.problems[2], seen.problems[3], plain->problems[1],
		       plain->problems[2], plain->problems[3]);
		return false;
	}
	if (order == PD_ORDER_TIME && !threads && !seen.late && seen.tally.unsorted) {
		printf("%s: records are not in the order of time\n", path);
		return false;
	}
	return true;
}

static bool try_window(const char *path)
{
	struct seen run = { .half = true }, plain = { 0 };

	look(path, 2, PD_ORDER_FILE, &run);
	plain.tally.from_ns = run.tally.from_ns;
	plain.tally.to_ns = run.tally.to_ns;
	look(path, -1, PD_ORDER_FILE, &plain);
	if (run.tally.samples == plain.tally.samples && run.tally.samples_sum == plain.tally.samples_sum)
		return true;
	printf("%s: %" PRIu64 " samples in a window, not %" PRIu64 "\n", path, run.tally.samples, plain.tally.samples);
	return false;
}

static int try_path(const char *path)
{
	struct seen plain = { 0 };
	bool good;

	look(path, -1, PD_ORDER_FILE, &plain);
	if (plain.status < 0)
		return 3;
	good = try_run(path, &plain, 1, PD_ORDER_FILE);
	good &= try_run(path, &plain, 2, PD_ORDER_FILE);
	good &= try_run(path, &plain, 5, PD_ORDER_TIME);
	good &= try_run(path, &plain, 0, PD_ORDER_FILE);
	good &= try_run(path, &plain, 0, PD_ORDER_TIME);
	good &= try_window(path);
	if (good)
		printf("%s: %" PRIu64 " records: the same\n", path, plain.tally.records);
	return !good;
}

int main(int argc, char **argv)
{
	int status = 0;

	if (argc < 2) {
		fprintf(stderr, "usage: test-runs FILE-OR-DIRECTORY...\n");
		return 2;
	}
	for (int i = 1; i < argc; i++) {
		int result = try_path(argv[i]);

		status = result == 1 ? 1 : status ? status : result;
	}
	return status;
}

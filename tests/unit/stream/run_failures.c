/* SPDX-License-Identifier: MIT */
/*
 * Runs that fail: by each of the caller's functions at some call, by wrong arguments, by a file that shrinks. All threads are
 * joined, and the status is that of what failed.
 */
#include "made.h"
#include "tally.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

enum caller {
	BY_RECORD,
	BY_FORK,
	BY_JOIN,
	BY_FIRST,
	BY_READY,
	BY_PROGRESS,
	BY_NOBODY
};

static struct {
	enum caller caller;
	atomic_int left; // calls until the one that fails
	atomic_int forks, joins, records, calls_after;
	pthread_t thread;
	bool wrong_thread;
} failing;

static enum pd_status fail_by(enum caller caller, struct pd_error *error)
{
	if (caller != BY_RECORD && !pthread_equal(failing.thread, pthread_self()))
		failing.wrong_thread = true;
	if (failing.caller != caller || atomic_fetch_sub(&failing.left, 1) != 1)
		return PD_OK;
	*error = (struct pd_error){ .status = PD_ERROR_UNSUPPORTED };
	snprintf(error->message, sizeof(error->message), "failed by %d", caller);
	return PD_ERROR_UNSUPPORTED;
}

static enum pd_status fail_record(void *self, struct pd_stream *stream, const struct pd_record *record,
				  struct pd_error *error)
{
	(void)self;
	(void)stream;
	(void)record;
	failing.records++;
	return fail_by(BY_RECORD, error);
}

static enum pd_status fail_fork(void *self, void **clone_out, struct pd_error *error)
{
	enum pd_status status = fail_by(BY_FORK, error);

	(void)self;
	if (status < 0)
		return status;
	failing.forks++;
	*clone_out = malloc(1);
	return PD_OK;
}

static enum pd_status fail_join(void *self, void *clone, struct pd_error *error)
{
	(void)self;
	failing.joins++;
	free(clone);
	return fail_by(BY_JOIN, error);
}

static enum pd_status fail_first(void *self, struct pd_stream *stream, const struct pd_record *record,
				 struct pd_error *error)
{
	(void)self;
	(void)stream;
	(void)record;
	return fail_by(BY_FIRST, error);
}

static enum pd_status fail_ready(void *self, struct pd_window *window, struct pd_error *error)
{
	(void)self;
	(void)window;
	return fail_by(BY_READY, error);
}

static bool fail_progress(void *self, uint64_t done, uint64_t total)
{
	struct pd_error error;

	(void)self;
	(void)done;
	(void)total;
	return fail_by(BY_PROGRESS, &error) == PD_OK;
}

static enum pd_status run_failing(enum caller caller, int at, unsigned threads, enum pd_order order)
{
	struct pd_sink sink = { .size = sizeof(sink), .record = fail_record };
	struct pd_run_options options = {
		.size = sizeof(options),
		.threads = threads,
		.order = order,
		.first = fail_first,
		.ready = fail_ready,
		.progress = fail_progress,
	};

	if (threads) {
		sink.fork = fail_fork;
		sink.join = fail_join;
	}
	memset(&failing, 0, sizeof(failing));
	failing.caller = caller;
	failing.left = at;
	failing.thread = pthread_self();
	o.error = (struct pd_error){ 0 };
	return pd_run(o.file, &options, &sink, &o.error);
}

static bool ends_well(enum caller caller, int at, unsigned threads, enum pd_order order)
{
	enum pd_status status = run_failing(caller, at, threads, order);
	enum pd_status wanted = caller == BY_PROGRESS ? PD_ERROR_STOPPED : PD_ERROR_UNSUPPORTED;
	bool good = failing.forks == failing.joins && !failing.wrong_thread;

	if (failing.left > 0) // it was never called so often
		return good && status == PD_OK;
	if (status != wanted || o.error.status != wanted || !o.error.message[0])
		good = false;
	if (!good)
		printf("# caller %d at %d, %u threads: status %d, %d forks, %d joins\n", caller, at, threads, status,
		       failing.forks, failing.joins);
	return good;
}

TEST(run__a_failure_ends_it_and_all_are_joined)
{
	static const int at[] = { 1, 2, 3, 100, 20000 };
	struct make make = { .mixed = true };

	open_made(&make);
	for (unsigned caller = BY_RECORD; caller <= BY_NOBODY; caller++)
		for (size_t i = 0; i < sizeof(at) / sizeof(at[0]); i++)
			for (size_t t = 0; t < THREAD_COUNTS; t++)
				CHECK(ends_well(caller, at[i], thread_counts[t],
						t % 2 ? PD_ORDER_TIME : PD_ORDER_FILE));
	CHECK(run_failing(BY_FORK, 2, 4, PD_ORDER_FILE) < 0 && failing.forks == 1 && failing.records == 0);
	CHECK(run_failing(BY_FORK, 4, 4, PD_ORDER_FILE) == PD_OK && failing.forks == 3 && failing.joins == 3);
	CHECK(run_failing(BY_READY, 1, 4, PD_ORDER_FILE) < 0 && failing.forks == 0 && failing.records == 0);
	CHECK(run_failing(BY_JOIN, 1, 4, PD_ORDER_FILE) < 0 && failing.joins == 3);
	opened_close(&o);
}

TEST(run__a_failure_in_what_cannot_be_cut)
{
	struct make make = { 0 };

	open_compressed(&make);
	for (unsigned caller = BY_RECORD; caller <= BY_NOBODY; caller++)
		for (size_t t = 0; t < THREAD_COUNTS; t++)
			CHECK(ends_well(caller, 1 + 700 * (int)t, thread_counts[t],
					t % 2 ? PD_ORDER_TIME : PD_ORDER_FILE));
	opened_close(&o);
}

TEST(run__the_problem_function_stops_it)
{
	struct make make = { .damaged = true };
	struct tally tally = { .decodes = true };
	struct pd_run_options options = { .size = sizeof(options), .threads = 4 };

	for (size_t stop = 1; stop < 30; stop += 1 + stop / 4) {
		o.stop_after = stop;
		open_made(&make);
		CHECK(tally_run(&tally, o.file, &options, &o.error) == PD_ERROR_STOPPED);
		CHECK(o.problem_count == stop);
	}
	opened_close(&o);
}

TEST(run__wrong_arguments)
{
	struct make make = { 0 };
	struct tally tally = { 0 };
	struct pd_run_options options = { 0 };
	struct pd_sink sink = { .self = &tally, .record = tally_take };

	open_made(&make);
	CHECK(tally_run(&tally, o.file, &options, &o.error) == PD_ERROR_ARGUMENT);
	CHECK(pd_run(o.file, NULL, &sink, &o.error) == PD_ERROR_ARGUMENT);
	sink.size = sizeof(sink);
	CHECK(pd_run(o.file, NULL, &sink, &o.error) == PD_OK && tally.samples == MADE_SAMPLES);
	opened_close(&o);
}

// ---- files that change ----

struct shrink {
	int fd;
};

static enum pd_status shrink(void *self, struct pd_window *window, struct pd_error *error)
{
	const struct shrink *shrink = self;

	(void)window;
	(void)error;
	return ftruncate(shrink->fd, 1 << 20) ? PD_ERROR_SYSTEM : PD_OK;
}

TEST(run__a_file_that_shrinks_between_the_walks)
{
	for (size_t t = 0; t < THREAD_COUNTS; t++) {
		struct make make = { 0 };
		char name[] = "/tmp/perfdata-run-XXXXXX";
		struct shrink self = { mkstemp(name) };
		struct pd_run_options options = { .size = sizeof(options),
						  .threads = thread_counts[t],
						  .ready = shrink,
						  .self = &self,
						  .order = t % 2 ? PD_ORDER_TIME : PD_ORDER_FILE };
		struct pd_open_options open_options = { .size = sizeof(open_options),
							.problem = opened_problem,
							.self = &o };
		struct tally tally = { 0 };
		struct image image;
		enum pd_status status;

		CHECK(self.fd >= 0 && unlink(name) == 0);
		make_file(&image, &make);
		CHECK(write(self.fd, image.data, image.size) == (ssize_t)image.size &&
		      lseek(self.fd, 0, SEEK_SET) == 0);
		opened_close(&o);
		o.image = image;
		CHECK(pd_file_open_fd(self.fd, &open_options, &o.file, &o.error) == PD_OK);
		status = tally_run(&tally, o.file, &options, &o.error);
		close(self.fd);
		CHECK(status == PD_OK && tally.samples > 0 && tally.samples < MADE_SAMPLES);
		CHECK(opened_told(&o, "truncated-record") > 0);
	}
	opened_close(&o);
}

RUN(TEST_CASE(run__a_failure_ends_it_and_all_are_joined), TEST_CASE(run__a_failure_in_what_cannot_be_cut),
    TEST_CASE(run__the_problem_function_stops_it), TEST_CASE(run__wrong_arguments),
    TEST_CASE(run__a_file_that_shrinks_between_the_walks))

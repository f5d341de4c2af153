/* SPDX-License-Identifier: MIT */
/*
 * Runs compared with plain streams: whatever the number of threads, the order and the window, a sink sees the same records with
 * the same places, the first walk sees those that are no samples, and problems are reported as often. Recordings are made,
 * and those of tests/data, which are of all forms.
 */
#include "made.h"
#include "tally.h"

#include "stream/parallel/known.h"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

static const struct make makes[] = {
	{ 0 },
	{ .big = true },
	{ .pipe = true },
	{ .mixed = true },
	{ .tails = true },
	{ .damaged = true },
	{ .damaged = true, .mixed = true, .tails = true, .pipe = true },
	{ .damaged = true, .mixed = true, .tails = true, .big = true },
};

static const char *const names[] = {
	"hot.data",       "hot-pipe.data",    "hot-zstd.data",  "hot-dir",
	"hot-multi.data", "hot-group.data",   "hot-regs.data",  "hot-records.data",
	"hot-stat.data",  "hot-sigkill.data", "hot-trace.data", "hot-trace-pipe.data",
};

static const char *data_path(const char *name)
{
	static char path[4096];

	snprintf(path, sizeof(path), "%s/%s", PERFDATA_TEST_DATA, name);
	return path;
}

static void open_named(const char *name)
{
	struct pd_open_options options = { .size = sizeof(options), .problem = opened_problem, .self = &o };

	opened_close(&o);
	o.status = pd_file_open(data_path(name), &options, &o.file, &o.error);
}

// The file through a pipe.
static void *write_pipe(void *self)
{
	const struct image *image = (const struct image *)((void **)self)[0];
	int fd = *(const int *)((void **)self)[1];
	size_t at = 0;

	while (at < image->size) {
		ssize_t n = write(fd, image->data + at, image->size - at);

		if (n <= 0)
			break;
		at += (size_t)n;
	}
	close(fd);
	return NULL;
}

// ---- a run that is watched ----

struct watched {
	struct tally sink, first, stream;
	uint64_t walked_problems, problems[4];
	enum pd_status status;
	uint64_t progress_done, progress_total;
	bool progress_went_back;
};

static enum pd_status see_first(void *self, struct pd_stream *stream, const struct pd_record *record,
				struct pd_error *error)
{
	struct watched *w = self;

	return tally_take(&w->first, stream, record, error);
}

static bool see_progress(void *self, uint64_t done, uint64_t total)
{
	struct watched *w = self;

	w->progress_went_back |= done < w->progress_done;
	w->progress_done = done;
	w->progress_total = total;
	return true;
}

static struct pd_run_options watched_options(struct watched *w, unsigned threads)
{
	return (struct pd_run_options){
		.size = sizeof(struct pd_run_options),
		.threads = threads,
		.self = w,
		.first = see_first,
		.progress = see_progress,
	};
}

static void note_problems(struct watched *w)
{
	for (unsigned i = 0; i < 4; i++)
		w->problems[i] = pd_file_problem_count(o.file, (enum pd_severity)i);
}

// What a plain stream gives, and the problems of it.
static void visit_stream(struct watched *w)
{
	*w = (struct watched){ .stream.decodes = true };
	w->status = tally_stream(&w->stream, o.file, PD_ORDER_FILE, &o.error);
	note_problems(w);
}

static void visit_run(struct watched *w, const struct pd_run_options *options)
{
	w->status = tally_run(&w->sink, o.file, options, &o.error);
	note_problems(w);
}

static bool same_problems(const struct watched *a, const struct watched *b)
{
	return memcmp(a->problems, b->problems, sizeof(a->problems)) == 0;
}

typedef void open_fn(const void *self);

static void open_by_make(const void *self)
{
	open_made(self);
}

static void open_by_name(const void *self)
{
	open_named(self);
}

static const struct way {
	unsigned threads;
	enum pd_order order;
} ways[] = {
	{ 0, PD_ORDER_FILE }, { 0, PD_ORDER_TIME }, { 1, PD_ORDER_FILE },
	{ 2, PD_ORDER_TIME }, { 4, PD_ORDER_FILE }, { 8, PD_ORDER_FILE },
};

// One file, all ways.
static bool try_ways(open_fn *open, const void *self)
{
	struct watched plain, w;
	bool good;

	open(self);
	if (o.status != PD_OK)
		return false;
	visit_stream(&plain);
	good = plain.status == PD_OK && plain.stream.records > 0;
	for (size_t i = 0; good && i < sizeof(ways) / sizeof(ways[0]); i++) {
		struct pd_run_options options;

		open(self);
		w = (struct watched){ .sink.decodes = true, .first.decodes = true };
		options = watched_options(&w, ways[i].threads);
		options.order = ways[i].order;
		visit_run(&w, &options);
		good = w.status == PD_OK && tally_same(&w.sink, &plain.stream) && !w.progress_went_back &&
		       w.first.records == plain.stream.records - plain.stream.samples && !w.first.samples &&
		       w.first.others_sum == plain.stream.others_sum;
		good = good && (same_problems(&plain, &w) || opened_told(&o, "late-records"));
		if (!good)
			printf("# %u threads, order %u: status %d, %llu records of %llu, %llu in the first walk\n",
			       options.threads, options.order, w.status, (unsigned long long)w.sink.records,
			       (unsigned long long)plain.stream.records, (unsigned long long)w.first.records);
	}
	opened_close(&o);
	return good;
}

TEST(run__shows_what_a_stream_shows)
{
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		printf("# %s\n", names[i]);
		CHECK(try_ways(open_by_name, names[i]));
	}
}

TEST(run__made_files_in_many_pieces)
{
	for (size_t i = 0; i < sizeof(makes) / sizeof(makes[0]); i++) {
		printf("# made file %zu\n", i);
		CHECK(try_ways(open_by_make, &makes[i]));
	}
}

TEST(run__compressed_files_in_many_batches)
{
	struct make plain = { 0 }, odd = { .mixed = true, .big = true };

	struct tally tally = { 0 };

	open_compressed(&plain);
	CHECK(tally_stream(&tally, o.file, PD_ORDER_FILE, &o.error) == PD_OK);
	CHECK(tally.samples == MADE_SAMPLES || opened_told(&o, "no-zstd"));
	CHECK(tally.tails == 4096);
	CHECK(try_ways(open_compressed, &plain));
	CHECK(try_ways(open_compressed, &odd));
}

TEST(run__order_of_time_on_one_thread)
{
	struct make make = { .mixed = true, .tails = true };
	struct watched w = { 0 };
	struct pd_run_options options = watched_options(&w, 0);

	open_made(&make);
	visit_run(&w, &options);
	CHECK(w.status == PD_OK && w.sink.unsorted);
	w = (struct watched){ 0 };
	options.order = PD_ORDER_TIME;
	visit_run(&w, &options);
	CHECK(w.status == PD_OK && !w.sink.unsorted && w.sink.samples > MADE_SAMPLES);
	opened_close(&o);
}

// Whatever the order, a record has its place in the file.
TEST(stream__places_in_the_order_of_time)
{
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct tally by_file = { 0 }, by_time = { 0 };

		open_named(names[i]);
		CHECK(tally_stream(&by_file, o.file, PD_ORDER_FILE, &o.error) == PD_OK);
		CHECK(tally_stream(&by_time, o.file, PD_ORDER_TIME, &o.error) == PD_OK);
		CHECK(tally_same(&by_file, &by_time));
	}
	for (size_t i = 0; i < sizeof(makes) / sizeof(makes[0]); i++) {
		struct tally by_file = { 0 }, by_time = { 0 };

		open_made(&makes[i]);
		CHECK(tally_stream(&by_time, o.file, PD_ORDER_TIME, &o.error) == PD_OK);
		CHECK(tally_stream(&by_file, o.file, PD_ORDER_FILE, &o.error) == PD_OK);
		CHECK(tally_same(&by_file, &by_time));
	}
	opened_close(&o);
}

TEST(run__twice_over_one_file)
{
	struct make make = { .damaged = true, .pipe = true };
	struct watched a = { 0 }, b = { 0 };
	struct pd_run_options options = watched_options(&a, 2);

	open_made(&make);
	visit_run(&a, &options);
	options = watched_options(&b, 4);
	visit_run(&b, &options);
	CHECK(a.status == PD_OK && b.status == PD_OK && tally_same(&a.sink, &b.sink));
	CHECK(pd_file_event_count(o.file) == 1);
	opened_close(&o);
}

// The first walk sees samples, too, if it is to; then its order is that of the file.
static bool try_first_samples(open_fn *open, const void *self)
{
	struct watched plain, w = { .sink.decodes = true, .first.decodes = true };
	struct pd_run_options options = watched_options(&w, 4);

	options.first_samples = true;
	open(self);
	visit_stream(&plain);
	open(self);
	visit_run(&w, &options);
	return w.status == PD_OK && tally_same(&w.first, &plain.stream) && tally_same(&w.sink, &plain.stream) &&
	       w.first.last_place == plain.stream.last_place && !w.progress_went_back &&
	       (same_problems(&plain, &w) || opened_told(&o, "late-records"));
}

TEST(run__first_walk_with_samples)
{
	struct make plain = { .damaged = true };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		CHECK(try_first_samples(open_by_name, names[i]));
	for (size_t i = 0; i < sizeof(makes) / sizeof(makes[0]); i++)
		CHECK(try_first_samples(open_by_make, &makes[i]));
	CHECK(try_first_samples(open_compressed, &plain));
	opened_close(&o);
}

// A second run sees what the first one saw without a walk of its own, and nothing is reported twice.
static bool try_next_run(open_fn *open, const void *self, unsigned threads)
{
	struct watched first = { .sink.decodes = true, .first.decodes = true }, next = { .sink.decodes = true };
	struct pd_run_options options = watched_options(&first, 1);
	struct pd_sink sink = { .size = sizeof(sink), .self = &first.sink, .record = tally_take };
	struct pd_pieces *pieces;

	open(self);
	options.order = PD_ORDER_TIME;
	options.first_samples = true;
	first.status = pd_run_first(o.file, &options, &sink, &pieces, &o.error);
	note_problems(&first);
	options = (struct pd_run_options){ .size = sizeof(options), .threads = threads };
	sink.self = &next.sink;
	sink.fork = tally_fork;
	sink.join = tally_join;
	if (first.status == PD_OK)
		next.status = pd_run_next(o.file, &options, &sink, pieces, &o.error);
	note_problems(&next);
	pd_run_forget(pieces);
	return first.status == PD_OK && next.status == PD_OK && tally_same(&first.sink, &next.sink) &&
	       first.sink.records && same_problems(&first, &next);
}

TEST(run__next_run_of_known_pieces)
{
	struct make plain = { .damaged = true };

	for (unsigned threads = 1; threads < 4; threads++) {
		for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
			CHECK(try_next_run(open_by_name, names[i], threads));
		for (size_t i = 0; i < sizeof(makes) / sizeof(makes[0]); i++)
			CHECK(try_next_run(open_by_make, &makes[i], threads));
		CHECK(try_next_run(open_compressed, &plain, threads));
	}
	opened_close(&o);
}

// ---- what clones may ask ----

struct asking {
	struct tally tally;
	uint64_t told, features;
};

static enum pd_status ask(void *self, struct pd_stream *stream, const struct pd_record *record, struct pd_error *error)
{
	struct asking *asking = self;
	struct pd_bytes bytes;

	(void)stream;
	asking->features += pd_file_hostname(o.file) != NULL;
	asking->features += pd_file_cpu_topology(o.file) != NULL;
	asking->features += pd_file_feature_bytes(o.file, PD_FEATURE_CMDLINE, &bytes, error) == PD_OK;
	asking->features += pd_file_machine(o.file) == PD_ARCH_X86;
	asking->features += pd_file_event_by_id(o.file, 1) != NULL;
	asking->told += pd_file_problem_count(o.file, PD_DAMAGE);
	if (!pd_record_as(record, record->type))
		asking->told++;
	return PD_OK;
}

static enum pd_status fork_asking(void *self, void **clone_out, struct pd_error *error)
{
	(void)self;
	(void)error;
	*clone_out = calloc(1, sizeof(struct asking));
	return PD_OK;
}

static enum pd_status join_asking(void *self, void *clone, struct pd_error *error)
{
	struct asking *asking = self;

	(void)error;
	asking->features += ((struct asking *)clone)->features;
	free(clone);
	return PD_OK;
}

// The same file with many more records, and features after them.
static void make_larger(struct image *image)
{
	struct make make = { .damaged = true };
	size_t table;

	make_file(image, &make);
	image_set(image, 72, UINT64_C(1) << 3 | UINT64_C(1) << 6 | UINT64_C(1) << 11 | UINT64_C(1) << 13, 8);
	table = image->size;
	for (unsigned i = 0; i < 4; i++) {
		image_u64(image, table + 64 + i * 16);
		image_u64(image, 16);
	}
	image_pstr(image, "host", 12);
	image_pstr(image, "x86_64", 12);
	image_u32(image, 1);
	image_pstr(image, "perf", 8);
	// no topology: a count that is not there
	image_u32(image, 1000);
	image_zeros(image, 12);
}

TEST(run__clones_may_ask_the_file)
{
	struct asking asking = { 0 };
	struct pd_run_options options = { .size = sizeof(options), .threads = 8 };
	struct pd_sink sink = {
		.size = sizeof(sink), .self = &asking, .record = ask, .fork = fork_asking, .join = join_asking
	};
	struct image image;

	make_larger(&image);
	opened_open(&o, &image, 0);
	CHECK(o.status == PD_OK);
	CHECK(pd_run(o.file, &options, &sink, &o.error) == PD_OK);
	CHECK(asking.features > 3 * (uint64_t)MADE_SAMPLES && asking.features % 3 == 0);
	CHECK(opened_told(&o, "bad-feature") == 1 && opened_told(&o, "bad-record") > 3);
	opened_close(&o);
}

// ---- windows ----

struct windowed {
	struct tally tally;
	struct pd_window seen;
	uint64_t from_ns, to_ns;
	uint64_t shown;
};

static enum pd_status choose_window(void *self, struct pd_window *window, struct pd_error *error)
{
	struct windowed *w = self;

	(void)error;
	w->seen = *window;
	window->from_ns = w->from_ns;
	window->to_ns = w->to_ns;
	return PD_OK;
}

static enum pd_status take_shown(void *self, struct pd_stream *stream, const struct pd_record *record,
				 struct pd_error *error)
{
	struct windowed *w = self;

	w->shown++;
	return tally_take(&w->tally, stream, record, error);
}

static bool try_window(const struct make *make, uint64_t from_ns, uint64_t to_ns, unsigned threads, bool by_ready,
		       struct windowed *w)
{
	struct tally plain = { .from_ns = from_ns, .to_ns = to_ns };
	struct pd_run_options options = {
		.size = sizeof(options), .threads = threads, .from_ns = from_ns, .to_ns = to_ns, .self = w
	};
	struct pd_sink sink = { .size = sizeof(sink), .self = w, .record = take_shown };
	enum pd_status status;

	*w = (struct windowed){ .tally = plain, .from_ns = from_ns, .to_ns = to_ns };
	if (by_ready) {
		options.from_ns = options.to_ns = 0;
		options.ready = choose_window;
	}
	open_made(make);
	status = tally_stream(&plain, o.file, PD_ORDER_FILE, &o.error);
	if (status == PD_OK && threads)
		status = tally_run(&w->tally, o.file, &options, &o.error);
	else if (status == PD_OK)
		status = pd_run(o.file, &options, &sink, &o.error);
	opened_close(&o);
	return status == PD_OK && w->tally.samples == plain.samples && w->tally.samples_sum == plain.samples_sum;
}

TEST(run__windows)
{
	enum {
		LAST_NS = FIRST_NS + (MADE_SAMPLES - 1) * STEP_NS
	};
	static const uint64_t windows[][2] = {
		{ 0, 0 },
		{ FIRST_NS, FIRST_NS },
		{ LAST_NS, 0 },
		{ 0, FIRST_NS - 1 },
		{ LAST_NS + 1, 0 },
		{ 2000000, 2100000 },
		{ 0, 3000000 },
		{ 3000000, 0 },
		{ 3000001, 3000001 },
		{ 3000000, 2000000 },
	};
	struct make plain = { 0 }, mixed = { .mixed = true, .damaged = true };
	struct windowed w;

	for (size_t i = 0; i < sizeof(windows) / sizeof(windows[0]); i++)
		for (size_t t = 0; t < THREAD_COUNTS; t++) {
			printf("# window %zu, %u threads\n", i, thread_counts[t]);
			CHECK(try_window(i % 2 ? &plain : &mixed, windows[i][0], windows[i][1], thread_counts[t], t % 2,
					 &w));
		}
	CHECK(try_window(&plain, 0, 0, 0, true, &w));
	CHECK(w.seen.from_ns == 0 && w.seen.to_ns == 0 && w.seen.first_ns == FIRST_NS && w.seen.last_ns == LAST_NS);
	CHECK(w.shown > MADE_SAMPLES);
	// one piece of ten at most is read for a window that small
	CHECK(try_window(&plain, 2000000, 2000100, 0, true, &w));
	CHECK(w.tally.samples == 2 && w.shown > 2 && w.shown < MADE_SAMPLES / 4);
	CHECK(try_window(&plain, LAST_NS + 1, 0, 0, true, &w) && w.shown == 0);
}

TEST(run__no_times)
{
	struct image image = { 0 };
	struct windowed w = { 0 };
	struct pd_run_options options = { .size = sizeof(options), .self = &w, .ready = choose_window, .from_ns = 10 };
	struct pd_sink sink = { .size = sizeof(sink), .self = &w, .record = take_shown };

	image_file(&image, IMAGE_IP_TID_TIME_PERIOD, ID_ALL);
	image_sample(&image, 0);
	image_file_end(&image);
	opened_open(&o, &image, 0);
	w.from_ns = 10;
	CHECK(pd_run(o.file, &options, &sink, &o.error) == PD_OK);
	CHECK(w.seen.first_ns == 0 && w.seen.last_ns == 0 && w.seen.from_ns == 10);
	// whoever has no time is not outside of it
	CHECK(w.shown == 1 && w.tally.samples == 1);
	opened_close(&o);
}

// ---- pipes ----

static bool try_pipe(bool keep, bool large)
{
	struct make make = { .pipe = true, .tails = true };
	struct pd_open_options options = { .size = sizeof(options), .keep = keep, .temp_dir = "/tmp" };
	struct watched plain, w = { 0 };
	struct pd_run_options run_options = watched_options(&w, 2);
	struct image image;
	int fds[2];
	void *arguments[] = { &o.image, &fds[1] };
	pthread_t writer;
	bool good;

	make_file(&image, &make);
	// copies above 4 MiB go to a file
	for (size_t i = 0; large && i < 3 * MADE_SAMPLES; i++)
		image_sample(&image, FIRST_NS + i);
	opened_close(&o);
	o.image = image;
	if (pipe(fds) || pthread_create(&writer, NULL, write_pipe, arguments))
		return false;
	o.status = pd_file_open_fd(fds[0], &options, &o.file, &o.error);
	good = o.status == PD_OK;
	if (good)
		visit_run(&w, &run_options);
	pd_file_close(o.file);
	o.file = NULL;
	close(fds[0]);
	pthread_join(writer, NULL);
	if (!good)
		return false;
	if (!keep)
		return w.status == PD_ERROR_ARGUMENT && !w.first.records;
	o.status = pd_file_open_memory(o.image.data, o.image.size, NULL, &o.file, &o.error);
	visit_stream(&plain);
	good = w.status == PD_OK && w.first.records && plain.stream.sum == w.sink.sum;
	opened_close(&o);
	return good;
}

TEST(run__pipes_that_are_kept)
{
	signal(SIGPIPE, SIG_IGN);
	CHECK(try_pipe(false, false));
	CHECK(try_pipe(true, false));
	CHECK(try_pipe(true, true));
}

RUN(TEST_CASE(run__shows_what_a_stream_shows), TEST_CASE(run__made_files_in_many_pieces),
    TEST_CASE(run__compressed_files_in_many_batches), TEST_CASE(run__order_of_time_on_one_thread),
    TEST_CASE(stream__places_in_the_order_of_time), TEST_CASE(run__twice_over_one_file),
    TEST_CASE(run__first_walk_with_samples), TEST_CASE(run__next_run_of_known_pieces),
    TEST_CASE(run__clones_may_ask_the_file), TEST_CASE(run__windows), TEST_CASE(run__no_times),
    TEST_CASE(run__pipes_that_are_kept))

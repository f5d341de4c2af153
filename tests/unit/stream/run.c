/* SPDX-License-Identifier: MIT */
/*
 * Runs against plain streams: whatever the number of threads, the order and the window, a sink sees the same records with
 * the same places, the first walk sees those that are no samples, and problems are told as often. Made files are large
 * enough for many pieces; those of tests/data are of all forms.
 */
#include "../opened.h"
#include "tally.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

enum {
	ID_ALL = 1 << IMAGE_SAMPLE_ID_ALL,
	MADE_SAMPLES = 40000,
	STEP_NS = 100,
	FIRST_NS = 5000,
};

static struct opened o;
static const unsigned thread_counts[] = { 0, 1, 2, 4, 8 };
#define THREAD_COUNTS (sizeof(thread_counts) / sizeof(thread_counts[0]))

// ---- files ----

static void make_comm(struct image *image, uint64_t time_ns)
{
	size_t record = image_record(image, 3, 0);

	image_u32(image, 100);
	image_u32(image, 100);
	image_text(image, "busy", 8);
	image_u32(image, 100);
	image_u32(image, 100);
	image_u64(image, time_ns);
	image_end(image, record);
}

// A record of 16 bytes: less than its layout has.
static void make_damaged(struct image *image, uint32_t type)
{
	size_t record = image_record(image, type, 0);

	image_zeros(image, 8);
	image_end(image, record);
}

static void make_auxtrace(struct image *image, uint64_t size)
{
	size_t record = image_record(image, 71, 0);

	image_u64(image, size);
	image_zeros(image, 32);
	image_end(image, record);
	image_zeros(image, size);
}

static void make_round(struct image *image)
{
	image_end(image, image_record(image, 68, 0));
}

struct make {
	bool big, pipe;
	bool damaged; // what is no record, and records that are too small
	bool mixed;   // times that jump back and forth, samples without a time
	bool tails;
};

static void make_oddities(struct image *image, const struct make *make, size_t i, uint64_t time_ns)
{
	if (i % 1000 == 10)
		make_comm(image, time_ns);
	if (i % 500 == 0)
		make_round(image);
	if (make->mixed && i % 700 == 3)
		image_sample(image, 0);
	if (make->tails && i % 9000 == 8)
		make_auxtrace(image, i * 8);
	if (make->damaged && i % 5000 == 21) {
		make_damaged(image, 3);
		make_damaged(image, 10);
		make_damaged(image, 9);
	}
	// sizes of 0
	if (make->damaged && i % 7000 == 22)
		image_zeros(image, 24);
}

static void make_file(struct image *image, const struct make *make)
{
	*image = (struct image){ .big = make->big };
	if (make->pipe) {
		size_t record;

		image_pipe(image);
		record = image_record(image, 64, 0);
		image_attr(image, 1, 0, IMAGE_IP_TID_TIME_PERIOD, 0, image_flag(image, IMAGE_SAMPLE_ID_ALL));
		image_end(image, record);
	} else {
		image_file(image, IMAGE_IP_TID_TIME_PERIOD, image_flag(image, IMAGE_SAMPLE_ID_ALL));
	}
	for (size_t i = 0; i < MADE_SAMPLES; i++) {
		uint64_t time_ns = FIRST_NS + i * STEP_NS;

		if (make->mixed)
			time_ns += (i / 400 % 3) * 400 * STEP_NS;
		make_oddities(image, make, i, time_ns);
		image_sample(image, time_ns);
	}
	if (!make->pipe)
		image_file_end(image);
}

// A frame of zstd whose blocks are stored as they are, so that no library is needed to make it.
static void store_frame(struct image *frame, const uint8_t *data, size_t size)
{
	enum {
		BLOCK = 100000
	};

	image_hex(frame, "28b52ffd 00 58");
	for (size_t at = 0; at < size; at += BLOCK) {
		size_t part = size - at < BLOCK ? size - at : BLOCK;

		image_put(image_room(frame, 3), part << 3 | (at + part == size), 3, false);
		image_bytes(frame, data + at, part);
	}
}

// The same records inside of compressed ones.
static void make_compressed(struct image *image, const struct make *make)
{
	enum {
		HEAD = 184,
		PIECE = 60000
	};
	struct image plain, frame = { 0 };

	make_file(&plain, make);
	store_frame(&frame, plain.data + HEAD, plain.size - HEAD);
	*image = (struct image){ .big = make->big };
	image_bytes(image, plain.data, HEAD);
	make_comm(image, FIRST_NS);
	for (size_t at = 0; at < frame.size; at += PIECE) {
		size_t record = image_record(image, 81, 0);

		image_bytes(image, frame.data + at, frame.size - at < PIECE ? frame.size - at : PIECE);
		image_end(image, record);
		if (at == 3 * PIECE)
			make_auxtrace(image, 4096);
	}
	image_file_end(image);
	image_free(&plain);
	image_free(&frame);
}

static void open_compressed(const void *self)
{
	struct image image;

	make_compressed(&image, self);
	opened_open(&o, &image, 0);
}

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

static void open_made(const struct make *make)
{
	struct image image;

	make_file(&image, make);
	opened_open(&o, &image, 0);
}

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

// ---- failures ----

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

// ---- pipes ----

static bool try_pipe(bool keep, bool large)
{
	struct make make = { .pipe = true, .tails = true };
	struct pd_open_options options = { .size = sizeof(options), .keep = keep, .temp_dir = "/tmp" };
	struct watched plain, w = { 0 };
	struct pd_run_options run_options = watched_options(&w, 2);
	struct image image;
	pthread_t writer;
	int fds[2];
	bool good;

	make_file(&image, &make);
	// copies above 4 MiB go to a file
	for (size_t i = 0; large && i < 3 * MADE_SAMPLES; i++)
		image_sample(&image, FIRST_NS + i);
	opened_close(&o);
	o.image = image;
	if (pipe(fds) || pthread_create(&writer, NULL, write_pipe, (void *[]){ &o.image, &fds[1] }))
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

RUN(TEST_CASE(run__shows_what_a_stream_shows), TEST_CASE(run__made_files_in_many_pieces),
    TEST_CASE(run__compressed_files_in_many_batches), TEST_CASE(run__order_of_time_on_one_thread),
    TEST_CASE(stream__places_in_the_order_of_time), TEST_CASE(run__twice_over_one_file),
    TEST_CASE(run__clones_may_ask_the_file), TEST_CASE(run__windows), TEST_CASE(run__no_times),
    TEST_CASE(run__a_failure_ends_it_and_all_are_joined), TEST_CASE(run__a_failure_in_what_cannot_be_cut),
    TEST_CASE(run__the_problem_function_stops_it), TEST_CASE(run__wrong_arguments), TEST_CASE(run__pipes_that_are_kept),
    TEST_CASE(run__a_file_that_shrinks_between_the_walks))

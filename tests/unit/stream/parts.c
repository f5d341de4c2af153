/* SPDX-License-Identifier: MIT */
/*
 * Parts of the time: whatever the number of threads, samples come in the order of time, each once, in the part where they
 * belong; every part that is begun is ended, and those before a failure are whole.
 */
#include "../opened.h"

#include "base/memory.h"

#include <perfdata/run.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

enum {
	SAMPLES = 1200000, // of 40 bytes: parts enough for several threads
	STEP_NS = 100,
	FIRST_NS = 5000,
	PARTS_MOST = 64,
};

static struct opened o;

// ---- files ----

struct make {
	bool jumps;    // as rings that are emptied one after another
	bool timeless; // a sample has no time
};

static void open_made(const struct make *make)
{
	struct image image = { 0 };

	image_file(&image, IMAGE_IP_TID_TIME_PERIOD, 0);
	for (uint64_t i = 0; i < SAMPLES; i++) {
		// two rings, which have taken turns, come one after the other; times are there twice
		uint64_t in_round = i % 8000, round = i - in_round;
		uint64_t at = make->jumps ? round + (in_round < 4000 ? 2 * in_round : 2 * (in_round - 4000) + 1) : i;

		if (in_round == 0)
			image_end(&image, image_record(&image, 68, 0));
		image_sample(&image, make->timeless && i == SAMPLES / 2 ? 0 : FIRST_NS + at / 2 * STEP_NS);
	}
	image_file_end(&image);
	opened_open(&o, &image, 0);
}

// ---- a sink ----

struct seen {
	uint64_t *places;
	size_t count, capacity;
	bool begun, ended;
};

struct log {
	pthread_mutex_t lock;
	struct seen parts[PARTS_MOST];
	size_t begun, ended; // parts
	atomic_size_t clones;
	bool out_of_turn;
	size_t fail_part, fail_at; // 0: never
	uint64_t others;
};

struct worker {
	struct log *log;
	struct seen *part;
	uint64_t number;
	bool is_clone;
};

static enum pd_status begin(void *self, uint64_t number, struct pd_error *error)
{
	struct worker *worker = self;

	(void)error;
	pthread_mutex_lock(&worker->log->lock);
	worker->log->begun++;
	pthread_mutex_unlock(&worker->log->lock);
	worker->number = number;
	worker->part = number < PARTS_MOST ? &worker->log->parts[number] : NULL;
	if (!worker->part || worker->part->begun)
		return PD_ERROR_ARGUMENT;
	worker->part->begun = true;
	return PD_OK;
}

static enum pd_status take(void *self, struct pd_stream *stream, const struct pd_record *record, struct pd_error *error)
{
	struct worker *worker = self;
	struct seen *part = worker->part;

	(void)stream;
	if (record->type != PD_RECORD_SAMPLE) {
		worker->log->others++;
		return PD_OK;
	}
	if (worker->log->fail_at && worker->number == worker->log->fail_part && part->count == worker->log->fail_at) {
		*error = (struct pd_error){ .status = PD_ERROR_LIMIT, .message = "enough" };
		return PD_ERROR_LIMIT;
	}
	if (!PD_GROW(part->places, part->capacity, part->count + 1))
		return PD_ERROR_MEMORY;
	part->places[part->count++] = record->place;
	return PD_OK;
}

static enum pd_status end(void *self, uint64_t number, struct pd_error *error)
{
	struct worker *worker = self;

	(void)error;
	pthread_mutex_lock(&worker->log->lock);
	worker->log->ended++;
	worker->log->out_of_turn |= worker->number != number || !worker->part || worker->part->ended;
	if (worker->part)
		worker->part->ended = true;
	pthread_mutex_unlock(&worker->log->lock);
	return PD_OK;
}

static enum pd_status fork_worker(void *self, void **clone_out, struct pd_error *error)
{
	struct worker *worker = self, *clone = calloc(1, sizeof(*clone));

	(void)error;
	if (!clone)
		return PD_ERROR_MEMORY;
	*clone = (struct worker){ .log = worker->log, .is_clone = true };
	worker->log->clones++;
	*clone_out = clone;
	return PD_OK;
}

static enum pd_status join_worker(void *self, void *clone, struct pd_error *error)
{
	(void)self;
	(void)error;
	free(clone);
	return PD_OK;
}

static enum pd_status make_whole(void *self, struct pd_window *window, struct pd_error *error)
{
	(void)self;
	(void)error;
	window->whole = 1;
	return PD_OK;
}

static enum pd_status run(struct log *log, struct pd_run_options *options, struct pd_error *error)
{
	struct worker worker = { .log = log };
	struct pd_sink sink = { .size = sizeof(sink),
				.self = &worker,
				.record = take,
				.fork = fork_worker,
				.join = join_worker,
				.begin_part = begin,
				.end_part = end };

	pthread_mutex_init(&log->lock, NULL);
	options->size = sizeof(*options);
	options->order = PD_ORDER_TIME;
	return pd_run(o.file, options, &sink, error);
}

static void forget(struct log *log)
{
	for (size_t i = 0; i < PARTS_MOST; i++)
		pd_free(log->parts[i].places);
	pthread_mutex_destroy(&log->lock);
	free(log);
}

// ---- what a stream shows ----

static uint64_t *places_in_order(uint64_t from_ns, uint64_t to_ns, size_t *count_out)
{
	struct pd_stream_options options = { .size = sizeof(options), .order = PD_ORDER_TIME };
	uint64_t *places = calloc(SAMPLES, sizeof(*places));
	const struct pd_record *record;
	struct pd_stream *stream = NULL;
	size_t count = 0;

	if (!places || pd_stream_open(o.file, &options, &stream, NULL))
		return NULL;
	while (pd_stream_next(stream, &record, NULL) == PD_OK)
		if (record->type == PD_RECORD_SAMPLE && record->time_ns >= from_ns && record->time_ns <= to_ns)
			places[count++] = record->place;
	pd_stream_close(stream);
	*count_out = count;
	return places;
}

// The first so many of them, part after part.
static bool is_beginning(const struct log *log, const uint64_t *places, size_t count, size_t *seen_out)
{
	size_t at = 0;

	for (size_t i = 0; i < PARTS_MOST; i++)
		for (size_t k = 0; k < log->parts[i].count; k++, at++)
			if (at >= count || log->parts[i].places[k] != places[at])
				return false;
	*seen_out = at;
	return !log->out_of_turn && log->begun == log->ended;
}

static bool same_as_stream(const uint64_t *places, struct pd_run_options options, size_t *parts_out, size_t *clones_out,
			   uint64_t *others_out)
{
	struct log *log = calloc(1, sizeof(*log));
	size_t seen = 0;
	bool ok = log && run(log, &options, NULL) == PD_OK && is_beginning(log, places, SAMPLES, &seen) &&
		  seen == SAMPLES;

	*parts_out = log->begun;
	*clones_out = log->clones;
	*others_out = log->others;
	forget(log);
	return ok;
}

TEST(parts__are_in_the_order_of_time)
{
	static const struct make makes[] = { { 0 }, { .jumps = true } };
	static const unsigned threads[] = { 1, 2, 8 };
	size_t parts, clones, count;
	uint64_t others, *places;

	for (size_t i = 0; i < sizeof(makes) / sizeof(makes[0]); i++) {
		open_made(&makes[i]);
		places = places_in_order(0, UINT64_MAX, &count);
		CHECK(places && count == SAMPLES);
		for (size_t t = 0; t < sizeof(threads) / sizeof(threads[0]); t++) {
			printf("# file %zu, %u threads\n", i, threads[t]);
			CHECK(same_as_stream(
				places, (struct pd_run_options){ .threads = threads[t], .first_threads = i ? 1 : 0 },
				&parts, &clones, &others));
			CHECK(threads[t] == 1 ? parts == 1 && !clones : parts > 2 && clones && !others);
		}
		free(places);
		opened_close(&o);
	}
}

// Where the place of a sample depends on rounds, or somebody wants it, there is one part with all records.
TEST(parts__one_part)
{
	static const struct make makes[] = { { .jumps = true, .timeless = true }, { .jumps = true } };
	size_t parts, clones, count;
	uint64_t others, *places;

	for (size_t i = 0; i < sizeof(makes) / sizeof(makes[0]); i++) {
		open_made(&makes[i]);
		places = places_in_order(0, UINT64_MAX, &count);
		CHECK(places && count == SAMPLES);
		CHECK(same_as_stream(places, (struct pd_run_options){ .threads = 4, .ready = i ? make_whole : NULL },
				     &parts, &clones, &others));
		CHECK(parts == 1 && !clones && others == SAMPLES / 8000);
		free(places);
		opened_close(&o);
	}
}

TEST(parts__windows)
{
	enum {
		LAST_NS = FIRST_NS + (SAMPLES / 2 - 1) * STEP_NS
	};
	static const uint64_t windows[][2] = {
		{ FIRST_NS, FIRST_NS },   { LAST_NS, LAST_NS },         { LAST_NS / 2, LAST_NS / 2 + 1000 },
		{ LAST_NS / 4, LAST_NS }, { LAST_NS + 1, LAST_NS + 2 },
	};

	open_made(&(struct make){ .jumps = true });
	for (size_t i = 0; i < sizeof(windows) / sizeof(windows[0]); i++) {
		struct pd_run_options options = { .threads = 2, .from_ns = windows[i][0], .to_ns = windows[i][1] };
		struct log *log = calloc(1, sizeof(*log));
		size_t count, at = 0;
		uint64_t *places = places_in_order(windows[i][0], windows[i][1], &count);

		CHECK(log && places && run(log, &options, NULL) == PD_OK && log->begun == log->ended);
		// what is read besides is in order, too
		for (size_t part = 0; part < PARTS_MOST; part++)
			for (size_t k = 0; k < log->parts[part].count; k++)
				at += at < count && log->parts[part].places[k] == places[at];
		CHECK(at == count);
		free(places);
		forget(log);
	}
	opened_close(&o);
}

TEST(parts__a_failure)
{
	size_t count, seen;
	uint64_t *places;

	open_made(&(struct make){ .jumps = true });
	places = places_in_order(0, UINT64_MAX, &count);
	CHECK(places);
	for (size_t part = 0; part < 4; part++) {
		struct log *log = calloc(1, sizeof(*log));
		struct pd_run_options options = { .threads = 4 };
		struct pd_error error = { .message = "" };
		size_t before = 0;

		CHECK(log);
		log->fail_part = part;
		log->fail_at = 1000;
		CHECK(run(log, &options, &error) == PD_ERROR_LIMIT);
		CHECK_STR(error.message, "enough");
		// all up to the failure is there; of later parts something may be
		for (size_t i = part + 1; i < PARTS_MOST; i++)
			log->parts[i].count = 0;
		CHECK(is_beginning(log, places, count, &seen));
		for (size_t i = 0; i < part; i++)
			before += log->parts[i].count;
		CHECK(seen == before + 1000 && log->parts[part].ended);
		forget(log);
	}
	free(places);
	opened_close(&o);
}

RUN(TEST_CASE(parts__are_in_the_order_of_time), TEST_CASE(parts__one_part), TEST_CASE(parts__windows),
    TEST_CASE(parts__a_failure))

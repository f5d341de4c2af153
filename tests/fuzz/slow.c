/* SPDX-License-Identifier: MIT */
/*
 * Inputs of half a MiB that ask for work by the square of their size. Each has to be walked in a few seconds of
 * processor time, also in builds with sanitizers; work by the square takes a minute and more.
 */
#include <string.h>
#include <time.h>

#include "base/pen.h"
#include "walk.h"

enum {
	SIZE = 512 << 10,
	SECONDS = 10,
	ATTR_SIZE = 64,
	HEADER_SIZE = 104,
	FINISHED_ROUND_SIZE = 8
};

static void put_record(struct pd_pen *pen, uint32_t type, size_t body_size)
{
	pd_pen_u32(pen, type);
	pd_pen_u16(pen, 0);
	pd_pen_u16(pen, (uint16_t)(8 + body_size));
}

static void put_attr(struct pd_pen *pen, uint64_t config)
{
	pd_pen_u32(pen, PD_TYPE_TRACEPOINT);
	pd_pen_u32(pen, ATTR_SIZE);
	pd_pen_u64(pen, config);
	pd_pen_u64(pen, 1);
	pd_pen_u64(pen, PD_MASK(PD_SAMPLE_TYPE_ID));
	pd_pen_zeros(pen, ATTR_SIZE - 32);
}

static void put_pipe_header(struct pd_pen *pen)
{
	pd_pen_bytes(pen, "PERFILE2", 8);
	pd_pen_u64(pen, 16);
}

// A file with count events and one record; ids of each are at ids_offset.
static void put_file(struct pd_pen *pen, size_t count, uint64_t ids_offset, uint64_t ids_size, uint64_t features_2)
{
	size_t attrs_size = count * (ATTR_SIZE + 16);

	pd_pen_bytes(pen, "PERFILE2", 8);
	pd_pen_u64(pen, HEADER_SIZE);
	pd_pen_u64(pen, ATTR_SIZE + 16);
	pd_pen_u64(pen, HEADER_SIZE);
	pd_pen_u64(pen, attrs_size);
	pd_pen_u64(pen, HEADER_SIZE + attrs_size);
	pd_pen_u64(pen, FINISHED_ROUND_SIZE);
	pd_pen_zeros(pen, 16 + 16);
	pd_pen_u64(pen, features_2);
	pd_pen_zeros(pen, 8);
	for (size_t i = 0; i < count; i++) {
		put_attr(pen, i);
		pd_pen_u64(pen, ids_offset);
		pd_pen_u64(pen, ids_size);
	}
	put_record(pen, PD_RECORD_FINISHED_ROUND, 0);
}

static void ids_over_each_other(struct pd_pen *pen)
{
	put_file(pen, 3000, 0, SIZE, 0);
	while (pen->need < SIZE)
		pd_pen_u64(pen, 7);
}

static void put_events(struct pd_pen *pen, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		put_record(pen, PD_RECORD_HEADER_ATTR, ATTR_SIZE + 8);
		put_attr(pen, i);
		pd_pen_u64(pen, i + 1);
	}
}

// Formats that name none of the events.
static void put_tracing_data(struct pd_pen *pen, uint32_t count)
{
	static const char format[] = "name: a\nID: 999999999\nformat:\n";

	pd_pen_bytes(pen, "\x17\x08\x44tracing0.6\0\0\x08", 16);
	pd_pen_u32(pen, 4096);
	pd_pen_bytes(pen, "header_page", 12);
	pd_pen_u64(pen, 0);
	pd_pen_bytes(pen, "header_event", 13);
	pd_pen_u64(pen, 0);
	pd_pen_u32(pen, 0);
	pd_pen_u32(pen, 1);
	pd_pen_bytes(pen, "system", 7);
	pd_pen_u32(pen, count);
	for (uint32_t i = 0; i < count; i++) {
		pd_pen_u64(pen, sizeof(format) - 1);
		pd_pen_bytes(pen, format, sizeof(format) - 1);
	}
	pd_pen_u32(pen, 0);
	pd_pen_u32(pen, 0);
}

static void formats_for_each_event(struct pd_pen *pen)
{
	enum {
		FORMATS = 5000
	};
	struct pd_pen count = pd_pen(NULL, 0, false);

	put_tracing_data(&count, FORMATS);
	put_pipe_header(pen);
	put_events(pen, 3000);
	put_record(pen, PD_RECORD_HEADER_TRACING_DATA, 4);
	pd_pen_u32(pen, (uint32_t)count.need);
	put_tracing_data(pen, FORMATS);
	// each might look for names again
	while (pen->need < SIZE) {
		put_record(pen, PD_RECORD_HEADER_FEATURE, 16);
		pd_pen_u64(pen, PD_FEATURE_EVENT_DESC);
		pd_pen_u64(pen, UINT64_C(64) << 32);
	}
}

static void names_of_types(struct pd_pen *pen)
{
	put_pipe_header(pen);
	put_events(pen, 3000);
	while (pen->need < SIZE) {
		put_record(pen, PD_RECORD_HEADER_EVENT_TYPE, 72);
		pd_pen_u64(pen, UINT64_MAX);
		pd_pen_bytes(pen, "name", 4);
		pd_pen_zeros(pen, 60);
	}
}

static void lines_for_each_event(struct pd_pen *pen)
{
	static const char key[] = "event_type_info";
	uint64_t start;

	put_file(pen, 3000, 0, 0, UINT64_C(1) << (PD_FEATURE_SIMPLEPERF_META_INFO - 128));
	start = pen->need + 16;
	pd_pen_u64(pen, start);
	pd_pen_u64(pen, SIZE - start);
	pd_pen_bytes(pen, key, sizeof(key));
	while (pen->need + 8 < SIZE)
		pd_pen_bytes(pen, "a,2,99999\n", 10);
	pd_pen_zeros(pen, SIZE - pen->need);
}

static void pieces_that_are_none(struct pd_pen *pen)
{
	put_pipe_header(pen);
	while (pen->need < SIZE) {
		put_record(pen, PD_RECORD_COMPRESSED2, 8);
		pd_pen_u64(pen, UINT64_C(1) << 40);
	}
}

static void places_to_go_on(struct pd_pen *pen)
{
	put_pipe_header(pen);
	while (pen->need < SIZE) {
		put_record(pen, PD_RECORD_FINISHED_ROUND, 0);
		put_record(pen, PD_RECORD_FINISHED_ROUND, 0);
		pd_pen_u64(pen, PD_RECORD_MMAP); // of size 0
	}
}

static const struct {
	const char *name;
	void (*put)(struct pd_pen *pen);
} inputs[] = {
	{ "ids over each other", ids_over_each_other },   { "formats for each event", formats_for_each_event },
	{ "names of event types", names_of_types },       { "lines for each event", lines_for_each_event },
	{ "pieces that are none", pieces_that_are_none }, { "places to go on", places_to_go_on },
};

int main(void)
{
	enum {
		COUNT = sizeof(inputs) / sizeof(inputs[0])
	};
	uint8_t *data = malloc(SIZE + 128);
	unsigned failed = 0;

	REQUIRE(data);
	printf("1..%d\n", COUNT);
	for (unsigned i = 0; i < COUNT; i++) {
		struct walk walk = { 0 };
		struct pd_open_options options = walk_options(&walk);
		struct pd_pen pen = pd_pen(data, SIZE + 128, false);
		struct pd_error error = { 0 };
		clock_t begin = clock();
		enum pd_status status;
		double took;

		inputs[i].put(&pen);
		REQUIRE(!pd_pen_full(&pen) && pen.need >= SIZE);
		status = walk_memory(data, pen.need, &options, &walk, &error);
		took = (double)(clock() - begin) / CLOCKS_PER_SEC;
		printf("%s %u - %s: %.2f s, %llu records, status %s\n",
		       status == PD_OK && took < SECONDS ? "ok" : "not ok", i + 1, inputs[i].name, took,
		       (unsigned long long)walk.records, pd_status_name(status));
		failed += status != PD_OK || took >= SECONDS;
	}
	free(data);
	return failed != 0;
}

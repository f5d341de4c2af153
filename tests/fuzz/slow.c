/* SPDX-License-Identifier: MIT */
/*
 * Inputs of half a MiB that ask for work by the square of their size. Each has to be walked in a few seconds of
 * processor time, also in builds with sanitizers; work by the square takes a minute and more.
 */
#include <string.h>
#include <time.h>

#include "base/buffer.h"
#include "walk.h"

enum {
	SIZE = 512 << 10,
	SECONDS = 10,
	ATTR_SIZE = 64,
	HEADER_SIZE = 104,
	FINISHED_ROUND_SIZE = 8
};

static void put_record(struct pd_buffer *buffer, uint32_t type, size_t body_size)
{
	pd_buffer_u32(buffer, type);
	pd_buffer_u16(buffer, 0);
	pd_buffer_u16(buffer, (uint16_t)(8 + body_size));
}

static void put_attr(struct pd_buffer *buffer, uint64_t config)
{
	pd_buffer_u32(buffer, PD_TYPE_TRACEPOINT);
	pd_buffer_u32(buffer, ATTR_SIZE);
	pd_buffer_u64(buffer, config);
	pd_buffer_u64(buffer, 1);
	pd_buffer_u64(buffer, PD_MASK(PD_SAMPLE_TYPE_ID));
	pd_buffer_zeros(buffer, ATTR_SIZE - 32);
}

static void put_pipe_header(struct pd_buffer *buffer)
{
	pd_buffer_bytes(buffer, "PERFILE2", 8);
	pd_buffer_u64(buffer, 16);
}

// A file with count events and one record; ids of each are at ids_offset.
static void put_file(struct pd_buffer *buffer, size_t count, uint64_t ids_offset, uint64_t ids_size,
		     uint64_t features_2)
{
	size_t attrs_size = count * (ATTR_SIZE + 16);

	pd_buffer_bytes(buffer, "PERFILE2", 8);
	pd_buffer_u64(buffer, HEADER_SIZE);
	pd_buffer_u64(buffer, ATTR_SIZE + 16);
	pd_buffer_u64(buffer, HEADER_SIZE);
	pd_buffer_u64(buffer, attrs_size);
	pd_buffer_u64(buffer, HEADER_SIZE + attrs_size);
	pd_buffer_u64(buffer, FINISHED_ROUND_SIZE);
	pd_buffer_zeros(buffer, 16 + 16);
	pd_buffer_u64(buffer, features_2);
	pd_buffer_zeros(buffer, 8);
	for (size_t i = 0; i < count; i++) {
		put_attr(buffer, i);
		pd_buffer_u64(buffer, ids_offset);
		pd_buffer_u64(buffer, ids_size);
	}
	put_record(buffer, PD_RECORD_FINISHED_ROUND, 0);
}

static void ids_over_each_other(struct pd_buffer *buffer)
{
	put_file(buffer, 3000, 0, SIZE, 0);
	while (buffer->need < SIZE)
		pd_buffer_u64(buffer, 7);
}

static void put_events(struct pd_buffer *buffer, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		put_record(buffer, PD_RECORD_HEADER_ATTR, ATTR_SIZE + 8);
		put_attr(buffer, i);
		pd_buffer_u64(buffer, i + 1);
	}
}

// Formats that name none of the events.
static void put_tracing_data(struct pd_buffer *buffer, uint32_t count)
{
	static const char format[] = "name: a\nID: 999999999\nformat:\n";

	pd_buffer_bytes(buffer, "\x17\x08\x44tracing0.6\0\0\x08", 16);
	pd_buffer_u32(buffer, 4096);
	pd_buffer_bytes(buffer, "header_page", 12);
	pd_buffer_u64(buffer, 0);
	pd_buffer_bytes(buffer, "header_event", 13);
	pd_buffer_u64(buffer, 0);
	pd_buffer_u32(buffer, 0);
	pd_buffer_u32(buffer, 1);
	pd_buffer_bytes(buffer, "system", 7);
	pd_buffer_u32(buffer, count);
	for (uint32_t i = 0; i < count; i++) {
		pd_buffer_u64(buffer, sizeof(format) - 1);
		pd_buffer_bytes(buffer, format, sizeof(format) - 1);
	}
	pd_buffer_u32(buffer, 0);
	pd_buffer_u32(buffer, 0);
}

static void formats_for_each_event(struct pd_buffer *buffer)
{
	enum {
		FORMATS = 5000
	};
	struct pd_buffer count = pd_buffer(NULL, 0, false);

	put_tracing_data(&count, FORMATS);
	put_pipe_header(buffer);
	put_events(buffer, 3000);
	put_record(buffer, PD_RECORD_HEADER_TRACING_DATA, 4);
	pd_buffer_u32(buffer, (uint32_t)count.need);
	put_tracing_data(buffer, FORMATS);
	// each might look for names again
	while (buffer->need < SIZE) {
		put_record(buffer, PD_RECORD_HEADER_FEATURE, 16);
		pd_buffer_u64(buffer, PD_FEATURE_EVENT_DESC);
		pd_buffer_u64(buffer, UINT64_C(64) << 32);
	}
}

static void names_of_types(struct pd_buffer *buffer)
{
	put_pipe_header(buffer);
	put_events(buffer, 3000);
	while (buffer->need < SIZE) {
		put_record(buffer, PD_RECORD_HEADER_EVENT_TYPE, 72);
		pd_buffer_u64(buffer, UINT64_MAX);
		pd_buffer_bytes(buffer, "name", 4);
		pd_buffer_zeros(buffer, 60);
	}
}

static void lines_for_each_event(struct pd_buffer *buffer)
{
	static const char key[] = "event_type_info";
	uint64_t start;

	put_file(buffer, 3000, 0, 0, UINT64_C(1) << (PD_FEATURE_SIMPLEPERF_META_INFO - 128));
	start = buffer->need + 16;
	pd_buffer_u64(buffer, start);
	pd_buffer_u64(buffer, SIZE - start);
	pd_buffer_bytes(buffer, key, sizeof(key));
	while (buffer->need + 8 < SIZE)
		pd_buffer_bytes(buffer, "a,2,99999\n", 10);
	pd_buffer_zeros(buffer, SIZE - buffer->need);
}

static void pieces_that_are_none(struct pd_buffer *buffer)
{
	put_pipe_header(buffer);
	while (buffer->need < SIZE) {
		put_record(buffer, PD_RECORD_COMPRESSED2, 8);
		pd_buffer_u64(buffer, UINT64_C(1) << 40);
	}
}

static void places_to_go_on(struct pd_buffer *buffer)
{
	put_pipe_header(buffer);
	while (buffer->need < SIZE) {
		put_record(buffer, PD_RECORD_FINISHED_ROUND, 0);
		put_record(buffer, PD_RECORD_FINISHED_ROUND, 0);
		pd_buffer_u64(buffer, PD_RECORD_MMAP); // of size 0
	}
}

static const struct {
	const char *name;
	void (*put)(struct pd_buffer *buffer);
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
		struct pd_buffer buffer = pd_buffer(data, SIZE + 128, false);
		struct pd_error error = { 0 };
		clock_t begin = clock();
		enum pd_status status;
		double took;

		inputs[i].put(&buffer);
		REQUIRE(!pd_buffer_full(&buffer) && buffer.need >= SIZE);
		status = walk_memory(data, buffer.need, &options, &walk, &error);
		took = (double)(clock() - begin) / CLOCKS_PER_SEC;
		printf("%s %u - %s: %.2f s, %llu records, status %s\n",
		       status == PD_OK && took < SECONDS ? "ok" : "not ok", i + 1, inputs[i].name, took,
		       (unsigned long long)walk.records, pd_status_name(status));
		failed += status != PD_OK || took >= SECONDS;
	}
	free(data);
	return failed != 0;
}

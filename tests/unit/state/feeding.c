/* SPDX-License-Identifier: MIT */
/* A state that is fed in parts, with the same mappings in many processes, and its limits. */
#include "unit/test.h"
#include "unit/state/ask.h"

// ---- feeding ----

TEST(test_state__can_be_fed_and_finalized_again)
{
	struct made made = make_begin();
	struct pd_stream *stream;
	const struct pd_record *record;
	struct pd_location location;

	user_map(&made, 5, 0x1000, 0x1000, "/a", 10);
	make_fork(&made, 6, 6, 5, 5, 20);
	STATE(made);
	CHECK_STR(where(&made, 6, 20, 0x1000), "/a");
	CHECK(pd_stream_open(made.file, NULL, &stream, NULL) == PD_OK);
	while (pd_stream_next(stream, &record, NULL) == PD_OK) {
		CHECK(pd_state_take(made.state, record, NULL) == PD_OK);
		CHECK(!pd_state_locate(made.state, 6, PD_CPUMODE_USER, at(20), 0x1000, &location));
	}
	pd_stream_close(stream);
	CHECK(pd_state_finalize(made.state, NULL) == PD_OK);
	CHECK_STR(where(&made, 6, 20, 0x1000), "/a");
	CHECK(pd_state_object(made.state, 0) && !pd_state_object(made.state, 1));
	CHECK(pd_state_mapping(made.state, 1) && !pd_state_mapping(made.state, 2));
	make_free(&made);
}

static struct made_mmap2 library(uint32_t pid, uint64_t addr, uint64_t time)
{
	return (struct made_mmap2){ .misc = MAKE_USER,
				    .pid = pid,
				    .tid = pid + 1,
				    .addr = addr,
				    .len = 0x3000,
				    .pgoff = 0x1000,
				    .ino = 7,
				    .prot = 5,
				    .flags = 2,
				    .path = "/lib/a",
				    .time = time };
}

TEST(test_mapping__the_same_in_many_processes)
{
	struct made made = make_begin();
	struct made_mmap2 data = library(5, 0x50000, 60), larger = library(6, 0x60000, 60);
	struct pd_location location;
	const struct pd_mapping *mapping;

	for (uint32_t i = 0; i < 5; i++) {
		struct made_mmap2 map = library(i, 0x10000 * (i + 1), 10 + i);

		make_mmap2(&made, &map);
	}
	data.misc |= MAKE_DATA;
	data.prot = 0;
	larger.len = 0x4000;
	make_mmap2(&made, &data);
	make_mmap2(&made, &larger);
	CHECK(make_state(&made, NULL));
	for (uint32_t i = 0; i < 5; i++) {
		CHECK(pd_state_locate(made.state, i, PD_CPUMODE_USER, at(100), 0x10000 * (i + 1) + 0x2fff, &location));
		mapping = location.mapping;
		CHECK(mapping == pd_state_mapping(made.state, i) && location.object == pd_state_object(made.state, 0));
		CHECK(mapping->start == 0x10000 * (i + 1) && mapping->end == mapping->start + 0x3000);
		CHECK(mapping->pid == i && mapping->tid == i + 1 && mapping->prot == 5 && mapping->executable);
		CHECK(mapping->from.time_ns == 10 + i && mapping->from.order == i && location.offset == 0x3fff);
		CHECK(!pd_state_locate(made.state, i, PD_CPUMODE_USER, at(9 + i), mapping->start, &location));
	}
	CHECK(!pd_state_mapping(made.state, 5)->executable && pd_state_mapping(made.state, 5)->prot == 0);
	CHECK(pd_state_mapping(made.state, 6)->end == 0x64000 && !pd_state_mapping(made.state, 7));
	make_free(&made);
}

TEST(test_mapping__alike_but_for_the_path)
{
	struct made made = make_begin();
	char path[32];

	for (uint32_t i = 0; i < 60; i++) {
		struct made_mmap2 map = library(1 + i / 30, 0x10000 * i, 10 + i);

		snprintf(path, sizeof(path), "/lib/%02u", (unsigned)(i % 30));
		map.path = path;
		make_mmap2(&made, &map);
	}
	CHECK(make_state(&made, NULL));
	for (uint32_t i = 0; i < 60; i++) {
		snprintf(path, sizeof(path), "/lib/%02u", (unsigned)(i % 30));
		CHECK(strcmp(pd_state_mapping(made.state, i)->object->path, path) == 0);
		CHECK(pd_state_mapping(made.state, i)->pid == 1 + i / 30);
	}
	make_free(&made);
}

TEST(test_mapping__the_same_but_for_where_it_ends)
{
	struct made made = make_begin();
	struct made_mmap2 last = library(3, UINT64_MAX - 0xfff, 12), first = library(2, 0x1000, 11);

	make_mmap2(&made, &last);
	make_mmap2(&made, &first);
	make_mmap2(&made, &last);
	CHECK(make_state(&made, NULL));
	CHECK(pd_state_mapping(made.state, 0)->end == UINT64_MAX && pd_state_mapping(made.state, 1)->end == 0x4000);
	CHECK(pd_state_mapping(made.state, 2)->end == UINT64_MAX);
	make_free(&made);
}

TEST(test_mapping__can_be_asked_for_before_finalizing)
{
	struct made made = make_begin();
	struct made_mmap2 map = library(3, 0x1000, 12);
	struct pd_stream *stream;
	const struct pd_record *record;

	for (uint32_t i = 0; i < 600; i++, map.addr += 0x3000)
		make_mmap2(&made, &map);
	image_file_end(&made.image);
	CHECK(pd_file_open_memory(made.image.data, made.image.size, NULL, &made.file, NULL) == PD_OK);
	CHECK(pd_state_new(NULL, &made.state, NULL) == PD_OK && !pd_state_mapping(made.state, 0));
	CHECK(pd_stream_open(made.file, NULL, &stream, NULL) == PD_OK);
	for (size_t i = 0; pd_stream_next(stream, &record, NULL) == PD_OK; i++) {
		CHECK(pd_state_take(made.state, record, NULL) == PD_OK);
		CHECK(pd_state_mapping(made.state, i)->start == 0x1000 + 0x3000 * i);
		CHECK(pd_state_mapping(made.state, i / 2)->start == 0x1000 + 0x3000 * (i / 2));
		CHECK(!pd_state_mapping(made.state, i + 1));
	}
	pd_stream_close(stream);
	make_free(&made);
}

TEST(test_state__has_a_limit)
{
	struct pd_state_options options = { .size = sizeof(options), .memory_limit = 200000 };
	struct made made = make_begin();
	struct pd_stream *stream;
	const struct pd_record *record;
	struct pd_error error = { 0 };
	enum pd_status status = PD_OK;

	for (uint64_t i = 0; i < 10000; i++)
		user_map(&made, 5, 0x1000 * i, 0x1000, "/a", 10 + i);
	image_file_end(&made.image);
	CHECK(pd_file_open_memory(made.image.data, made.image.size, NULL, &made.file, NULL) == PD_OK);
	CHECK(pd_state_new(&options, &made.state, NULL) == PD_OK);
	CHECK(pd_stream_open(made.file, NULL, &stream, NULL) == PD_OK);
	while (status == PD_OK && pd_stream_next(stream, &record, NULL) == PD_OK)
		status = pd_state_take(made.state, record, &error);
	pd_stream_close(stream);
	CHECK(status == PD_ERROR_LIMIT);
	CHECK(strstr(error.message, "200000"));
	make_free(&made);
}

TEST(test_state__limit_of_settling)
{
	struct pd_state_options options = { .size = sizeof(options), .memory_limit = 3000000 };
	struct made made = make_begin();
	struct pd_location location;

	// forked again and again: little to keep, more to work out
	for (uint32_t i = 0; i < 12000; i++)
		make_fork(&made, 2 + i, 2 + i, 1, 1, 1 + i);
	CHECK(!make_state(&made, &options));
	CHECK(made.state && !pd_state_locate(made.state, 2, PD_CPUMODE_USER, at(1), 0, &location));
	make_free(&made);
}

TEST(test_state__a_long_chain_of_forks)
{
	struct made made = make_begin();
	enum {
		LENGTH = 100000
	};

	user_map(&made, 1, 0x1000, 0x1000, "/first", 1);
	for (uint32_t i = 1; i < LENGTH; i++) {
		make_fork(&made, i + 1, i + 1, i, i, 2 * i);
		if (i % 1000 == 0)
			user_map(&made, i + 1, 0x2000, 0x1000, "/later", 2 * i + 1);
	}
	STATE(made);
	CHECK_STR(where(&made, LENGTH, 2 * LENGTH, 0x1800), "/first");
	CHECK_STR(where(&made, LENGTH, 2 * LENGTH, 0x2800), "/later");
	CHECK_STR(where(&made, 900, 2 * LENGTH, 0x2800), "");
	make_free(&made);
}

RUN(TEST_CASE(test_state__can_be_fed_and_finalized_again), TEST_CASE(test_mapping__the_same_in_many_processes),
    TEST_CASE(test_mapping__alike_but_for_the_path), TEST_CASE(test_mapping__the_same_but_for_where_it_ends),
    TEST_CASE(test_mapping__can_be_asked_for_before_finalizing), TEST_CASE(test_state__has_a_limit),
    TEST_CASE(test_state__limit_of_settling), TEST_CASE(test_state__a_long_chain_of_forks))

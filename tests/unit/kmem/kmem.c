/* SPDX-License-Identifier: MIT */
/* Allocations in the kernel: sums, callers, pages that are live, formats that are wrong, and memory that fails. */
#include "unit/traced.h"

static const struct traced_event events[] = {
	{ "kmem",
	  "kmalloc",
	  { { "call_site", 8, 8 },
	    { "ptr", 16, 8 },
	    { "bytes_req", 24, 8 },
	    { "bytes_alloc", 32, 8 },
	    { "node", 40, 4, true } } },
	{ "kmem", "kfree", { { "ptr", 16, 8 } } },
	{ "kmem",
	  "mm_page_alloc",
	  { { "order", 16, 4 }, { "gfp_flags", 20, 4 }, { "migratetype", 24, 4, true }, { "pfn", 8, 8 } } },
	{ "kmem", "mm_page_free", { { "order", 16, 4 }, { "pfn", 8, 8 } } },
};

enum {
	COUNT = sizeof(events) / sizeof(events[0])
};

#define READ "0xffffffff81000110"
#define WRITE "0xffffffff81000210"

static void put(unsigned event, unsigned cpu, const char *chain, const uint64_t *values)
{
	static uint64_t time_ns;

	traced_sample(events, event, time_ns += 1000, 100, cpu, chain, values);
}

static void make_text(void)
{
	traced_begin(events, COUNT);
	put(0, 0, "", (const uint64_t[]){ 0xffffffff81000110, 0x1000, 60, 64, UINT32_MAX });
	put(0, 1, "", (const uint64_t[]){ 0xffffffff81000210, 0x2000, 100, 128, 1 });
	put(0, 0, "", (const uint64_t[]){ 0xffffffff81000110, 0x3000, 64, 64, 0 });
	put(1, 1, "", (const uint64_t[]){ 0x1000 }); // by another CPU
	put(1, 0, "", (const uint64_t[]){ 0x9000 }); // that was allocated before
	put(2, 0, READ, (const uint64_t[]){ 1, 3, 2, 500 });
	put(2, 0, WRITE, (const uint64_t[]){ 0, 3, 0, 600 });
	put(2, 0, WRITE, (const uint64_t[]){ 0, 3, 0, UINT64_MAX }); // which failed
	put(2, 0, WRITE, (const uint64_t[]){ 63, 3, 99, 700 });      // which cannot be
	put(3, 0, "", (const uint64_t[]){ 0, 600 });
	put(3, 0, "", (const uint64_t[]){ 0, 601 });
}

static struct pd_file *make(void)
{
	make_text();
	return open_text(traced);
}

static enum pd_status print_as(struct pd_text *text, struct pd_file *file, bool json, struct pd_error *error)
{
	const struct pd_kmem_options options = { .size = sizeof(options),
						 .symbols = traced_symbols,
						 .self = file,
						 .slab = true,
						 .pages = true,
						 .callers = true,
						 .allocations = true,
						 .json = json };

	pd_text_clear(text);
	return pd_print_kmem(text, file, &options, error);
}

static enum pd_status print(struct pd_text *text, struct pd_file *file, struct pd_error *error)
{
	return print_as(text, file, false, error);
}

TEST(tables)
{
	struct pd_file *file = make();
	struct pd_text *text = pd_text_new();

	CHECK(file && print(text, file, &traced_error) == PD_OK);
	CHECK(text_has(
		text,
		" vfs_write+10                       |       128/128   |       100/100   |        1 |         0 | 21.875%\n"
		" vfs_read+10                        |       128/64    |       124/62    |        2 |         1 |  3.125%\n"));
	CHECK(text_has(
		text,
		" 0x1000                             |        64/64    |        60/60    |        1 |         1 |  6.250%\n"));
	CHECK(text_has(text, "Total bytes freed:     64\nNet total bytes allocated: 192\n"));
	CHECK(text_has(text, "Cross CPU allocations: 1/3\n"));
	CHECK(text_has(text, "                8 |         1 |     1 |  MOVABLE |           | vfs_read\n"));
	CHECK(text_has(text, "Total free-only requests      :                1   [                4 KB ]\n"));
	CHECK(text_has(text, "Total allocation failures     :                1   [                4 KB ]\n"));
	pd_text_free(text);
	pd_file_close(file);
}

static enum pd_status print_json(struct pd_text *text, struct pd_file *file, struct pd_error *error)
{
	return print_as(text, file, true, error);
}

TEST(json)
{
	struct pd_file *file = make();
	struct pd_text *text = pd_text_new();

	CHECK(file && print_json(text, file, &traced_error) == PD_OK);
	CHECK(text_has(
		text,
		"{\"slab\":{\"callers\":[{\"caller\":{\"addr\":18446744071578845712,\"symbol\":\"vfs_write\",\"offset\":16},"
		"\"count\":1,\"allocated_bytes\":128,\"requested_bytes\":100,\"pingpong\":0},{"));
	CHECK(text_has(text, "\"allocations\":[{\"addr\":8192,\"count\":1,\"allocated_bytes\":128,"));
	CHECK(text_has(text, "\"freed_bytes\":64,\"allocations\":3,\"crossed\":1},\"pages\":{"));
	CHECK(text_has(text,
		       "\"pfn\":500,\"count\":1,\"allocated_bytes\":8192,\"order\":1,\"migrate_type\":\"MOVABLE\","));
	CHECK(text_has(text, "\"failed\":{\"count\":1,\"bytes\":4096},\"orders\":[{\"UNMOVABL\":"));
	pd_text_free(text);
	pd_file_close(file);
}

// Rounds that are wrong are only noticed at the end: all begins again, in the order of time, and callers have names.
static struct pd_file *make_rounds(bool rounds)
{
	make_text();
	for (unsigned i = 0; i < 100; i++) {
		if (rounds)
			traced_add("FINISHED_ROUND\n");
		put(0, 0, "", (const uint64_t[]){ 0xffffffff81000110, 0x7000 + i, 60, 64, 0 });
	}
	// older than all of them
	traced_sample(events, 0, 500, 100, 1, "", (const uint64_t[]){ 0xffffffff81000410, 0x1000, 8, 16, 0 });
	return open_text(traced);
}

TEST(rounds)
{
	struct pd_text *text = pd_text_new(), *wanted = pd_text_new();
	struct pd_kmem_options options = {
		.size = sizeof(options), .symbols = traced_symbols, .callers = true, .json = true
	};

	for (unsigned rounds = 0; rounds < 2; rounds++) {
		struct pd_file *file = make_rounds(rounds);

		options.self = file;
		CHECK(file && pd_print_kmem(rounds ? text : wanted, file, &options, &traced_error) == PD_OK);
		pd_file_close(file);
	}
	CHECK(text_has(text, "\"symbol\":\"do_work\",\"offset\":16},\"count\":1,") && traced_same(text, wanted));
	pd_text_free(wanted);
	pd_text_free(text);
}

TEST(live)
{
	struct pd_kmem_options options = {
		.size = sizeof(options), .symbols = traced_symbols, .pages = true, .live = true
	};
	struct pd_file *file = make();
	struct pd_text *text = pd_text_new();

	options.self = file;
	options.callers = options.allocations = true;
	CHECK(file && pd_print_kmem(text, file, &options, &traced_error) == PD_OK);
	CHECK(text_has(text,
		       "              500 |                8 |         1 |     1 |  MOVABLE |           | vfs_read\n"));
	CHECK(!text_has(text, "              600 |") &&
	      text_has(text, "    0             .             .             ."));
	pd_text_free(text);
	pd_file_close(file);
}

TEST(options)
{
	struct pd_kmem_options options = {
		.size = sizeof(options), .symbols = traced_symbols, .callers = true, .lines = 1, .sort = "hit"
	};
	struct pd_file *file = make();
	struct pd_text *text = pd_text_new();

	options.self = file;
	CHECK(file && pd_print_kmem(text, file, &options, &traced_error) == PD_OK);
	CHECK(text_has(text, "|\n vfs_read+10") || text_has(text, "\n vfs_read+10   "));
	CHECK(text_has(text, "\n ...        ") && !text_has(text, "vfs_write"));
	options.sort = "page";
	CHECK(pd_print_kmem(text, file, &options, &traced_error) == PD_ERROR_ARGUMENT);
	options.sort = "hit,hit,hit,hit,hit,hit,hit,hit";
	CHECK(pd_print_kmem(text, file, &options, &traced_error) == PD_ERROR_ARGUMENT);
	options.sort = NULL;
	options.limit = 1;
	CHECK(pd_print_kmem(text, file, &options, &traced_error) == PD_ERROR_LIMIT);
	options.size = 0;
	CHECK(pd_print_kmem(text, file, &options, &traced_error) == PD_ERROR_ARGUMENT);
	CHECK_STR(pd_kmem_key(true, 0), "page");
	CHECK(!pd_kmem_key(false, 6));
	pd_text_free(text);
	pd_file_close(file);
}

TEST(hostile_names)
{
	struct pd_text *text = pd_text_new();
	struct pd_file *file;

	traced_begin(events, COUNT);
	put(0, 0, "", (const uint64_t[]){ 0xffffffff81000510, 0x1000, 60, 64, UINT32_MAX });
	put(2, 0, "0xffffffff81000510", (const uint64_t[]){ 1, 3, 2, 500 });
	file = open_text(traced);
	CHECK(file && print(text, file, &traced_error) == PD_OK);
	CHECK(text_has(text, " evil\\x1b[31m+10 ") && text_has(text, "| evil\\x1b[31m\n") && !text_has(text, "\x1b"));
	pd_text_free(text);
	pd_file_close(file);
}

// Addresses that differ in high bits only, as those of an unkeyed hash would be chosen: a row for each, each time.
TEST(many_addresses)
{
	struct pd_text *text = pd_text_new(), *again = pd_text_new();
	struct pd_file *file;

	traced_begin(events, COUNT);
	for (unsigned i = 1; i <= 300; i++)
		put(0, 0, "", (const uint64_t[]){ 0xffffffff81000110, (uint64_t)i << 48, 60, 64, UINT32_MAX });
	file = open_text(traced);
	CHECK(file && print(text, file, &traced_error) == PD_OK && print(again, file, &traced_error) == PD_OK);
	CHECK(traced_same(text, again) && traced_lines(text) >= 300);
	pd_text_free(again);
	pd_text_free(text);
	pd_file_close(file);
}

TEST(formats)
{
	CHECK(traced_is_refused(events, COUNT, print));
}

TEST(memory)
{
	struct pd_file *file = make();

	CHECK(file && traced_memory(file, print) > 10 && traced_memory(file, print_json) > 10);
	pd_file_close(file);
}

// What was not recorded is not told from what did not happen by a table of nothing.
TEST(missing_events)
{
	struct pd_kmem_options options = { .size = sizeof(options), .symbols = traced_symbols, .pages = true };
	struct pd_text *text = pd_text_new();
	struct pd_file *file;

	traced_begin(events, 2);
	put(0, 0, "", (const uint64_t[]){ 0xffffffff81000110, 0x1000, 60, 64, UINT32_MAX });
	file = open_text(traced);
	options.self = file;
	CHECK(text && file && pd_print_kmem(text, file, &options, &traced_error) == PD_ERROR_NO_SAMPLES);
	CHECK(strstr(traced_error.message, "page allocator"));
	options.pages = false;
	CHECK(pd_print_kmem(text, file, &options, &traced_error) == PD_OK);
	pd_text_free(text);
	pd_file_close(file);
}

RUN(TEST_CASE(start), TEST_CASE(tables), TEST_CASE(missing_events), TEST_CASE(json), TEST_CASE(rounds), TEST_CASE(live),
    TEST_CASE(options), TEST_CASE(hostile_names), TEST_CASE(many_addresses), TEST_CASE(formats), TEST_CASE(memory),
    TEST_CASE(clean))

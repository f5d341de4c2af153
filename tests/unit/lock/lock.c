/* SPDX-License-Identifier: MIT */
/* Waiting for locks: times, callers, the order of events, formats that are wrong, and memory that fails. */
#include "unit/traced.h"

static const struct traced_event events[] = {
	{ "lock", "contention_begin", { { "lock_addr", 8, 8 }, { "flags", 16, 4 } } },
	{ "lock", "contention_end", { { "lock_addr", 8, 8 }, { "ret", 16, 4, true } } },
	{ "lock", "lock_acquire", { { "lockdep_addr", 16, 8 }, { "flags", 8, 4 }, { "name", 12, 4, false, true } } },
	{ "lock", "lock_acquired", { { "lockdep_addr", 16, 8 }, { "name", 8, 4, false, true } } },
	{ "lock", "lock_contended", { { "lockdep_addr", 16, 8 }, { "name", 8, 4, false, true } } },
	{ "lock", "lock_release", { { "lockdep_addr", 16, 8 }, { "name", 8, 4, false, true } } },
};

enum {
	COUNT = sizeof(events) / sizeof(events[0]),
	MUTEX = 32,
	NAMED = 5 << 16 | 24 // where the name of a lock stands
};

static const char chain[] =
	"0xffffffff81001220 0xffffffff81001230 0xffffffff81001240 0xffffffff81001020 0xffffffff81000110";
static const char other_chain[] = "0xffffffff81001220 0xffffffff81001230 0xffffffff81001240 0xffffffff81000200";

static void put(unsigned event, uint64_t time_ns, unsigned tid, const char *calls, uint64_t addr, uint64_t flags)
{
	const uint64_t waits[] = { addr, flags }, takes[] = { addr, event == 2 ? flags : NAMED, NAMED };

	traced_sample(events, event, time_ns, tid, 0, calls, event < 2 ? waits : takes);
}

static struct pd_file *make(void)
{
	traced_begin(events, COUNT);
	put(0, 1000, 100, chain, 0x10, MUTEX);
	put(0, 1500, 100, chain, 0x10, 1); // a mutex that spins: the same wait
	put(1, 3000, 100, chain, 0x10, 0);
	put(0, 4000, 200, other_chain, 0x20, 1);
	put(1, 2504000, 200, other_chain, 0x20, 0);
	put(1, 2505000, 300, chain, 0x10, 0);     // that began before
	put(0, 2506000, 300, chain, 0x10, MUTEX); // that does not end
	return open_text(traced);
}

static struct pd_file *make_taken(void)
{
	traced_begin(events, COUNT);
	put(2, 1000, 100, "", 0x10, 0);
	put(4, 2000, 100, "", 0x10, 0);
	put(3, 5000, 100, "", 0x10, 0);
	put(5, 6000, 100, "", 0x10, 0);
	put(2, 7000, 100, "", 0x10, 2); // for reading, twice
	put(2, 7100, 100, "", 0x10, 2);
	put(5, 7200, 100, "", 0x10, 0);
	put(5, 7300, 100, "", 0x10, 0);
	put(3, 7400, 100, "", 0x10, 0); // an orphan
	put(2, 8000, 200, "", 0x20, 0);
	put(5, 9000, 200, "", 0x20, 0); // it was not acquired
	return open_text(traced);
}

static enum pd_status print_waits(struct pd_text *text, struct pd_file *file, struct pd_error *error)
{
	const struct pd_lock_options options = {
		.size = sizeof(options), .symbols = traced_symbols, .self = file, .stacks = true
	};

	pd_text_clear(text);
	return pd_print_lock_contention(text, file, &options, error);
}

static enum pd_status print_locks(struct pd_text *text, struct pd_file *file, struct pd_error *error)
{
	const struct pd_lock_options options = {
		.size = sizeof(options), .symbols = traced_symbols, .self = file, .combine = true
	};

	pd_text_clear(text);
	return pd_print_lock_report(text, file, &options, error);
}

TEST(waits)
{
	struct pd_file *file = make();
	struct pd_text *text = pd_text_new();

	CHECK(file && print_waits(text, file, &traced_error) == PD_OK);
	CHECK(text_has(text, " contended   total wait     max wait     avg wait         type   caller\n\n"
			     "         1      2.50 ms      2.50 ms      2.50 ms     spinlock   vfs_write\n"
			     "\t\t\t0xffffffff81001220  _raw_spin_lock+0x10\n"));
	CHECK(text_has(text, "\n         2      2.00 us      2.00 us      2.00 us        mutex   vfs_read+0x10\n"));
	pd_text_free(text);
	pd_file_close(file);
}

// What is loaded after the first event is known for it, too: then two passes are needed.
TEST(code_that_comes_late)
{
	static const char calls[] = "0xffffffff81001220 0xffffffff81001230 0xffffffff81001240 0xffffffffc0000010";
	struct pd_text *text = pd_text_new();
	struct pd_file *file;

	traced_begin(events, COUNT);
	put(0, 1000, 100, calls, 0x10, MUTEX);
	put(1, 3000, 100, calls, 0x10, 0);
	traced_add("KSYMBOL addr: 0xffffffffc0000000, len: 0x100, ksym_type: 1, flags: 0, name: \"bpf_prog_one\", "
		   "sample_id: {pid: 0, tid: 0, time_ns: 4000, id: 1, cpu: 0}\n");
	put(0, 5000, 200, chain, 0x20, 1);
	put(1, 6000, 200, chain, 0x20, 0);
	file = open_text(traced);
	CHECK(file && print_waits(text, file, &traced_error) == PD_OK);
	CHECK(text_has(text, "        mutex   bpf_prog_one+0x10\n"));
	CHECK(text_has(text, "\n         1      1.00 us      1.00 us      1.00 us     spinlock   vfs_read+0x10\n"));
	pd_text_free(text);
	pd_file_close(file);
}

static enum pd_status print_json(struct pd_text *text, struct pd_file *file, struct pd_error *error)
{
	const struct pd_lock_options options = {
		.size = sizeof(options), .symbols = traced_symbols, .self = file, .json = true
	};

	pd_text_clear(text);
	return pd_print_lock_contention(text, file, &options, error);
}

TEST(json)
{
	struct pd_lock_options options = { .size = sizeof(options), .symbols = traced_symbols, .json = true };
	struct pd_file *file = make();
	struct pd_text *text = pd_text_new();

	CHECK(file && print_json(text, file, &traced_error) == PD_OK);
	CHECK(text_has(
		text,
		"{\"rows\":[{\"caller\":\"vfs_write\",\"type\":\"spinlock\",\"stack\":[{\"addr\":18446744071578849824,\"symbol\":\"_raw_spin_lock\"},"));
	CHECK(text_has(
		text,
		"\"contended\":2,\"avg_wait_ns\":2000,\"wait_total_ns\":2000,\"wait_max_ns\":2000,\"wait_min_ns\":2000}],\"bad\":"));
	options.self = file;
	options.by_thread = true;
	pd_text_clear(text);
	CHECK(pd_print_lock_contention(text, file, &options, &traced_error) == PD_OK);
	CHECK(text_has(text, "{\"rows\":[{\"thread\":{\"tid\":200,\"comm\":\":200\"},\"contended\":1,"));
	pd_file_close(file);
	options.self = file = make_taken();
	pd_text_clear(text);
	CHECK(file && pd_print_lock_info(text, file, &options, &traced_error) == PD_OK);
	CHECK(traced_is(
		text,
		"{\"threads\":[{\"pid\":100,\"tid\":100,\"comm\":\"first\"},{\"tid\":200,\"comm\":\":200\"}]}\n"));
	options.by_thread = false;
	options.map = true;
	pd_text_clear(text);
	CHECK(pd_print_lock_info(text, file, &options, &traced_error) == PD_OK);
	CHECK(traced_is(text, "{\"locks\":[{\"addr\":16,\"name\":\"name\"},{\"addr\":32,\"name\":\"name\"}]}\n"));
	pd_text_clear(text);
	CHECK(pd_print_lock_report(text, file, &options, &traced_error) == PD_OK);
	CHECK(text_has(text, "{\"rows\":[{\"name\":\"name\",\"addr\":16,\"acquired\":") &&
	      text_has(text, "\"broken\":{\"acquire\":0,\"acquired\":"));
	pd_text_free(text);
	pd_file_close(file);
}

TEST(options)
{
	struct pd_lock_options options = {
		.size = sizeof(options), .by_thread = true, .fields = "wait_max", .entries = 1
	};
	struct pd_file *file = make();
	struct pd_text *text = pd_text_new();

	options.symbols = traced_symbols;
	options.self = file;
	CHECK(file && pd_print_lock_contention(text, file, &options, &traced_error) == PD_OK);
	CHECK(traced_is(text, "    max wait   total wait          pid   comm\n\n"
			      "     2.50 ms      2.50 ms          200   :200\n"));
	options.fields = "acquired";
	CHECK(pd_print_lock_contention(text, file, &options, &traced_error) == PD_ERROR_ARGUMENT);
	options.fields = NULL;
	options.sort = "";
	CHECK(pd_print_lock_report(text, file, &options, &traced_error) == PD_ERROR_ARGUMENT);
	options.sort = NULL;
	options.lock_limit = 1;
	CHECK(pd_print_lock_contention(text, file, &options, &traced_error) == PD_ERROR_LIMIT);
	options.size = 0;
	CHECK(pd_print_lock_info(text, file, &options, &traced_error) == PD_ERROR_ARGUMENT);
	CHECK_STR(pd_lock_column(0), "acquired");
	CHECK(!pd_lock_column(100));
	pd_text_free(text);
	pd_file_close(file);
}

TEST(taken)
{
	struct pd_file *file = make_taken();
	struct pd_text *text = pd_text_new();

	CHECK(file && print_locks(text, file, &traced_error) == PD_OK);
	CHECK(text_has(
		text,
		"                name          3          1      3.00 us      3.00 us      3.00 us      3.00 us \n"));
	CHECK(text_has(text, "\nbad: 1, total: 1\nbad rate: 100.00 %\n") && text_has(text, "    release: 1\n"));
	pd_text_free(text);
	pd_file_close(file);
}

TEST(lists)
{
	struct pd_lock_options options = { .size = sizeof(options), .symbols = traced_symbols };
	struct pd_file *file = make_taken();
	struct pd_text *text = pd_text_new();

	options.self = file;
	CHECK(file && pd_print_lock_info(text, file, &options, &traced_error) == PD_OK);
	CHECK(traced_is(text, " Thread ID: comm\n       100: first\n       200: :200\n"));
	pd_text_clear(text);
	options.map = true;
	CHECK(pd_print_lock_info(text, file, &options, &traced_error) == PD_OK);
	CHECK(traced_is(text, "Address of instance: name of class\n 0x10: name\n 0x20: name\n"));
	pd_text_free(text);
	pd_file_close(file);
}

// Names of functions come from the recording's machine: what is no text is escaped.
TEST(hostile_names)
{
	static const char evil[] =
		"0xffffffff81001220 0xffffffff81001230 0xffffffff81001240 0xffffffff81001020 0xffffffff81000510";
	struct pd_text *text = pd_text_new();
	struct pd_file *file;

	traced_begin(events, COUNT);
	put(0, 1000, 100, evil, 0x10, MUTEX);
	put(1, 3000, 100, evil, 0x10, 0);
	file = open_text(traced);
	CHECK(file && print_waits(text, file, &traced_error) == PD_OK);
	CHECK(text_has(text, "evil\\x1b[31m+0x10") && !text_has(text, "\x1b"));
	pd_text_free(text);
	pd_file_close(file);
}

// Addresses that differ in high bits only, as those of an unkeyed hash would be chosen: a row for each, each time.
TEST(many_addresses)
{
	struct pd_lock_options options = { .size = sizeof(options), .symbols = traced_symbols };
	struct pd_text *text = pd_text_new(), *again = pd_text_new();
	struct pd_file *file;

	traced_begin(events, COUNT);
	for (unsigned i = 1; i <= 100; i++) {
		put(2, 1000 * i, 100, "", (uint64_t)i << 48, 0);
		put(3, 1000 * i + 100, 100, "", (uint64_t)i << 48, 0);
		put(5, 1000 * i + 200, 100, "", (uint64_t)i << 48, 0);
	}
	options.self = file = open_text(traced);
	CHECK(file && pd_print_lock_report(text, file, &options, &traced_error) == PD_OK);
	CHECK(pd_print_lock_report(again, file, &options, &traced_error) == PD_OK && traced_same(text, again));
	CHECK(traced_lines(text) >= 100);
	pd_text_free(again);
	pd_text_free(text);
	pd_file_close(file);
}

TEST(formats)
{
	CHECK(traced_is_refused(events, COUNT, print_locks));
}

TEST(memory)
{
	struct pd_file *file = make();

	CHECK(file && traced_memory(file, print_waits) > 10 && traced_memory(file, print_json) > 10);
	pd_file_close(file);
	file = make_taken();
	CHECK(file && traced_memory(file, print_locks) > 10);
	pd_file_close(file);
}

RUN(TEST_CASE(start), TEST_CASE(waits), TEST_CASE(code_that_comes_late), TEST_CASE(json), TEST_CASE(options),
    TEST_CASE(taken), TEST_CASE(lists), TEST_CASE(hostile_names), TEST_CASE(many_addresses), TEST_CASE(formats),
    TEST_CASE(memory), TEST_CASE(clean))

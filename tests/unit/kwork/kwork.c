/* SPDX-License-Identifier: MIT */
/* Work of the kernel: times, waits, what does not fit, formats that are wrong, and memory that fails. */
#include "unit/traced.h"

static const struct traced_event events[] = {
	{ "irq", "irq_handler_entry", { { "irq", 8, 4, true }, { "name", 12, 4, false, true } } },
	{ "irq", "irq_handler_exit", { { "irq", 8, 4, true } } },
	{ "irq", "softirq_raise", { { "vec", 8, 4 } } },
	{ "irq", "softirq_entry", { { "vec", 8, 4 } } },
	{ "irq", "softirq_exit", { { "vec", 8, 4 } } },
	{ "workqueue", "workqueue_activate_work", { { "work", 8, 8 }, { "function", 16, 8 } } },
	{ "workqueue", "workqueue_execute_start", { { "work", 8, 8 }, { "function", 16, 8 } } },
	{ "workqueue", "workqueue_execute_end", { { "work", 8, 8 }, { "function", 16, 8 } } },
};

enum {
	COUNT = sizeof(events) / sizeof(events[0]),
	NAMED = 5 << 16 | 16 // where the name of an interrupt stands
};

static void put(unsigned event, uint64_t time_ns, unsigned cpu, uint64_t number, uint64_t other)
{
	traced_sample(events, event, time_ns, 100, cpu, "", (const uint64_t[]){ number, other });
}

static struct pd_file *make(void)
{
	traced_begin(events, COUNT);
	put(0, 1000000, 0, 7, NAMED);
	put(1, 3000000, 0, 7, 0);
	put(2, 3100000, 1, 9, 0);
	put(3, 3200000, 1, 9, 0);
	put(4, 3500000, 1, 9, 0);
	put(4, 3600000, 1, 9, 0); // it did not begin
	put(5, 4000000, 0, 0xabc, 0xffffffff81000400);
	put(6, 5000000, 0, 0xabc, 0xffffffff81000400);
	put(7, 5500000, 0, 0xabc, 0xffffffff81000400);
	put(6, 6000000, 0, 0xdef, 0); // it does not end
	return open_text(traced);
}

static enum pd_status print_as(struct pd_text *text, struct pd_file *file, enum pd_kwork_mode mode,
			       struct pd_error *error)
{
	const struct pd_kwork_options options = {
		.size = sizeof(options), .symbols = traced_symbols, .self = file, .mode = mode, .summary = true
	};

	pd_text_clear(text);
	return pd_print_kwork(text, file, &options, error);
}

static enum pd_status print_report(struct pd_text *text, struct pd_file *file, struct pd_error *error)
{
	return print_as(text, file, PD_KWORK_REPORT, error);
}

static enum pd_status print_timehist(struct pd_text *text, struct pd_file *file, struct pd_error *error)
{
	return print_as(text, file, PD_KWORK_TIMEHIST, error);
}

static enum pd_status print_json(struct pd_text *text, struct pd_file *file, struct pd_error *error)
{
	struct pd_kwork_options options = {
		.size = sizeof(options), .symbols = traced_symbols, .self = file, .json = true
	};
	enum pd_status status;

	pd_text_clear(text);
	status = pd_print_kwork(text, file, &options, error);
	options.mode = PD_KWORK_TIMEHIST;
	return status < 0 ? status : pd_print_kwork(text, file, &options, error);
}

TEST(json)
{
	struct pd_file *file = make();
	struct pd_text *text = pd_text_new();

	CHECK(file && print_json(text, file, &traced_error) == PD_OK);
	CHECK(text_has(
		text,
		"{\"works\":[{\"kind\":\"irq\",\"name\":\"name\",\"id\":7,\"cpu\":0,\"count\":1,\"total_ns\":2000000,\"max_ns\":2000000,"
		"\"max_begin_ns\":1000000,\"max_end_ns\":3000000},"));
	CHECK(text_has(
		text,
		"],\"span_ns\":5000000,\"skipped\":{\"raise\":0,\"entry\":1,\"exit\":1},\"lost\":0}\n{\"times\":[{"));
	CHECK(text_has(
		text,
		"{\"kind\":\"softirq\",\"name\":\"(null)\",\"id\":9,\"cpu\":1,\"begin_ns\":3200000,\"end_ns\":3500000,\"delay_ns\":100000}"));
	pd_text_free(text);
	pd_file_close(file);
}

TEST(report)
{
	struct pd_file *file = make();
	struct pd_text *text = pd_text_new();

	CHECK(file && print_report(text, file, &traced_error) == PD_OK);
	CHECK(text_has(
		text,
		"  name:7                         | 0000 |      2.000 ms |         1 |      2.000 ms |          0.001000 s |          0.003000 s |\n"
		"  (w)do_work                     | 0000 |      0.500 ms |"));
	CHECK(text_has(text, "  (s)(null):9                    | 0001 |      0.300 ms |         1 |"));
	CHECK(text_has(
		text,
		"  Total count            :         3\n  Total runtime   (msec) :     2.800 (0.560% load average)\n"
		"  Total time span (msec) :     5.000\n"));
	CHECK(text_has(text, "skipped events (2 including 0 raise, 1 entry, 1 exit)\n"));
	pd_text_free(text);
	pd_file_close(file);
}

TEST(latency)
{
	struct pd_file *file = make();
	struct pd_text *text = pd_text_new();

	CHECK(file && print_as(text, file, PD_KWORK_LATENCY, &traced_error) == PD_OK);
	CHECK(text_has(text, "  (w)do_work                     | 0000 |      1.000 ms |         1 |      1.000 ms |"));
	CHECK(text_has(text, "skipped events (2 including 0 raise, 2 entry, 0 exit)\n"));
	CHECK(print_timehist(text, file, &traced_error) == PD_OK);
	CHECK(text_has(
		text,
		"          0.003200           0.003500  [0001]  (s)(null):9                          0.300       0.100 \n"));
	CHECK(text_has(
		text,
		"          0.001000           0.003000  [0000]  name:7                               2.000             \n"));
	pd_text_free(text);
	pd_file_close(file);
}

// What a recording calls something does not reach a terminal as it is.
TEST(names)
{
	struct pd_file *file;
	struct pd_text *text = pd_text_new();

	memcpy(traced_name, "a\033[b", sizeof(traced_name));
	file = make();
	memcpy(traced_name, "name", sizeof(traced_name));
	CHECK(file && print_report(text, file, &traced_error) == PD_OK);
	CHECK(text_has(text, "a\\x1b[b:7") && !text_has(text, "\033"));
	pd_text_free(text);
	pd_file_close(file);
}

TEST(options)
{
	static const char *const wrong[] = { "x", "", "1-", "-1", ",,", "3-1", "0--1", "1,", "4294967296" };
	struct pd_kwork_options options = { .size = sizeof(options),
					    .symbols = traced_symbols,
					    .classes = "softirq",
					    .cpus = "1-3",
					    .sort = "max,count" };
	struct pd_file *file = make();
	struct pd_text *text = pd_text_new();

	options.self = file;
	CHECK(file && pd_print_kwork(text, file, &options, &traced_error) == PD_OK);
	CHECK(text_has(text, "(s)(null):9") && !text_has(text, "do_work") && !text_has(text, "name:7"));
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		options.cpus = wrong[i];
		CHECK(pd_print_kwork(text, file, &options, &traced_error) == PD_ERROR_ARGUMENT);
	}
	options.cpus = "0";
	pd_text_clear(text);
	CHECK(pd_print_kwork(text, file, &options, &traced_error) == PD_OK && !text_has(text, "(null)"));
	options.classes = "timers";
	CHECK(pd_print_kwork(text, file, &options, &traced_error) == PD_ERROR_ARGUMENT);
	options.classes = NULL;
	options.sort = "avg";
	CHECK(pd_print_kwork(text, file, &options, &traced_error) == PD_ERROR_ARGUMENT);
	options.sort = NULL;
	options.limit = 1;
	CHECK(pd_print_kwork(text, file, &options, &traced_error) == PD_ERROR_LIMIT);
	options.size = 0;
	CHECK(pd_print_kwork(text, file, &options, &traced_error) == PD_ERROR_ARGUMENT);
	pd_text_free(text);
	pd_file_close(file);
}

TEST(time_range)
{
	struct pd_kwork_options options = { .size = sizeof(options), .symbols = traced_symbols, .time = "0.003,0.004" };
	struct pd_file *file = make();
	struct pd_text *text = pd_text_new();

	options.self = file;
	CHECK(file && pd_print_kwork(text, file, &options, &traced_error) == PD_OK);
	CHECK(text_has(text, "(s)") && !text_has(text, "(w)"));
	options.time = "soon";
	CHECK(pd_print_kwork(text, file, &options, &traced_error) == PD_ERROR_ARGUMENT);
	pd_text_free(text);
	pd_file_close(file);
}

TEST(hostile_names)
{
	struct pd_text *text = pd_text_new();
	struct pd_file *file;

	traced_begin(events, COUNT);
	put(6, 5000000, 0, 0xabc, 0xffffffff81000500);
	put(7, 5500000, 0, 0xabc, 0xffffffff81000500);
	file = open_text(traced);
	CHECK(file && print_report(text, file, &traced_error) == PD_OK);
	CHECK(text_has(text, "(w)evil\\x1b[31m ") && !text_has(text, "\x1b"));
	pd_text_free(text);
	pd_file_close(file);
}

TEST(formats)
{
	CHECK(traced_is_refused(events, COUNT, print_report));
}

TEST(memory)
{
	struct pd_file *file = make();

	CHECK(file && traced_memory(file, print_report) > 10);
	CHECK(traced_memory(file, print_timehist) > 10 && traced_memory(file, print_json) > 10);
	pd_file_close(file);
}

RUN(TEST_CASE(start), TEST_CASE(report), TEST_CASE(json), TEST_CASE(latency), TEST_CASE(options), TEST_CASE(names),
    TEST_CASE(time_range), TEST_CASE(hostile_names), TEST_CASE(formats), TEST_CASE(memory), TEST_CASE(clean))

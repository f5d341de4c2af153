/* SPDX-License-Identifier: MIT */
/* Pictures of time: which rectangles there are, options, hostile names and times, formats that are wrong, and memory that fails. */
#include <perfdata/timechart.h>

#include "unit/traced.h"

static const struct traced_event events[] = {
	{ "sched",
	  "sched_switch",
	  { { "prev_pid", 8, 4, true },
	    { "prev_state", 16, 8, true },
	    { "next_pid", 24, 4, true },
	    { "prev_comm", 28, 4, false, true },
	    { "next_comm", 32, 4, false, true } } },
	{ "power", "cpu_idle", { { "state", 8, 4 }, { "cpu_id", 12, 4 } } },
	{ "power", "cpu_frequency", { { "state", 8, 4 }, { "cpu_id", 12, 4 } } },
	{ "syscalls", "sys_enter_read", { { "fd", 8, 8 } } },
	{ "syscalls", "sys_exit_read", { { "ret", 8, 8 } } },
	{ "syscalls", "sys_enter_poll", { { "fd", 8, 8 } } },
	{ "syscalls", "sys_exit_poll", { { "ret", 8, 8 } } },
};

enum {
	SWITCH,
	IDLE,
	FREQUENCY,
	CALL,
	COUNT = sizeof(events) / sizeof(events[0]),
	NAMED = 5 << 16 | 36, // where the names of a switch stand
	MS = 1000000
};

static void change(uint64_t time_ms, unsigned cpu, unsigned from, unsigned state, unsigned to)
{
	traced_sample(events, SWITCH, time_ms * MS, from, cpu, "", (const uint64_t[]){ from, state, to, NAMED, NAMED });
}

static void put(unsigned event, uint64_t time_ms, unsigned tid, uint64_t value, uint64_t cpu)
{
	traced_sample(events, event, time_ms * MS, tid, 0, "", (const uint64_t[]){ value, cpu });
}

// 100 ms: thread 100 runs for 20, could run for 30, runs for 10, and is blocked for 40.
static void make_switches(void)
{
	traced_begin(events, COUNT);
	change(100, 0, 0, 0, 100);
	change(120, 0, 100, 0, 5);
	change(150, 0, 5, 1, 100);
	change(160, 0, 100, 2, 0);
	change(200, 0, 0, 0, 100);
}

static struct pd_file *make(void)
{
	make_switches();
	return open_text(traced);
}

static struct pd_file *make_calls(void)
{
	traced_begin(events, COUNT);
	traced_add(
		"FORK pid: 7, ppid: 7, tid: 8, ptid: 7, time_ns: 100000000, sample_id: {pid: 7, tid: 7, time_ns: 100000000, id: 1, cpu: 0}\n");
	put(FREQUENCY, 100, 100, 1000, 2);
	put(IDLE, 110, 100, 2, 2);
	put(CALL, 120, 100, 1, 0);
	put(IDLE, 130, 100, 0xffffffff, 2);
	put(CALL + 1, 140, 100, 1, 0);
	put(FREQUENCY, 150, 100, 2000, 2);
	put(CALL + 2, 160, 100, 1, 0); // it does not end
	put(IDLE, 170, 100, 9, 2);
	put(IDLE, 200, 100, 0xffffffff, 2);
	return open_text(traced);
}

static struct pd_timechart_options options;

static enum pd_status print(struct pd_text *text, struct pd_file *file, struct pd_error *error)
{
	options.size = sizeof(options);
	options.width = 100;
	pd_text_clear(text);
	return pd_print_timechart(text, file, &options, error);
}

// A rectangle of a class, in one of its paths: where it stands and how high it is.
static bool has_rect(const struct pd_text *text, const char *class, unsigned x, unsigned y, unsigned width,
		     unsigned height)
{
	struct pd_bytes bytes = pd_text_bytes(text);
	const char *at = (const char *)bytes.data, *end = at + bytes.size;
	char path[64], rect[64];
	size_t length = (size_t)snprintf(path, sizeof(path), "<path class=\"%s\" d=\"", class);

	snprintf(rect, sizeof(rect), "M%u %uh%uv%uh-%uz", 190 + x, y, width, height, width);
	while ((at = memmem(at, (size_t)(end - at), path, length)) != NULL) {
		const char *quote = memchr(at + length, '"', (size_t)(end - at) - length);

		if (memmem(at, (size_t)(quote - at), rect, strlen(rect)))
			return true;
		at = quote;
	}
	return false;
}

TEST(switches)
{
	struct pd_file *file = make();
	struct pd_text *text = pd_text_new();

	CHECK(file && print(text, file, &traced_error) == PD_OK);
	CHECK(text_has(text, "100.000 ms from 0.100000000 s</text>"));
	CHECK(has_rect(text, "c0", 0, 50, 60, 14));
	// lanes: the CPU, 5 (which ran for 30 ms), 100
	CHECK(text_has(
		text,
		"<title>first, thread 100 of process 100; running 30.000 ms; waiting for a CPU 30.000 ms; blocked in the "
		"kernel 40.000 ms</title><text x=\"12\" y=\"97\">first 100</text>"));
	CHECK(text_has(text, "<title>name, thread 5"));
	CHECK(has_rect(text, "c9", 0, 86, 20, 14) && has_rect(text, "c11", 20, 86, 30, 14));
	CHECK(has_rect(text, "c9", 50, 86, 10, 14) && has_rect(text, "c12", 60, 86, 40, 14));
	CHECK(has_rect(text, "c9", 20, 68, 30, 14));
	CHECK(text_has(text, "\">running</text>") && text_has(text, "\">blocked in the kernel</text>") &&
	      !text_has(text, "polling"));
	pd_text_free(text);
	pd_file_close(file);
}

TEST(power_and_calls)
{
	struct pd_file *file = make_calls();
	struct pd_text *text = pd_text_new();

	CHECK(file && print(text, file, &traced_error) == PD_OK);
	CHECK(has_rect(text, "c3", 10, 50, 20, 14) && has_rect(text, "c7", 70, 50, 30, 14));
	CHECK(has_rect(text, "c8", 0, 75, 50, 7) && has_rect(text, "c8", 50, 68, 50, 14));
	CHECK(has_rect(text, "c13", 20, 86, 20, 14) && has_rect(text, "c16", 60, 86, 40, 14));
	CHECK(text_has(text, ">CPU 2 idle states</text>") && text_has(text, ">CPU 2 frequency</text>") &&
	      text_has(text, ">first 100 calls</text>"));
	// a fork alone says nothing of threads
	CHECK(!text_has(text, "waiting for a CPU"));
	options.tasks_only = true;
	CHECK(print(text, file, &traced_error) == PD_OK && !text_has(text, "CPU 2") && text_has(text, "calls"));
	options = (struct pd_timechart_options){ .power_only = true };
	CHECK(print(text, file, &traced_error) == PD_OK && text_has(text, "CPU 2") && !text_has(text, "calls"));
	options = (struct pd_timechart_options){ 0 };
	pd_text_free(text);
	pd_file_close(file);
}

// A call whose end, or the begin of the next one, was not recorded; one that failed; one in which its thread ended.
TEST(calls)
{
	struct pd_text *text = pd_text_new();
	struct pd_file *file;

	traced_begin(events, COUNT);
	put(CALL, 100, 100, 1, 0); // its end is missing
	put(CALL, 120, 100, 1, 0);
	put(CALL + 1, 130, 100, (uint64_t)-11, 0);
	put(CALL, 140, 100, 1, 0);
	put(CALL + 3, 150, 100, 1, 0); // it did not begin
	put(CALL + 2, 160, 100, 1, 0);
	traced_add(
		"EXIT pid: 100, ppid: 1, tid: 100, ptid: 1, time_ns: 180000000, sample_id: {pid: 100, tid: 100, time_ns: 180000000, id: 1, cpu: 0}\n");
	put(CALL, 190, 200, 1, 0);
	put(CALL + 1, 200, 200, 1, 0);
	file = open_text(traced);
	CHECK(file && print(text, file, &traced_error) == PD_OK);
	CHECK(text_has(text, "; reading or writing 10.000 ms; polling 20.000 ms</title>"));
	CHECK(has_rect(text, "c13", 20, 50, 10, 14) && has_rect(text, "c16", 60, 50, 20, 14));
	CHECK(text_has(text, " \xc2\xb7 2 unknown intervals: events are missing</text>"));
	options.skip_eagain = true;
	CHECK(print(text, file, &traced_error) == PD_OK &&
	      text_has(text, "first, thread 100 of process 100; polling 20.000 ms</title>"));
	options.skip_eagain = false;
	pd_text_free(text);
	pd_file_close(file);
}

// Each colour that is there is named once, in as many rows as that needs; steps have the unit that suits them.
TEST(legend)
{
	struct pd_text *text = pd_text_new();
	struct pd_file *file;

	traced_begin(events, COUNT);
	for (unsigned i = 0; i < 6; i++)
		put(IDLE, 1000 + 1000 * i, 100, i + 1, 0);
	put(FREQUENCY, 7000, 100, 5, 0);
	put(CALL, 8000, 100, 1, 0);
	put(CALL + 1, 9000, 100, 1, 0);
	traced_add("LOST id: 1, lost: 7, sample_id: {pid: 0, tid: 0, time_ns: 9000000000, id: 1, cpu: 0}\n");
	file = open_text(traced);
	CHECK(file && print(text, file, &traced_error) == PD_OK);
	CHECK(text_has(text, " width=\"1000\" height=\"158\""));
	CHECK(text_has(
		text,
		"x=\"12\" y=\"113\" width=\"10\" height=\"10\"/><text class=\"facts\" x=\"26\" y=\"122\">idle state 1<"));
	CHECK(text_has(
		text,
		"x=\"12\" y=\"131\" width=\"10\" height=\"10\"/><text class=\"facts\" x=\"26\" y=\"140\">idle state 6 or deeper<"));
	CHECK(text_has(text, ">0 s<") && !text_has(text, " ms</text>"));
	CHECK(text_has(text, " \xc2\xb7 7 records were lost</text>"));
	pd_text_free(text);
	pd_file_close(file);
}

// Lanes of so many CPUs need more memory than there is for them, and of the threads some are seen nevertheless.
TEST(many_cpus)
{
	enum {
		MANY = 300
	};
	struct pd_text *text = pd_text_new();
	struct pd_file *file;

	traced_begin(events, COUNT);
	for (unsigned i = 0; i < MANY; i++)
		change(100 + i, i, 0, 0, 1000 + i);
	change(1000, 0, 1000, 0, 0);
	file = open_text(traced);
	options = (struct pd_timechart_options){
		.size = sizeof(options), .width = 100000, .threads = 1, .tasks_only = true
	};
	CHECK(file && pd_print_timechart(text, file, &options, &traced_error) == PD_OK);
	CHECK(text_has(text, ", thread 1000") && text_has(text, ">CPU 0<") &&
	      text_has(text, " lanes are too many for this width"));
	options = (struct pd_timechart_options){ 0 };
	pd_text_free(text);
	pd_file_close(file);
}

// What happened within a pixel: shares as heights, and the least is seen.
TEST(shares)
{
	struct pd_text *text = pd_text_new();
	struct pd_file *file;

	traced_begin(events, COUNT);
	traced_sample(events, SWITCH, 0x10000000, 0, 0, "", (const uint64_t[]){ 0, 0, 100, NAMED, NAMED });
	traced_sample(events, SWITCH, 0x10000001, 100, 0, "", (const uint64_t[]){ 100, 0, 5, NAMED, NAMED });
	traced_sample(events, SWITCH, 0x10000000 + 5 * MS / 10, 5, 0, "", (const uint64_t[]){ 5, 1, 0, NAMED, NAMED });
	traced_sample(events, SWITCH, 0x10000000 + 100 * MS, 0, 0, "", (const uint64_t[]){ 0, 0, 7, NAMED, NAMED });
	file = open_text(traced);
	CHECK(file && print(text, file, &traced_error) == PD_OK);
	CHECK(has_rect(text, "c0", 0, 57, 1, 7) && has_rect(text, "c9", 0, 75, 1, 7));
	CHECK(has_rect(text, "c9", 0, 99, 1, 1) && has_rect(text, "c11", 0, 86, 1, 13));
	pd_text_free(text);
	pd_file_close(file);
}

TEST(chosen)
{
	struct pd_file *file = make();
	struct pd_text *text = pd_text_new();

	options.highlight = "first";
	CHECK(file && print(text, file, &traced_error) == PD_OK);
	CHECK(has_rect(text, "c10", 0, 86, 20, 14) && has_rect(text, "c1", 50, 50, 10, 14) &&
	      has_rect(text, "c9", 20, 68, 30, 14));
	options.highlight = "20000000";
	CHECK(print(text, file, &traced_error) == PD_OK);
	CHECK(has_rect(text, "c10", 0, 86, 20, 14) && has_rect(text, "c10", 20, 68, 30, 14) &&
	      has_rect(text, "c9", 50, 86, 10, 14));
	options = (struct pd_timechart_options){ .processes = "77,first" };
	CHECK(print(text, file, &traced_error) == PD_OK && text_has(text, "thread 100") && !text_has(text, "thread 5"));
	options.processes = "5";
	CHECK(print(text, file, &traced_error) == PD_OK && !text_has(text, "thread 100") && text_has(text, "thread 5"));
	options = (struct pd_timechart_options){ .power_only = true, .tasks_only = true };
	CHECK(print(text, file, &traced_error) == PD_ERROR_ARGUMENT);
	options = (struct pd_timechart_options){ .limit = 1 };
	CHECK(print(text, file, &traced_error) == PD_ERROR_LIMIT);
	options = (struct pd_timechart_options){ .size = sizeof(options), .width = 100001 };
	CHECK(pd_print_timechart(text, file, &options, &traced_error) == PD_ERROR_ARGUMENT);
	options.size = 0;
	CHECK(pd_print_timechart(text, file, &options, &traced_error) == PD_ERROR_ARGUMENT);
	options = (struct pd_timechart_options){ 0 };
	pd_text_free(text);
	pd_file_close(file);
}

// Those that ran least are not shown, which the picture says.
TEST(few)
{
	struct pd_text *text = pd_text_new();
	struct pd_file *file;

	traced_begin(events, COUNT);
	for (unsigned i = 0; i < 40; i++)
		change(100 + i * 5, 0, i ? i : 0, 1, i + 1);
	file = open_text(traced);
	CHECK(file && print(text, file, &traced_error) == PD_OK);
	CHECK(text_has(text, " \xc2\xb7 24 lanes with less are not shown (120.000 ms in all)</text>"));
	options.threads = 39;
	CHECK(print(text, file, &traced_error) == PD_OK && !text_has(text, "not shown"));
	options.threads = 0;
	pd_text_free(text);
	pd_file_close(file);
}

// Names are text, and nothing else, in every place.
TEST(hostile_names)
{
	struct pd_text *text = pd_text_new();
	struct pd_file *file;

	memcpy(traced_name, "<&\033\"", sizeof(traced_name));
	make_switches();
	memcpy(traced_name, "name", sizeof(traced_name));
	traced_add(
		"COMM pid: 100, tid: 100, comm: \"</g>]]>\\xff\\xef\\xbf\\xbe\", sample_id: {pid: 100, tid: 100, time_ns: 200000001, id: 1, cpu: 0}\n");
	file = open_text(traced);
	CHECK(file && print(text, file, &traced_error) == PD_OK);
	CHECK(text_has(text, ">&lt;&amp;?\" 5</text>") && text_has(text, "<title>&lt;&amp;?\", thread 5"));
	CHECK(text_has(text, ">&lt;/g&gt;]]&gt;???? 100</text>") &&
	      text_has(text, "<title>&lt;/g&gt;]]&gt;????, thread") && !text_has(text, "\033") &&
	      !text_has(text, "<&"));
	pd_text_free(text);
	pd_file_close(file);
}

// Switches whose format has no names.
TEST(no_names)
{
	static const struct traced_event nameless[] = {
		{ "sched",
		  "sched_switch",
		  { { "prev_pid", 8, 4, true }, { "prev_state", 16, 8, true }, { "next_pid", 24, 4, true } } },
	};
	struct pd_text *text = pd_text_new();
	struct pd_file *file;

	traced_begin(nameless, 1);
	traced_sample(nameless, 0, MS, 0, 0, "", (const uint64_t[]){ 0, 0, 5 });
	traced_sample(nameless, 0, 2 * MS, 5, 0, "", (const uint64_t[]){ 5, 1, 0 });
	file = open_text(traced);
	CHECK(file && print(text, file, &traced_error) == PD_OK);
	CHECK(text_has(text, "<title>thread, thread 5") && text_has(text, ">thread 5</text>"));
	pd_text_free(text);
	pd_file_close(file);
}

// All of 64 bits, and times that are not in order.
TEST(long_times)
{
	struct pd_text *text = pd_text_new();
	struct pd_file *file;

	traced_begin(events, COUNT);
	traced_sample(events, SWITCH, 1, 0, 0xfffffffe, "", (const uint64_t[]){ 0, 0, 100, NAMED, NAMED });
	traced_sample(events, IDLE, 2, 0, 0, "", (const uint64_t[]){ 0x80000000, 0xffffffff });
	traced_sample(events, FREQUENCY, 2, 0, 0, "", (const uint64_t[]){ 0, 0xffffffff });
	traced_sample(events, SWITCH, UINT64_MAX - 1, 100, 0xfffffffe, "",
		      (const uint64_t[]){ 100, 2, 0, NAMED, NAMED });
	file = open_text(traced);
	CHECK(file && print(text, file, &traced_error) == PD_OK);
	CHECK(has_rect(text, "c9", 0, 86, 100, 14) && text_has(text, ">CPU 4294967294</text>"));
	pd_file_close(file);
	traced_begin(events, COUNT);
	change(100, 0, 0, 0, 100);
	file = open_text(traced);
	CHECK(file && print(text, file, &traced_error) == PD_ERROR_NO_SAMPLES);
	CHECK_STR(traced_error.message, "all events have the same time");
	pd_text_free(text);
	pd_file_close(file);
}

TEST(formats)
{
	// calls need no field
	CHECK(traced_is_refused(events, CALL, print));
}

TEST(memory)
{
	struct pd_file *file = make(), *others = make_calls();

	CHECK(file && others && traced_memory(file, print) > 10 && traced_memory(others, print) > 10);
	pd_file_close(file);
	pd_file_close(others);
}

RUN(TEST_CASE(start), TEST_CASE(switches), TEST_CASE(power_and_calls), TEST_CASE(calls), TEST_CASE(legend),
    TEST_CASE(many_cpus), TEST_CASE(shares), TEST_CASE(chosen), TEST_CASE(few), TEST_CASE(hostile_names),
    TEST_CASE(no_names), TEST_CASE(long_times), TEST_CASE(formats), TEST_CASE(memory), TEST_CASE(clean))

/* SPDX-License-Identifier: MIT */
/* The text of timehist, latency and map for a recording from text, what is wrong with formats, and memory that fails. */
#include "unit/interval/story.h"

static struct pd_error error;

static enum pd_status print(struct pd_file *file, struct pd_timehist_options *options, struct pd_text *out)
{
	pd_text_clear(out);
	return file ? pd_print_timehist(out, file, options, &error) : PD_ERROR_ARGUMENT;
}

static enum pd_status print_timehist(struct pd_text *out, struct pd_file *file)
{
	struct pd_timehist_options options = { .size = sizeof(options), .summary = true, .wakeups = true, .next = true };

	return pd_print_timehist(out, file, &options, &error);
}

static enum pd_status print_latency(struct pd_text *out, struct pd_file *file)
{
	return pd_print_sched_latency(out, file, NULL, &error);
}

static enum pd_status print_map(struct pd_text *out, struct pd_file *file)
{
	return pd_print_sched_map(out, file, NULL, &error);
}

static const char expected[] =
	"           time    cpu  task name                       wait time  sch delay   run time  state\n"
	"                        [tid/pid]                          (msec)     (msec)     (msec)       \n"
	"--------------- ------  ------------------------------  ---------  ---------  ---------  -----\n";

TEST(lines)
{
	struct pd_timehist_options options = { .size = sizeof(options), .state = true, .next = true, .wakeups = true };
	struct pd_file *file = make(&now, STORY);
	struct pd_text *out = pd_text_new();

	CHECK(out && print(file, &options, out) == PD_OK);
	CHECK(!strncmp((const char *)pd_text_bytes(out).data, expected, sizeof(expected) - 1));
	CHECK(text_has(
		out,
		"       0.000001 [0000]  :100[100]                           0.000      0.000      0.000      S  next: [0]"));
	CHECK(text_has(
		out,
		"       0.000001 [0001]  :200                                                             awakened: :100[100]\n"));
	CHECK(text_has(
		out,
		"       0.000001 [0000]  <idle>                              0.000      0.000      0.000      I  next: [100]"));
	CHECK(text_has(
		out,
		"       0.000002 [0001]  :200                                0.000      0.000      0.001      Z  next: [100]"));
	CHECK(!text_has(out, "Runtime summary"));
	pd_text_free(out);
	pd_file_close(file);
}

TEST(summary)
{
	static const struct happened events[] = {
		{ 1000000, 0, SWITCHES, 0, 'R', THREAD },      { 3000000, 0, SWITCHES, THREAD, 'S', 0 },
		{ 4000000, 0, WAKES, 0, 0, THREAD },           { 4500000, 0, SWITCHES, 0, 'R', THREAD },
		{ 8500000, 0, SWITCHES, THREAD, 'D', OTHER },  { 9500000, 0, SWITCHES, OTHER, 'S', THREAD },
		{ 10000000, 0, SWITCHES, THREAD, 'S', OTHER },
	};
	struct pd_timehist_options options = { .size = sizeof(options), .summary_only = true };
	struct pd_file *file = make(&now, events, sizeof(events) / sizeof(events[0]));
	struct pd_text *out = pd_text_new();

	CHECK(out && print(file, &options, out) == PD_OK);
	CHECK(text_has(
		out,
		"                     :100[100]      -1          3        6.500      0.500       2.166       4.000   46.79       0\n"));
	CHECK(text_has(
		out,
		"                     :200[200]      -1          1        1.000      1.000       1.000       1.000    0.00       0\n"));
	CHECK(text_has(
		out,
		"    CPU  0 idle for      1.500  msec  ( 16.67%)\n    CPU  1 idle entire time window\n    CPU  2 idle"));
	CHECK(text_has(out,
		       "    Total number of unique tasks: 2\nTotal number of context switches: 6\n"
		       "           Total run time (msec):  7.500 \n    Total scheduling time (msec):  9.000  (x 4)\n"));
	options.state = true;
	CHECK(print(file, &options, out) == PD_OK);
	CHECK(text_has(
		out,
		"                     :100[100]      -1          3        6.500      1.500       1.000       0.000       0.500 \n"));
	options.thread_limit = 1;
	CHECK(print(file, &options, out) == PD_ERROR_LIMIT);
	options.size = 0;
	CHECK(print(file, &options, out) == PD_ERROR_ARGUMENT);
	pd_text_free(out);
	pd_file_close(file);
}

// Intervals are cut where the time that is asked for begins and ends.
TEST(chosen)
{
	static const struct happened events[] = {
		{ 1000000, 0, SWITCHES, 0, 'R', THREAD },      { 3000000, 0, SWITCHES, THREAD, 'S', 0 },
		{ 4000000, 0, WAKES, 0, 0, THREAD },           { 4500000, 0, SWITCHES, 0, 'R', THREAD },
		{ 8500000, 0, SWITCHES, THREAD, 'D', OTHER },  { 9500000, 0, SWITCHES, OTHER, 'S', THREAD },
		{ 10000000, 0, SWITCHES, THREAD, 'S', OTHER },
	};
	static const char *const wrong_times[] = { "", "x", "1", "2,1", "1,2,3", "1,x", "99999999999999999999,", "1:2" };
	static const char *const wrong_lists[] = { "", "x", "1,", "4-2", "-1", "4294967296" };
	struct pd_timehist_options options = { .size = sizeof(options), .summary = true, .time = "0.004,0.009" };
	struct pd_file *file = make(&now, events, sizeof(events) / sizeof(events[0]));
	struct pd_text *out = pd_text_new();

	CHECK(out && print(file, &options, out) == PD_OK);
	CHECK(text_has(out, " 0.009000 [0000]  :200[200]                           0.000      0.000      0.500"));
	CHECK(text_has(out, " 1        4.000      4.000       4.000       4.000    0.00       0\n"));
	CHECK(text_has(out, "Total number of context switches: 3\n           Total run time (msec):  4.500 \n"
			    "    Total scheduling time (msec):  4.500 "));
	options = (struct pd_timehist_options){
		.size = sizeof(options), .wakeups = true, .summary = true, .tids = "50-99,200"
	};
	CHECK(print(file, &options, out) == PD_OK);
	CHECK(text_has(out, ":200[200]  ") && !text_has(out, ":100[100]  ") && !text_has(out, "<idle>"));
	CHECK(!text_has(out, "Idle stats") && !text_has(out, "unique tasks"));
	options.cpus = "1-3";
	CHECK(print(file, &options, out) == PD_OK && !text_has(out, ":200[200]  "));
	options = (struct pd_timehist_options){ .size = sizeof(options), .summary = true, .cpus = "0,2" };
	CHECK(print(file, &options, out) == PD_OK);
	CHECK(text_has(out, "Idle stats:\n    CPU  0 idle for") && !text_has(out, "    CPU  1") &&
	      text_has(out, "    CPU  2"));
	for (size_t i = 0; i < sizeof(wrong_times) / sizeof(wrong_times[0]); i++) {
		options = (struct pd_timehist_options){ .size = sizeof(options), .time = wrong_times[i] };
		CHECK(print(file, &options, out) == PD_ERROR_ARGUMENT);
	}
	for (size_t i = 0; i < sizeof(wrong_lists) / sizeof(wrong_lists[0]); i++) {
		options = (struct pd_timehist_options){ .size = sizeof(options), .pids = wrong_lists[i] };
		CHECK(print(file, &options, out) == PD_ERROR_ARGUMENT);
	}
	pd_text_free(out);
	pd_file_close(file);
}

static enum pd_status print_json(struct pd_text *out, struct pd_file *file)
{
	struct pd_timehist_options options = {
		.size = sizeof(options), .summary = true, .wakeups = true, .migrations = true, .json = true
	};

	return pd_print_timehist(out, file, &options, &error);
}

// Each event has all columns, asked for or not.
TEST(json)
{
	static const struct happened events[] = {
		{ 1000000, 0, SWITCHES, 0, 'R', THREAD },     { 3000000, 0, SWITCHES, THREAD, 'S', 0 },
		{ 4000000, 0, WAKES, 0, 0, THREAD },          { 4500000, 0, SWITCHES, 0, 'R', THREAD },
		{ 8500000, 0, SWITCHES, THREAD, 'D', OTHER }, { 9500000, 0, SWITCHES, OTHER, 'S', THREAD },
	};
	struct pd_sched_latency_options latency = { .size = sizeof(latency), .json = true };
	struct pd_sched_map_options map = { .size = sizeof(map), .json = true };
	struct pd_timehist_options summary = { .size = sizeof(summary), .summary_only = true, .json = true };
	struct pd_file *file = make(&now, events, sizeof(events) / sizeof(events[0]));
	struct pd_text *out = pd_text_new();

	CHECK(out && file && print_json(out, file) == PD_OK);
	CHECK(text_has(
		out,
		"{\"event\":\"switch\",\"time_ns\":8500000,\"cpu\":0,\"thread\":{\"pid\":100,\"tid\":100,\"comm\":\":100\"},\"wait_ns\":1500000,"
		"\"delay_ns\":500000,\"run_ns\":4000000,\"state\":\"D\",\"next\":{\"tid\":200,\"comm\":\"\"}}"));
	CHECK(text_has(out, "{\"event\":\"wakeup\",\"time_ns\":4000000,\"cpu\":0,\"thread\":{"));
	CHECK(text_has(out, "],\"threads\":[{\"thread\":{") && text_has(out, "\"switches\":2,\"run_ns\":6000000,"));
	CHECK(text_has(out, "\"idle\":[{\"cpu\":0,\"idle_ns\":1500000,") && text_has(out, "\"span_ns\":8500000,"));
	CHECK(print(file, &summary, out) == PD_OK && text_has(out, "{\"threads\":[{") && !text_has(out, "events"));
	pd_text_clear(out);
	CHECK(pd_print_sched_latency(out, file, &latency, &error) == PD_OK);
	CHECK(text_has(
		out,
		"{\"rows\":[{\"thread\":{\"tid\":100,\"comm\":\":100\"},\"comm\":\":100\",\"threads\":1,\"run_ns\":0,\"switches\":2,\"delay_ns\":500000,"));
	pd_text_clear(out);
	CHECK(pd_print_sched_map(out, file, &map, &error) == PD_OK);
	CHECK(text_has(
		out,
		"{\"switches\":[{\"time_ns\":1000000,\"cpu\":0,\"name\":\"A0\",\"thread\":{\"tid\":100,\"comm\":\":100\"}},"));
	pd_text_free(out);
	pd_file_close(file);
}

TEST(formats)
{
	static const struct kernel odd = { "SD", 8, 3, "prev_pid", true }, unnamed = { "SD", 8, 4, "prev_tid", true };
	struct pd_timehist_options summary = { .size = sizeof(summary), .summary_only = true };
	struct pd_text *out = pd_text_new();
	struct pd_file *file = make(&odd, STORY);

	CHECK(out && print(file, NULL, out) == PD_ERROR_FORMAT);
	CHECK(strstr(error.message, "sched:sched_switch: the field prev_pid has 3 bytes"));
	// a summary begins again after the error, and has to find it again
	CHECK(print(file, &summary, out) == PD_ERROR_FORMAT);
	pd_file_close(file);
	file = make(&unnamed, STORY);
	CHECK(print(file, NULL, out) == PD_ERROR_FORMAT && strstr(error.message, "no field prev_pid"));
	pd_file_close(file);
	file = make(NULL, STORY);
	CHECK(print(file, NULL, out) == PD_ERROR_NO_SAMPLES);
	pd_file_close(file);
	put_head(&now);
	put("SAMPLE event: 0, identifier: 1, pid: 5, tid: 5, time_ns: 900, cpu: 4294967295, raw: x\"0700\"\n");
	put("SAMPLE event: 0, identifier: 1, pid: 5, tid: 5, time_ns: 900, cpu: 0, raw: x\"0700\"\n");
	file = open_text(text);
	CHECK(print(file, NULL, out) == PD_OK);
	pd_file_close(file);
	pd_text_free(out);
}

// What is counted of a switch does not need who comes next: summaries and lines have it without that.
TEST(next)
{
	static const struct happened events[] = {
		{ 1000000, 0, SWITCHES, THREAD, 'S', OTHER },
		{ 3000000, 0, SWITCHES, OTHER, 'S', THREAD },
		{ 4000000, 0, SWITCHES, THREAD, 'S', OTHER },
	};
	static const char known[] = "next_pid;\\toffset:24;", far[] = "next_pid;\\toffset:99;";
	struct pd_timehist_options summary = { .size = sizeof(summary), .summary_only = true },
				   both = { .size = sizeof(both), .summary = true },
				   idle = { .size = sizeof(idle), .summary_only = true, .idle = true };
	struct pd_text *out = pd_text_new();
	struct pd_file *file;
	char *place;

	put_head(&now);
	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++)
		put_event(&now, &events[i]);
	place = strstr(text, known);
	CHECK(out && place);
	memcpy(place, far, sizeof(far) - 1);
	file = open_text(text);
	CHECK(print(file, &summary, out) == PD_OK && text_has(out, "context switches: 3\n"));
	CHECK(print(file, &both, out) == PD_OK && text_has(out, "context switches: 3\n"));
	CHECK(print(file, &idle, out) == PD_OK && text_has(out, "context switches: 0\n"));
	pd_text_free(out);
	pd_file_close(file);
}

TEST(names)
{
	struct pd_timehist_options options = { .size = sizeof(options) };
	struct pd_text *out = pd_text_new();
	struct pd_file *file;

	put_head(&now);
	put("COMM pid: 100, tid: 100, comm: \"a\\x1b[1mb\", sample_id: {pid: 100, tid: 100, time_ns: 5, cpu: 0, identifier: 1}\n");
	put("FORK pid: 101, ppid: 100, tid: 101, ptid: 100, time_ns: 6, sample_id: {pid: 100, tid: 100, time_ns: 6, cpu: 0, identifier: 1}\n");
	for (size_t i = 0; i < 2; i++)
		put_event(&now, &(struct happened){ 1000, 0, SWITCHES, 101 - (unsigned)i, 'S', 0 });
	file = open_text(text);
	CHECK(out && print(file, &options, out) == PD_OK);
	CHECK(text_has(out, " a\\x1b[1mb[101] ") && text_has(out, " a\\x1b[1mb[100] "));
	pd_text_free(out);
	pd_file_close(file);
}

static const struct happened delays[] = {
	{ 1000000, 0, SWITCHES, 0, 'R', THREAD }, { 3000000, 0, SWITCHES, THREAD, 'S', 0 },
	{ 4000000, 0, WAKES, 0, 0, THREAD },      { 4500000, 0, SWITCHES, 0, 'R', THREAD },
	{ 6000000, 1, CREATES, 0, 0, OTHER },     { 8500000, 0, SWITCHES, THREAD, 'D', OTHER },
};

TEST(latency)
{
	struct pd_sched_latency_options options = { .size = sizeof(options), .sort = "max,runtime" };
	struct pd_file *file = make(&now, delays, sizeof(delays) / sizeof(delays[0]));
	struct pd_text *out = pd_text_new();

	CHECK(out && pd_print_sched_latency(out, file, &options, &error) == PD_OK);
	CHECK(text_has(
		out,
		"  :200:200              |      0.000 ms |        1 | avg:   2.500 ms | max:   2.500 ms | max start:     0.006000 s | max end:     0.008500 s\n"
		"  :100:100              |      0.000 ms |        2 | avg:   0.250 ms | max:   0.500 ms | max start:     0.004000 s | max end:     0.004500 s\n"));
	CHECK(text_has(out, "  TOTAL:                |      0.000 ms |        3 |\n"));
	options.sort = "switch";
	pd_text_clear(out);
	CHECK(pd_print_sched_latency(out, file, &options, &error) == PD_OK);
	CHECK(text_has(
		out,
		"avg:   0.250 ms | max:   0.500 ms | max start:     0.004000 s | max end:     0.004500 s\n  :200:200"));
	options.sort = "max,size";
	CHECK(pd_print_sched_latency(out, file, &options, &error) == PD_ERROR_ARGUMENT &&
	      strstr(error.message, "'size'"));
	options.sort = "";
	CHECK(pd_print_sched_latency(out, file, &options, &error) == PD_ERROR_ARGUMENT);
	options = (struct pd_sched_latency_options){ .size = sizeof(options), .thread_limit = 1 };
	CHECK(pd_print_sched_latency(out, file, &options, &error) == PD_ERROR_LIMIT);
	options.size = 0;
	CHECK(pd_print_sched_latency(out, file, &options, &error) == PD_ERROR_ARGUMENT);
	pd_text_free(out);
	pd_file_close(file);
}

TEST(map)
{
	struct pd_sched_map_options options = { .size = sizeof(options), .compact = true };
	struct pd_file *file = make(&now, delays, sizeof(delays) / sizeof(delays[0]));
	struct pd_text *out = pd_text_new();

	CHECK(out && pd_print_sched_map(out, file, &options, &error) == PD_OK);
	CHECK(text_has(out, "  *A0       0.001000 secs A0 => :100:100 (CPU 0)\n"
			    "  *.        0.003000 secs .  => swapper:0\n"
			    "  *A0       0.004500 secs \n"
			    "  *B0       0.008500 secs B0 => :200:200\n"));
	options = (struct pd_sched_map_options){
		.size = sizeof(options), .cpus = "0", .color_pids = "100,7", .color_cpus = "0-1"
	};
	pd_text_clear(out);
	CHECK(pd_print_sched_map(out, file, &options, &error) == PD_OK);
	CHECK(text_has(out, "\033[41m*\033[m\033[34mA0\033[m       0.001000 secs \033[34mA0 => :100:100\033[m\n"));
	options.no_color = true;
	pd_text_clear(out);
	CHECK(pd_print_sched_map(out, file, &options, &error) == PD_OK && !text_has(out, "\033"));
	options.color_pids = "100,xyz";
	CHECK(pd_print_sched_map(out, file, &options, &error) == PD_ERROR_ARGUMENT && strstr(error.message, "xyz"));
	options.cpus = "0-";
	CHECK(pd_print_sched_map(out, file, &options, &error) == PD_ERROR_ARGUMENT && strstr(error.message, "'0-'"));
	options.cpus = "4096";
	CHECK(pd_print_sched_map(out, file, &options, &error) == PD_ERROR_ARGUMENT);
	pd_text_free(out);
	pd_file_close(file);
}

// Each allocation fails in turn: an error, or the same text.
static void check_memory(enum pd_status print_all(struct pd_text *out, struct pd_file *file))
{
	struct pd_file *file = make(&old, STORY);
	struct pd_text *right = pd_text_new();
	long at = 0;

	CHECK(right && print_all(right, file) == PD_OK);
	for (bool more = true; more; at++) {
		struct pd_text *out = pd_text_new();
		enum pd_status status;

		has_failed = false;
		left = at;
		status = print_all(out, file);
		more = has_failed;
		left = -1;
		CHECK(status == PD_OK || status == PD_ERROR_MEMORY || status == PD_ERROR_FORMAT ||
		      status == PD_ERROR_OUTPUT);
		if (status == PD_OK)
			CHECK(pd_text_bytes(out).size == pd_text_bytes(right).size &&
			      !memcmp(pd_text_bytes(out).data, pd_text_bytes(right).data, pd_text_bytes(out).size));
		pd_text_free(out);
	}
	CHECK(at > 10);
	pd_text_free(right);
	pd_file_close(file);
}

TEST(memory)
{
	check_memory(print_timehist);
	check_memory(print_json);
	check_memory(print_latency);
	check_memory(print_map);
}

TEST(clean)
{
	CHECK(rmdir(folder) == 0);
}

TEST(start)
{
	CHECK(mkdtemp(folder));
}

RUN(TEST_CASE(start), TEST_CASE(lines), TEST_CASE(summary), TEST_CASE(chosen), TEST_CASE(json), TEST_CASE(formats),
    TEST_CASE(next), TEST_CASE(names), TEST_CASE(latency), TEST_CASE(map), TEST_CASE(memory), TEST_CASE(clean))

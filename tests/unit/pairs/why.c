/* SPDX-License-Identifier: MIT */
/* Why threads waited: chains of wakeups in their order, what waits were spent on, and memory that fails. */
#include <perfdata/why.h>

#include "pairs/histogram.h"
#include "unit/interval/story.h"

static struct pd_error error;

// 1 is woken by the idle thread's CPU, then wakes 2, that one 3, and so on; each runs for 10 us before it wakes the next.
#define LINK(at, from, to)                                  \
	{ (at), 0, WAKES, (from), 0, (to) },                \
	{                                                   \
		(at) + 1000, 0, SWITCHES, (from), 'S', (to) \
	}
static const struct happened chain[] = {
	{ 1000, 0, SWITCHES, 0, 'R', 105 },
	{ 2000, 0, SWITCHES, 105, 'S', 104 },
	{ 3000, 0, SWITCHES, 104, 'S', 103 },
	{ 4000, 0, SWITCHES, 103, 'S', 102 },
	{ 5000, 0, SWITCHES, 102, 'S', 101 },
	{ 6000, 0, SWITCHES, 101, 'D', 0 },
	{ 90000, 0, WAKES, 0, 0, 101 },
	{ 91000, 0, SWITCHES, 0, 'R', 101 },
	LINK(101000, 101, 102),
	LINK(112000, 102, 103),
	LINK(123000, 103, 104),
	LINK(134000, 104, 105),
	{ 145000, 0, SWITCHES, 105, 'R', 101 },
	{ 150000, 0, SWITCHES, 101, 'S', 105 },
	{ 160000, 0, SWITCHES, 105, 'S', 0 },
};
#define CHAIN chain, sizeof(chain) / sizeof(chain[0])

static enum pd_status print(struct pd_file *file, const struct pd_why_options *options, struct pd_text *out)
{
	pd_text_clear(out);
	return file ? pd_print_why(out, file, options, &error) : PD_ERROR_ARGUMENT;
}

TEST(wakeups)
{
	struct pd_why_options options = { .size = sizeof(options), .tid = 105, .count = 1 };
	struct pd_file *file = make(&now, CHAIN);
	struct pd_text *out = pd_text_new();

	CHECK(out && print(file, &options, out) == PD_OK);
	CHECK(text_has(
		out,
		"2 waits, 0.138 ms; the longest:\n\n"
		"  1. 0.133 ms  :105[105], from 0.000002 to 0.000135: sleeping 0.132 ms, then 0.001 ms for a CPU, woken by :104[104]\n"
		"     :104[104] ran 0.010 ms, before that sleeping 0.120 ms and 0.001 ms for a CPU, woken by :103[103]\n"
		"     :103[103] ran 0.010 ms, before that sleeping 0.108 ms and 0.001 ms for a CPU, woken by :102[102]\n"
		"     :102[102] ran 0.010 ms, before that sleeping 0.096 ms and 0.001 ms for a CPU, woken by :101[101]\n"
		"     :101[101] ran 0.010 ms, before that uninterruptible 0.084 ms and 0.001 ms for a CPU, woken by an interrupt on CPU 0 (an idle CPU)\n"));
	CHECK(text_has(out, "      0.088  63.8%       1  :101[101] waited for an interrupt\n"));
	CHECK(text_has(out, "      0.010   7.2%       1  :104[104] ran\n"));
	CHECK(text_has(out, "      0.005       1  :105[105] by :101[101]\n"));
	// until it runs each thread waits for 1 us, and one for 5 us after a preemption
	options = (struct pd_why_options){ .size = sizeof(options), .json = true };
	CHECK(print(file, &options, out) == PD_OK && text_has(out, "\"run_queue\":{\"from_ns\":1000,") &&
	      text_has(out, "\"slice_ns\":8192,") && text_has(out, ",0.421875,1]]") &&
	      text_has(out, "\"lengths\":{\"count\":11,\"total_ns\":603000,\"max_ns\":133000,\"p50_ns\":42496,"));
	options = (struct pd_why_options){ .size = sizeof(options), .tid = 105, .count = 1 };
	options.from_ns = 145001;
	CHECK(print(file, &options, out) == PD_OK && text_has(out, "1 waits, 0.005 ms"));
	options = (struct pd_why_options){ .size = sizeof(options), .json = true, .to_ns = 5500 };
	CHECK(print(file, &options, out) == PD_OK && text_has(out, "\"woken_by\":{\"tid\":104,\"comm\":\":104\"}"));
	options.size = 0;
	CHECK(print(file, &options, out) == PD_ERROR_ARGUMENT);
	pd_file_close(file);
	file = make(NULL, CHAIN);
	CHECK(print(file, NULL, out) == PD_ERROR_NO_SAMPLES);
	pd_file_close(file);
	pd_text_free(out);
}

// Who was created, or could run before the recording, was not preempted; what may be wrong says so.
TEST(begins)
{
	static const struct happened events[] = {
		{ 1000, 0, SWITCHES, 0, 'R', 101 },   { 2000, 0, CREATES, 101, 0, 102 },
		{ 5000, 0, SWITCHES, 101, 'S', 102 }, { 9000, 0, SWITCHES, 102, 'S', 103 },
		{ 9500, 0, LOSES, 7, 0, 0 },          { 19000, 0, WAKES, 103, 0, 102 },
		{ 20000, 0, SWITCHES, 103, 'S', 102 }
	};
	struct pd_why_options options = { .size = sizeof(options), .count = 4 };
	struct pd_file *file = make(&now, events, sizeof(events) / sizeof(events[0]));
	struct pd_text *out = pd_text_new();

	CHECK(out && print(file, &options, out) == PD_OK);
	CHECK(text_has(out, "7 records were lost; "));
	CHECK(text_has(
		out,
		":102[102], from 0.000009 to 0.000020: sleeping 0.010 ms, then 0.001 ms for a CPU, woken by :103[103]; uncertain, as records were lost meanwhile\n"));
	CHECK(text_has(out, ":103[103], from 0.000001 to 0.000009: "));
	CHECK(text_has(out, "; it began before the recording\n"));
	CHECK(text_has(out, ":102[102], from 0.000002 to 0.000005: runnable 0.003 ms, woken by :101[101]\n"));
	CHECK(text_has(out, " :102[102] waited for a CPU\n") && !text_has(out, "Preempted"));
	options.json = true;
	CHECK(print(file, &options, out) == PD_OK && text_has(out, "\"lost_records\":7,") &&
	      text_has(out, "\"uncertain\":true,"));
	pd_file_close(file);
	pd_text_free(out);
}

enum {
	THREADS = 20
};

// All are switched out, the last one at a time, then each wakes the next one.
static struct pd_file *make_chain(uint32_t last_ns)
{
	static struct happened events[2 + 3 * THREADS];
	size_t count = 0;

	for (uint32_t i = THREADS - 1; i; i--)
		events[count++] = (struct happened){ 1000 * (THREADS - i + 1), 0, SWITCHES, 100 + i, 'S',
						     i > 1 ? 100 + i - 1 : 0 };
	events[count++] = (struct happened){ 50000, 0, SWITCHES, 0, 'R', 99 };
	for (uint32_t i = 0; i < THREADS; i++) {
		uint32_t time_ns = 60000 + 10000 * i;

		events[count++] = (struct happened){ time_ns, 0, WAKES, i ? 100 + i : 99, 0, 101 + i };
		if (time_ns + 1000 > last_ns && last_ns)
			events[count++] = (struct happened){ last_ns, 1, SWITCHES, 100 + THREADS, 'S', 0 };
		last_ns = time_ns + 1000 > last_ns ? 0 : last_ns;
		events[count++] = (struct happened){ time_ns + 1000, 0, SWITCHES, i ? 100 + i : 99, 'S', 101 + i };
	}
	return make(&now, events, count);
}

// More wakeups than are kept: what was before them is not known, and nobody is said to have run then.
TEST(long_chain)
{
	struct pd_why_options options = { .size = sizeof(options), .tid = 100 + THREADS, .count = 1 };
	struct pd_text *out = pd_text_new();
	struct pd_file *file = make_chain(60100);

	CHECK(out && print(file, &options, out) == PD_OK);
	CHECK(text_has(out, "  1. 0.191 ms  :120[120]") && text_has(out, "     :105[105] ran 0.009 ms"));
	CHECK(text_has(out, "     :104[104]: what it did before that is not kept\n") &&
	      !text_has(out, "ran all the time"));
	// the wait of 105 until it was woken
	CHECK(text_has(out, "      0.040  20.9%       1  :105[105] unknown\n"));
	pd_file_close(file);
	// the wait begins after 105 was woken: what was before is of no interest
	file = make_chain(100400);
	CHECK(print(file, &options, out) == PD_OK && text_has(out, "  1. 0.151 ms  :120[120]"));
	CHECK(text_has(out, "     :105[105] ran 0.009 ms") && !text_has(out, "is not kept") &&
	      !text_has(out, "unknown\n"));
	pd_file_close(file);
	pd_text_free(out);
}

// A thread that nobody wakes until the end.
TEST(no_end)
{
	static const struct happened events[] = {
		{ 1000, 0, SWITCHES, 0, 'R', 101 }, { 2000, 0, SWITCHES, 101, 'D', 102 },
		{ 3000, 0, WAKES, 102, 0, 103 },    { 4000, 0, SWITCHES, 102, 'S', 103 },
		{ 9000, 0, SWITCHES, 103, 'S', 0 },
	};
	struct pd_why_options options = { .size = sizeof(options), .tid = 101 };
	struct pd_file *file = make(&now, events, sizeof(events) / sizeof(events[0]));
	struct pd_text *out = pd_text_new();

	CHECK(out && print(file, &options, out) == PD_OK);
	CHECK(text_has(
		out,
		"1 waits had not ended when the recording did; the longest: :101[101], uninterruptible for 0.007 ms since "
		"0.000002\n0 waits, "));
	options.to_ns = 1500;
	CHECK(print(file, &options, out) == PD_OK && !text_has(out, "not ended"));
	options = (struct pd_why_options){ .size = sizeof(options) };
	CHECK(print(file, &options, out) == PD_OK && text_has(out, "3 waits had not ended "));
	options.json = true;
	CHECK(print(file, &options, out) == PD_OK &&
	      text_has(out, "\"not_ended\":{\"count\":3,\"longest\":{\"thread\":{\"tid\":101,") &&
	      text_has(out, "\"kind\":\"uninterruptible\",\"begin_ns\":2000,\"end_ns\":9000}}"));
	pd_file_close(file);
	pd_text_free(out);
}

// Numbers of threads that only files have: sums of two of them are two sums.
TEST(hostile_numbers)
{
	static const struct happened events[] = {
		{ 1000, 0, SWITCHES, 0, 'R', 5 },
		{ 2000, 0, SWITCHES, 5, 'R', 0x40000000 },
		{ 4000, 0, SWITCHES, 0x40000000, 'S', 5 },
		{ 5000, 0, SWITCHES, 5, 'S', 4 },
		{ 6000, 0, SWITCHES, 4, 'R', 0 },
		{ 9000, 0, SWITCHES, 0, 'R', 4 },
		{ 9500, 0, WAKES, 4, 0, 5 },
	};
	struct pd_why_options options = { .size = sizeof(options), .json = true };
	struct pd_file *file = make(&now, events, sizeof(events) / sizeof(events[0]));
	struct pd_text *out = pd_text_new();

	CHECK(out && print(file, &options, out) == PD_OK);
	CHECK(text_has(
		      out,
		      "{\"thread\":{\"tid\":5,\"comm\":\":5\"},\"by\":{\"tid\":1073741824,\"comm\":\":1073741824\"},\"count\":1,") &&
	      text_has(out, "{\"thread\":{\"tid\":4,\"comm\":\":4\"},\"by\":{\"tid\":0,"));
	pd_file_close(file);
	pd_text_free(out);
}

// What percentiles are of is known; they are at most 1/64 too low.
TEST(lengths)
{
	static struct pd_histogram lengths;
	struct pd_text *out = pd_text_new();

	pd_histogram_text(&lengths, out);
	CHECK(pd_histogram_percentile(&lengths, 50) == 0 && pd_text_bytes(out).size == 0);
	for (uint64_t i = 1; i <= 100000; i++)
		pd_histogram_add(&lengths, i * 7919 % 100003);
	CHECK(lengths.count == 100000 && lengths.max_ns == 100002);
	for (unsigned percent = 1; percent <= 100; percent++) {
		uint64_t wanted = 1000 * percent, got = pd_histogram_percentile(&lengths, percent);

		CHECK(got <= wanted + 3 && got + wanted / 64 + 1 >= wanted);
	}
	pd_histogram_text(&lengths, out);
	CHECK(text_has(out,
		       "            65.536       131.072     34465  |****************************************|\n"));
	CHECK(text_has(out,
		       "             0.001         0.002         1  |                                        |\n"));
	pd_histogram_add(&lengths, 0);
	pd_histogram_add(&lengths, UINT64_MAX);
	CHECK(pd_histogram_percentile(&lengths, 100) == UINT64_C(0x7f) << 57 && lengths.max_ns == UINT64_MAX);
	pd_text_clear(out);
	pd_histogram_text(&lengths, out);
	CHECK(text_has(out, "             0.000         0.001         1  |"));
	pd_text_free(out);
}

// Two threads wait for CPU 1 for a while, one of them longer; however long slices are then, they add up.
TEST(run_queue)
{
	struct pd_run_queue queue = { .first_ns = 1000 };
	struct pd_text *out = pd_text_new();
	uint64_t sum = 0;

	pd_run_queue_text(&queue, out);
	CHECK(pd_text_bytes(out).size == 0);
	CHECK(pd_run_queue_add(&queue, 1, 0, 1000 + 1024) && pd_run_queue_add(&queue, 1, 1000, 1000 + 2048));
	CHECK(pd_run_queue_add(&queue, UINT32_MAX, 0, 9999) && pd_run_queue_add(&queue, 0, 500, 900));
	CHECK(queue.slice_ns == 1024 && queue.cpus[1].waited_ns[0] == 2048 && queue.cpus[1].waited_ns[1] == 1024);
	pd_run_queue_text(&queue, out);
	CHECK(text_has(out, "       Time      All  CPU  0  CPU  1\n           0.000001     2.00    0.00    2.00\n"));
	CHECK(pd_run_queue_add(&queue, 70, 5000, UINT64_C(10000000000)));
	for (size_t i = 0; i < PD_RUN_QUEUE_SLICES; i++)
		sum += queue.cpus[70].waited_ns[i];
	CHECK(sum == UINT64_C(10000000000) - 5000 && queue.cpus[1].waited_ns[0] == 3072);
	CHECK(pd_run_queue_add(&queue, 2, 1000, UINT64_MAX) && queue.cpus[1].waited_ns[0] == 3072);
	pd_text_clear(out);
	pd_run_queue_text(&queue, out);
	CHECK(text_has(out, "       Time      All\n"));
	pd_run_queue_fini(&queue);
	pd_text_free(out);
}

// How many wait at once, and where: who is put on another CPU within its wakeup never waited for the first one.
TEST(queue_peaks)
{
	struct pd_run_queue queue = { 0 };
	struct pd_text *out = pd_text_new();
	struct pd_json json = { .text = out };

	CHECK(pd_run_queue_enter(&queue, 0, 1000) && pd_run_queue_enter(&queue, 0, 2000));
	CHECK(pd_run_queue_move(&queue, 0, 2, 2000)); // the kernel's choice
	CHECK(pd_run_queue_enter(&queue, 2, 3000));
	pd_run_queue_leave(&queue, 0);
	CHECK(pd_run_queue_enter(&queue, UINT32_MAX, 4000) && pd_run_queue_move(&queue, UINT32_MAX, 0, 5000));
	CHECK(pd_run_queue_move(&queue, 2, 0, 6000)); // by another CPU, later
	pd_run_queue_settle(&queue);
	CHECK(queue.all.most == 3 && queue.all.time_ns == 3000);
	CHECK(queue.cpus[0].peak.most == 2 && queue.cpus[0].peak.time_ns == 6000);
	CHECK(queue.cpus[1].peak.most == 0 && queue.cpus[2].peak.most == 2 && queue.cpus[2].peak.time_ns == 3000);
	CHECK(pd_run_queue_add(&queue, 0, 1000, 6000));
	pd_run_queue_text(&queue, out);
	CHECK(text_has(out, "\nMost threads that waited at once: 3 at 0.000003; for one CPU, CPU 0: 2 at 0.000006\n"));
	pd_text_clear(out);
	pd_run_queue_json(&queue, NULL, &json);
	CHECK(text_has(
		out,
		"\"most\":{\"threads\":3,\"time_ns\":3000},\"most_by_cpu\":[{\"threads\":2,\"time_ns\":6000},{\"threads\":0,\"time_ns\":null},"));
	pd_run_queue_fini(&queue);
	pd_text_free(out);
}

// Of 200 waits two are long: the first of these is shown, although the other one is longer.
TEST(outliers)
{
	static struct happened events[420];
	struct pd_why_options options = { .size = sizeof(options), .count = 1 };
	struct pd_file *file;
	struct pd_text *out = pd_text_new();
	unsigned time_ns = 1000;
	size_t count = 0;

	for (unsigned i = 0; i < 201; i++) {
		events[count++] = (struct happened){ time_ns, 0, SWITCHES, 0, 'R', 105 };
		events[count++] = (struct happened){ time_ns + 1000, 0, SWITCHES, 105, 'S', 0 };
		time_ns += i == 50 ? 5000000 : i == 90 ? 7000000 : 2000 + i;
	}
	file = make(&now, events, count);
	CHECK(out && print(file, &options, out) == PD_ERROR_NO_SAMPLES); // there is no wakeup
	pd_file_close(file);
	events[count] = (struct happened){ time_ns, 0, WAKES, 0, 0, 105 };
	file = make(&now, events, count + 1);
	CHECK(print(file, &options, out) == PD_OK);
	CHECK(text_has(out, "  1. 6.999 ms  :105[105]"));
	CHECK(text_has(out, "\nWaits of 4.194 ms or more: 2. The first one:\n\n  1. 4.999 ms  :105[105]"));
	options.json = true;
	CHECK(print(file, &options, out) == PD_OK);
	CHECK(text_has(
		out,
		"\"outliers\":{\"count\":2,\"at_least_ns\":4194304,\"first\":{\"total_ns\":4999000,\"stack\":[],"));
	pd_file_close(file);
	pd_text_free(out);
}

// Each allocation fails in turn: an error, or the same text.
TEST(memory)
{
	struct pd_file *file = make(&now, CHAIN);
	struct pd_text *right = pd_text_new();
	long at = 0;

	CHECK(right && print(file, NULL, right) == PD_OK);
	for (bool more = true; more; at++) {
		struct pd_text *out = pd_text_new();
		enum pd_status status;

		has_failed = false;
		left = at;
		status = print(file, NULL, out);
		more = has_failed;
		left = -1;
		CHECK(status == PD_OK || status == PD_ERROR_MEMORY || status == PD_ERROR_FORMAT ||
		      status == PD_ERROR_OUTPUT);
		if (status == PD_OK)
			CHECK(pd_text_bytes(out).size == pd_text_bytes(right).size);
		pd_text_free(out);
	}
	CHECK(at > 10);
	pd_text_free(right);
	pd_file_close(file);
}

TEST(clean)
{
	CHECK(rmdir(folder) == 0);
}

TEST(start)
{
	CHECK(mkdtemp(folder));
}

RUN(TEST_CASE(start), TEST_CASE(wakeups), TEST_CASE(begins), TEST_CASE(long_chain), TEST_CASE(no_end),
    TEST_CASE(hostile_numbers), TEST_CASE(lengths), TEST_CASE(run_queue), TEST_CASE(queue_peaks), TEST_CASE(outliers),
    TEST_CASE(memory), TEST_CASE(clean))

/* SPDX-License-Identifier: MIT */
/* The time that threads had of CPUs: interrupts are taken off, threads of several CPUs are one row, bad times and memory that fails. */
#include "unit/traced.h"

#define COMMON                           \
	{                                \
		"common_pid", 4, 4, true \
	}

static const struct traced_event events[] = {
	{ "sched",
	  "sched_switch",
	  { { "prev_pid", 8, 8, true },
	    { "next_pid", 16, 8, true },
	    { "prev_comm", 24, 4, false, true },
	    { "next_comm", 28, 4, false, true } } },
	{ "irq", "irq_handler_entry", { { "irq", 8, 4, true }, { "name", 12, 4, false, true }, COMMON } },
	{ "irq", "irq_handler_exit", { { "irq", 8, 4, true }, COMMON } },
	{ "irq", "softirq_entry", { { "vec", 8, 4 }, COMMON } },
	{ "irq", "softirq_exit", { { "vec", 8, 4 }, COMMON } },
};

enum {
	COUNT = sizeof(events) / sizeof(events[0]),
	SWITCH = 0,
	NAMED = 5 << 16 | 32 // where the names of a switch stand
};

static void change(uint64_t time_ns, unsigned cpu, unsigned from, unsigned to)
{
	traced_sample(events, SWITCH, time_ns, from, cpu, "", (const uint64_t[]){ from, to, NAMED, NAMED });
}

static void interrupt(unsigned event, uint64_t time_ns, unsigned cpu, unsigned tid)
{
	uint64_t values[] = { 4, tid, tid };

	values[1] = event == 1 ? 5 << 16 | 16 : tid;
	traced_sample(events, event, time_ns, 77, cpu, "", values);
}

// CPU 0: 5 for 1 ms with 0.05 of an interrupt and 0.09 of softirqs, nobody for 1 ms. CPU 3: 5 for 1.5 ms, and 6 for 0.5.
static struct pd_file *make(void)
{
	traced_begin(events, COUNT);
	change(1000000, 0, 0, 5);
	interrupt(1, 1100000, 0, 5);
	interrupt(2, 1150000, 0, 5);
	interrupt(3, 1200000, 0, 5);
	interrupt(4, 1290000, 0, 5);
	change(2000000, 0, 5, 0);
	change(2500000, 3, 9, 5); // 9 began before
	change(3000000, 0, 0, 6);
	interrupt(4, 3500000, 0, 6); // it did not begin
	change(4000000, 3, 5, 6);
	change(4500000, 3, 6, 0);
	return open_text(traced);
}

static enum pd_status print_top(struct pd_text *text, struct pd_file *file, struct pd_error *error)
{
	const struct pd_kwork_options options = { .size = sizeof(options), .mode = PD_KWORK_TOP };

	pd_text_clear(text);
	return pd_print_kwork(text, file, &options, error);
}

static enum pd_status print_json(struct pd_text *text, struct pd_file *file, struct pd_error *error)
{
	const struct pd_kwork_options options = { .size = sizeof(options), .mode = PD_KWORK_TOP, .json = true };

	pd_text_clear(text);
	return pd_print_kwork(text, file, &options, error);
}

TEST(top)
{
	struct pd_file *file = make();
	struct pd_text *text = pd_text_new();

	CHECK(file && print_top(text, file, &traced_error) == PD_OK);
	CHECK(traced_is(text, "\n"
			      "Total  :      4.000 ms, 2 cpus\n"
			      "%Cpu(s):  25.00% id,   1.25% hi,   2.25% si\n"
			      "%Cpu0   [||||||||||||                    43.00%]\n"
			      "%Cpu3   [|||||||||||||||||||||||||||||| 100.00%]\n"
			      "\n"
			      "      PID    %CPU           RUNTIME  COMMAND         \n"
			      "  ----------------------------------------------------\n"
			      "        5  118.00          2.360 ms  name            \n"
			      "        0   50.00          1.000 ms  name            \n"
			      "        6   25.00          0.500 ms  name            \n"
			      "\n"));
	pd_text_free(text);
	pd_file_close(file);
}

TEST(json)
{
	struct pd_file *file = make();
	struct pd_text *text = pd_text_new();

	CHECK(file && print_json(text, file, &traced_error) == PD_OK);
	CHECK(traced_is(
		text,
		"{\"threads\":[{\"tid\":5,\"name\":\"name\",\"runtime_ns\":2360000,\"percent\":118},"
		"{\"tid\":0,\"name\":\"name\",\"cpu\":0,\"runtime_ns\":1000000,\"percent\":50},"
		"{\"tid\":6,\"name\":\"name\",\"runtime_ns\":500000,\"percent\":25}],"
		"\"cpus\":[{\"cpu\":0,\"total_ns\":2000000,\"idle_ns\":1000000,\"irq_ns\":50000,\"softirq_ns\":90000},"
		"{\"cpu\":3,\"total_ns\":2000000,\"idle_ns\":0,\"irq_ns\":0,\"softirq_ns\":0}],\"span_ns\":3500000,"
		"\"skipped\":{\"raise\":0,\"entry\":2,\"exit\":3},\"lost\":0}\n"));
	pd_text_free(text);
	pd_file_close(file);
}

TEST(options)
{
	struct pd_kwork_options options = { .size = sizeof(options), .mode = PD_KWORK_TOP, .cpus = "0", .sort = "tid" };
	struct pd_file *file = make();
	struct pd_text *text = pd_text_new();

	CHECK(file && pd_print_kwork(text, file, &options, &traced_error) == PD_OK);
	CHECK(text_has(text, "        0   50.00          1.000 ms  name            \n"
			     "        5   43.00          0.860 ms  name            \n\n"));
	pd_text_clear(text);
	options.cpus = NULL;
	options.classes = "sched";
	CHECK(pd_print_kwork(text, file, &options, &traced_error) == PD_OK && text_has(text, "        5  125.00 "));
	pd_text_clear(text);
	options.name = "other";
	CHECK(pd_print_kwork(text, file, &options, &traced_error) == PD_OK);
	CHECK(text_has(text, "25.00% id") && text_has(text, "%Cpu3   [                                 0.00%]\n\n"));
	options.sort = "max";
	CHECK(pd_print_kwork(text, file, &options, &traced_error) == PD_ERROR_ARGUMENT);
	CHECK_STR(traced_error.message, "unknown key 'max' to sort by; there are: runtime rate tid");
	options.sort = "tid,rate,runtime,tid";
	CHECK(pd_print_kwork(text, file, &options, &traced_error) == PD_ERROR_ARGUMENT);
	CHECK_STR(traced_error.message, "more than 3 keys to sort by");
	options.sort = NULL;
	options.mode = PD_KWORK_REPORT;
	CHECK(pd_print_kwork(text, file, &options, &traced_error) == PD_ERROR_ARGUMENT);
	CHECK_STR(traced_error.message, "unknown kind of work 'sched'; there are: irq softirq workqueue");
	pd_text_free(text);
	pd_file_close(file);
}

// Times that the whole of 64 bits can have: no share is above one, and nothing is drawn beyond its place.
TEST(long_times)
{
	struct pd_text *text = pd_text_new();
	struct pd_file *file;

	traced_begin(events, COUNT);
	change(1, 1, 0, 5);
	change(UINT64_C(0xf000000000000000), 1, 5, 6);
	change(UINT64_C(0xf800000000000000), 1, 6, 0);
	file = open_text(traced);
	CHECK(file && print_top(text, file, &traced_error) == PD_OK);
	CHECK(text_has(text, "%Cpu1   [|||||||||||||||||||||||||||||| 100.00%]\n") && text_has(text, " 96.77 ") &&
	      text_has(text, " 3.22 "));
	pd_text_free(text);
	pd_file_close(file);
}

TEST(lost)
{
	struct pd_text *text = pd_text_new();
	struct pd_file *file;

	traced_begin(events, COUNT);
	change(1000000, 0, 0, 5);
	traced_add("LOST id: 1, lost: 9, sample_id: {pid: 0, tid: 0, time_ns: 1500000, id: 1, cpu: 0}\n");
	change(2000000, 0, 5, 0);
	file = open_text(traced);
	CHECK(file && print_top(text, file, &traced_error) == PD_OK && text_has(text, " lost events (9 out of "));
	pd_text_free(text);
	pd_file_close(file);
}

TEST(hostile_names)
{
	struct pd_text *text = pd_text_new();
	struct pd_file *file;

	memcpy(traced_name, "a\033[b", sizeof(traced_name));
	file = make();
	memcpy(traced_name, "name", sizeof(traced_name));
	CHECK(file && print_top(text, file, &traced_error) == PD_OK);
	CHECK(text_has(text, "  a\\x1b[b") && !text_has(text, "\033"));
	pd_text_free(text);
	pd_file_close(file);
}

TEST(formats)
{
	CHECK(traced_is_refused(events, COUNT, print_top));
}

TEST(memory)
{
	struct pd_file *file = make();

	CHECK(file && traced_memory(file, print_top) > 10 && traced_memory(file, print_json) > 10);
	pd_file_close(file);
}

RUN(TEST_CASE(start), TEST_CASE(top), TEST_CASE(json), TEST_CASE(options), TEST_CASE(long_times), TEST_CASE(lost),
    TEST_CASE(hostile_names), TEST_CASE(formats), TEST_CASE(memory), TEST_CASE(clean))

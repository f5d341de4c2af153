/* SPDX-License-Identifier: MIT */
/* Call chains of the waits that are shown, and the CPUs that threads wait for. */
#include <perfdata/why.h>

#include "unit/traced.h"

enum {
	SWITCH,
	WAKING,
	MIGRATE
};

static const struct traced_event events[] = {
	[SWITCH] = { "sched", "sched_switch", { { "prev_pid", 8, 4 }, { "next_pid", 12, 4 }, { "prev_state", 16, 8 } } },
	[WAKING] = { "sched", "sched_waking", { { "pid", 8, 4 }, { "target_cpu", 12, 4 } } },
	[MIGRATE] = { "sched", "sched_migrate_task", { { "pid", 8, 4 }, { "dest_cpu", 12, 4 } } },
};

enum {
	COUNT = sizeof(events) / sizeof(events[0]),
	SLEEPS = 1
};

static void put_switch(uint64_t time_ns, unsigned from, unsigned to, uint64_t state, const char *chain)
{
	traced_sample(events, SWITCH, time_ns, from, 0, chain, (const uint64_t[]){ from, to, state });
}

static void put_cpu(unsigned event, uint64_t time_ns, unsigned tid, unsigned cpu)
{
	traced_sample(events, event, time_ns, 0, 1, "", (const uint64_t[]){ tid, cpu });
}

#define READ "0xffffffff81001020 0xffffffff81000110"
#define WRITE "0xffffffff81001020 0xffffffff81000210"
#define EVIL "0xffffffff81001020 0xffffffff81000510 0x1"

static struct pd_file *make(void)
{
	traced_begin(events, COUNT);
	put_switch(1000, 100, 200, SLEEPS, READ);
	put_switch(2000, 200, 300, SLEEPS, WRITE);
	put_switch(3000, 300, 0, SLEEPS, EVIL);
	put_cpu(WAKING, 9000, 100, 3); // it ran on another CPU before
	put_cpu(MIGRATE, 9000, 100, 0);
	put_cpu(WAKING, 9500, 200, 0);
	put_switch(10000, 0, 100, 0, "");
	put_cpu(WAKING, 11000, 300, 2);
	put_cpu(MIGRATE, 12000, 200, 2); // it is moved by another CPU
	put_switch(20000, 100, 200, SLEEPS, WRITE);
	put_switch(30000, 200, 300, SLEEPS, "");
	return open_text(traced);
}

static enum pd_status print_as(struct pd_text *text, struct pd_file *file, bool json, struct pd_error *error)
{
	const struct pd_why_options options = {
		.size = sizeof(options), .count = 2, .json = json, .symbols = traced_symbols, .self = file
	};

	pd_text_clear(text);
	return pd_print_why(text, file, &options, error);
}

static enum pd_status print_text(struct pd_text *text, struct pd_file *file, struct pd_error *error)
{
	return print_as(text, file, false, error);
}

static enum pd_status print_json(struct pd_text *text, struct pd_file *file, struct pd_error *error)
{
	return print_as(text, file, true, error);
}

TEST(stacks)
{
	struct pd_file *file = make();
	struct pd_text *text = pd_text_new();

	CHECK(file && print_text(text, file, &traced_error) == PD_OK);
	CHECK(text_has(text, "  1. 0.027 ms  :300[300]") &&
	      text_has(text, "     in schedule <- evil\\x1b[31m <- 0x1\n  2. 0.018 ms  :200[200]"));
	CHECK(text_has(text, "     in schedule <- vfs_write\n") && !text_has(text, "vfs_read"));
	CHECK(print_json(text, file, &traced_error) == PD_OK);
	CHECK(text_has(text, "\"stack\":[\"schedule\",\"vfs_write\"],\"wakeups\":[{"));
	pd_text_free(text);
	pd_file_close(file);
}

TEST(queues)
{
	struct pd_file *file = make();
	struct pd_text *text = pd_text_new();

	CHECK(file && print_text(text, file, &traced_error) == PD_OK);
	CHECK(text_has(text, "\nMost threads that waited at once: 2 at 0.000009; for one CPU, CPU 0: 2 at 0.000009\n"));
	CHECK(print_json(text, file, &traced_error) == PD_OK);
	CHECK(text_has(
		text,
		"\"most_by_cpu\":[{\"threads\":2,\"time_ns\":9500},{\"threads\":0,\"time_ns\":null},{\"threads\":2,\"time_ns\":12000},"
		"{\"threads\":0,\"time_ns\":null}]"));
	pd_text_free(text);
	pd_file_close(file);
}

TEST(memory)
{
	struct pd_file *file = make();

	CHECK(file && traced_memory(file, print_text) > 10 && traced_memory(file, print_json) > 10);
	pd_file_close(file);
}

RUN(TEST_CASE(start), TEST_CASE(stacks), TEST_CASE(queues), TEST_CASE(memory), TEST_CASE(clean))

/* SPDX-License-Identifier: MIT */
/* Options of a recording by their names, as a user writes them. */
#include "recording.h"

#include <time.h>

static struct pd_error error;

static enum pd_status set(struct pd_recorder_options *options, const char *name, const char *value)
{
	memset(&error, 0, sizeof(error));
	return pd_recorder_options_set(options, name, value, &error);
}

TEST(targets)
{
	struct pd_recorder_options options = { .size = sizeof(options) };
	struct pd_targets *targets = &options.targets;

	CHECK(!pd_targets_are_given(targets));
	CHECK(set(&options, "pid", "1") == PD_OK);
	CHECK(set(&options, "pid", "12,34") == PD_OK);
	CHECK(targets->pids.count == 2 && targets->pids.items[1] == 34);
	CHECK(pd_targets_are_given(targets));
	CHECK(set(&options, "tid", "5") == PD_OK);
	CHECK(targets->tids.count == 1);
	pd_recorder_options_fini(&options);
	CHECK(!targets->pids.count && !targets->tids.count && !pd_targets_are_given(targets));
	CHECK(set(&options, "cpu", "0,2-3") == PD_OK);
	CHECK_STR(targets->cpus, "0,2-3");
	CHECK(pd_targets_are_given(targets));
	CHECK(set(&options, "uid", "0") == PD_OK);
	CHECK(targets->by_user && targets->uid == 0);
}

TEST(sampling)
{
	struct pd_recorder_options options = { .size = sizeof(options) };
	struct pd_sampling *sampling = &options.sampling;

	CHECK(set(&options, "freq", "99") == PD_OK && sampling->freq == 99);
	CHECK(set(&options, "freq", "max") == PD_OK && sampling->freq_max);
	CHECK(set(&options, "count", "0x10") == PD_OK && sampling->period == 16);
	CHECK(set(&options, "call-graph", "dwarf,4096") == PD_OK);
	CHECK(sampling->call_graph == PD_CALL_GRAPH_DWARF && sampling->stack_size == 4096);
	CHECK(set(&options, "max-stack", "7") == PD_OK && sampling->max_stack == 7);
	CHECK(set(&options, "branch-filter", "any") == PD_OK && sampling->branch_filter);
	CHECK(set(&options, "user-regs", "") == PD_OK && sampling->user_regs);
	CHECK(set(&options, "intr-regs", "") == PD_OK && sampling->intr_regs);
	CHECK(!sampling->use_clock);
	CHECK(set(&options, "clockid", "mono") == PD_OK && sampling->use_clock && sampling->clock == CLOCK_MONOTONIC);
}

TEST(session)
{
	struct pd_recorder_options options = { .size = sizeof(options) };
	struct pd_session *session = &options.session;

	CHECK(set(&options, "mmap-pages", "1M") == PD_OK && session->ring_bytes == 1 << 20);
	CHECK(set(&options, "delay", "-1") == PD_OK && session->delay_ms == -1);
	CHECK(set(&options, "max-size", "2K") == PD_OK && session->max_size == 2048);
	CHECK(set(&options, "duration", "2s") == PD_OK && session->max_ns == 2000000000);
	CHECK(set(&options, "mmap-flush", "3B") == PD_OK && session->flush_bytes == 3);
	CHECK(set(&options, "switch-output", "signal") == PD_OK && session->switch_on_call);
	CHECK(set(&options, "switch-max-files", "4") == PD_OK && session->switch_max_files == 4);
	CHECK(set(&options, "synth", "no") == PD_OK && session->no_synth);
	CHECK(set(&options, "realtime", "99") == PD_OK && session->priority == 99);
	CHECK(set(&options, "threads", "") == PD_OK);
	CHECK_STR(session->threads, "cpu");
	CHECK(set(&options, "threads", "numa") == PD_OK);
	CHECK_STR(session->threads, "numa");
	options.output.packing = PD_PACK_NONE;
	CHECK(set(&options, "compression-level", "0") == PD_OK && options.output.packing == PD_PACK_NONE);
	CHECK(set(&options, "compression-level", "3") == PD_OK && options.output.packing == PD_PACK_ZSTD);
	CHECK(options.output.level == 3);
}

TEST(refused)
{
	static const struct {
		const char *name, *value, *message;
	} wrong[] = {
		{ "count", "x", "'x' is not a number" },
		{ "count", "0", "the period must be greater than 0" },
		{ "max-stack", "4294967296", "4294967296 is too large" },
		{ "switch-max-files", "", "'' is not a number" },
		{ "realtime", "0", "the priority must be between 1 and 99" },
		{ "realtime", "100", "the priority must be between 1 and 99" },
	};
	static const char *const names[] = { "pid",
					     "tid",
					     "uid",
					     "freq",
					     "call-graph",
					     "branch-filter",
					     "user-regs",
					     "clockid",
					     "intr-regs",
					     "mmap-pages",
					     "delay",
					     "max-size",
					     "duration",
					     "mmap-flush",
					     "synth",
					     "switch-output",
					     "compression-level" };
	struct pd_recorder_options options = { .size = sizeof(options) };
	const struct pd_recorder_options same = options;

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		CHECK(set(&options, wrong[i].name, wrong[i].value) == PD_ERROR_ARGUMENT);
		CHECK_STR(error.message, wrong[i].message);
	}
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		CHECK(set(&options, names[i], "no such thing") == PD_ERROR_ARGUMENT && error.message[0]);
	CHECK(memcmp(&options, &same, sizeof(same)) == 0);
	CHECK(set(&options, "nothing", "1") == PD_ERROR_NO_MATCH);
	CHECK_STR(error.message, "a recording has no option 'nothing'");
}

TEST(presets)
{
	struct pd_recorder_options options = { .size = sizeof(options) };
	struct pd_events *events = NULL;
	enum pd_status status;

	CHECK(pd_events_new(NULL, &events, &error) == PD_OK);
	CHECK(pd_recorder_options_preset(&options, events, "nothing", &error) == PD_ERROR_NO_MATCH);
	CHECK_STR(
		error.message,
		"'nothing' is none of sched, waiting, lock, kwork, timechart, timechart-tasks, timechart-power, timechart-io, kmem, trace, mem, c2c");
	status = pd_recorder_options_preset(&options, events, "waiting", &error);
	/* tracepoints of this machine may not be readable */
	CHECK(status < 0 || (options.targets.all && options.sampling.call_graph == PD_CALL_GRAPH_FP));
	CHECK(status == PD_OK || (!options.targets.all && options.sampling.call_graph == PD_CALL_GRAPH_UNSET));
	options = (struct pd_recorder_options){ .size = sizeof(options) };
	status = pd_recorder_options_preset(&options, events, "c2c", &error);
	/* most virtual machines have none */
	CHECK(status == PD_OK || status == PD_ERROR_ARGUMENT);
	CHECK(options.sampling.addr == (status == PD_OK) && options.sampling.weight == (status == PD_OK));
	CHECK(status == PD_OK || strstr(error.message, "no events of memory accesses"));
	pd_events_free(events);
}

TEST(events)
{
	struct pd_events *events = NULL;

	CHECK(pd_events_new(NULL, &events, &error) == PD_OK);
	CHECK(pd_events_set(events, "event", "cpu-clock,page-faults", true, &error) == PD_OK);
	CHECK(pd_events_count(events) == 2);
	CHECK(pd_events_set(events, "cgroup", "one", true, &error) == PD_OK);
	CHECK(pd_events_set(events, "cgroup", "one,two,three", true, &error) == PD_ERROR_ARGUMENT);
	CHECK(pd_events_set(events, "filter", "pid == 1", true, &error) == PD_ERROR_ARGUMENT);
	CHECK(pd_events_set(events, "exclude-perf", NULL, true, &error) == PD_ERROR_ARGUMENT);
	CHECK(pd_events_set(events, "event", "no-such-event", true, &error) == PD_ERROR_ARGUMENT);
	CHECK(pd_events_set(events, "nothing", "", true, &error) == PD_ERROR_NO_MATCH);
	CHECK_STR(error.message, "events have no option 'nothing'");
	pd_events_free(events);
}

TEST(no_memory)
{
	struct pd_recorder_options options = { .size = sizeof(options) };

	left = 0;
	CHECK(set(&options, "pid", "1,2") == PD_ERROR_MEMORY);
	left = 0;
	CHECK(set(&options, "tid", "1,2") == PD_ERROR_MEMORY);
	left = -1;
	CHECK(!pd_targets_are_given(&options.targets));
}

RUN(TEST_CASE(targets), TEST_CASE(sampling), TEST_CASE(session), TEST_CASE(refused), TEST_CASE(presets),
    TEST_CASE(events), TEST_CASE(no_memory))

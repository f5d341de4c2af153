/* SPDX-License-Identifier: MIT */
/* What users write as values of a recording's options. */
#include <perfdata/perfdata.h>

#include <time.h>
#include <unistd.h>

#include "test.h"

static struct pd_error error;

#define CHECK_INT(got, wanted) CHECK((long long)(got) == (long long)(wanted))

#define CHECK_VALUE(function, text, expected)                     \
	do {                                                      \
		value = 99;                                       \
		CHECK_INT(function(text, &value, &error), PD_OK); \
		CHECK_INT(value, expected);                       \
	} while (0)

#define CHECK_REFUSED(function, text)                                         \
	do {                                                                  \
		value = 99;                                                   \
		CHECK_INT(function(text, &value, &error), PD_ERROR_ARGUMENT); \
		CHECK(strstr(error.message, "'" text "' is not a"));          \
		CHECK_INT(value, 99);                                         \
	} while (0)

TEST(test_values__sizes)
{
	uint64_t value;

	CHECK_VALUE(pd_size_parse, "0", 0);
	CHECK_VALUE(pd_size_parse, "100", 100);
	CHECK_VALUE(pd_size_parse, "64k", 65536);
	CHECK_VALUE(pd_size_parse, "2MB", 2 << 20);
	CHECK_VALUE(pd_size_parse, "1G", 1 << 30);
	CHECK_VALUE(pd_size_parse, "17179869183G", UINT64_C(17179869183) << 30);
	CHECK_REFUSED(pd_size_parse, "17179869184G");
	CHECK_REFUSED(pd_size_parse, "99999999999999999999");
	CHECK_REFUSED(pd_size_parse, "");
	CHECK_REFUSED(pd_size_parse, "-1");
	CHECK_REFUSED(pd_size_parse, "1T");
	CHECK_REFUSED(pd_size_parse, "1 K");
}

TEST(test_values__durations)
{
	uint64_t value;

	CHECK_VALUE(pd_duration_parse, "3", UINT64_C(3000000000));
	CHECK_VALUE(pd_duration_parse, "500ms", 500000000);
	CHECK_VALUE(pd_duration_parse, "7ns", 7);
	CHECK_VALUE(pd_duration_parse, "1H", UINT64_C(3600000000000));
	CHECK_VALUE(pd_duration_parse, "2d", UINT64_C(172800000000000));
	CHECK_REFUSED(pd_duration_parse, "1w");
	CHECK_REFUSED(pd_duration_parse, "s");
}

TEST(test_values__rings)
{
	uint64_t value, page = (uint64_t)sysconf(_SC_PAGESIZE);

	CHECK_VALUE(pd_ring_parse, "1", page);
	CHECK_VALUE(pd_ring_parse, "3", 4 * page);
	CHECK_VALUE(pd_ring_parse, "64,16", 64 * page);
	CHECK_VALUE(pd_ring_parse, "512K", 512 << 10);
	CHECK_VALUE(pd_ring_parse, "600K", 1 << 20);
	CHECK_VALUE(pd_ring_parse, "1B", page);
	CHECK_REFUSED(pd_ring_parse, "0");
	CHECK_REFUSED(pd_ring_parse, "1025G");
	CHECK_REFUSED(pd_ring_parse, ",16");
}

TEST(test_values__clocks)
{
	int32_t value;

	CHECK_VALUE(pd_clock_parse, "mono", CLOCK_MONOTONIC);
	CHECK_VALUE(pd_clock_parse, "CLOCK_MONOTONIC_RAW", CLOCK_MONOTONIC_RAW);
	CHECK_VALUE(pd_clock_parse, "Boot", CLOCK_BOOTTIME);
	CHECK_VALUE(pd_clock_parse, "11", CLOCK_TAI);
	CHECK_REFUSED(pd_clock_parse, "2");
	CHECK_REFUSED(pd_clock_parse, "clock");
}

TEST(test_values__call_graphs)
{
	enum pd_call_graph how = PD_CALL_GRAPH_NONE;
	uint32_t size = 5;

	CHECK_INT(pd_call_graph_parse("fp", &how, &size, &error), PD_OK);
	CHECK_INT(how, PD_CALL_GRAPH_FP);
	CHECK_INT(pd_call_graph_parse("dwarf", &how, &size, &error), PD_OK);
	CHECK_INT(how, PD_CALL_GRAPH_DWARF);
	CHECK_INT(size, 5);
	CHECK_INT(pd_call_graph_parse("DWARF,4001", &how, &size, &error), PD_OK);
	CHECK_INT(size, 4008);
	CHECK_INT(pd_call_graph_parse("dwarf,65528", &how, &size, &error), PD_OK);
	CHECK_INT(size, 65528);
	CHECK_INT(pd_call_graph_parse("dwarf,65529", &how, &size, &error), PD_ERROR_ARGUMENT);
	CHECK_INT(pd_call_graph_parse("dwarf,7", &how, &size, &error), PD_ERROR_ARGUMENT);
	CHECK_INT(pd_call_graph_parse("fp,4096", &how, &size, &error), PD_ERROR_ARGUMENT);
	CHECK_INT(pd_call_graph_parse("frame", &how, &size, &error), PD_ERROR_ARGUMENT);
	CHECK_INT(pd_call_graph_parse("", &how, &size, &error), PD_ERROR_ARGUMENT);
}

TEST(test_values__branches)
{
	uint64_t value;

	CHECK_VALUE(pd_branches_parse, "any", PD_MASK(PD_BRANCH_TYPE_ANY));
	CHECK_VALUE(pd_branches_parse, "u", PD_MASK(PD_BRANCH_TYPE_ANY) | PD_MASK(PD_BRANCH_TYPE_USER));
	CHECK_VALUE(pd_branches_parse, "", PD_MASK(PD_BRANCH_TYPE_ANY));
	CHECK_VALUE(pd_branches_parse, "any_call,K", PD_MASK(PD_BRANCH_TYPE_ANY_CALL) | PD_MASK(PD_BRANCH_TYPE_KERNEL));
	CHECK_REFUSED(pd_branches_parse, "any,other");
	CHECK_REFUSED(pd_branches_parse, ",any");
}

TEST(test_values__registers)
{
	uint64_t value, all;

	CHECK_INT(pd_registers_parse("", &all, &error), PD_OK);
	CHECK(all);
	CHECK_REFUSED(pd_registers_parse, "none,such");
#ifdef __x86_64__
	CHECK_INT(all, 0xff0fff);
	CHECK_VALUE(pd_registers_parse, "ax,BX", 3);
	CHECK_VALUE(pd_registers_parse, "ip", 1 << 8);
#endif
}

TEST(test_values__numbers)
{
	uint64_t value = 99;

	CHECK(pd_number_parse("18446744073709551615", &value) && value == UINT64_MAX);
	CHECK(pd_number_parse("0xFf", &value) && value == 255);
	CHECK(!pd_number_parse("18446744073709551616", &value) && !pd_number_parse("", &value) && value == 255);
	CHECK(!pd_number_parse("0x", &value) && !pd_number_parse("-1", &value) && !pd_number_parse("1a", &value));
}

TEST(test_values__ids)
{
	struct pd_u32s ids = { 0 };

	CHECK_INT(pd_ids_parse("12,345,", &ids, &error), PD_OK);
	CHECK_INT(ids.count, 2);
	CHECK_INT(ids.items[1], 345);
	pd_ids_free(&ids);
	CHECK(!ids.items && !ids.count);
	CHECK_INT(pd_ids_parse("", &ids, &error), PD_ERROR_ARGUMENT);
	CHECK_INT(pd_ids_parse("1,x", &ids, &error), PD_ERROR_ARGUMENT);
	CHECK_INT(pd_ids_parse("2147483648", &ids, &error), PD_ERROR_ARGUMENT);
	CHECK(strstr(error.message, "'2147483648' is not a list of numbers"));
}

TEST(test_values__users)
{
	uint32_t value;

	CHECK_VALUE(pd_user_parse, "root", 0);
	CHECK_VALUE(pd_user_parse, "4711", 4711);
	CHECK_REFUSED(pd_user_parse, "no such user");
	CHECK_REFUSED(pd_user_parse, "4294967296");
}

TEST(test_values__sessions)
{
	struct pd_sampling sampling = { 0 };
	struct pd_session session = { 0 };
	int64_t ms = 5;

	CHECK_INT(pd_freq_parse("99", &sampling, &error), PD_OK);
	CHECK(sampling.freq == 99 && !sampling.freq_max);
	CHECK_INT(pd_freq_parse("max", &sampling, &error), PD_OK);
	CHECK(!sampling.freq && sampling.freq_max);
	CHECK_INT(pd_freq_parse("0", &sampling, &error), PD_ERROR_ARGUMENT);
	CHECK_INT(pd_synth_parse("mmap,cgroup", &session, &error), PD_OK);
	CHECK(session.synth == (PD_SYNTH_TASK | PD_SYNTH_MMAP | PD_SYNTH_CGROUP) && !session.no_synth);
	CHECK_INT(pd_synth_parse("no", &session, &error), PD_OK);
	CHECK(session.no_synth);
	CHECK_INT(pd_synth_parse("task,maps", &session, &error), PD_ERROR_ARGUMENT);
	CHECK(strstr(error.message, "'maps' is not all"));
	CHECK_INT(pd_delay_parse("-1", &ms, &error), PD_OK);
	CHECK_INT(ms, -1);
	CHECK_INT(pd_delay_parse("-2", &ms, &error), PD_ERROR_ARGUMENT);
	CHECK_INT(pd_delay_parse("1s", &ms, &error), PD_ERROR_ARGUMENT);
	CHECK_INT(ms, -1);
}

static void add_event(struct pd_events *events, const char *name)
{
	CHECK_INT(pd_events_add(events, name, &error), PD_OK);
}

TEST(test_values__cgroups)
{
	struct pd_targets targets = { 0 };
	struct pd_events *events;

	CHECK_INT(pd_events_new(NULL, &events, &error), PD_OK);
	CHECK_INT(pd_events_cgroup(events, "a", true, &error), PD_ERROR_ARGUMENT);
	add_event(events, "cpu-clock,page-faults");
	CHECK_INT(pd_events_cgroup(events, "a", true, &error), PD_OK);
	add_event(events, "dummy,task-clock");
	CHECK_INT(pd_events_cgroup(events, ",b", true, &error), PD_OK);
	CHECK_INT(pd_events_cgroup(events, "c,d", true, &error), PD_ERROR_ARGUMENT);
	CHECK_INT(pd_events_cgroups(events, true, &targets, &error), PD_OK);
	CHECK_INT(targets.cgroup_count, 4);
	CHECK(!strcmp(targets.cgroups[0], "a") && !strcmp(targets.cgroups[1], "a") && !strcmp(targets.cgroups[2], "b"));
	pd_events_free(events);
	CHECK_INT(pd_events_new(NULL, &events, &error), PD_OK);
	CHECK_INT(pd_events_cgroup(events, "a,,b", false, &error), PD_OK);
	CHECK_INT(pd_events_cgroups(events, false, &targets, &error), PD_OK);
	CHECK(targets.cgroup_count == 3 && !*targets.cgroups[1] && !strcmp(targets.cgroups[2], "b"));
	pd_events_free(events);
}

static bool fill(void *self, struct pd_text *text)
{
	(void)self;
	(void)text;
	return false;
}

TEST(test_values__event_list)
{
	const char *word = "context-switches", *other = "no such event";
	struct pd_text *text = pd_text_new();
	struct pd_error error;

	CHECK_INT(pd_print_event_list(text, NULL, &word, 1, PD_EVENT_LIST_NAMES, &error), PD_OK);
	CHECK_INT(pd_print_event_list(text, NULL, &word, 1, PD_EVENT_LIST_JSON, &error), PD_OK);
	CHECK_INT(pd_print_event_list(text, NULL, &word, 1, PD_EVENT_LIST_TEXT, &error), PD_OK);
	pd_text_printf(text, "%c", 0);
	CHECK(!strncmp((const char *)pd_text_bytes(text).data,
		       "context-switches\n[\n{\"Unit\":\"software\",\"EventName\":\"context-switches\",", 69));
	CHECK(strstr((const char *)pd_text_bytes(text).data, "\"}\n]\n"));
	CHECK(strstr((const char *)pd_text_bytes(text).data, "  context-switches OR cs "));
	CHECK_INT(pd_print_event_list(text, NULL, &other, 1, PD_EVENT_LIST_TEXT, &error), PD_ERROR_NO_MATCH);
	for (int i = 0; i < 20000; i++)
		pd_text_add(text, "a line\n");
	pd_text_set_sink(text, fill, NULL);
	CHECK_INT(pd_print_event_list(text, NULL, &word, 1, PD_EVENT_LIST_NAMES, &error), PD_ERROR_OUTPUT);
	pd_text_free(text);
}

TEST(test_values__event_names)
{
	const struct pd_event_name name = { .kind = PD_EVENT_SOFTWARE,
					    .name = "context-switches",
					    .alias = "cs",
					    .about = "\"x\"",
					    .pmu = "software" };
	const char *kind = "sw", *other = "hw", *part = "switch", *pattern = "con*es";
	struct pd_text *text = pd_text_new();

	CHECK(pd_event_name_fits(&name, NULL, 0) && pd_event_name_fits(&name, &kind, 1));
	CHECK(pd_event_name_fits(&name, &part, 1) && pd_event_name_fits(&name, &pattern, 1));
	CHECK(!pd_event_name_fits(&name, &other, 1));
	pd_print_event_name(text, &name);
	pd_json_event_name(text, &name);
	pd_text_printf(text, "%c", 0);
	CHECK(!strcmp(
		(const char *)pd_text_bytes(text).data,
		"  context-switches OR cs                             [Software event]\n"
		"{\"Unit\":\"software\",\"EventName\":\"context-switches\",\"EventAlias\":\"cs\",\"EventType\":\"Software event\",\"BriefDescription\":\"\\\"x\\\"\"}"));
	pd_text_free(text);
}

static void keep_warning(void *self, const char *sentence)
{
	snprintf(self, 64, "%s", sentence);
}

TEST(test_values__control)
{
	struct pd_control *control;
	char where[64], answer[8] = "", warning[64] = "";
	int in[2], out[2];

	CHECK_INT(pd_control_open(NULL, "fd", NULL, NULL, &control, &error), PD_ERROR_ARGUMENT);
	CHECK_INT(pd_control_open(NULL, "fd:1x", NULL, NULL, &control, &error), PD_ERROR_SYSTEM);
	CHECK_INT(pd_control_open(NULL, "fifo:/no/such", NULL, NULL, &control, &error), PD_ERROR_SYSTEM);
	CHECK(strstr(error.message, "cannot open 'fifo:/no/such'"));
	CHECK(pipe(in) == 0 && pipe(out) == 0);
	snprintf(where, sizeof(where), "fd:%d,%d", in[0], out[1]);
	CHECK_INT(pd_control_open(NULL, where, keep_warning, warning, &control, &error), PD_OK);
	CHECK(write(in[1], "other\nping\n", 11) == 11);
	CHECK(read(out[0], answer, 4) == 4 && !strcmp(answer, "ack\n"));
	CHECK(!strcmp(warning, "control: unknown command 'other'"));
	pd_control_close(control);
	close(in[0]);
	close(in[1]);
	close(out[0]);
	close(out[1]);
}

TEST(test_values__switching)
{
	struct pd_session session = { 0 };

	CHECK_INT(pd_switch_parse("", &session, &error), PD_OK);
	CHECK(session.switch_on_call && !session.switch_size && !session.switch_ns);
	CHECK_INT(pd_switch_parse("100M", &session, &error), PD_OK);
	CHECK_INT(session.switch_size, 100 << 20);
	CHECK_INT(pd_switch_parse("30s", &session, &error), PD_OK);
	CHECK_INT(session.switch_ns, 30000000000);
	CHECK_INT(pd_switch_parse("xM", &session, &error), PD_ERROR_ARGUMENT);
}

TEST(test_values__compression)
{
	struct pd_writer_options output = { .packing = PD_PACK_NONE };

	CHECK_INT(pd_compression_parse("0", &output, &error), PD_OK);
	CHECK_INT(output.packing, PD_PACK_NONE);
	CHECK_INT(pd_compression_parse("23", &output, &error), PD_ERROR_ARGUMENT);
	CHECK_STR(error.message, "'23' is not a number from 0 to 22");
	CHECK_INT(pd_compression_parse("9", &output, &error), PD_OK);
	CHECK(output.packing == PD_PACK_ZSTD && output.level == 9);
	CHECK_INT(pd_compression_parse("true", &output, &error), PD_OK);
	CHECK_INT(output.level, 0);
}

TEST(test_values__result)
{
	const struct pd_recorded recorded = { .samples = 1, .bytes = 100, .lost = 1, .files = 2 };
	struct pd_recorder_options options = { .size = sizeof(options), .path = "x.data" };
	struct pd_text *text = pd_text_new();

	CHECK(text);
	pd_recorded_text(&recorded, &options, true, text);
	CHECK(!strncmp((const char *)pd_text_bytes(text).data, "1 records lost (50.00%): ", 25));
	pd_text_clear(text);
	options.session.timestamp_filename = true;
	pd_recorded_text(&recorded, &options, false, text);
	CHECK(memmem(pd_text_bytes(text).data, pd_text_bytes(text).size, ", in 2 files x.data.TIME\n", 25));
	pd_text_free(text);
}

RUN(TEST_CASE(test_values__sizes), TEST_CASE(test_values__durations), TEST_CASE(test_values__rings),
    TEST_CASE(test_values__clocks), TEST_CASE(test_values__call_graphs), TEST_CASE(test_values__branches),
    TEST_CASE(test_values__registers), TEST_CASE(test_values__numbers), TEST_CASE(test_values__ids),
    TEST_CASE(test_values__users), TEST_CASE(test_values__sessions), TEST_CASE(test_values__cgroups),
    TEST_CASE(test_values__event_list), TEST_CASE(test_values__event_names), TEST_CASE(test_values__control),
    TEST_CASE(test_values__switching), TEST_CASE(test_values__compression), TEST_CASE(test_values__result))

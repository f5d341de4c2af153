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

RUN(TEST_CASE(test_values__sizes), TEST_CASE(test_values__durations), TEST_CASE(test_values__rings),
    TEST_CASE(test_values__clocks), TEST_CASE(test_values__call_graphs), TEST_CASE(test_values__branches),
    TEST_CASE(test_values__registers))

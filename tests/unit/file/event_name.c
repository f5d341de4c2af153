/* SPDX-License-Identifier: MIT */
/*
 * Names of events. The wanted texts are what perf 6.1 prints for files made with these attrs.
 */
#include "file/event_name.h"
#include "../test.h"

#include <stdlib.h>

#define GUEST PD_MASK(PD_ATTR_EXCLUDE_GUEST)
#define HOST PD_MASK(PD_ATTR_EXCLUDE_HOST)
#define USER PD_MASK(PD_ATTR_EXCLUDE_USER)
#define KERNEL PD_MASK(PD_ATTR_EXCLUDE_KERNEL)
#define HV PD_MASK(PD_ATTR_EXCLUDE_HV)
#define IDLE PD_MASK(PD_ATTR_EXCLUDE_IDLE)
#define PRECISE(n) ((uint64_t)(n) << PD_ATTR_PRECISE_IP_SHIFT)

struct wanted {
	uint32_t type;
	uint64_t config;
	uint64_t flags;
	const char *name;
};

static const struct wanted names[] = {
	{ 0, 0, 0, "cycles:HG" },
	{ 0, 1, GUEST, "instructions" },
	{ 0, 4, GUEST, "branches" },
	{ 0, 9, GUEST, "ref-cycles" },
	{ 0, 10, GUEST, "unknown-hardware" },
	{ 0, 0xffffffff, 0, "unknown-hardware:HG" },
	{ 0, UINT64_C(4) << 32 | 9, 0, "cpu/ref-cycles/:HG" },
	{ 0, UINT64_C(0x35333400005a4580), USER | PRECISE(2), "cpu/unknown-hardware/:khpp" },
	{ 1, 0, GUEST, "cpu-clock" },
	{ 1, 5, GUEST, "minor-faults" },
	{ 1, 9, 0, "dummy:HG" },
	{ 1, 10, 0, "unknown-software:HG" },
	{ 1, UINT64_C(1) << 32, 0, "unknown-software:HG" },
	{ 2, 5, 0, "unknown tracepoint" },
	{ 2, 5, USER, "unknown tracepoint" },
	{ 3, 0, GUEST, "L1-dcache-loads" },
	{ 3, 0x10000, GUEST, "L1-dcache-load-misses" },
	{ 3, 0x20000, GUEST, "unknown-ext-hardware-cache-result" },
	{ 3, 0x100, GUEST, "L1-dcache-stores" },
	{ 3, 0x10100, GUEST, "L1-dcache-store-misses" },
	{ 3, 0x200, GUEST, "L1-dcache-prefetches" },
	{ 3, 0x10200, GUEST, "L1-dcache-prefetch-misses" },
	{ 3, 0x300, GUEST, "unknown-ext-hardware-cache-op" },
	{ 3, 0x20300, GUEST, "unknown-ext-hardware-cache-op" },
	{ 3, 0x101, GUEST, "invalid-cache" },
	{ 3, 0x10201, GUEST, "L1-icache-prefetch-misses" },
	{ 3, 0x2, GUEST, "LLC-loads" },
	{ 3, UINT64_C(4) << 32 | 0x10002, GUEST, "LLC-load-misses" },
	{ 3, 0x10103, GUEST, "dTLB-store-misses" },
	{ 3, 0x10004, GUEST, "iTLB-load-misses" },
	{ 3, 0x204, GUEST, "invalid-cache" },
	{ 3, 0x5, GUEST, "branch-loads" },
	{ 3, 0x105, GUEST | KERNEL, "invalid-cache:uhH" },
	{ 3, 0x206, GUEST, "node-prefetches" },
	{ 3, 0x7, GUEST, "unknown-ext-hardware-cache-type" },
	{ 3, 0xff, GUEST | KERNEL, "unknown-ext-hardware-cache-type:uhH" },
	{ 4, 0x11, GUEST, "raw 0x11" },
	{ 4, UINT64_MAX, 0, "raw 0xffffffffffffffff:HG" },
	{ 6, 3, USER, "unknown attr type: 6" },
	{ 0x80000000, 3, 0, "unknown attr type: -2147483648" },
	{ 0xfffffffe, 3, 0, "unknown attr type: -2" },
	// modifiers
	{ 0, 1, HOST, "instructions:G" },
	{ 0, 1, HOST | GUEST, "instructions" },
	{ 0, 1, PRECISE(1), "instructions:p" },
	{ 0, 1, PRECISE(3), "instructions:ppp" },
	{ 0, 1, PRECISE(1) | GUEST, "instructions:pH" },
	{ 0, 1, PRECISE(2) | HOST, "instructions:ppG" },
	{ 0, 1, USER, "instructions:kh" },
	{ 0, 1, USER | GUEST, "instructions:khH" },
	{ 0, 1, KERNEL | HOST, "instructions:uhG" },
	{ 0, 1, HV, "instructions:ku" },
	{ 0, 1, HV | PRECISE(3) | HOST, "instructions:kupppG" },
	{ 0, 1, USER | HV, "instructions:k" },
	{ 0, 1, KERNEL | HV | PRECISE(2), "instructions:upp" },
	{ 0, 1, USER | KERNEL, "instructions:h" },
	{ 0, 1, USER | KERNEL | HV, "instructions" },
	{ 0, 1, USER | KERNEL | HV | GUEST, "instructions:H" },
	{ 0, 1, IDLE, "instructions:HG" },
};

static const struct wanted breakpoints[] = {
	{ 5, 0, GUEST, "mem:0x1234:" },     { 5, 1, GUEST, "mem:0x1234:r" }, { 5, 2, GUEST, "mem:0x1234:w" },
	{ 5, 3, USER, "mem:0x1234:rw:kh" }, { 5, 4, 0, "mem:0x1234:x:HG" },  { 5, 7, GUEST, "mem:0x1234:rwx" },
	{ 5, 8, 0, "mem:0x1234::HG" },
};

TEST(test_event_name__as_perf)
{
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct pd_attr attr = { .type = names[i].type, .config = names[i].config, .flags = names[i].flags };
		char name[64];

		CHECK(pd_event_name(&attr, NULL, name, sizeof(name)) == strlen(names[i].name));
		CHECK_STR(name, names[i].name);
	}
}

TEST(test_event_name__breakpoints)
{
	for (size_t i = 0; i < sizeof(breakpoints) / sizeof(breakpoints[0]); i++) {
		struct pd_attr attr = { .type = PD_TYPE_BREAKPOINT,
					.bp_type = (uint32_t)breakpoints[i].config,
					.flags = breakpoints[i].flags,
					.config1 = 0x1234 };
		char name[64];

		pd_event_name(&attr, NULL, name, sizeof(name));
		CHECK_STR(name, breakpoints[i].name);
	}
}

TEST(test_event_name__like_snprintf)
{
	struct pd_attr attr = { .type = PD_TYPE_SOFTWARE, .flags = USER };
	char name[8] = "xxxxxxx";

	CHECK(pd_event_name(&attr, NULL, NULL, 0) == strlen("cpu-clock:kh"));
	CHECK(pd_event_name(&attr, NULL, name, sizeof(name)) == strlen("cpu-clock:kh"));
	CHECK_STR(name, "cpu-clo");
	CHECK(pd_event_name(&attr, NULL, name, 1) == strlen("cpu-clock:kh"));
	CHECK_STR(name, "");
	attr.type = PD_TYPE_TRACEPOINT;
	pd_event_name(&attr, "a:b", name, sizeof(name));
	CHECK_STR(name, "a:b");
}

// A copy without an end mark in memory of just its size, so that a sanitizer sees a read after it.
static struct pd_sized_text format_of(const char *text)
{
	size_t size = strlen(text);
	uint8_t *copy = malloc(size ? size : 1);

	memcpy(copy, text, size);
	return (struct pd_sized_text){ .data = { copy, size } };
}

// Name of the first tracepoint with that id.
static bool find_tracepoint(const struct pd_tracing_data *data, uint64_t wanted, char *name, size_t size)
{
	struct pd_tracepoints walk = { .data = data };
	uint64_t id;

	while (pd_tracepoints_next(&walk, &id, name, size))
		if (id == wanted)
			return true;
	return false;
}

TEST(test_tracepoints_next__found)
{
	struct pd_sized_text sched[] = {
		format_of(""),
		format_of("name"),
		format_of("name: no_id\nformat:\nID: 7\n"),
		format_of("name: sched_switch\nID: 319\nformat:\n\tfield:int x;\n"),
		format_of("name: huge\nID: 99999999999999999999\nformat:\n"),
		format_of("name: not_a_number\nID: 8x\nformat:\n"),
		format_of("name: \nID: 10\n"),
		format_of("ID: 9\r\nname: last\r"),
	};
	struct pd_sized_text ftrace[] = { format_of("name: function\nID: 1") };
	struct pd_tracing_system system = {
		.name = { "sched", 5, 6 },
		.formats = { sched, sizeof(sched) / sizeof(sched[0]), sizeof(sched[0]) },
	};
	struct pd_tracing_data data = { .ftrace_formats = { ftrace, 1, sizeof(ftrace[0]) },
					.systems = { &system, 1, sizeof(system) } };
	char name[64] = "";

	CHECK(find_tracepoint(&data, 319, name, sizeof(name)));
	CHECK_STR(name, "sched:sched_switch");
	CHECK(find_tracepoint(&data, 9, name, sizeof(name)));
	CHECK_STR(name, "sched:last");
	CHECK(find_tracepoint(&data, 1, name, sizeof(name)));
	CHECK_STR(name, "ftrace:function");
	CHECK(find_tracepoint(&data, 319, name, 9));
	CHECK_STR(name, "sched:sc");
	CHECK(!find_tracepoint(&data, 31, name, sizeof(name)));
	CHECK(!find_tracepoint(&data, 7, name, sizeof(name)));
	CHECK(!find_tracepoint(&data, 8, name, sizeof(name)));
	CHECK(!find_tracepoint(&data, 10, name, sizeof(name)));
	CHECK(!find_tracepoint(&data, 0, name, sizeof(name)));
	for (size_t i = 0; i < sizeof(sched) / sizeof(sched[0]); i++)
		free((void *)(uintptr_t)sched[i].data.data);
	free((void *)(uintptr_t)ftrace[0].data.data);
}

RUN(TEST_CASE(test_event_name__as_perf), TEST_CASE(test_event_name__breakpoints),
    TEST_CASE(test_event_name__like_snprintf), TEST_CASE(test_tracepoints_next__found))

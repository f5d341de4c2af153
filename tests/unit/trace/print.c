/* SPDX-License-Identifier: MIT */
/* What formats print, one construct after another. What perf 6.1 does other than C stands under its own heading. */
#include "unit/test.h"
#include "unit/trace/make.h"

#define COMMON                                                                 \
	"name: thing\nID: 7\nformat:\n"                                        \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n" \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
#define FIELDS                                                                       \
	"\tfield:int a;\toffset:8;\tsize:4;\tsigned:1;\n"                            \
	"\tfield:unsigned int b;\toffset:12;\tsize:4;\tsigned:0;\n"                  \
	"\tfield:unsigned long c;\toffset:16;\tsize:8;\tsigned:0;\n"                 \
	"\tfield:char comm[8];\toffset:24;\tsize:8;\tsigned:0;\n"                    \
	"\tfield:__data_loc char[] name;\toffset:32;\tsize:4;\tsigned:0;\n"          \
	"\tfield:__rel_loc char[] near;\toffset:36;\tsize:4;\tsigned:0;\n"           \
	"\tfield:u16 list[2];\toffset:40;\tsize:4;\tsigned:0;\n"                     \
	"\tfield:__data_loc unsigned long[] mask;\toffset:44;\tsize:4;\tsigned:0;\n" \
	"\tfield:unsigned char mac[6];\toffset:48;\tsize:6;\tsigned:0;\n"            \
	"\tfield:short s;\toffset:54;\tsize:2;\tsigned:1;\n"                         \
	"\tfield:u8 ip6[16];\toffset:56;\tsize:16;\tsigned:0;\n"                     \
	"\tfield:void * p;\toffset:72;\tsize:8;\tsigned:0;\n\n"

enum {
	RAW = 108
};

static const uint8_t raw[RAW] = {
	7,         0,           0,           0,           42,        0,           0,        0,           [8] = 0xfe,
	0xff,      0xff,        0xff, // a = -2
	[12] = 6,  [16] = 0x10, [23] = 0x80, [24] = 's',  'h',       'e',         'l',      'l',         [32] = 80,
	0,         6,           0,              // name: offset 80, 6 bytes
	[36] = 46, 0,           4,           0, // near: 46 behind 40
	[40] = 1,  2,           3,           4,           [44] = 92, 0,           16,       0,           [48] = 0,
	1,         2,           0xab,        0xcd,        0xef,      [54] = 0xff, 0xff,     [56] = 0x20, 1,
	0x0d,      0xb8,        [71] = 1,    [72] = 0xef, 0xbe,      [80] = 'h',  'e',      'l',         'l',
	'o',       0,           'y',         'e',         's',       0,           [92] = 3, [100] = 1,
};

// The text of a format, in a place that stays until the next call.
static const char *printed_of(const char *print, bool big, unsigned long_size, struct pd_bytes bytes)
{
	static char buffer[8192];
	struct made_trace made;
	struct pd_text text = { 0 };
	char format[8192];
	int size = snprintf(format, sizeof(format), COMMON FIELDS "print fmt: %s\n", print);

	make_trace(&made, format, (size_t)size, big, long_size);
	buffer[0] = 0;
	if (!made.format.usable) {
		strcpy(buffer, "unusable");
	} else {
		pd_trace_print_format(&made.trace, &made.format, bytes, &text);
		snprintf(buffer, sizeof(buffer), "%.*s", (int)text.size, text.size ? text.data : "");
	}
	pd_free(text.data);
	made_trace_fini(&made);
	return buffer;
}

static const char *printed(const char *print)
{
	return printed_of(print, false, 8, (struct pd_bytes){ raw, RAW });
}

TEST(test_print__numbers)
{
	CHECK_STR(printed("\"%d %u %x %lx %llu %5d|%-5d|%05d %#x %%\", REC->a, REC->b, REC->b, REC->c, REC->c, REC->b, "
			  "REC->b, REC->b, REC->b"),
		  "-2 6 6 8000000000000010 9223372036854775824     6|6    |00006 0x6 %");
	CHECK_STR(printed("\"%hd %hhu %*d %.3d\", REC->s, REC->c, 4, REC->b, REC->b"), "-1 16    6 006");
	CHECK_STR(printed("\"%p %p\", REC->p, 0"), "0xbeef (nil)");
	CHECK_STR(printed("\"a\\tb\\n%d\" \"%u\", REC->b, REC->b"), "a\tb\n66");
}

TEST(test_print__texts)
{
	CHECK_STR(printed("\"%s|%8s|%-8s|%.2s|%s|%s\", REC->comm, REC->comm, REC->comm, REC->comm, __get_str(name), "
			  "__get_rel_str(near)"),
		  "shell|   shell|shell   |sh|hello|yes");
	CHECK_STR(printed("\"%.*s\", 3, __get_str(name)"), "hel");
	CHECK_STR(printed("\"%s %s\", REC->b ? \"yes\" : \"no\", REC->b > 6 ? \"more\" : \"less\""), "yes less");
}

TEST(test_print__flags)
{
	CHECK_STR(printed("\"%s\", __print_flags(REC->b, \"|\", { 1, \"A\" }, { 2, \"B\" }, { (1UL << (2)), \"C\" })"),
		  "B|C");
	CHECK_STR(printed("\"%s\", __print_flags(REC->b, \"\", { 2, \"B\" })"), "B0x4");
	CHECK_STR(printed("\"%s\", __print_flags(REC->b & 1, \"|\", { 1, \"A\" })"), "");
	CHECK_STR(
		printed("\"%s %s\", __print_symbolic(REC->b, { 6, \"six\" }), __print_symbolic(REC->a, { 6, \"six\" })"),
		"six 0xfffffffe");
}

TEST(test_print__arrays)
{
	CHECK_STR(printed("\"%s %s\", __print_hex(REC->mac, 3), __print_hex_str(REC->mac, 6)"),
		  "00 01 02 000102abcdef");
	CHECK_STR(printed("\"%s %d\", __print_array(REC->list, 2, 2), REC->list[1]"), "513 1027 1027");
	CHECK_STR(printed("\"%s %d\", __get_bitmask(mask), __get_dynamic_array_len(mask)"),
		  "00000000,00000001,00000000,00000003 16");
	CHECK_STR(printed("\"%lu\", ((unsigned long *)__get_dynamic_array(mask))[1]"), "1");
	CHECK_STR(printed("\"%pM %pm %pI6c %pI4\", REC->mac, REC->mac, REC->ip6, REC->list"),
		  "00:01:02:ab:cd:ef 000102abcdef 2001:db8::1 1.2.3.4");
	CHECK_STR(printed("\"%pU\", REC->ip6"), "20010db8-0000-0000-0000-000000000001");
}

TEST(test_print__expressions)
{
	CHECK_STR(printed("\"%d %d %d %d\", REC->b + 1, REC->b << 2, !REC->b, REC->b && 0"), "7 24 0 0");
	CHECK_STR(printed("\"%d %d\", (u8)REC->a, sizeof(u32)"), "254 4");
	CHECK_STR(printed("\"%d\", __builtin_expect(!!(REC->b > 5), 0)"), "1");
	CHECK_STR(printed("\"%u %u\", REC->b / 0, REC->b % (REC->list[60000])"), "0 0");
}

// Trees as perf 6.1 makes them: what is printed here is what it prints.
TEST(test_print__as_perf)
{
	CHECK_STR(printed("\"%d\", REC->b - 1 + 1"), "4");
	CHECK_STR(printed("\"%x\", REC->b & (0x1 | 0x8)"), "8");
	CHECK_STR(printed("\"%c %d\", REC->b, REC->b"), ">c< 6");
	CHECK_STR(
		printed("\"%d\", jiffies_to_msecs(REC->b)"),
		"[FAILED TO PARSE] a=-2 b=6 c=0x8000000000000010 comm=shell name=hello near=yes list=ARRAY[01, 02, 03, 04] "
		"mask=ARRAY[03, 00, 00, 00, 00, 00, 00, 00, 01, 00, 00, 00, 00, 00, 00, 00] "
		"mac= s=-1 "
		"ip6=ARRAY[20, 01, 0d, b8, 00, 00, 00, 00, 00, 00, 00, 00, 00, 00, 00, 01] p=0xbeef");
}

TEST(test_print__other_machines)
{
	static const uint8_t big[RAW] = {
		[8] = 0, 0, 1, 2, [12] = 0, 0, 0, 3, [32] = 0, 4, 0, 80, [80] = 'b', 'i', 'g', 0
	};

	CHECK_STR(printed_of("\"%d %d %s\", REC->a, REC->b, __get_str(name)", true, 4, (struct pd_bytes){ big, RAW }),
		  "258 3 big");
}

// Offsets and lengths outside of the raw data read zeros and empty texts.
TEST(test_print__short_raw)
{
	CHECK_STR(printed_of("\"%d %lx %s|%s|%s|%pM\", REC->a, REC->c, __get_str(name), __print_hex(REC->mac, 100000), "
			     "REC->comm, REC->mac",
			     false, 8, (struct pd_bytes){ raw, 12 }),
		  "-2 0 \a|||");
	CHECK_STR(printed_of("\"%d\", REC->list[60000]", false, 8, (struct pd_bytes){ raw, RAW }), "0");
}

TEST(test_print__hostile)
{
	static char deep[4000];

	memset(deep, '(', sizeof(deep) - 1);
	memcpy(deep, "\"%d\", ", 6);
	CHECK(strncmp(printed(deep), "[FAILED TO PARSE]", 17) == 0);
	for (size_t i = 6; i + 2 < sizeof(deep); i += 2)
		memcpy(deep + i, "1+", 3);
	CHECK(strncmp(printed(deep), "[FAILED TO PARSE]", 17) == 0);
	CHECK(strncmp(printed("\"%999999999d\", REC->a"), "[FAILED TO PARSE]", 17) == 0);
	CHECK(strncmp(printed("\"%d\""), "[FAILED TO PARSE]", 17) == 0);
	CHECK(strncmp(printed("\"%d\", REC->nothing"), "[FAILED TO PARSE]", 17) == 0);
	CHECK(strlen(printed("\"%*d\", 2147483647, REC->a")) == PD_TRACE_WIDTH_MOST);
}

RUN(TEST_CASE(test_print__numbers), TEST_CASE(test_print__texts), TEST_CASE(test_print__flags),
    TEST_CASE(test_print__arrays), TEST_CASE(test_print__expressions), TEST_CASE(test_print__as_perf),
    TEST_CASE(test_print__other_machines), TEST_CASE(test_print__short_raw), TEST_CASE(test_print__hostile))

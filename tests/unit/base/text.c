/* SPDX-License-Identifier: MIT */
/* Numbers as text, texts from files that a terminal or a JSON reader must survive. */
#include <perfdata/print.h>

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/text.h"
#include "../test.h"

static struct pd_text *text;

// What was printed since the last call.
static const char *taken(void)
{
	static char kept[1024];
	struct pd_bytes bytes;

	pd_text_char(text, '\0');
	bytes = pd_text_bytes(text);
	snprintf(kept, sizeof(kept), "%s", (const char *)bytes.data);
	pd_text_clear(text);
	return kept;
}

TEST(test_text__numbers)
{
	static const uint64_t numbers[] = { 0, 9, 10, 99, 100, 101, 12345, 1000000000, UINT64_MAX, UINT64_MAX / 10 };

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		char wanted[40];

		snprintf(wanted, sizeof(wanted), "%llu", (unsigned long long)numbers[i]);
		pd_text_u64(text, numbers[i]);
		CHECK_STR(taken(), wanted);
		snprintf(wanted, sizeof(wanted), "%lld", (long long)numbers[i]);
		pd_text_s64(text, (int64_t)numbers[i]);
		CHECK_STR(taken(), wanted);
		snprintf(wanted, sizeof(wanted), "0x%llx", (unsigned long long)numbers[i]);
		pd_text_hex(text, numbers[i]);
		CHECK_STR(taken(), wanted);
	}
	pd_text_s64(text, INT64_MIN);
	CHECK_STR(taken(), "-9223372036854775808");
}

TEST(test_text__hex_of_every_length)
{
	for (unsigned shift = 0; shift < 64; shift++) {
		char wanted[40];

		snprintf(wanted, sizeof(wanted), "0x%llx", 1ULL << shift);
		pd_text_hex(text, UINT64_C(1) << shift);
		CHECK_STR(taken(), wanted);
		snprintf(wanted, sizeof(wanted), "0x%llx", 0xfedcba9876543210ULL >> shift);
		pd_text_hex(text, UINT64_C(0xfedcba9876543210) >> shift);
		CHECK_STR(taken(), wanted);
	}
}

TEST(test_text__grouped)
{
	const uint64_t numbers[] = { 0, 999, 1000, 123456, 1234567, UINT64_MAX };

	for (size_t i = 0; i < 6; i++) {
		pd_text_grouped(text, numbers[i]);
		pd_text_char(text, ' ');
	}
	CHECK_STR(taken(), "0 999 1,000 123,456 1,234,567 18,446,744,073,709,551,615 ");
	CHECK_STR(pd_plural(1), "");
	CHECK_STR(pd_plural(0), "s");
	CHECK_STR(pd_was_or_were(1), "was");
	CHECK_STR(pd_was_or_were(2), "were");
}

TEST(test_text__time)
{
	pd_text_time(text, 0);
	CHECK_STR(taken(), "0.000000000");
	pd_text_time(text, 1000000001);
	CHECK_STR(taken(), "1.000000001");
	pd_text_time(text, UINT64_MAX);
	CHECK_STR(taken(), "18446744073.709551615");
}

TEST(test_text__escaped_for_a_terminal)
{
	pd_text_escaped(text, "a\x1b[31mb\n\x7f\t", 10);
	CHECK_STR(taken(), "a\\x1b[31mb\\x0a\\x7f\\x09");
	// C1 controls in UTF-8, and what only begins like one
	pd_text_escaped(text,
			"\xc2\x9b"
			"31m",
			5);
	CHECK_STR(taken(), "\\xc2\\x9b31m");
	pd_text_escaped(text,
			"\x9b"
			"31m\xff\xc3",
			6);
	CHECK_STR(taken(), "\\x9b31m\\xff\\xc3");
	pd_text_escaped(text, "\xc2\xa9 gr\xc3\xbc\xc3\x9f", 9);
	CHECK_STR(taken(), "\xc2\xa9 gr\xc3\xbc\xc3\x9f");
}

TEST(test_text__json_string)
{
	pd_text_json_string(text, "a\"b\\c\n\t\r\x01\x7f", 10);
	CHECK_STR(taken(), "\"a\\\"b\\\\c\\n\\t\\u000d\\u0001\\u007f\"");
	pd_text_json_string(text, "gr\xc3\xbc\xc3\x9f \xf0\x9f\x90\xa7", 11);
	CHECK_STR(taken(), "\"gr\xc3\xbc\xc3\x9f \xf0\x9f\x90\xa7\"");
	pd_text_json_string(text, "", 0);
	CHECK_STR(taken(), "\"\"");
}

// What a byte among ordinary ones becomes, however far it is from the beginning and the end.
TEST(test_text__json_string_with_each_byte_everywhere)
{
	char string[18], wanted[64], escaped[8];

	for (unsigned c = 0; c < 0x80; c++)
		for (size_t at = 0; at < sizeof(string); at++) {
			struct pd_text *text = pd_text_new();

			memset(string, 'x', sizeof(string));
			string[at] = (char)c;
			snprintf(escaped, sizeof(escaped),
				 c == '\n'              ? "\\n" :
				 c == '\t'              ? "\\t" :
				 c == '"' || c == '\\'  ? "\\%c" :
				 c >= 0x20 && c != 0x7f ? "%c" :
							  "\\u%04x",
				 c);
			snprintf(wanted, sizeof(wanted), "\"%.*s%s%.*s\"", (int)at, "xxxxxxxxxxxxxxxxxx", escaped,
				 (int)(sizeof(string) - 1 - at), "xxxxxxxxxxxxxxxxxx");
			pd_text_json_string(text, string, sizeof(string));
			CHECK(pd_text_bytes(text).size == strlen(wanted) &&
			      !memcmp(pd_text_bytes(text).data, wanted, strlen(wanted)));
			pd_text_free(text);
		}
}

TEST(test_text__json_string_of_what_is_no_utf8)
{
	static const char *const bad[] = { "\x80",
					   "\xff",
					   "\xc3",
					   "\xc0\x80",
					   "\xe0\x80\x80",
					   "\xed\xa0\x80",
					   "\xf0\x80\x80\x80",
					   "\xf4\x90\x80\x80",
					   "\xf5\x80\x80\x80" };

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		char wanted[64] = "\"";

		for (size_t j = 0; j < strlen(bad[i]); j++)
			strcat(wanted, "\xef\xbf\xbd");
		strcat(wanted, "\"");
		pd_text_json_string(text, bad[i], strlen(bad[i]));
		CHECK_STR(taken(), wanted);
	}
}

TEST(test_text__printf_and_add)
{
	pd_text_add(text, "one ");
	pd_text_printf(text, "%s %d", "two", 3);
	pd_text_indent(text, 2);
	CHECK_STR(taken(), "one two 3    ");
	CHECK(!pd_text_failed(text));
}

TEST(test_text__grows)
{
	for (unsigned i = 0; i < 10000; i++)
		pd_text_printf(text, "%u,", i % 10);
	CHECK(pd_text_bytes(text).size == 20000);
	CHECK(pd_text_bytes(text).data[19998] == '9');
	pd_text_clear(text);
	CHECK(pd_text_bytes(text).size == 0);
}

TEST(test_text__hex_lines)
{
	uint8_t bytes[17];

	for (unsigned i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(i + 0x3a);
	pd_print_hex(text, (struct pd_bytes){ bytes, sizeof(bytes) }, 0x100);
	CHECK(strstr(taken(), "3a"));
	pd_print_hex(text, (struct pd_bytes){ (const uint8_t *)"\x1b[31m", 5 }, 0);
	CHECK(!strchr(taken(), '\x1b'));
}

// As printf: for values that are near to the middle of two numbers, too.
TEST(test_text__columns_are_those_of_printf)
{
	static const double values[] = { 0,      -0.0,   1.0005, 2.675, 9.9995, 0.9999, 12345.6785, 99.995,
					 0.0005, 0.0015, 1e-9,   1e11,  1e15,   -1.5,   0.125,      0.375 };
	static const uint64_t numbers[] = { 0, 9, 10, 99, 100, 12345678, UINT64_MAX };
	uint64_t state = 7;
	char expected[128];
	bool same = true;

	for (unsigned i = 0; i < 20000; i++) {
		double value = i < sizeof(values) / sizeof(values[0]) ? values[i] : (double)(state >> 40) / 1e4;
		unsigned decimals = i % 4, width = i % 13;

		state = state * UINT64_C(6364136223846793005) + 1442695040888963407u;
		pd_text_fixed(text, value, width, decimals);
		snprintf(expected, sizeof(expected), "%*.*f", (int)width, (int)decimals, value);
		same &= !strcmp(taken(), expected);
	}
	CHECK(same);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		pd_text_number(text, numbers[i], 7);
		pd_text_right(text, "ab", 5);
		pd_text_left(text, "abc", 2);
		pd_text_left(text, "abc", 4);
		pd_text_digits(text, numbers[i] % 10000, 4);
		snprintf(expected, sizeof(expected), "%7" PRIu64 "%5s%-2s%-4s%04u", numbers[i], "ab", "abc", "abc",
			 (unsigned)(numbers[i] % 10000));
		same &= !strcmp(taken(), expected);
	}
	CHECK(same);
}

static bool is_double(double value, const char *expected)
{
	pd_text_double(text, value);
	return !strcmp(taken(), expected);
}

TEST(test_text__doubles_as_short_as_they_can_be)
{
	CHECK(is_double(0, "0") && is_double(-0.0, "-0") && is_double(0.1, "0.1") && is_double(-2.5, "-2.5"));
	CHECK(is_double(0.1 + 0.2, "0.30000000000000004") && is_double(1.0 / 3, "0.3333333333333333"));
	CHECK(is_double(100, "100") && is_double(1e22, "1e+22") && is_double(9007199254740993.0, "9007199254740992"));
	CHECK(is_double(INFINITY, "inf") && is_double(-INFINITY, "-inf"));
	pd_text_double(text, NAN);
	CHECK(strstr(taken(), "nan"));
}

// Numbers of any bits, among them those that have fewer than others.
TEST(test_text__doubles_are_read_as_they_were)
{
	uint64_t state = 11, bits;
	bool same = true;
	double value;

	for (unsigned i = 0; i < 20000; i++) {
		state = state * UINT64_C(6364136223846793005) + 1442695040888963407u;
		bits = (state ^ state >> 29) & (i % 5 ? UINT64_MAX : UINT64_C(0x800fffffffffffff));
		memcpy(&value, &bits, sizeof(value));
		if (!isfinite(value))
			continue;
		pd_text_double(text, value);
		value = strtod(taken(), NULL);
		same &= !memcmp(&value, &bits, sizeof(value));
	}
	CHECK(same);
}

static const struct test_case cases[] = {
	TEST_CASE(test_text__numbers),
	TEST_CASE(test_text__hex_of_every_length),
	TEST_CASE(test_text__grouped),
	TEST_CASE(test_text__time),
	TEST_CASE(test_text__columns_are_those_of_printf),
	TEST_CASE(test_text__doubles_as_short_as_they_can_be),
	TEST_CASE(test_text__doubles_are_read_as_they_were),
	TEST_CASE(test_text__escaped_for_a_terminal),
	TEST_CASE(test_text__json_string),
	TEST_CASE(test_text__json_string_with_each_byte_everywhere),
	TEST_CASE(test_text__json_string_of_what_is_no_utf8),
	TEST_CASE(test_text__printf_and_add),
	TEST_CASE(test_text__grows),
	TEST_CASE(test_text__hex_lines),
};

int main(void)
{
	int failed;

	text = pd_text_new();
	if (!text)
		return 1;
	failed = test_run(cases, sizeof(cases) / sizeof(cases[0]));
	pd_text_free(text);
	pd_text_free(NULL);
	return failed;
}

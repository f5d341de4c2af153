/* SPDX-License-Identifier: MIT */
/* Words as text, and bit-fields of big-endian producers. */
#include "format/layout.h"
#include "../test.h"

static const char *print(const char *set, uint64_t word)
{
	static char text[256];

	pd_names_print(pd_names_by_name(set), word, text, sizeof(text));
	return text;
}

TEST(test_names__print_bits)
{
	CHECK_STR(print("sample_type", 7), "IP|TID|TIME");
	CHECK_STR(print("sample_type", 0), "0");
	CHECK_STR(print("sample_type", UINT64_C(1) << 40), "0x10000000000");
	CHECK_STR(print("sample_type", UINT64_C(1) << 40 | 1), "IP|0x10000000000");
	CHECK_STR(print("attr_flags", 1 | 2 << 15), "disabled|precise_ip=2");
	CHECK_STR(print("prot", 5), "READ|EXEC");
}

TEST(test_names__print_like_snprintf)
{
	char text[8];

	memset(text, 'x', sizeof(text));
	CHECK(pd_names_print(pd_names_by_name("sample_type"), 7, text, sizeof(text)) == 11);
	CHECK_STR(text, "IP|TID|");
	CHECK(pd_names_print(pd_names_by_name("sample_type"), 7, NULL, 0) == 11);
}

TEST(test_names__text_of_values)
{
	const struct pd_names *types = pd_names_by_name("EVENT_TYPE");

	CHECK(types && !pd_names_are_bits(types));
	CHECK_STR(pd_names_text(types, 2), "tracepoint");
	CHECK_STR(pd_names_text(types, INT64_C(0x80000000)), "synthesized");
	CHECK(!pd_names_text(types, 6));
	CHECK(!pd_names_text(types, -1));
	CHECK_STR(pd_names_text(pd_names_by_name("callchain_context"), -512), "USER");
	CHECK(!pd_names_text(pd_names_by_name("sample_type"), 1));
	CHECK(!pd_names_by_name("nothing"));
}

TEST(test_names__misc_bits_depend_on_the_record)
{
	CHECK_STR(pd_misc_bit_name(PD_RECORD_MMAP2, 13), "MMAP_DATA");
	CHECK_STR(pd_misc_bit_name(PD_RECORD_MMAP2, 14), "MMAP_BUILD_ID");
	CHECK_STR(pd_misc_bit_name(PD_RECORD_COMM, 13), "COMM_EXEC");
	CHECK_STR(pd_misc_bit_name(PD_RECORD_FORK, 13), "FORK_EXEC");
	CHECK_STR(pd_misc_bit_name(PD_RECORD_SWITCH, 13), "SWITCH_OUT");
	CHECK_STR(pd_misc_bit_name(PD_RECORD_SAMPLE, 14), "EXACT_IP");
	CHECK_STR(pd_misc_bit_name(PD_RECORD_HEADER_BUILD_ID, 15), "BUILD_ID_SIZE");
	CHECK_STR(pd_misc_bit_name(PD_RECORD_LOST_SAMPLES, 15), "LOST_SAMPLES_BPF");
	CHECK(!pd_misc_bit_name(PD_RECORD_SAMPLE, 13));
}

// Names of bits must not overlap, or a word would be shown as something else.
TEST(test_names__bits_do_not_overlap)
{
	const struct pd_names *names;

	for (size_t i = 0; (names = pd_names_at(i)) != NULL; i++) {
		uint64_t seen = 0;

		for (size_t j = 0; j < names->count && names->bits; j++) {
			unsigned width = names->items[j].width;
			uint64_t mask = (width >= 64 ? UINT64_MAX : (UINT64_C(1) << width) - 1)
					<< names->items[j].value;

			CHECK(!(seen & mask));
			CHECK(names->items[j].value + width <= 64);
			seen |= mask;
		}
	}
}

TEST(test_names__values_are_unique)
{
	const struct pd_names *names;

	for (size_t i = 0; (names = pd_names_at(i)) != NULL; i++)
		for (size_t j = 0; j < names->count && !names->bits; j++)
			CHECK(pd_names_text(names, names->items[j].value) == names->items[j].text);
}

TEST(test_names__bit_fields_of_big_endian)
{
	// a field at position p and of width w is (word >> (64 - p - w)) there
	CHECK(pd_bits_from_big(&pd_names_attr_flags, UINT64_C(1) << 63, 64) == 1);
	CHECK(pd_bits_from_big(&pd_names_attr_flags, UINT64_C(1) << 47, 64) == UINT64_C(1) << 15);
	CHECK(pd_bits_from_big(&pd_names_attr_flags, UINT64_C(1) << 48, 64) == UINT64_C(2) << 15);
	CHECK(pd_bits_from_big(&pd_names_attr_flags, 1, 64) == UINT64_C(1) << 63);
	CHECK(pd_bits_from_big(&pd_names_branch_flags, UINT64_C(0x1234) << 44, 64) == UINT64_C(0x1234) << 4);
	CHECK(pd_bits_from_big(&pd_names_branch_flags, UINT64_C(6) << 31, 64) == UINT64_C(6) << 30);
	CHECK(pd_bits_from_big(&pd_names_aux_action, UINT64_C(1) << 31, 32) == 1);
	CHECK(pd_bits_from_big(&pd_names_aux_action, UINT64_C(1) << 29, 32) == 4);
}

TEST(test_names__bit_fields_come_back)
{
	uint64_t word = 0x0123456789abcdef;

	for (unsigned i = 0; i < 1000; i++) {
		word = word * UINT64_C(6364136223846793005) + 1442695040888963407;
		CHECK(pd_bits_to_big(&pd_names_attr_flags, pd_bits_from_big(&pd_names_attr_flags, word, 64), 64) ==
		      word);
		CHECK(pd_bits_to_big(&pd_names_branch_flags, pd_bits_from_big(&pd_names_branch_flags, word, 64), 64) ==
		      word);
		CHECK(pd_bits_to_big(&pd_names_aux_action, pd_bits_from_big(&pd_names_aux_action, word >> 32, 32),
				     32) == word >> 32);
	}
}

RUN(TEST_CASE(test_names__print_bits), TEST_CASE(test_names__print_like_snprintf),
    TEST_CASE(test_names__text_of_values), TEST_CASE(test_names__misc_bits_depend_on_the_record),
    TEST_CASE(test_names__bits_do_not_overlap), TEST_CASE(test_names__values_are_unique),
    TEST_CASE(test_names__bit_fields_of_big_endian), TEST_CASE(test_names__bit_fields_come_back))

/* SPDX-License-Identifier: MIT */
/*
 * What the encoder makes of structs that were filled by hand, and what it refuses to write. That it
 * mirrors the decoder is shown by the tests of the tables.
 */
#include "format/encode.h"
#include "format/record.h"
#include "../test.h"

static struct pd_scope scope;
static uint8_t bytes[128 << 10];

static struct pd_buffer encode(enum pd_layout_id id, const void *in, bool big)
{
	struct pd_buffer buffer = pd_buffer(bytes, sizeof(bytes), big);

	memset(bytes, 0xee, sizeof(bytes));
	pd_layouts[id].encode(&buffer, &scope, in);
	memset(scope.words, 0, sizeof(scope.words));
	return buffer;
}

TEST(test_encode__numbers_in_both_orders)
{
	struct pd_lost lost = { .id = 0x0102030405060708, .lost = 9 };

	CHECK(encode(PD_LAYOUT_lost, &lost, false).need == 16);
	CHECK(memcmp(bytes, "\x08\x07\x06\x05\x04\x03\x02\x01\x09\0\0\0\0\0\0\0", 16) == 0);
	CHECK(encode(PD_LAYOUT_lost, &lost, true).need == 16);
	CHECK(memcmp(bytes, "\x01\x02\x03\x04\x05\x06\x07\x08\0\0\0\0\0\0\0\x09", 16) == 0);
}

TEST(test_encode__flags_are_mirrored_in_big_endian)
{
	struct pd_attr attr = { .flags = 1 | UINT64_C(2) << 15, .wire_size = 64 };

	CHECK(encode(PD_LAYOUT_attr, &attr, false).need == 64);
	CHECK(memcmp(bytes + 40, "\x01\x00\x01\0\0\0\0\0", 8) == 0);
	CHECK(encode(PD_LAYOUT_attr, &attr, true).need == 64);
	CHECK(memcmp(bytes + 40, "\x80\x01\0\0\0\0\0\0", 8) == 0);
}

TEST(test_encode__attr_made_by_hand_is_written_whole)
{
	struct pd_attr attr = { .config4 = 0xff };

	CHECK(encode(PD_LAYOUT_attr, &attr, false).need == 144);
	CHECK(bytes[136] == 0xff);
	attr.wire_size = 112;
	CHECK(encode(PD_LAYOUT_attr, &attr, false).need == 112);
}

TEST(test_encode__text_is_padded_so_that_the_record_is)
{
	struct pd_comm comm = { .pid = 1, .tid = 2, .comm = { .data = "myapp", .length = 5 } };

	CHECK(encode(PD_LAYOUT_comm, &comm, false).need == 16);
	CHECK(memcmp(bytes + 8, "myapp\0\0\0", 8) == 0);
	comm.comm = (struct pd_str){ .data = "mybigapp", .length = 8 };
	CHECK(encode(PD_LAYOUT_comm, &comm, false).need == 24);
	comm.comm = (struct pd_str){ .data = "", .length = 0 };
	CHECK(encode(PD_LAYOUT_comm, &comm, false).need == 16);
}

TEST(test_encode__text_of_a_given_size)
{
	struct pd_comm comm = { .comm = { .data = "a\0garbage", .length = 1, .size = 9 } };

	// what stood after the NUL stays
	CHECK(encode(PD_LAYOUT_comm, &comm, false).need == 17);
	CHECK(memcmp(bytes + 8, "a\0garbage", 9) == 0);
}

TEST(test_encode__string_is_padded_as_perf_does)
{
	struct pd_string string = { .value = { .data = "hosty", .length = 5 } };

	CHECK(encode(PD_LAYOUT_string, &string, true).need == 68);
	CHECK(memcmp(bytes, "\0\0\0\x40hosty\0", 10) == 0);
	string.value.length = 63;
	string.value.data = "0123456789012345678901234567890123456789012345678901234567890123";
	CHECK(encode(PD_LAYOUT_string, &string, true).need == 68);
	string.value.length = 64;
	CHECK(encode(PD_LAYOUT_string, &string, true).need == 132);
}

TEST(test_encode__text_too_long_for_its_place_is_refused)
{
	struct pd_header_event_type type = { .name = { .length = 65 } };
	struct pd_buffer buffer;

	type.name.data = "01234567890123456789012345678901234567890123456789012345678901234";
	buffer = encode(PD_LAYOUT_header_event_type, &type, false);
	CHECK(buffer.failed);
	CHECK_STR(buffer.field, "name");
	CHECK_STR(buffer.reason, "string is too long");
}

TEST(test_encode__counts_that_disagree_are_refused)
{
	struct pd_id_index index = { .nr = 2 };
	struct pd_text_poke poke = { .old_len = 1 };
	struct pd_mmap2 mmap2 = { .filename = { .data = "a", .length = 1 } };
	struct pd_buffer buffer = encode(PD_LAYOUT_id_index, &index, false);

	CHECK(buffer.failed);
	CHECK_STR(buffer.layout, "id_index");
	CHECK_STR(buffer.field, "entries");
	buffer = encode(PD_LAYOUT_text_poke, &poke, false);
	CHECK(buffer.failed);
	CHECK_STR(buffer.field, "old_bytes");
	scope.words[PD_WORD_MISC] = PD_MASK(PD_MISC_MMAP_BUILD_ID);
	buffer = encode(PD_LAYOUT_mmap2, &mmap2, false);
	CHECK(buffer.failed);
	CHECK_STR(buffer.field, "build_id");
}

TEST(test_encode__count_too_large_for_its_place_is_refused)
{
	static uint16_t cpus[65536];
	struct pd_cpu_map_data map = { .cpus = { cpus, 65535 } };

	CHECK(!encode(PD_LAYOUT_cpu_map_data, &map, false).failed);
	map.cpus.count = 65536;
	CHECK(encode(PD_LAYOUT_cpu_map_data, &map, false).failed);
}

TEST(test_encode__missing_part_is_refused)
{
	struct pd_cpu_map map = { 0 };
	struct pd_header_attr record = { 0 };
	struct pd_buffer buffer = encode(PD_LAYOUT_cpu_map, &map, false);

	CHECK(buffer.failed);
	CHECK_STR(buffer.field, "cpus");
	CHECK_STR(buffer.reason, "is missing");
	CHECK(encode(PD_LAYOUT_header_attr, &record, false).failed);
}

TEST(test_encode__box_of_another_size_is_refused)
{
	struct pd_attr attr = { .wire_size = 80 };
	struct pd_event_desc_entry entry = { .attr = &attr, .name = { .data = "cycles", .length = 6 } };
	struct pd_event_desc desc = { .nr = 1, .attr_size = 72, .events = { &entry, 1, sizeof(entry) } };

	CHECK(encode(PD_LAYOUT_event_desc, &desc, false).failed);
	desc.attr_size = 80;
	CHECK(!encode(PD_LAYOUT_event_desc, &desc, false).failed);
}

TEST(test_encode__tracing_data_goes_over_to_its_own_order)
{
	struct pd_tracing_data data = {
		.magic = { (const uint8_t *)"\x17\x08\x44tracing", 10 },
		.version = { .data = "0.6", .length = 3 },
		.big_endian = 1,
		.long_size = 8,
		.page_size = 4096,
		.header_page_name = { .data = "header_page", .length = 11 },
		.header_event_name = { .data = "header_event", .length = 12 },
	};
	struct pd_buffer buffer = encode(PD_LAYOUT_tracing_data, &data, false);

	CHECK(!buffer.failed);
	CHECK(memcmp(bytes + 14, "\x01\x08\0\0\x10\0", 6) == 0);
}

TEST(test_encode__too_little_room_is_counted_but_not_written)
{
	struct pd_lost lost = { .id = 1, .lost = 2 };
	uint8_t small[16];
	struct pd_buffer buffer = pd_buffer(small, 12, false);

	memset(small, 0xee, sizeof(small));
	pd_layouts[PD_LAYOUT_lost].encode(&buffer, &scope, &lost);
	CHECK(buffer.need == 16 && pd_buffer_full(&buffer) && !buffer.failed);
	CHECK(small[0] == 1 && small[8] == 0xee && small[12] == 0xee);
}

TEST(test_encode__record_larger_than_64_kib_is_refused)
{
	static uint8_t data[65536];
	struct pd_compressed compressed = { .data = { data, 65535 - 8 } };
	struct pd_record_head head = { .type = PD_RECORD_COMPRESSED };
	const struct pd_layout *layout = pd_record_layout(PD_RECORD_COMPRESSED);
	struct pd_buffer buffer = pd_buffer(bytes, sizeof(bytes), false);

	pd_record_put(&buffer, &head, layout, PD_GROUP_TOOL, &scope, &compressed);
	CHECK(!buffer.failed && buffer.need == 65535);
	CHECK(bytes[6] == 0xff && bytes[7] == 0xff);
	compressed.data.size++;
	buffer = pd_buffer(bytes, sizeof(bytes), false);
	pd_record_put(&buffer, &head, layout, PD_GROUP_TOOL, &scope, &compressed);
	CHECK(buffer.failed);
}

RUN(TEST_CASE(test_encode__numbers_in_both_orders), TEST_CASE(test_encode__flags_are_mirrored_in_big_endian),
    TEST_CASE(test_encode__attr_made_by_hand_is_written_whole),
    TEST_CASE(test_encode__text_is_padded_so_that_the_record_is), TEST_CASE(test_encode__text_of_a_given_size),
    TEST_CASE(test_encode__string_is_padded_as_perf_does),
    TEST_CASE(test_encode__text_too_long_for_its_place_is_refused),
    TEST_CASE(test_encode__counts_that_disagree_are_refused),
    TEST_CASE(test_encode__count_too_large_for_its_place_is_refused), TEST_CASE(test_encode__missing_part_is_refused),
    TEST_CASE(test_encode__box_of_another_size_is_refused),
    TEST_CASE(test_encode__tracing_data_goes_over_to_its_own_order),
    TEST_CASE(test_encode__too_little_room_is_counted_but_not_written),
    TEST_CASE(test_encode__record_larger_than_64_kib_is_refused))

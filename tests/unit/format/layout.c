/* SPDX-License-Identifier: MIT */
/* What the library says of its tables at run time, by the public functions. */
#include "format/layout.h"
#include "../test.h"

// Least sizes of records that the newest perf insists on, header included.
static const struct {
	uint32_t type;
	size_t size;
} least_sizes[] = {
	{ PD_RECORD_MMAP, 41 },
	{ PD_RECORD_LOST, 24 },
	{ PD_RECORD_COMM, 17 },
	{ PD_RECORD_EXIT, 32 },
	{ PD_RECORD_FORK, 32 },
	{ PD_RECORD_THROTTLE, 32 },
	{ PD_RECORD_AUX, 32 },
	{ PD_RECORD_ITRACE_START, 16 },
	{ PD_RECORD_LOST_SAMPLES, 16 },
	{ PD_RECORD_SWITCH, 8 },
	{ PD_RECORD_NAMESPACES, 24 },
	{ PD_RECORD_KSYMBOL, 25 },
	{ PD_RECORD_BPF_EVENT, 24 },
	{ PD_RECORD_CGROUP, 17 },
	{ PD_RECORD_TEXT_POKE, 20 },
	{ PD_RECORD_AUX_OUTPUT_HW_ID, 16 },
	{ PD_RECORD_ID_INDEX, 16 },
	{ PD_RECORD_AUXTRACE_INFO, 16 },
	{ PD_RECORD_AUXTRACE, 48 },
	{ PD_RECORD_STAT, 48 },
	{ PD_RECORD_STAT_ROUND, 24 },
	{ PD_RECORD_THREAD_MAP, 16 },
	{ PD_RECORD_STAT_CONFIG, 16 },
	{ PD_RECORD_EVENT_UPDATE, 24 },
	{ PD_RECORD_TIME_CONV, 32 },
	{ PD_RECORD_HEADER_FEATURE, 16 },
	{ PD_RECORD_COMPRESSED2, 16 },
	{ PD_RECORD_BPF_METADATA, 528 },
	{ PD_RECORD_HEADER_TRACING_DATA, 12 },
};

TEST(test_layout__least_sizes_of_records)
{
	for (size_t i = 0; i < sizeof(least_sizes) / sizeof(least_sizes[0]); i++) {
		const struct pd_layout *layout = pd_record_layout(least_sizes[i].type);

		CHECK(layout);
		CHECK(8 + pd_layout_min_size(layout) == least_sizes[i].size);
	}
}

TEST(test_layout__records_in_ascending_order)
{
	uint32_t type, last = 0;
	size_t count = 0;

	for (; pd_record_type_at(count, &type); count++) {
		uint32_t found = 0;

		CHECK(type > last);
		CHECK(pd_record_name(type) && pd_record_doc(type) && pd_record_layout(type));
		CHECK(pd_record_type_by_name(pd_record_name(type), &found) && found == type);
		last = type;
	}
	CHECK(count > 50 && last == PD_RECORD_SIMPLEPERF_DEBUG);
}

TEST(test_layout__records_by_name)
{
	uint32_t type = 0;

	CHECK(pd_record_type_by_name("mmap2", &type) && type == 10);
	CHECK(pd_record_type_by_name("Callchain_Deferred", &type) && type == 22);
	CHECK(!pd_record_type_by_name("mmap3", &type));
	CHECK(!pd_record_name(0) && !pd_record_layout(63) && !pd_record_doc(UINT32_MAX));
}

TEST(test_layout__lists_of_records)
{
	uint32_t types[4];
	size_t count = 0;
	struct pd_error error;

	CHECK(pd_record_types_parse("mmap2,,TRACING_DATA", types, 4, &count, &error) == PD_OK);
	CHECK(count == 2 && types[0] == PD_RECORD_MMAP2 && types[1] == PD_RECORD_HEADER_TRACING_DATA);
	CHECK(pd_record_types_parse("0x50", types, 4, &count, &error) == PD_OK && count == 3 && types[2] == 0x50);
	CHECK(pd_record_types_parse("MMAP3", types, 4, &count, &error) == PD_ERROR_ARGUMENT && count == 3);
	CHECK(strcmp(error.message, "unknown record type 'MMAP3'; did you mean MMAP?") == 0);
	CHECK(pd_record_types_parse("1,2", types, 4, &count, &error) == PD_ERROR_ARGUMENT);
	CHECK(strcmp(error.message, "more than 4 types") == 0);
}

TEST(test_layout__groups_of_records)
{
	CHECK(pd_record_group(PD_RECORD_SAMPLE) == PD_GROUP_SAMPLE);
	CHECK(pd_record_group(PD_RECORD_MMAP) == PD_GROUP_KERNEL);
	CHECK(pd_record_group(PD_RECORD_STAT) == PD_GROUP_TOOL);
	CHECK(pd_record_group(PD_RECORD_SIMPLEPERF_DSO) == PD_GROUP_SIMPLEPERF);
	CHECK(pd_record_group(0) == PD_GROUP_UNKNOWN);
	CHECK(pd_record_group(63) == PD_GROUP_KERNEL);
	CHECK(pd_record_group(200) == PD_GROUP_TOOL);
}

TEST(test_layout__features)
{
	CHECK_STR(pd_feature_name(3), "HOSTNAME");
	CHECK_STR(pd_feature_name(34), "CLN_SIZE");
	CHECK_STR(pd_layout_name(pd_feature_layout(PD_FEATURE_ARCH)), "string");
	CHECK(!pd_feature_name(0) && !pd_feature_name(250) && !pd_feature_layout(127) && !pd_feature_doc(255));
}

TEST(test_layout__layouts_by_name)
{
	const struct pd_layout *layout;
	size_t count = 0;

	for (; (layout = pd_layout_at(count)) != NULL; count++) {
		CHECK(pd_layout_by_name(pd_layout_name(layout)) == layout);
		CHECK(*pd_layout_doc(layout));
		CHECK(!pd_layout_field(layout, pd_layout_field_count(layout)));
	}
	CHECK(count == PD_LAYOUT_COUNT);
	CHECK(!pd_layout_by_name("pd_mmap2"));
}

static const struct pd_field *field_of(const char *layout, const char *name)
{
	const struct pd_field *field = NULL;

	for (size_t i = 0; (field = pd_layout_field(pd_layout_by_name(layout), i)) != NULL; i++)
		if (strcmp(pd_field_name(field), name) == 0)
			break;
	return field;
}

// Three texts about a field, joined.
static const char *words(const char *layout, const char *name)
{
	static char all[400];
	char wire[128], when[128], c[128];
	const struct pd_field *field = field_of(layout, name);

	pd_field_wire(field, wire, sizeof(wire));
	pd_field_when(field, when, sizeof(when));
	pd_field_c(field, c, sizeof(c));
	snprintf(all, sizeof(all), "%s; %s; %s", wire, when, c);
	return all;
}

TEST(test_layout__fields_in_words)
{
	CHECK_STR(words("sample", "ip"), "u64; sample_type has IP; uint64_t ip");
	CHECK_STR(words("sample", "callchain"),
		  "u64 count, then u64[count]; sample_type has CALLCHAIN; struct pd_u64s callchain");
	CHECK_STR(words("counts", "id"), "u64; read_format has ID, lacks GROUP; uint64_t id");
	CHECK_STR(words("counts", "members"), "count[nr]; read_format has GROUP; struct pd_list members");
	CHECK_STR(words("mmap2", "filename"), "string, padded to the end; always; struct pd_str filename");
	CHECK_STR(words("attr", "config3"), "u64; size at least 136; uint64_t config3");
	CHECK_STR(words("attr", "flags"), "u64 of bit-fields; always; uint64_t flags");
	CHECK_STR(words("header_attr", "attr"), "attr in its own size; always; const struct pd_attr *attr");
	CHECK_STR(words("auxtrace_error", "msg"), "char[64] or fewer; always; struct pd_str msg");
	CHECK_STR(words("id_index", "has_guests"), "no bytes; always; bool has_guests");
	CHECK_STR(words("build_ids", "records"), "records HEADER_BUILD_ID to the end; always; struct pd_bytes records");
}

TEST(test_layout__fields_are_where_the_struct_has_them)
{
	CHECK(pd_field_offset(field_of("sample", "aux")) == offsetof(struct pd_sample, aux));
	CHECK(pd_field_offset(field_of("sample", "ip")) == offsetof(struct pd_sample, ip));
	CHECK(pd_field_offset(field_of("mmap2", "filename")) == offsetof(struct pd_mmap2, filename));
	CHECK(pd_layout_struct_size(pd_layout_by_name("mmap2")) == sizeof(struct pd_mmap2));
	CHECK_STR(pd_field_names(field_of("mmap2", "prot")), "prot");
	CHECK(!pd_field_names(field_of("mmap2", "addr")));
	CHECK(pd_field_part(field_of("sample", "read")) == pd_layout_by_name("counts"));
}

TEST(test_layout__only_plain_numbers_are_used_in_place)
{
	CHECK(pd_layout_by_name("branch")->plain);
	CHECK(pd_layout_by_name("id_entry")->plain);
	// as many bytes on the wire as in memory, but with a text
	CHECK(sizeof(void *) != 8 ||
	      pd_layout_by_name("thread_map_entry")->min_size == sizeof(struct pd_thread_map_entry));
	CHECK(!pd_layout_by_name("thread_map_entry")->plain);
	CHECK(!pd_layout_by_name("count")->plain);
}

RUN(TEST_CASE(test_layout__lists_of_records), TEST_CASE(test_layout__least_sizes_of_records),
    TEST_CASE(test_layout__records_in_ascending_order), TEST_CASE(test_layout__records_by_name),
    TEST_CASE(test_layout__groups_of_records), TEST_CASE(test_layout__features),
    TEST_CASE(test_layout__layouts_by_name), TEST_CASE(test_layout__fields_in_words),
    TEST_CASE(test_layout__fields_are_where_the_struct_has_them),
    TEST_CASE(test_layout__only_plain_numbers_are_used_in_place))

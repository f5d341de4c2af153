/* SPDX-License-Identifier: MIT */
/* What the table of traits says of types, compared with what the other tables say of their layouts. */
#include "format/layout.h"
#include "format/traits.h"
#include "../test.h"

// The offset of the first string in a record whose conditions all hold with zeros, or 0.
static size_t offset_of_text(const struct pd_layout *layout)
{
	static const size_t sizes[] = { [PD_KIND_U8] = 1,  [PD_KIND_U16] = 2, [PD_KIND_U32] = 4,
					[PD_KIND_U64] = 8, [PD_KIND_S32] = 4, [PD_KIND_F64] = 8 };
	size_t offset = 8, count;
	const struct pd_field *fields = layout->fields(&count);

	for (size_t i = 0; i < count; i++) {
		const struct pd_field *field = &fields[i];

		// of the two forms of MMAP2 the one with an inode: both are of one size
		if (field->when.op == PD_WHEN_MASKED && field->when.want)
			continue;
		if (field->line == PD_LINE_TEXT)
			return offset;
		if (field->line != PD_LINE_FIELD)
			return 0;
		offset += sizes[field->kind];
	}
	return 0;
}

TEST(test_traits__strings_begin_where_layouts_end)
{
	size_t found = 0;
	uint32_t type;

	for (size_t i = 0; pd_record_type_at(i, &type); i++) {
		size_t text = pd_record_traits(type)->text;

		found += text != 0;
		if (text)
			CHECK(text == offset_of_text(pd_record_layout(type)));
	}
	CHECK(found == 5);
}

static const struct pd_field *member(uint32_t type, const char *name)
{
	size_t count;
	const struct pd_field *fields = pd_record_layout(type)->fields(&count);

	for (size_t i = 0; i < count; i++)
		if (fields[i].name && !strcmp(fields[i].name, name))
			return &fields[i];
	return NULL;
}

TEST(test_traits__tasks_are_members_of_layouts)
{
	size_t found = 0;
	uint32_t type;

	for (size_t i = 0; pd_record_type_at(i, &type); i++) {
		const struct pd_traits *traits = pd_record_traits(type);
		const struct pd_field *pid, *tid;

		if (!(traits->set & PD_TRAIT_TASK))
			continue;
		pid = member(type, "pid");
		tid = member(type, "tid");
		CHECK(pid && tid && pid->offset == traits->pid && tid->offset == traits->tid);
		CHECK(pid->role == PD_ROLE_TASK && tid->role == PD_ROLE_TASK);
		found++;
	}
	CHECK(found == 6);
}

// What has a section in a file is in its header, and both describe the rest; so does what has records in it.
TEST(test_traits__agree_with_each_other)
{
	uint32_t type;

	for (size_t i = 0; pd_record_type_at(i, &type); i++) {
		uint16_t set = pd_record_traits(type)->set;

		if (set & PD_TRAIT_SECTION)
			CHECK(set & PD_TRAIT_HEADER);
		if (set & (PD_TRAIT_HEADER | PD_TRAIT_COMPRESSED | PD_TRAIT_CHUNK))
			CHECK(set & PD_TRAIT_DESCRIBES);
		if (set & PD_TRAIT_KERNEL_STATE)
			CHECK(set & PD_TRAIT_STATE);
		if (set & PD_TRAIT_OF_THREAD)
			CHECK(!(set & PD_TRAIT_STATE));
		if (type < 64)
			CHECK(!(set & PD_TRAIT_DESCRIBES));
	}
}

TEST(test_traits__of_an_unknown_type_are_none)
{
	CHECK(pd_record_traits(63)->set == 0 && pd_record_traits(63)->text == 0);
	CHECK(pd_record_traits(UINT32_MAX)->set == 0);
	CHECK(pd_record_is(PD_RECORD_COMPRESSED2, PD_TRAIT_COMPRESSED));
	CHECK(!pd_record_is(PD_RECORD_SAMPLE, PD_TRAIT_STATE));
}

RUN(TEST_CASE(test_traits__strings_begin_where_layouts_end), TEST_CASE(test_traits__tasks_are_members_of_layouts),
    TEST_CASE(test_traits__agree_with_each_other), TEST_CASE(test_traits__of_an_unknown_type_are_none))

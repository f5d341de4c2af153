/* SPDX-License-Identifier: MIT */
/* The tables as data, and what format.h promises about them. */
#include "format/layout.h"

#include <stdio.h>
#include <strings.h>

#include "format/decode.h"
#include "format/encode.h"

// ---- one array of lines for each layout ----

#define MEMBER_SIZE(member) sizeof(((self *)0)->member)
#define AT(member) offsetof(self, member)

#define WORDS_MISC "misc"
#define WORDS_SAMPLE_TYPE "sample_type"
#define WORDS_READ_FORMAT "read_format"
#define WORDS_BRANCH_TYPE "branch_sample_type"
#define WORDS_REGS_USER "sample_regs_user"
#define WORDS_REGS_INTR "sample_regs_intr"
#define WORDS_TRAILER "sample_type"
#define WORDS_NRCPUS "NRCPUS"
#define WORDS_ATTR_SIZE "attr_size"
#define WORDS_SCHEDSTAT "schedstat version"
#define WORDS_QUIRKS "quirks"

#define WHEN_ALWAYS                                    \
	{                                              \
		.op = PD_WHEN_ALWAYS, .text = "always" \
	}
#define WHEN_HAS(W, B)                                                                               \
	{                                                                                            \
		.op = PD_WHEN_MASKED, .word = PD_WORD_##W, .mask = MASK_##W(B), .want = MASK_##W(B), \
		.text = WORDS_##W " has " #B                                                         \
	}
#define WHEN_LACKS(W, B)                                                                   \
	{                                                                                  \
		.op = PD_WHEN_MASKED, .word = PD_WORD_##W, .mask = MASK_##W(B), .want = 0, \
		.text = WORDS_##W " lacks " #B                                             \
	}
#define WHEN_ONLY(W, B, O)                                                                                         \
	{                                                                                                          \
		.op = PD_WHEN_MASKED, .word = PD_WORD_##W, .mask = MASK_##W(B) | MASK_##W(O), .want = MASK_##W(B), \
		.text = WORDS_##W " has " #B ", lacks " #O                                                         \
	}
#define WHEN_MEMBER(code, m, v, how)                                                                \
	{                                                                                           \
		.op = code, .size = MEMBER_SIZE(m), .offset = AT(m), .want = (v), .text = #m how #v \
	}
#define WHEN_IS(m, v) WHEN_MEMBER(PD_WHEN_IS, m, v, " is ")
#define WHEN_NOT(m, v) WHEN_MEMBER(PD_WHEN_NOT, m, v, " is not ")
#define WHEN_LEAST(m, v) WHEN_MEMBER(PD_WHEN_LEAST, m, v, " at least ")
#define WHEN_WORD_IS(W, v)                                                                  \
	{                                                                                   \
		.op = PD_WHEN_MASKED, .word = PD_WORD_##W, .mask = UINT64_MAX, .want = (v), \
		.text = WORDS_##W " is " #v                                                 \
	}
#define WHEN_WORD_NOT(W, v)                                                                               \
	{                                                                                                 \
		.op = PD_WHEN_WORD_NOT, .word = PD_WORD_##W, .want = (v), .text = WORDS_##W " is not " #v \
	}
#define WHEN_WORD_LEAST(W, v)                                                                                 \
	{                                                                                                     \
		.op = PD_WHEN_WORD_LEAST, .word = PD_WORD_##W, .want = (v), .text = WORDS_##W " at least " #v \
	}
#define WHEN_WORD_BELOW(W, v)                                                                              \
	{                                                                                                  \
		.op = PD_WHEN_WORD_BELOW, .word = PD_WORD_##W, .want = (v), .text = WORDS_##W " below " #v \
	}
#define WHEN_SINCE(n)                                                                                      \
	{                                                                                                  \
		.op = PD_WHEN_SINCE, .size = MEMBER_SIZE(wire_size), .offset = AT(wire_size), .want = (n), \
		.text = "size at least " #n                                                                \
	}

#define COUNT_LEADING(KIND)                                                                       \
	{                                                                                         \
		.op = PD_COUNT_LEADING, .value = PD_KIND_##KIND, .text = "count in front, " #KIND \
	}
#define COUNT_MEMBER(m)                                                                    \
	{                                                                                  \
		.op = PD_COUNT_MEMBER, .size = MEMBER_SIZE(m), .offset = AT(m), .text = #m \
	}
#define COUNT_FIXED(n)                                         \
	{                                                      \
		.op = PD_COUNT_FIXED, .value = (n), .text = #n \
	}
#define COUNT_REST                                        \
	{                                                 \
		.op = PD_COUNT_REST, .text = "to the end" \
	}
#define COUNT_POPCOUNT(W)                                                                      \
	{                                                                                      \
		.op = PD_COUNT_POPCOUNT, .word = PD_WORD_##W, .text = "bits set in " WORDS_##W \
	}
#define COUNT_BITS_OF(m)                                                                                   \
	{                                                                                                  \
		.op = PD_COUNT_BITS_OF, .size = MEMBER_SIZE(m), .offset = AT(m), .text = "bits set in " #m \
	}
#define COUNT_WORD(W)                                                       \
	{                                                                   \
		.op = PD_COUNT_WORD, .word = PD_WORD_##W, .text = WORDS_##W \
	}
#define COUNT_BITMAP(m)                                                                            \
	{                                                                                          \
		.op = PD_COUNT_BITMAP, .size = MEMBER_SIZE(m), .offset = AT(m), .text = #m " bits" \
	}
#define COUNT_OF(m) COUNT_MEMBER(m)
#define COUNT_ATTR                                          \
	{                                                   \
		.op = PD_COUNT_ATTR, .text = "its own size" \
	}

#define NEED_BYTES(n)                                          \
	{                                                      \
		.op = PD_COUNT_FIXED, .value = (n), .text = #n \
	}
#define NEED_EACH(m, n)                                                                       \
	{                                                                                     \
		.op = PD_COUNT_MEMBER, .size = MEMBER_SIZE(m), .offset = AT(m), .value = (n), \
		.text = #n " for each of " #m                                                 \
	}
#define NEED_WORD_EACH(W, n)                                                                                 \
	{                                                                                                    \
		.op = PD_COUNT_WORD, .word = PD_WORD_##W, .value = (n), .text = #n " for each of " WORDS_##W \
	}
#define NEED_AFTER(m, n)                                                                                           \
	{                                                                                                          \
		.op = PD_COUNT_AFTER, .size = MEMBER_SIZE(m), .offset = AT(m), .value = (n), .text = #n ", if " #m \
	}

#define SHOW_DEC .show = PD_SHOW_DEC
#define SHOW_HEX .show = PD_SHOW_HEX
#define SHOW_ADDR .show = PD_SHOW_ADDR
#define SHOW_TIME .show = PD_SHOW_TIME
#define SHOW_ID .show = PD_SHOW_DEC, .role = PD_ROLE_ID
#define SHOW_TASK .show = PD_SHOW_SIGNED, .role = PD_ROLE_TASK
#define SHOW_SIGNED .show = PD_SHOW_SIGNED
#define SHOW_HIDDEN .show = PD_SHOW_HIDDEN
#define SHOW_NAMES(set) .show = PD_SHOW_NAMES, .names = &pd_names_##set
#define SHOW_BITS(set) .show = PD_SHOW_BITS, .names = &pd_names_##set
#define SHOW_CHAIN .show = PD_SHOW_CHAIN, .names = &pd_names_callchain_context
#define SHOW_REGS(W) .show = PD_SHOW_REGS, .word = PD_WORD_##W

#define OPEN(layout)                                                     \
	static const struct pd_field *fields_##layout(size_t *count_out) \
	{                                                                \
		typedef struct pd_##layout self;                         \
		static const struct pd_field fields[] = {
#define PART(layout, doc) OPEN(layout)
#define BOX(layout, doc) OPEN(layout)
#define BODY(layout, doc) OPEN(layout)
#define END(layout)                                          \
	{                                                    \
		.line = PD_LINE_END                          \
	}                                                    \
	}                                                    \
	;                                                    \
	(void)(self *)0;                                     \
	*count_out = sizeof(fields) / sizeof(fields[0]) - 1; \
	return fields;                                       \
	}
#define LINE(code, member, WHEN, text)                                                                 \
	.name = #member, .doc = text, .line = code, .offset = AT(member), .size = MEMBER_SIZE(member), \
	.when = WHEN_##WHEN
#define FIELD(KIND, member, SHOW, WHEN, doc) \
	{ LINE(PD_LINE_FIELD, member, WHEN, doc), .kind = PD_KIND_##KIND, SHOW_##SHOW },
#define FLAGS(KIND, member, set, WHEN, doc) \
	{ LINE(PD_LINE_FLAGS, member, WHEN, doc), .kind = PD_KIND_##KIND, SHOW_BITS(set) },
#define TEXT(KIND, member, WHEN, doc) { LINE(PD_LINE_TEXT, member, WHEN, doc), .kind = PD_KIND_##KIND },
#define CHARS(member, bytes, FIT, WHEN, doc)      \
	{ LINE(PD_LINE_CHARS, member, WHEN, doc), \
	  .count = { .op = PD_COUNT_FIXED, .value = (bytes), .word = FIT_##FIT, .text = #bytes } },
#define ARRAY(KIND, member, COUNT, SHOW, WHEN, doc) \
	{ LINE(PD_LINE_ARRAY, member, WHEN, doc), .kind = PD_KIND_##KIND, SHOW_##SHOW, .count = COUNT_##COUNT },
#define ONE(layout, member, WHEN, doc) \
	{ LINE(PD_LINE_ONE, member, WHEN, doc), .part = &pd_layouts[PD_LAYOUT_##layout] },
#define AGAIN(layout, member, WHEN, doc) \
	{ LINE(PD_LINE_AGAIN, member, WHEN, doc), .part = &pd_layouts[PD_LAYOUT_##layout] },
#define BOXED(layout, member, SIZE, WHEN, doc) \
	{ LINE(PD_LINE_BOXED, member, WHEN, doc), .part = &pd_layouts[PD_LAYOUT_##layout], .count = COUNT_##SIZE },
#define LIST(layout, member, COUNT, WHEN, doc) \
	{ LINE(PD_LINE_LIST, member, WHEN, doc), .part = &pd_layouts[PD_LAYOUT_##layout], .count = COUNT_##COUNT },
#define RECORDS(member, NAME, doc) \
	{ LINE(PD_LINE_RECORDS, member, ALWAYS, doc), .count = { .value = PD_RECORD_##NAME } },
#define MORE(member, NEED) { LINE(PD_LINE_MORE, member, ALWAYS, "more bytes follow"), .count = NEED_##NEED },
#define SET(WORD, member) { LINE(PD_LINE_SET, member, ALWAYS, "handed down"), .word = PD_WORD_##WORD },
#define ORDER(member) { LINE(PD_LINE_ORDER, member, ALWAYS, "endianness of the following data") },
#include <perfdata/table/begin.h>
#include <perfdata/table/layouts.def>
#include <perfdata/table/end.h>

// ---- layouts, records and features ----

#define LAYOUT(id, text, code)                         \
	[PD_LAYOUT_##id] = {                           \
		.name = #id,                           \
		.doc = text,                           \
		.form = code,                          \
		.plain = PD_IS_PLAIN(id),              \
		.min_size = PD_MIN_##id,               \
		.struct_size = sizeof(struct pd_##id), \
		.fields = fields_##id,                 \
		.decode = pd_decode_##id,              \
		.encode = pd_encode_##id,              \
	},
#define PART(layout, doc) LAYOUT(layout, doc, PD_FORM_PART)
#define BOX(layout, doc) LAYOUT(layout, doc, PD_FORM_BOX)
#define BODY(layout, doc) LAYOUT(layout, doc, PD_FORM_BODY)
const struct pd_layout pd_layouts[PD_LAYOUT_COUNT] = {
#include <perfdata/table/begin.h>
#include <perfdata/table/layouts.def>
#include <perfdata/table/end.h>
};

struct numbered {
	const char *name;
	const char *doc;
	uint32_t number;
	enum pd_record_group group;
	const struct pd_layout *layout;
};

static const struct numbered records[] = {
#define RECORD(NAME, name, number, layout, GROUP, doc) \
	{ #NAME, doc, number, PD_GROUP_##GROUP, &pd_layouts[PD_LAYOUT_##layout] },
#include <perfdata/table/begin.h>
#include <perfdata/table/layouts.def>
#include <perfdata/table/end.h>
};

static const struct numbered features[] = {
#define FEATURE(NAME, name, number, layout, doc) \
	{ #NAME, doc, number, PD_GROUP_UNKNOWN, &pd_layouts[PD_LAYOUT_##layout] },
#include <perfdata/table/begin.h>
#include <perfdata/table/layouts.def>
#include <perfdata/table/end.h>
};

enum {
	RECORD_COUNT = sizeof(records) / sizeof(records[0]),
	FEATURE_COUNT = sizeof(features) / sizeof(features[0]),
};

// By type for those below; a switch that the compiler turns into a table.
static const struct numbered *find_record(uint32_t type)
{
	enum {
#define RECORD(NAME, name, number, layout, GROUP, doc) RECORD_AT_##NAME,
#include <perfdata/table/begin.h>
#include <perfdata/table/layouts.def>
#include <perfdata/table/end.h>
	};

	switch (type) {
#define RECORD(NAME, name, number, layout, GROUP, doc) \
	case number:                                   \
		return &records[RECORD_AT_##NAME];
#include <perfdata/table/begin.h>
#include <perfdata/table/layouts.def>
#include <perfdata/table/end.h>
	default:
		return NULL;
	}
}

static const struct numbered *find_feature(unsigned feature)
{
	for (size_t i = 0; i < FEATURE_COUNT; i++)
		if (features[i].number == feature)
			return &features[i];
	return NULL;
}

const char *pd_record_name(uint32_t type)
{
	const struct numbered *record = find_record(type);

	return record ? record->name : NULL;
}

const char *pd_record_doc(uint32_t type)
{
	const struct numbered *record = find_record(type);

	return record ? record->doc : NULL;
}

enum pd_record_group pd_record_group(uint32_t type)
{
	const struct numbered *record = find_record(type);

	if (record)
		return record->group;
	// what newer kernels, perfs and simpleperfs may add
	return type == 0                         ? PD_GROUP_UNKNOWN :
	       type < 64                         ? PD_GROUP_KERNEL :
	       type < PD_RECORD_SIMPLEPERF_FIRST ? PD_GROUP_TOOL :
						   PD_GROUP_SIMPLEPERF;
}

const struct pd_layout *pd_record_layout(uint32_t type)
{
	const struct numbered *record = find_record(type);

	return record ? record->layout : NULL;
}

bool pd_record_type_at(size_t index, uint32_t *type_out)
{
	// the lines are not in the order of the numbers
	uint32_t type = 0;

	for (size_t position = 0;; position++) {
		uint32_t next = UINT32_MAX;

		for (size_t i = 0; i < RECORD_COUNT; i++)
			if (records[i].number > type && records[i].number < next)
				next = records[i].number;
		if (next == UINT32_MAX)
			return false;
		type = next;
		if (position == index)
			break;
	}
	*type_out = type;
	return true;
}

bool pd_record_type_by_name(const char *name, uint32_t *type_out)
{
	for (size_t i = 0; i < RECORD_COUNT; i++) {
		if (strcasecmp(records[i].name, name) == 0) {
			*type_out = records[i].number;
			return true;
		}
	}
	return false;
}

const char *pd_feature_name(unsigned feature)
{
	const struct numbered *entry = find_feature(feature);

	return entry ? entry->name : NULL;
}

const char *pd_feature_doc(unsigned feature)
{
	const struct numbered *entry = find_feature(feature);

	return entry ? entry->doc : NULL;
}

const struct pd_layout *pd_feature_layout(unsigned feature)
{
	const struct numbered *entry = find_feature(feature);

	return entry ? entry->layout : NULL;
}

const struct pd_layout *pd_layout_at(size_t index)
{
	return index < PD_LAYOUT_COUNT ? &pd_layouts[index] : NULL;
}

const struct pd_layout *pd_layout_by_name(const char *name)
{
	for (size_t i = 0; i < PD_LAYOUT_COUNT; i++)
		if (strcasecmp(pd_layouts[i].name, name) == 0)
			return &pd_layouts[i];
	return NULL;
}

const char *pd_layout_name(const struct pd_layout *layout)
{
	return layout->name;
}

const char *pd_layout_doc(const struct pd_layout *layout)
{
	return layout->doc;
}

size_t pd_layout_min_size(const struct pd_layout *layout)
{
	return layout->min_size;
}

size_t pd_layout_struct_size(const struct pd_layout *layout)
{
	return layout->struct_size;
}

size_t pd_layout_field_count(const struct pd_layout *layout)
{
	size_t count;

	layout->fields(&count);
	return count;
}

const struct pd_field *pd_layout_field(const struct pd_layout *layout, size_t index)
{
	size_t count;
	const struct pd_field *fields = layout->fields(&count);

	return index < count ? &fields[index] : NULL;
}

// ---- fields in words ----

static const char *const kind_names[] = { "",
					  "u8",
					  "u16",
					  "u32",
					  "u64",
					  "s32",
					  "f64",
					  "string, padded to the end",
					  "NUL-terminated string",
					  "u32 size, text, padding" };
static const char *const c_names[] = { "",        "uint8_t", "uint16_t",      "uint32_t",      "uint64_t",
				       "int32_t", "double",  "struct pd_str", "struct pd_str", "struct pd_str" };
static const char *const c_arrays[] = { "", "struct pd_bytes", "struct pd_u16s", "struct pd_u32s", "struct pd_u64s" };

const char *pd_field_name(const struct pd_field *field)
{
	return field->name;
}

const char *pd_field_doc(const struct pd_field *field)
{
	return field->doc;
}

size_t pd_field_offset(const struct pd_field *field)
{
	return field->offset;
}

static size_t print_count(const struct pd_field *field, const char *item, char *text, size_t size)
{
	int need;

	if (field->count.op == PD_COUNT_LEADING)
		need = snprintf(text, size, "%s count, then %s[count]", kind_names[field->count.value], item);
	else if (field->count.op == PD_COUNT_REST)
		need = snprintf(text, size, "%s[] to the end", item);
	else
		need = snprintf(text, size, "%s[%s]", item, field->count.text);
	return (size_t)need;
}

size_t pd_field_wire(const struct pd_field *field, char *text, size_t size)
{
	switch (field->line) {
	case PD_LINE_FIELD:
	case PD_LINE_TEXT:
		return (size_t)snprintf(text, size, "%s", kind_names[field->kind]);
	case PD_LINE_FLAGS:
		return (size_t)snprintf(text, size, "%s of bit-fields", kind_names[field->kind]);
	case PD_LINE_CHARS:
		return (size_t)snprintf(text, size, "char[%s]%s", field->count.text,
					field->count.word ? "" : " or fewer");
	case PD_LINE_ARRAY:
		return print_count(field, kind_names[field->kind], text, size);
	case PD_LINE_ONE:
	case PD_LINE_AGAIN:
		return (size_t)snprintf(text, size, "%s", field->part->name);
	case PD_LINE_BOXED:
		return (size_t)snprintf(text, size, "%s in %s%s", field->part->name, field->count.text,
					field->count.op == PD_COUNT_ATTR ? "" : " bytes");
	case PD_LINE_LIST:
		return print_count(field, field->part->name, text, size);
	case PD_LINE_RECORDS:
		return (size_t)snprintf(text, size, "records %s to the end", pd_record_name(field->count.value));
	default:
		return (size_t)snprintf(text, size, "no bytes");
	}
}

size_t pd_field_when(const struct pd_field *field, char *text, size_t size)
{
	return (size_t)snprintf(text, size, "%s", field->when.text);
}

size_t pd_field_c(const struct pd_field *field, char *text, size_t size)
{
	switch (field->line) {
	case PD_LINE_FIELD:
	case PD_LINE_FLAGS:
	case PD_LINE_TEXT:
		return (size_t)snprintf(text, size, "%s %s", c_names[field->kind], field->name);
	case PD_LINE_CHARS:
		return (size_t)snprintf(text, size, "struct pd_str %s", field->name);
	case PD_LINE_ARRAY:
		return (size_t)snprintf(text, size, "%s %s", c_arrays[field->kind], field->name);
	case PD_LINE_ONE:
	case PD_LINE_BOXED:
		return (size_t)snprintf(text, size, "const struct pd_%s *%s", field->part->name, field->name);
	case PD_LINE_LIST:
		return (size_t)snprintf(text, size, "struct pd_list %s", field->name);
	case PD_LINE_RECORDS:
		return (size_t)snprintf(text, size, "struct pd_bytes %s", field->name);
	case PD_LINE_MORE:
		return (size_t)snprintf(text, size, "bool %s", field->name);
	default: // no member of its own
		if (size)
			text[0] = '\0';
		return 0;
	}
}

const char *pd_field_names(const struct pd_field *field)
{
	return field->names ? field->names->name : NULL;
}

const struct pd_layout *pd_field_part(const struct pd_field *field)
{
	return field->part;
}

// ---- conditions of decoded structs ----

uint64_t pd_member(const void *decoded, size_t offset, size_t size)
{
	const uint8_t *at = (const uint8_t *)decoded + offset;

	switch (size) {
	case 1:
		return *at;
	case 2:
		return pd_load_u16(at, false);
	case 4:
		return pd_load_u32(at, false);
	case 8:
		return pd_load_u64(at, false);
	default:
		return 0;
	}
}

bool pd_when_holds(const struct pd_when *when, const struct pd_scope *scope, const void *decoded)
{
	switch (when->op) {
	case PD_WHEN_ALWAYS:
		return true;
	case PD_WHEN_MASKED:
		return (scope->words[when->word] & when->mask) == when->want;
	case PD_WHEN_WORD_NOT:
		return scope->words[when->word] != when->want;
	case PD_WHEN_WORD_LEAST:
		return scope->words[when->word] >= when->want;
	case PD_WHEN_WORD_BELOW:
		return scope->words[when->word] < when->want;
	case PD_WHEN_IS:
		return pd_member(decoded, when->offset, when->size) == when->want;
	case PD_WHEN_NOT:
		return pd_member(decoded, when->offset, when->size) != when->want;
	case PD_WHEN_LEAST:
		return pd_member(decoded, when->offset, when->size) >= when->want;
	case PD_WHEN_SINCE: {
		uint64_t size = pd_member(decoded, when->offset, when->size);

		return size == 0 || size >= when->want;
	}
	default:
		return false;
	}
}

uint64_t pd_layout_said_size(const struct pd_layout *layout, const void *decoded)
{
	const struct pd_field *size = NULL;
	bool sized = false;
	size_t count;
	const struct pd_field *fields = layout->fields(&count);

	for (size_t i = 0; i < count; i++) {
		sized |= fields[i].when.op == PD_WHEN_SINCE;
		if (fields[i].line == PD_LINE_FIELD && strcmp(fields[i].name, "size") == 0)
			size = &fields[i];
	}
	return sized && size ? pd_member(decoded, size->offset, size->size) : 0;
}

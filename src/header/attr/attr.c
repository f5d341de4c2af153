/* SPDX-License-Identifier: MIT */
/*
 * An attr is printed by walking its layout: what is not 0 is printed, in the order of the wire. A
 * table says which fields are not plain decimal numbers.
 */
#include <inttypes.h>
#include <string.h>

#include "format/layout.h"
#include "header/attr/attr.h"
#include "header/attr/attr_words.h"

enum style {
	DECIMAL,
	HEXADECIMAL,
	SIGNED,
	BITS, /* names of the bits, parted by | */
	EACH, /* every bit by itself: ", inherit = 1" */
	SKIP
};

struct field_style {
	const char *field;
	enum style style;
	const char *label; /* in place of the name of the field, or NULL */
};

static const struct field_style field_styles[] = {
	{ "config", HEXADECIMAL, NULL },
	{ "sample_period", DECIMAL, "{ sample_period, sample_freq }" },
	{ "sample_type", BITS, NULL },
	{ "read_format", BITS, NULL },
	{ "flags", EACH, NULL },
	{ "wakeup_events", DECIMAL, "{ wakeup_events, wakeup_watermark }" },
	{ "config1", HEXADECIMAL, "{ bp_addr, config1 }" },
	{ "config2", HEXADECIMAL, "{ bp_len, config2 }" },
	{ "branch_sample_type", BITS, NULL },
	{ "sample_regs_user", HEXADECIMAL, NULL },
	{ "clockid", SIGNED, NULL },
	{ "sample_regs_intr", HEXADECIMAL, NULL },
	{ "reserved_2", SKIP, NULL },
	{ "aux_action", EACH, NULL },
	{ "config3", HEXADECIMAL, NULL },
	{ "config4", HEXADECIMAL, NULL },
};

/* The order of perf: some bits stand where they belong by meaning, and TRANSACTION has no name there. Bits that only the
 * format's table has come after these. */
static const uint8_t sample_type_order[] = {
	PD_SAMPLE_TYPE_IP_SHIFT,
	PD_SAMPLE_TYPE_TID_SHIFT,
	PD_SAMPLE_TYPE_TIME_SHIFT,
	PD_SAMPLE_TYPE_ADDR_SHIFT,
	PD_SAMPLE_TYPE_READ_SHIFT,
	PD_SAMPLE_TYPE_CALLCHAIN_SHIFT,
	PD_SAMPLE_TYPE_ID_SHIFT,
	PD_SAMPLE_TYPE_CPU_SHIFT,
	PD_SAMPLE_TYPE_PERIOD_SHIFT,
	PD_SAMPLE_TYPE_STREAM_ID_SHIFT,
	PD_SAMPLE_TYPE_RAW_SHIFT,
	PD_SAMPLE_TYPE_BRANCH_STACK_SHIFT,
	PD_SAMPLE_TYPE_REGS_USER_SHIFT,
	PD_SAMPLE_TYPE_STACK_USER_SHIFT,
	PD_SAMPLE_TYPE_IDENTIFIER_SHIFT,
	PD_SAMPLE_TYPE_REGS_INTR_SHIFT,
	PD_SAMPLE_TYPE_DATA_SRC_SHIFT,
	PD_SAMPLE_TYPE_WEIGHT_SHIFT,
	PD_SAMPLE_TYPE_PHYS_ADDR_SHIFT,
	PD_SAMPLE_TYPE_AUX_SHIFT,
	PD_SAMPLE_TYPE_CGROUP_SHIFT,
	PD_SAMPLE_TYPE_DATA_PAGE_SIZE_SHIFT,
	PD_SAMPLE_TYPE_CODE_PAGE_SIZE_SHIFT,
	PD_SAMPLE_TYPE_WEIGHT_STRUCT_SHIFT,
};

static const struct field_style *style_of(const char *field)
{
	static const struct field_style plain = { NULL, DECIMAL, NULL };

	for (size_t i = 0; i < sizeof(field_styles) / sizeof(field_styles[0]); i++) {
		if (strcmp(field_styles[i].field, field) == 0)
			return &field_styles[i];
	}
	return &plain;
}

/* A number of the decoded struct. Its width is that of the member, which the wire tells. */
static uint64_t value_of(const struct pd_attr *attr, const struct pd_field *field)
{
	const char *place = (const char *)attr + pd_field_offset(field);
	char wire[32];
	uint64_t wide;
	uint32_t word;
	uint16_t half;

	pd_field_wire(field, wire, sizeof(wire));
	if (strncmp(wire, "u64", 3) == 0) {
		memcpy(&wide, place, sizeof(wide));
		return wide;
	}
	if (strncmp(wire, "u16", 3) == 0) {
		memcpy(&half, place, sizeof(half));
		return half;
	}
	memcpy(&word, place, sizeof(word));
	return word;
}

static void print_names(struct pd_text *out, const struct pd_names *names, uint64_t word)
{
	char text[512];

	pd_names_print(names, word, text, sizeof(text));
	pd_text_add(out, text);
}

/* Prints one bit, if it is in *left, and takes it out there. */
static void print_bit(struct pd_text *out, const struct pd_names *names, uint64_t bit, uint64_t *left, bool *first)
{
	if (!(*left & bit))
		return;
	pd_text_add(out, *first ? "" : "|");
	print_names(out, names, bit);
	*left &= ~bit;
	*first = false;
}

static void print_bits(struct pd_text *out, const char *field, const struct pd_names *names, uint64_t word)
{
	uint64_t left = word & ~PD_MASK(PD_SAMPLE_TYPE_TRANSACTION);
	bool first = true;

	if (strcmp(field, "sample_type") != 0) {
		print_names(out, names, word);
		return;
	}
	for (size_t i = 0; i < sizeof(sample_type_order); i++)
		print_bit(out, names, UINT64_C(1) << sample_type_order[i], &left, &first);
	for (size_t i = 0; i < names->count; i++)
		print_bit(out, names, UINT64_C(1) << names->items[i].value, &left, &first);
	if (first)
		print_names(out, names, word);
}

static uint64_t bits_of(uint64_t word, int64_t lowest, unsigned width)
{
	return (word >> lowest) & (~UINT64_C(0) >> (64 - width));
}

/* A list of fields under way. */
struct fields {
	struct pd_text *out;
	const struct pd_attr_words *words;
	bool any;
	bool named; /* type and config also have words, and are always there */
	struct pd_file *file;
	const struct pd_event *event;
	struct pd_trace *trace;
};

static void print_label(struct fields *fields, const char *label)
{
	const struct pd_attr_words *words = fields->words;

	pd_text_printf(fields->out, "%s%s%s", fields->any ? words->between : words->before, label, words->equals);
	fields->any = true;
}

static void print_each(struct fields *fields, const struct pd_names *names, uint64_t word)
{
	const char *text;
	int64_t lowest;
	unsigned width;

	for (size_t i = 0; pd_names_item(names, i, &text, &lowest, &width, NULL); i++) {
		uint64_t value = bits_of(word, lowest, width);

		if (!value)
			continue;
		print_label(fields, text);
		pd_text_printf(fields->out, "%" PRIu64, value);
	}
}

static bool print_named(struct fields *fields, const char *label, uint64_t value)
{
	if (strcmp(label, "type") == 0) {
		print_label(fields, label);
		pd_text_printf(fields->out, "%" PRIu64, value);
		pd_add_type_word(fields->out, fields->file, (uint32_t)value);
	} else if (strcmp(label, "config") == 0) {
		print_label(fields, label);
		pd_text_printf(fields->out, value ? "0x%" PRIx64 : "%" PRIu64, value);
		pd_add_config_word(fields->out, fields->file, fields->event, fields->trace);
	} else {
		return false;
	}
	return true;
}

static void print_field(struct fields *fields, const struct pd_attr *attr, const struct pd_field *field)
{
	const struct field_style *shown = style_of(pd_field_name(field));
	const char *label = shown->label ? shown->label : pd_field_name(field);
	struct pd_text *out = fields->out;
	const struct pd_names *names = NULL;
	uint64_t value = value_of(attr, field);

	if (fields->named && print_named(fields, label, value))
		return;
	if (!value || shown->style == SKIP)
		return;
	if (shown->style == BITS || shown->style == EACH)
		names = pd_names_by_name(pd_field_names(field));
	if (shown->style == EACH) {
		print_each(fields, names, value);
		return;
	}
	print_label(fields, label);
	if (shown->style == BITS)
		print_bits(out, pd_field_name(field), names, value);
	else if (shown->style == SIGNED)
		pd_text_printf(out, "%" PRId32, (int32_t)value);
	else
		pd_text_printf(out, shown->style == HEXADECIMAL ? "0x%" PRIx64 : "%" PRIu64, value);
}

void pd_header_str(struct pd_text *out, struct pd_str str)
{
	if (str.data)
		pd_text_escaped(out, str.data, str.length);
	else
		pd_text_add(out, "(null)");
}

static void print_fields(struct fields *fields, const struct pd_attr *attr)
{
	const struct pd_layout *layout = pd_layout_by_name("attr");

	for (size_t i = 0; i < pd_layout_field_count(layout); i++)
		print_field(fields, attr, pd_layout_field(layout, i));
}

void pd_print_perf_attr(struct pd_text *out, const struct pd_attr *attr, const struct pd_attr_words *words)
{
	struct fields fields = { .out = out, .words = words };

	print_fields(&fields, attr);
}

void pd_print_perf_event(struct pd_text *out, struct pd_file *file, const struct pd_event *event,
			 struct pd_trace *trace, const struct pd_attr_words *words)
{
	struct fields fields = {
		.out = out, .words = words, .named = true, .file = file, .event = event, .trace = trace
	};

	print_fields(&fields, event->attr);
}

static bool all_known(const char *set, uint64_t word)
{
	const struct pd_names *names = pd_names_by_name(set);
	uint64_t known = 0;
	int64_t lowest;
	unsigned width;

	for (size_t i = 0; pd_names_item(names, i, NULL, &lowest, &width, NULL); i++)
		known |= (~UINT64_C(0) >> (64 - width)) << lowest;
	return !(word & ~known);
}

static bool is_known(const struct pd_attr *attr)
{
	bool has_branches = attr->sample_type & PD_MASK(PD_SAMPLE_TYPE_BRANCH_STACK);

	return !attr->reserved_2 && all_known("sample_type", attr->sample_type) &&
	       all_known("read_format", attr->read_format) && all_known("attr_flags", attr->flags) &&
	       all_known("aux_action", attr->aux_action) &&
	       (!has_branches || all_known("branch_sample_type", attr->branch_sample_type));
}

/* perf takes all of EVENT_DESC for damaged when one attr asks for something it never heard of. */
static bool is_plausible(const struct pd_event_desc *desc)
{
	for (size_t i = 0; i < desc->events.count; i++) {
		if (!is_known(PD_ITEM(pd_event_desc_entry, desc->events, i)->attr))
			return false;
	}
	return true;
}

static void print_event(struct pd_text *out, const struct pd_event_desc_entry *event)
{
	static const struct pd_attr_words words = { ", ", ", ", " = " };

	pd_text_add(out, "# event : name = ");
	pd_header_str(out, event->name);
	pd_text_add(out, ", ");
	for (size_t i = 0; i < event->ids.count; i++)
		pd_text_printf(out, "%s %" PRIu64, i ? "," : ", id = {", event->ids.items[i]);
	if (event->ids.count)
		pd_text_add(out, " }");
	pd_print_perf_attr(out, event->attr, &words);
	pd_text_add(out, "\n");
}

void pd_header_events(struct pd_text *out, const struct pd_event_desc *desc)
{
	if (!desc || !is_plausible(desc)) {
		pd_text_add(out, "# event desc: not available or unable to read\n");
		return;
	}
	for (size_t i = 0; i < desc->events.count; i++)
		print_event(out, PD_ITEM(pd_event_desc_entry, desc->events, i));
}

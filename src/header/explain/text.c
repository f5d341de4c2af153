/* SPDX-License-Identifier: MIT */
/*
 * Explanations for a terminal.
 */
#include "header/explain/explain.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct widths {
	int name;
	int wire;
};

static int larger(int width, const char *text)
{
	return (int)strlen(text) > width ? (int)strlen(text) : width;
}

static struct widths column_widths(const struct pd_explain_topic *topic)
{
	struct widths widths = { 5, 11 };
	const struct pd_field *field;

	for (size_t i = 0; (field = pd_explain_topic_field(topic, i)) != NULL; i++) {
		struct pd_explain_field_text words;

		pd_explain_field_text(field, &words);
		widths.name = larger(widths.name, pd_field_name(field));
		widths.wire = larger(widths.wire, words.wire);
	}
	return widths;
}

static void print_fields(struct pd_text *text, const struct pd_explain_topic *topic)
{
	struct widths widths = column_widths(topic);
	const struct pd_field *field;

	pd_text_printf(text, "\n  %-*s  %-*s  %s\n", widths.name, "field", widths.wire, "on the wire", "meaning");
	for (size_t i = 0; (field = pd_explain_topic_field(topic, i)) != NULL; i++) {
		struct pd_explain_field_text words;

		pd_explain_field_text(field, &words);
		pd_text_printf(text, "  %-*s  %-*s  %s", widths.name, pd_field_name(field), widths.wire, words.wire,
			       pd_field_doc(field));
		if (words.names)
			pd_text_printf(text, "; see %s", words.names);
		if (words.when[0])
			pd_text_printf(text, " [if %s]", words.when);
		pd_text_add(text, "\n");
	}
}

/* What is known of a record besides its fields. */
static void print_remarks(struct pd_text *text, const struct pd_explain_topic *topic)
{
	const char *before = pd_explain_topic_field(topic, 0) ? "\n" : "";

	if (topic->kind != PD_TOPIC_RECORD || topic->only)
		return;
	for (unsigned bit = 13; bit < 16; bit++) {
		const char *name = pd_misc_bit_name(topic->number, bit);

		if (name) {
			pd_text_printf(text, "%sBit %u of misc: %s.\n", before, bit, name);
			before = "";
		}
	}
	if (pd_explain_topic_has_trailer(topic))
		pd_text_printf(text, "%sIt ends with a sample_id if attr flag sample_id_all is set.\n", before);
}

static void print_layout(struct pd_text *text, const struct pd_explain_topic *topic)
{
	const char *where = topic->kind == PD_TOPIC_RECORD ? " behind the record header" : "";
	size_t least = pd_layout_min_size(topic->layout);

	if (!pd_explain_topic_field(topic, 0))
		pd_text_add(text, "No fields.\n");
	else if (!topic->only)
		pd_text_printf(text, "At least %zu byte%s%s.\n", least, least == 1 ? "" : "s", where);
	if (pd_explain_topic_field(topic, 0))
		print_fields(text, topic);
	print_remarks(text, topic);
}

static void print_names(struct pd_text *text, const struct pd_names *names)
{
	struct pd_explain_name_text item;

	pd_text_printf(text, "\n  %-12s  name\n", pd_names_are_bits(names) ? "bit" : "value");
	for (size_t i = 0; pd_explain_name_text(names, i, &item); i++) {
		pd_text_printf(text, "  %-12s  %s", item.place, *item.text ? item.text : "(none)");
		if (item.values)
			pd_text_printf(text, "; see %s", pd_names_name(item.values));
		pd_text_add(text, "\n");
	}
}

static void topic_text(struct pd_text *text, const struct pd_explain_topic *topic)
{
	char kind[96];

	pd_explain_topic_kind_text(topic, kind, sizeof(kind));
	pd_text_printf(text, "%s: %s\n%s.\n", topic->name, kind, topic->doc);
	if (topic->layout)
		print_layout(text, topic);
	if (topic->names)
		print_names(text, topic->names);
	if (topic->advice)
		pd_text_printf(text, "What to do: %s.\n", topic->advice);
}

static void list_topic(struct pd_text *text, const struct pd_explain_topic *topic)
{
	if (topic->kind == PD_TOPIC_RECORD || topic->kind == PD_TOPIC_FEATURE)
		pd_text_printf(text, "  %5" PRIu32 "  %-28s  %s\n", topic->number, topic->name, topic->doc);
	else
		pd_text_printf(text, "  %-28s  %s\n", topic->name, topic->doc);
}

static void list_chapter(struct pd_text *text, const char *title)
{
	pd_text_printf(text, "%s%s\n", pd_text_bytes(text).size ? "\n" : "", title);
}

const struct pd_explain_form pd_explain_as_text = {
	.topic = topic_text,
};

const struct pd_explain_form pd_explain_as_list = {
	.chapter = list_chapter,
	.topic = list_topic,
};

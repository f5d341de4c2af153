/* SPDX-License-Identifier: MIT */
/*
 * Collects everything that has a name in the format, and puts fields and names into words.
 */
#include "header/explain/explain.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/memory.h"

static void append_topic(struct pd_explain_topics *topics, const struct pd_explain_topic *topic)
{
	if (PD_GROW(topics->items, topics->capacity, topics->count + 1))
		topics->items[topics->count++] = *topic;
	else
		topics->failed = true;
}

static void add_records(struct pd_explain_topics *topics)
{
	uint32_t type;

	for (size_t i = 0; pd_record_type_at(i, &type); i++)
		append_topic(topics, &(struct pd_explain_topic){
					     .kind = PD_TOPIC_RECORD,
					     .number = type,
					     .name = pd_record_name(type),
					     .doc = pd_record_doc(type),
					     .layout = pd_record_layout(type),
				     });
}

static void add_features(struct pd_explain_topics *topics)
{
	for (unsigned feature = 0; feature < PD_FEATURE_LIMIT; feature++) {
		if (pd_feature_name(feature))
			append_topic(topics, &(struct pd_explain_topic){
						     .kind = PD_TOPIC_FEATURE,
						     .number = feature,
						     .name = pd_feature_name(feature),
						     .doc = pd_feature_doc(feature),
						     .layout = pd_feature_layout(feature),
					     });
	}
}

/* Layouts that were not shown as a record or a feature. */
static void add_layouts(struct pd_explain_topics *topics)
{
	size_t shown = topics->count;
	const struct pd_layout *layout;

	for (size_t i = 0; (layout = pd_layout_at(i)) != NULL; i++) {
		bool known = false;

		for (size_t k = 0; k < shown; k++)
			known |= topics->items[k].layout == layout &&
				 !strcasecmp(topics->items[k].name, pd_layout_name(layout));
		if (!known)
			append_topic(topics, &(struct pd_explain_topic){
						     .kind = PD_TOPIC_LAYOUT,
						     .name = pd_layout_name(layout),
						     .doc = pd_layout_doc(layout),
						     .layout = layout,
					     });
	}
}

static void add_names(struct pd_explain_topics *topics)
{
	const struct pd_names *names;

	for (size_t i = 0; (names = pd_names_at(i)) != NULL; i++)
		append_topic(topics, &(struct pd_explain_topic){
					     .kind = PD_TOPIC_NAMES,
					     .name = pd_names_name(names),
					     .doc = pd_names_doc(names),
					     .names = names,
				     });
}

static void add_problems(struct pd_explain_topics *topics)
{
	struct pd_explain_topic topic = { .kind = PD_TOPIC_PROBLEM };

	for (size_t i = 0; (topic.name = pd_problem_at(i, &topic.severity, &topic.doc, &topic.advice)) != NULL; i++)
		append_topic(topics, &topic);
}

void pd_explain_topics_init(struct pd_explain_topics *topics)
{
	memset(topics, 0, sizeof(*topics));
	add_records(topics);
	add_features(topics);
	add_layouts(topics);
	add_names(topics);
	add_problems(topics);
}

void pd_explain_topics_fini(struct pd_explain_topics *topics)
{
	pd_free(topics->items);
	memset(topics, 0, sizeof(*topics));
}

static const char *writer_of(uint32_t type)
{
	switch (pd_record_group(type)) {
	case PD_GROUP_TOOL:
		return "perf";
	case PD_GROUP_SIMPLEPERF:
		return "simpleperf";
	default:
		return "the kernel";
	}
}

const char *pd_explain_topic_chapter(const struct pd_explain_topic *topic)
{
	switch (topic->kind) {
	case PD_TOPIC_RECORD:
		switch (pd_record_group(topic->number)) {
		case PD_GROUP_TOOL:
			return "Records from perf";
		case PD_GROUP_SIMPLEPERF:
			return "Records from simpleperf";
		default:
			return "Records from the kernel";
		}
	case PD_TOPIC_FEATURE:
		return "Features";
	case PD_TOPIC_LAYOUT:
		return "Pieces of records and features";
	case PD_TOPIC_NAMES:
		return "Bits and names";
	case PD_TOPIC_PROBLEM:
		break;
	}
	return "Problems";
}

void pd_explain_topic_kind_text(const struct pd_explain_topic *topic, char *text, size_t size)
{
	switch (topic->kind) {
	case PD_TOPIC_RECORD:
		snprintf(text, size, "record %" PRIu32 ", written by %s", topic->number, writer_of(topic->number));
		break;
	case PD_TOPIC_FEATURE:
		snprintf(text, size, "feature %" PRIu32, topic->number);
		break;
	case PD_TOPIC_LAYOUT:
		snprintf(text, size, "part of records or features");
		break;
	case PD_TOPIC_NAMES:
		snprintf(text, size, "%s", pd_names_are_bits(topic->names) ? "bits of a word" : "names of values");
		break;
	case PD_TOPIC_PROBLEM:
		snprintf(text, size, "problem, severity %s", pd_severity_name(topic->severity));
		break;
	}
}

/* Some lines of a layout are neither bytes nor a member: they only steer how it is read. */
static bool is_visible(const struct pd_field *field)
{
	char text[96];

	if (pd_field_c(field, text, sizeof(text)))
		return true;
	pd_field_wire(field, text, sizeof(text));
	return strcmp(text, "no bytes") != 0;
}

const struct pd_field *pd_explain_topic_field(const struct pd_explain_topic *topic, size_t index)
{
	if (!topic->layout)
		return NULL;
	if (topic->only)
		return index == 0 ? topic->only : NULL;
	for (size_t i = 0; i < pd_layout_field_count(topic->layout); i++) {
		const struct pd_field *field = pd_layout_field(topic->layout, i);

		if (is_visible(field) && index-- == 0)
			return field;
	}
	return NULL;
}

bool pd_explain_topic_has_trailer(const struct pd_explain_topic *topic)
{
	return topic->kind == PD_TOPIC_RECORD && !topic->only && pd_record_group(topic->number) == PD_GROUP_KERNEL;
}

bool pd_explain_layout_is_body(const struct pd_layout *layout)
{
	uint32_t type;

	for (size_t i = 0; pd_record_type_at(i, &type); i++) {
		if (pd_record_layout(type) == layout)
			return true;
	}
	return false;
}

void pd_explain_field_text(const struct pd_field *field, struct pd_explain_field_text *text)
{
	pd_field_wire(field, text->wire, sizeof(text->wire));
	pd_field_when(field, text->when, sizeof(text->when));
	if (strcmp(text->when, "always") == 0)
		text->when[0] = '\0';
	text->names = pd_field_names(field);
}

bool pd_explain_name_text(const struct pd_names *names, size_t index, struct pd_explain_name_text *text)
{
	unsigned width = 0;
	int64_t value;

	if (!pd_names_item(names, index, &text->text, &value, &width, &text->values))
		return false;
	if (pd_names_are_bits(names) && width > 1)
		snprintf(text->place, sizeof(text->place), "%" PRId64 "-%" PRId64, value, value + width - 1);
	else
		snprintf(text->place, sizeof(text->place), "%" PRId64, value);
	return true;
}

static const struct pd_explain_frame_line frame[] = {
#define CHAPTER(title) { PD_FRAME_CHAPTER, NULL, NULL, title },
#define TEXT(paragraph) { PD_FRAME_TEXT, NULL, NULL, paragraph },
#define ROW(place, name, meaning) { PD_FRAME_ROW, place, name, meaning },
#include "header/explain/format_text.def"
};

const struct pd_explain_frame_line *pd_explain_frame_at(size_t index)
{
	return index < sizeof(frame) / sizeof(frame[0]) ? &frame[index] : NULL;
}

/* SPDX-License-Identifier: MIT */
/*
 * Explanations as JSON, one object a line.
 */
#include "base/text/json.h"
#include "header/explain/explain.h"

#include <inttypes.h>

static const char *const kind_names[] = { "record", "feature", "layout", "names", "problem" };

static void add_fields(struct pd_json *json, const struct pd_explain_topic *topic)
{
	const struct pd_field *field;

	pd_json_open(json, "fields", '[');
	for (size_t i = 0; (field = pd_explain_topic_field(topic, i)) != NULL; i++) {
		const struct pd_layout *part = pd_field_part(field);
		struct pd_explain_field_text words;

		pd_explain_field_text(field, &words);
		pd_json_open(json, NULL, '{');
		pd_json_string(json, "name", pd_field_name(field));
		pd_json_string(json, "wire", words.wire);
		pd_json_string(json, "when", words.when[0] ? words.when : "always");
		pd_json_string(json, "doc", pd_field_doc(field));
		pd_json_string(json, "names", words.names);
		pd_json_string(json, "layout", part ? pd_layout_name(part) : NULL);
		pd_json_close(json, '}');
	}
	pd_json_close(json, ']');
}

static void add_names(struct pd_json *json, const struct pd_names *names)
{
	const struct pd_names *values;
	const char *text;
	unsigned width;
	int64_t value;

	pd_json_open(json, "items", '[');
	for (size_t i = 0; pd_names_item(names, i, &text, &value, &width, &values); i++) {
		pd_json_open(json, NULL, '{');
		pd_json_string(json, "name", text);
		pd_json_name(json, pd_names_are_bits(names) ? "bit" : "value");
		pd_text_printf(json->text, "%" PRId64, value);
		if (pd_names_are_bits(names)) {
			pd_json_number(json, "width", width);
			pd_json_string(json, "values", values ? pd_names_name(values) : NULL);
		}
		pd_json_close(json, '}');
	}
	pd_json_close(json, ']');
}

static void topic_json(struct pd_text *text, const struct pd_explain_topic *topic)
{
	struct pd_json json = { .text = text };

	pd_json_open(&json, NULL, '{');
	pd_json_string(&json, "kind", kind_names[topic->kind]);
	pd_json_string(&json, "name", topic->name);
	if (topic->kind == PD_TOPIC_RECORD || topic->kind == PD_TOPIC_FEATURE)
		pd_json_number(&json, "number", topic->number);
	pd_json_string(&json, "doc", topic->doc);
	if (topic->layout) {
		pd_json_string(&json, "layout", pd_layout_name(topic->layout));
		pd_json_number(&json, "min_size", pd_layout_min_size(topic->layout));
		pd_json_bool(&json, "trailer", pd_explain_topic_has_trailer(topic));
		add_fields(&json, topic);
	}
	if (topic->names)
		add_names(&json, topic->names);
	if (topic->kind == PD_TOPIC_PROBLEM) {
		pd_json_string(&json, "severity", pd_severity_name(topic->severity));
		pd_json_string(&json, "advice", topic->advice);
	}
	pd_json_close(&json, '}');
	pd_text_add(text, "\n");
}

const struct pd_explain_form pd_explain_as_json = {
	.topic = topic_json,
};

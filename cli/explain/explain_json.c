/* SPDX-License-Identifier: MIT */
/*
 * Explanations as JSON, one object a line.
 */
#include "explain/explain.h"
#include "front/input.h"
#include "json.h"

#include <inttypes.h>

static const char *const kind_names[] = { "record", "feature", "layout", "names", "problem" };

static void add_fields(struct json *json, const struct subject *subject)
{
	const struct pd_field *field;

	json_open(json, "fields", '[');
	for (size_t i = 0; (field = subject_field(subject, i)) != NULL; i++) {
		const struct pd_layout *part = pd_field_part(field);
		struct field_text words;

		field_text(field, &words);
		json_open(json, NULL, '{');
		json_string(json, "name", pd_field_name(field));
		json_string(json, "wire", words.wire);
		json_string(json, "when", words.when[0] ? words.when : "always");
		json_string(json, "doc", pd_field_doc(field));
		json_string(json, "names", words.names);
		json_string(json, "layout", part ? pd_layout_name(part) : NULL);
		json_close(json, '}');
	}
	json_close(json, ']');
}

static void add_names(struct json *json, const struct pd_names *names)
{
	const struct pd_names *values;
	const char *text;
	unsigned width;
	int64_t value;

	json_open(json, "items", '[');
	for (size_t i = 0; pd_names_item(names, i, &text, &value, &width, &values); i++) {
		json_open(json, NULL, '{');
		json_string(json, "name", text);
		json_name(json, pd_names_are_bits(names) ? "bit" : "value");
		pd_text_printf(json->text, "%" PRId64, value);
		if (pd_names_are_bits(names)) {
			json_number(json, "width", width);
			json_string(json, "values", values ? pd_names_name(values) : NULL);
		}
		json_close(json, '}');
	}
	json_close(json, ']');
}

static void subject_json(struct pd_text *text, const struct subject *subject)
{
	struct json json = { .text = text };

	json_open(&json, NULL, '{');
	json_string(&json, "kind", kind_names[subject->kind]);
	json_string(&json, "name", subject->name);
	if (subject->kind == SUBJECT_RECORD || subject->kind == SUBJECT_FEATURE)
		json_number(&json, "number", subject->number);
	json_string(&json, "doc", subject->doc);
	if (subject->layout) {
		json_string(&json, "layout", pd_layout_name(subject->layout));
		json_number(&json, "min_size", pd_layout_min_size(subject->layout));
		json_bool(&json, "trailer", subject_has_trailer(subject));
		add_fields(&json, subject);
	}
	if (subject->names)
		add_names(&json, subject->names);
	if (subject->kind == SUBJECT_PROBLEM) {
		json_string(&json, "severity", severity_name(subject->severity));
		json_string(&json, "advice", subject->advice);
	}
	json_close(&json, '}');
	pd_text_add(text, "\n");
}

const struct explain_form explain_as_json = {
	.subject = subject_json,
};

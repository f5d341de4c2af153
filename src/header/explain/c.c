/* SPDX-License-Identifier: MIT */
/*
 * Layouts as the C structs that <perfdata/format.h> declares.
 */
#include "header/explain/explain.h"

#include <inttypes.h>
#include <stdint.h>

/* The member that stands at or after an offset; members are in the order of the struct. */
static const struct pd_field *next_member(const struct pd_layout *layout, size_t from)
{
	const struct pd_field *best = NULL;

	for (size_t i = 0; i < pd_layout_field_count(layout); i++) {
		const struct pd_field *field = pd_layout_field(layout, i);
		char declaration[128];
		size_t offset = pd_field_offset(field);

		/* A line that stands for no member, or for one that is there already. */
		if (!pd_field_c(field, declaration, sizeof(declaration)) || offset < from)
			continue;
		if (!best || offset < pd_field_offset(best))
			best = field;
	}
	return best;
}

static void add_hidden_members(struct pd_text *text, const struct pd_layout *layout)
{
	const struct pd_field *first = next_member(layout, 0);
	size_t start = first ? pd_field_offset(first) : pd_layout_struct_size(layout);
	size_t known = 0;

	if (start >= sizeof(struct pd_bytes)) {
		pd_text_add(text, "\tstruct pd_bytes rest; /* bytes behind the known members */\n");
		known += sizeof(struct pd_bytes);
	}
	if (pd_explain_layout_is_body(layout)) {
		pd_text_add(text, "\tconst struct pd_sample_id *sample_id; /* NULL if there is none "
				  "*/\n");
		known += sizeof(struct pd_sample_id *);
	}
	if (start >= known + sizeof(uint32_t))
		pd_text_add(text, "\tuint32_t wire_size; /* bytes it took in the file */\n");
}

static void struct_c(struct pd_text *text, const struct pd_layout *layout)
{
	const struct pd_field *field;
	size_t from = 0;

	pd_text_printf(text, "struct pd_%s {\n", pd_layout_name(layout));
	add_hidden_members(text, layout);
	while ((field = next_member(layout, from)) != NULL) {
		char declaration[128];

		pd_field_c(field, declaration, sizeof(declaration));
		pd_text_printf(text, "\t%s; /* %s */\n", declaration, pd_field_doc(field));
		from = pd_field_offset(field) + 1;
	}
	pd_text_add(text, "};\n");
}

static void topic_c(struct pd_text *text, const struct pd_explain_topic *topic)
{
	if (!topic->layout)
		return;
	if (pd_text_bytes(text).size)
		pd_text_add(text, "\n");
	if (topic->kind == PD_TOPIC_RECORD)
		pd_text_printf(text, "/* PD_RECORD_%s (%" PRIu32 "): %s */\n", topic->name, topic->number, topic->doc);
	else if (topic->kind == PD_TOPIC_FEATURE)
		pd_text_printf(text, "/* PD_FEATURE_%s (%" PRIu32 "): %s */\n", topic->name, topic->number, topic->doc);
	else
		pd_text_printf(text, "/* %s */\n", topic->doc);
	struct_c(text, topic->layout);
}

const struct pd_explain_form pd_explain_as_c = {
	.topic = topic_c,
};

/* SPDX-License-Identifier: MIT */
/*
 * The format as the manual page perf.data(5).
 */
#include "header/explain/explain.h"

#include <perfdata/roff.h>

#include <stdio.h>

static void begin_man(struct pd_text *text)
{
	const struct pd_explain_frame_line *line;
	bool in_rows = false;

	pd_roff_title(text, "PERF.DATA", 5);
	pd_roff_section(text, "NAME");
	pd_text_add(text, "perf.data \\- file format of perf record\n");
	pd_roff_section(text, "DESCRIPTION");
	for (size_t i = 0; (line = pd_explain_frame_at(i)) != NULL; i++) {
		if (line->kind == PD_FRAME_CHAPTER) {
			pd_roff_subsection(text, line->text);
		} else if (line->kind == PD_FRAME_ROW) {
			pd_roff_item(text);
			pd_roff_bold(text, line->name);
			pd_text_printf(text, " (%s)\n", line->place);
		} else if (in_rows || i == 0 || pd_explain_frame_at(i - 1)->kind != PD_FRAME_CHAPTER) {
			pd_text_add(text, ".PP\n");
		}
		in_rows = line->kind == PD_FRAME_ROW;
		if (line->kind != PD_FRAME_CHAPTER) {
			pd_roff_add(text, line->text);
			pd_text_add(text, in_rows ? ".\n" : "\n");
		}
	}
}

static void chapter_man(struct pd_text *text, const char *title)
{
	char upper[64];
	size_t i = 0;

	for (; title[i] && i < sizeof(upper) - 1; i++)
		upper[i] = title[i] >= 'a' && title[i] <= 'z' ? (char)(title[i] - 'a' + 'A') : title[i];
	upper[i] = '\0';
	pd_roff_section(text, upper);
}

static void add_fields(struct pd_text *text, const struct pd_explain_topic *topic)
{
	const struct pd_field *field;

	for (size_t i = 0; (field = pd_explain_topic_field(topic, i)) != NULL; i++) {
		struct pd_explain_field_text words;

		pd_explain_field_text(field, &words);
		pd_roff_item(text);
		pd_roff_bold(text, pd_field_name(field));
		pd_text_add(text, "  ");
		pd_roff_italic(text, words.wire);
		pd_text_add(text, "\n");
		pd_roff_add(text, pd_field_doc(field));
		if (words.names) {
			pd_text_add(text, "; see ");
			pd_roff_bold(text, words.names);
		}
		pd_text_add(text, ".\n");
		if (words.when[0]) {
			pd_text_add(text, "If ");
			pd_roff_add(text, words.when);
			pd_text_add(text, ".\n");
		}
	}
}

static void add_names(struct pd_text *text, const struct pd_names *names)
{
	struct pd_explain_name_text item;

	for (size_t i = 0; pd_explain_name_text(names, i, &item); i++) {
		pd_text_add(text, ".TP 12\n");
		pd_roff_bold(text, item.place);
		pd_text_add(text, "\n");
		pd_roff_add(text, *item.text ? item.text : "(none)");
		if (item.values) {
			pd_text_add(text, "; see ");
			pd_roff_bold(text, pd_names_name(item.values));
		}
		pd_text_add(text, "\n");
	}
}

static void topic_man(struct pd_text *text, const struct pd_explain_topic *topic)
{
	char kind[96];

	pd_explain_topic_kind_text(topic, kind, sizeof(kind));
	pd_roff_subsection(text, topic->name);
	pd_roff_add(text, kind);
	pd_text_add(text, ": ");
	pd_roff_add(text, topic->doc);
	pd_text_add(text, ".\n");
	if (pd_explain_topic_has_trailer(topic))
		pd_text_add(text, "Ends with a sample_id if attr flag sample_id_all is set.\n");
	add_fields(text, topic);
	if (topic->names)
		add_names(text, topic->names);
	if (topic->advice) {
		pd_text_add(text, ".PP\n");
		pd_roff_add(text, topic->advice);
		pd_text_add(text, ".\n");
	}
}

static void end_man(struct pd_text *text)
{
	pd_roff_section(text, "SEE ALSO");
	pd_text_add(text, "\\fBperfdata\\fR(1), \\fBperfdata\\-explain\\fR(1), "
			  "\\fBperf_event_open\\fR(2)\n");
}

const struct pd_explain_form pd_explain_as_man = {
	.begin = begin_man,
	.chapter = chapter_man,
	.topic = topic_man,
	.end = end_man,
};

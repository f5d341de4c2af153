/* SPDX-License-Identifier: MIT */
/*
 * The format as Markdown, with tables.
 */
#include "header/explain/explain.h"

/* Text inside a table or paragraph; what Markdown would take as its own is escaped. */
static void add_words(struct pd_text *text, const char *words)
{
	for (; *words; words++) {
		if (*words == '|' || *words == '*' || *words == '<' || *words == '_' || *words == '[')
			pd_text_add(text, "\\");
		pd_text_printf(text, "%c", *words);
	}
}

static void begin_markdown(struct pd_text *text)
{
	const struct pd_explain_frame_line *line;
	bool in_rows = false;

	pd_text_add(text, "# perf.data\n");
	for (size_t i = 0; (line = pd_explain_frame_at(i)) != NULL; i++) {
		bool is_row = line->kind == PD_FRAME_ROW;

		if (!in_rows || !is_row)
			pd_text_add(text, "\n");
		if (is_row && !in_rows)
			pd_text_add(text, "| offset | name | meaning |\n| ---: | --- | --- |\n");
		in_rows = is_row;
		if (is_row)
			pd_text_printf(text, "| %s | `%s` | ", line->place, line->name);
		pd_text_add(text, line->kind == PD_FRAME_CHAPTER ? "## " : "");
		add_words(text, line->text);
		pd_text_add(text, is_row ? " |\n" : "\n");
	}
}

static void chapter_markdown(struct pd_text *text, const char *title)
{
	pd_text_printf(text, "\n## %s\n", title);
}

static void add_fields(struct pd_text *text, const struct pd_explain_topic *topic)
{
	const struct pd_field *field;

	if (!pd_explain_topic_field(topic, 0))
		return;
	pd_text_add(text, "\n| field | on the wire | when | meaning |\n| --- | --- | --- | --- |\n");
	for (size_t i = 0; (field = pd_explain_topic_field(topic, i)) != NULL; i++) {
		struct pd_explain_field_text words;

		pd_explain_field_text(field, &words);
		pd_text_printf(text, "| `%s` | ", pd_field_name(field));
		add_words(text, words.wire);
		pd_text_add(text, " | ");
		add_words(text, words.when[0] ? words.when : "always");
		pd_text_add(text, " | ");
		add_words(text, pd_field_doc(field));
		if (words.names)
			pd_text_printf(text, "; see `%s`", words.names);
		pd_text_add(text, " |\n");
	}
}

static void add_names(struct pd_text *text, const struct pd_names *names)
{
	struct pd_explain_name_text item;

	pd_text_printf(text, "\n| %s | name |\n| ---: | --- |\n", pd_names_are_bits(names) ? "bit" : "value");
	for (size_t i = 0; pd_explain_name_text(names, i, &item); i++) {
		pd_text_printf(text, "| %s | ", item.place);
		add_words(text, item.text);
		if (item.values)
			pd_text_printf(text, "; see `%s`", pd_names_name(item.values));
		pd_text_add(text, " |\n");
	}
}

static void topic_markdown(struct pd_text *text, const struct pd_explain_topic *topic)
{
	char kind[96];

	pd_explain_topic_kind_text(topic, kind, sizeof(kind));
	pd_text_printf(text, "%s### %s\n\n%s: ", pd_text_bytes(text).size ? "\n" : "", topic->name, kind);
	add_words(text, topic->doc);
	pd_text_add(text, ".\n");
	if (pd_explain_topic_has_trailer(topic))
		pd_text_add(text, "Ends with a `sample_id` if attr flag `sample_id_all` is set.\n");
	add_fields(text, topic);
	if (topic->names)
		add_names(text, topic->names);
	if (topic->advice) {
		pd_text_add(text, "\nWhat to do: ");
		add_words(text, topic->advice);
		pd_text_add(text, ".\n");
	}
}

const struct pd_explain_form pd_explain_as_markdown = {
	.begin = begin_markdown,
	.chapter = chapter_markdown,
	.topic = topic_markdown,
};

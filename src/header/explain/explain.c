/* SPDX-License-Identifier: MIT */
// Which topics are meant by a name, and all of them chapter by chapter.
#include "header/explain/explain.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <perfdata/print.h>

#include "base/error.h"

static bool is_number(const char *word, uint64_t number)
{
	bool is_hex = word[0] == '0' && (word[1] == 'x' || word[1] == 'X');
	char *end;

	return *word >= '0' && *word <= '9' && strtoull(word, &end, is_hex ? 16 : 10) == number && !*end;
}

static bool same_name(const struct pd_explain_topic *topic, const char *word)
{
	if (strcasecmp(topic->name, word) == 0)
		return true;
	if (topic->kind == PD_TOPIC_RECORD && strncmp(topic->name, "HEADER_", 7) == 0 &&
	    strcasecmp(topic->name + 7, word) == 0)
		return true;
	return (topic->kind == PD_TOPIC_RECORD || topic->kind == PD_TOPIC_FEATURE) && is_number(word, topic->number);
}

/* layout.field, as problems name it: the topic with only that field. */
static bool same_field(const struct pd_explain_topic *topic, const char *word, struct pd_explain_topic *found)
{
	const char *dot = strchr(word, '.');
	const char *name;

	if (!dot || !topic->layout)
		return false;
	name = pd_layout_name(topic->layout);
	if (strlen(name) != (size_t)(dot - word) || strncasecmp(name, word, strlen(name)) != 0)
		return false;
	for (size_t i = 0; i < pd_layout_field_count(topic->layout); i++) {
		const struct pd_field *field = pd_layout_field(topic->layout, i);

		if (strcasecmp(pd_field_name(field), dot + 1) == 0) {
			*found = *topic;
			found->only = field;
			return true;
		}
	}
	return false;
}

static enum pd_status unknown_name(const struct pd_explain_topics *topics, const char *word, struct pd_error *error)
{
	struct pd_nearest nearest = { .word = word };

	for (size_t i = 0; i < topics->count; i++)
		pd_nearest_try(&nearest, topics->items[i].name);
	if (nearest.best)
		return pd_fail(error, PD_ERROR_NO_MATCH, PD_NO_OFFSET, "unknown name '%s'; did you mean '%s'?", word,
			       nearest.best);
	return pd_fail(error, PD_ERROR_NO_MATCH, PD_NO_OFFSET, "unknown name '%s'; perfdata explain lists all names",
		       word);
}

/* Explains everything that has the name. */
static enum pd_status explain_word(struct pd_text *text, const struct pd_explain_form *form,
				   const struct pd_explain_topics *topics, const char *word, struct pd_error *error)
{
	bool found = false, shown = false;

	for (size_t i = 0; i < topics->count; i++) {
		struct pd_explain_topic topic = topics->items[i];

		if (!same_name(&topic, word) && !same_field(&topic, word, &topic))
			continue;
		found = true;
		if (form == &pd_explain_as_c && !topic.layout)
			continue;
		if (form == &pd_explain_as_text && pd_text_bytes(text).size)
			pd_text_add(text, "\n");
		form->topic(text, &topic);
		shown = true;
	}
	if (!found)
		return unknown_name(topics, word, error);
	return shown ? PD_OK : pd_fail(error, PD_ERROR_NO_MATCH, PD_NO_OFFSET, "'%s' has no C struct", word);
}

static void explain_all(struct pd_text *text, const struct pd_explain_form *form,
			const struct pd_explain_topics *topics)
{
	const char *chapter = NULL;

	if (form->begin)
		form->begin(text);
	for (size_t i = 0; i < topics->count; i++) {
		const struct pd_explain_topic *topic = &topics->items[i];

		if (form->chapter && (!chapter || strcmp(chapter, pd_explain_topic_chapter(topic)) != 0)) {
			chapter = pd_explain_topic_chapter(topic);
			form->chapter(text, chapter);
		}
		form->topic(text, topic);
	}
	if (form->end)
		form->end(text);
}

enum pd_status pd_explain(struct pd_text *text, const char *name, enum pd_explain_as as, struct pd_error *error)
{
	static const struct pd_explain_form *const forms[] = { [PD_EXPLAIN_TEXT] = &pd_explain_as_text,
							       [PD_EXPLAIN_C] = &pd_explain_as_c,
							       [PD_EXPLAIN_JSON] = &pd_explain_as_json,
							       [PD_EXPLAIN_MAN] = &pd_explain_as_man,
							       [PD_EXPLAIN_MARKDOWN] = &pd_explain_as_markdown };
	const struct pd_explain_form *form;
	struct pd_explain_topics topics;
	enum pd_status status = PD_OK;

	if ((unsigned)as >= sizeof(forms) / sizeof(forms[0]))
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "there is no such form");
	form = !name && as == PD_EXPLAIN_TEXT ? &pd_explain_as_list : forms[as];
	pd_explain_topics_init(&topics);
	if (topics.failed)
		status = pd_fail_memory(error);
	else if (name)
		status = explain_word(text, form, &topics, name, error);
	else
		explain_all(text, form, &topics);
	pd_explain_topics_fini(&topics);
	return status;
}

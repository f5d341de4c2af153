/* SPDX-License-Identifier: MIT */
// Which subjects are meant by a name, and all of them chapter by chapter.
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

static bool same_name(const struct pd_explain_subject *subject, const char *word)
{
	if (strcasecmp(subject->name, word) == 0)
		return true;
	if (subject->kind == PD_SUBJECT_RECORD && strncmp(subject->name, "HEADER_", 7) == 0 &&
	    strcasecmp(subject->name + 7, word) == 0)
		return true;
	return (subject->kind == PD_SUBJECT_RECORD || subject->kind == PD_SUBJECT_FEATURE) &&
	       is_number(word, subject->number);
}

/* layout.field, as problems name it: the subject with only that field. */
static bool same_field(const struct pd_explain_subject *subject, const char *word, struct pd_explain_subject *found)
{
	const char *dot = strchr(word, '.');
	const char *name;

	if (!dot || !subject->layout)
		return false;
	name = pd_layout_name(subject->layout);
	if (strlen(name) != (size_t)(dot - word) || strncasecmp(name, word, strlen(name)) != 0)
		return false;
	for (size_t i = 0; i < pd_layout_field_count(subject->layout); i++) {
		const struct pd_field *field = pd_layout_field(subject->layout, i);

		if (strcasecmp(pd_field_name(field), dot + 1) == 0) {
			*found = *subject;
			found->only = field;
			return true;
		}
	}
	return false;
}

static enum pd_status unknown_name(const struct pd_explain_subjects *subjects, const char *word, struct pd_error *error)
{
	struct pd_nearest nearest = { .word = word };

	for (size_t i = 0; i < subjects->count; i++)
		pd_nearest_try(&nearest, subjects->items[i].name);
	if (nearest.best)
		return pd_fail(error, PD_ERROR_NO_MATCH, PD_NO_OFFSET, "unknown name '%s'; did you mean '%s'?", word,
			       nearest.best);
	return pd_fail(error, PD_ERROR_NO_MATCH, PD_NO_OFFSET, "unknown name '%s'; perfdata explain lists all names",
		       word);
}

/* Explains everything that has the name. */
static enum pd_status explain_word(struct pd_text *text, const struct pd_explain_form *form,
				   const struct pd_explain_subjects *subjects, const char *word, struct pd_error *error)
{
	bool found = false, shown = false;

	for (size_t i = 0; i < subjects->count; i++) {
		struct pd_explain_subject subject = subjects->items[i];

		if (!same_name(&subject, word) && !same_field(&subject, word, &subject))
			continue;
		found = true;
		if (form == &pd_explain_as_c && !subject.layout)
			continue;
		if (form == &pd_explain_as_text && pd_text_bytes(text).size)
			pd_text_add(text, "\n");
		form->subject(text, &subject);
		shown = true;
	}
	if (!found)
		return unknown_name(subjects, word, error);
	return shown ? PD_OK : pd_fail(error, PD_ERROR_NO_MATCH, PD_NO_OFFSET, "'%s' has no C struct", word);
}

static void explain_all(struct pd_text *text, const struct pd_explain_form *form,
			const struct pd_explain_subjects *subjects)
{
	const char *chapter = NULL;

	if (form->begin)
		form->begin(text);
	for (size_t i = 0; i < subjects->count; i++) {
		const struct pd_explain_subject *subject = &subjects->items[i];

		if (form->chapter && (!chapter || strcmp(chapter, pd_explain_subject_chapter(subject)) != 0)) {
			chapter = pd_explain_subject_chapter(subject);
			form->chapter(text, chapter);
		}
		form->subject(text, subject);
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
	struct pd_explain_subjects subjects;
	enum pd_status status = PD_OK;

	if ((unsigned)as >= sizeof(forms) / sizeof(forms[0]))
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "there is no such form");
	form = !name && as == PD_EXPLAIN_TEXT ? &pd_explain_as_list : forms[as];
	pd_explain_subjects_init(&subjects);
	if (subjects.failed)
		status = pd_fail_memory(error);
	else if (name)
		status = explain_word(text, form, &subjects, name, error);
	else
		explain_all(text, form, &subjects);
	pd_explain_subjects_fini(&subjects);
	return status;
}

/* SPDX-License-Identifier: MIT */
/*
 * perfdata explain: what the format's table says of a name, or all of it.
 */
#include "front/cli.h"
#include "explain/explain.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

struct values {
	bool c;
	bool json;
	bool man;
	bool markdown;
};

static const struct option options[] = {
	{ "c", 'c', OPTION_FLAG, NULL, offsetof(struct values, c), "print the C struct from <perfdata/format.h>" },
	{ "json", 'j', OPTION_FLAG, NULL, offsetof(struct values, json), "print one JSON object per line" },
	{ "man", 0, OPTION_FLAG, NULL, offsetof(struct values, man),
	  "print roff; without NAME the manual page perf.data(5)" },
	{ "markdown", 0, OPTION_FLAG, NULL, offsetof(struct values, markdown),
	  "print Markdown; without NAME the whole format" },
	{ 0 },
};

static const struct example examples[] = {
	{ "perfdata explain", "list all names" },
	{ "perfdata explain MMAP2", "show the fields of a record" },
	{ "perfdata explain sample_type", "show the bits of a field" },
	{ "perfdata explain mmap2.pgoff", "show one field" },
	{ "perfdata explain truncated-record", "show what to do about a problem" },
	{ "perfdata explain --man | man -l -", "read the format as a manual page" },
	{ 0 },
};

static bool same_name(const struct subject *subject, const char *word)
{
	uint64_t number;

	if (strcasecmp(subject->name, word) == 0)
		return true;
	if (subject->kind == SUBJECT_RECORD && strncmp(subject->name, "HEADER_", 7) == 0 &&
	    strcasecmp(subject->name + 7, word) == 0)
		return true;
	return (subject->kind == SUBJECT_RECORD || subject->kind == SUBJECT_FEATURE) && number_parse(word, &number) &&
	       number == subject->number;
}

/* layout.field, as problems name it: the subject with only that field. */
static bool same_field(const struct subject *subject, const char *word, struct subject *found)
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

static bool unknown_name(const struct subjects *subjects, const char *word)
{
	struct pd_nearest nearest = { .word = word };

	for (size_t i = 0; i < subjects->count; i++)
		pd_nearest_try(&nearest, subjects->items[i].name);
	if (nearest.best)
		complain("unknown name '%s'; did you mean '%s'?", word, nearest.best);
	else
		complain("unknown name '%s'; perfdata explain lists all names", word);
	return false;
}

/* Explains everything that has the name; false if there is nothing. */
static bool explain_word(struct pd_text *text, const struct explain_form *form, const struct subjects *subjects,
			 const char *word)
{
	bool found = false, shown = false;

	for (size_t i = 0; i < subjects->count; i++) {
		struct subject subject = subjects->items[i];

		if (!same_name(&subject, word) && !same_field(&subject, word, &subject))
			continue;
		found = true;
		if (form == &explain_as_c && !subject.layout)
			continue;
		if (form == &explain_as_text && pd_text_bytes(text).size)
			pd_text_add(text, "\n");
		form->subject(text, &subject);
		shown = true;
	}
	if (!found)
		return unknown_name(subjects, word);
	if (!shown)
		complain("'%s' has no C struct", word);
	return shown;
}

static void explain_all(struct pd_text *text, const struct explain_form *form, const struct subjects *subjects)
{
	const char *chapter = NULL;

	if (form->begin)
		form->begin(text);
	for (size_t i = 0; i < subjects->count; i++) {
		const struct subject *subject = &subjects->items[i];

		if (form->chapter && (!chapter || strcmp(chapter, subject_chapter(subject)) != 0)) {
			chapter = subject_chapter(subject);
			form->chapter(text, chapter);
		}
		form->subject(text, subject);
	}
	if (form->end)
		form->end(text);
}

static const struct explain_form *choose_form(const struct values *values, bool all)
{
	if (values->c + values->json + values->man + values->markdown > 1) {
		complain("--c, --json, --man and --markdown cannot be combined");
		return NULL;
	}
	if (values->c)
		return &explain_as_c;
	if (values->json)
		return &explain_as_json;
	if (values->man)
		return &explain_as_man;
	if (values->markdown)
		return &explain_as_markdown;
	return all ? &explain_as_list : &explain_as_text;
}

static int run(const struct call *call)
{
	const struct explain_form *form = choose_form(call->values, call->word_count == 0);
	struct subjects subjects;
	int code = CODE_FINE;

	if (!form)
		return CODE_USAGE;
	subjects_init(&subjects);
	if (subjects.failed) {
		complain("out of memory");
		code = CODE_OUTPUT;
	} else if (call->word_count == 0) {
		explain_all(call->out->text, form, &subjects);
	}
	for (size_t i = 0; i < call->word_count && !subjects.failed; i++) {
		if (!explain_word(call->out->text, form, &subjects, call->words[i]))
			code = CODE_NOTHING;
	}
	subjects_fini(&subjects);
	return code;
}

const struct command cmd_explain = {
	.usage = "[OPTION]... [NAME]...",
	.text = "NAME is a record (MMAP2), a feature (HOSTNAME), a part of them (branch_stack), a set of "
		"bits or names (sample_type), one field (mmap2.pgoff), a number, or a problem code "
		"(truncated-record), in upper or lower case. Every match is explained. Without NAME, "
		"all names are listed.",
	.options = options,
	.examples = examples,
	.values_size = sizeof(struct values),
	.max_words = SIZE_MAX,
	.run = run,
};

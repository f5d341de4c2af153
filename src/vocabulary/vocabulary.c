/* SPDX-License-Identifier: MIT */
/* The words of the lists, each from the part of the library that has it. */
#include <perfdata/vocabulary.h>

#include <string.h>

#include <perfdata/doctor.h>
#include <perfdata/export.h>
#include <perfdata/report.h>
#include <perfdata/samples.h>
#include <perfdata/stat.h>

static const char *const marks[] = {
	[PD_VOCABULARY_SORT_KEYS] = "{sort keys}",         [PD_VOCABULARY_BRANCH_SORT_KEYS] = "{branch sort keys}",
	[PD_VOCABULARY_SAMPLE_FIELDS] = "{sample fields}", [PD_VOCABULARY_METRICS] = "{metrics}",
	[PD_VOCABULARY_FINDINGS] = "{findings}",           [PD_VOCABULARY_EXPORT_FORMATS] = "{export formats}"
};

/* The index-th of those that are for branches, or of the others. A column of perf without values is none. */
static const struct pd_report_key *find_key(bool of_branch, size_t index)
{
	const struct pd_report_key *key;

	for (size_t i = 0; (key = pd_report_key_at(i)) != NULL; i++)
		if (key->of_branch == of_branch && strcmp(key->name, "ipc_null") != 0 && index-- == 0)
			return key;
	return NULL;
}

static const char *find_format(size_t index, const char **doc_out)
{
	struct pd_export_format format;

	if (!pd_export_format(index, &format))
		return NULL;
	*doc_out = format.doc;
	return format.name;
}

const char *pd_vocabulary_word(enum pd_vocabulary list, size_t index, const char **other_out, const char **doc_out)
{
	const struct pd_report_key *key = NULL;

	*other_out = *doc_out = NULL;
	switch (list) {
	case PD_VOCABULARY_SORT_KEYS:
	case PD_VOCABULARY_BRANCH_SORT_KEYS:
		key = find_key(list == PD_VOCABULARY_BRANCH_SORT_KEYS, index);
		if (!key)
			return NULL;
		*other_out = key->other_name;
		*doc_out = key->help;
		return key->name;
	case PD_VOCABULARY_SAMPLE_FIELDS:
		return pd_samples_field(index, doc_out);
	case PD_VOCABULARY_METRICS:
		return pd_stat_metric_name(index);
	case PD_VOCABULARY_FINDINGS:
		return pd_finding_code(index, doc_out);
	case PD_VOCABULARY_EXPORT_FORMATS:
		return find_format(index, doc_out);
	}
	return NULL;
}

/* "a, b or c (what it means) and d" */
static void add_list(struct pd_text *text, enum pd_vocabulary list)
{
	const char *other, *doc, *unused, *word = pd_vocabulary_word(list, 0, &other, &doc), *next;

	for (size_t i = 1; word; i++) {
		pd_text_add(text, word);
		if (other)
			pd_text_printf(text, " or %s", other);
		if (doc && (list == PD_VOCABULARY_SORT_KEYS || list == PD_VOCABULARY_BRANCH_SORT_KEYS ||
			    list == PD_VOCABULARY_EXPORT_FORMATS))
			pd_text_printf(text, " (%s)", doc);
		next = pd_vocabulary_word(list, i, &other, &doc);
		if (next)
			pd_text_add(text, pd_vocabulary_word(list, i + 1, &unused, &unused) ? ", " : " and ");
		word = pd_vocabulary_word(list, i, &other, &doc);
	}
}

static size_t mark_at(const char *text, enum pd_vocabulary *list_out)
{
	for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++) {
		if (strncmp(text, marks[i], strlen(marks[i])) != 0)
			continue;
		*list_out = (enum pd_vocabulary)i;
		return strlen(marks[i]);
	}
	return 0;
}

struct pd_text *pd_vocabulary_expand(const char *text)
{
	struct pd_text *out = pd_text_new();
	enum pd_vocabulary list = PD_VOCABULARY_SORT_KEYS;

	while (out && *text) {
		size_t length = mark_at(text, &list);

		if (length)
			add_list(out, list);
		else
			pd_text_printf(out, "%.*s", (int)(length = 1 + strcspn(text + 1, "{")), text);
		text += length;
	}
	if (out)
		pd_text_printf(out, "%c", 0);
	return out;
}

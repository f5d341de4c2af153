/* SPDX-License-Identifier: MIT */
#include "manual/vocabulary.h"

#include <string.h>

#include <perfdata/doctor.h>
#include <perfdata/export.h>
#include <perfdata/report.h>
#include <perfdata/samples.h>
#include <perfdata/stat.h>

static const char *const marks[] = { [SORT_KEYS] = "{sort keys}",         [BRANCH_SORT_KEYS] = "{branch sort keys}",
				     [SAMPLE_FIELDS] = "{sample fields}", [METRICS] = "{metrics}",
				     [FINDINGS] = "{findings}",           [EXPORT_FORMATS] = "{export formats}" };

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

const char *vocabulary_word(enum vocabulary list, size_t index, const char **other_out, const char **doc_out)
{
	const struct pd_report_key *key = NULL;

	*other_out = *doc_out = NULL;
	switch (list) {
	case SORT_KEYS:
	case BRANCH_SORT_KEYS:
		key = find_key(list == BRANCH_SORT_KEYS, index);
		if (!key)
			return NULL;
		*other_out = key->other_name;
		*doc_out = key->help;
		return key->name;
	case SAMPLE_FIELDS:
		return pd_samples_field(index, doc_out);
	case METRICS:
		return pd_stat_metric_name(index);
	case FINDINGS:
		return pd_finding_code(index, doc_out);
	case EXPORT_FORMATS:
		return find_format(index, doc_out);
	}
	return NULL;
}

/* "a, b or c (what it means) and d" */
static void add_list(struct pd_text *text, enum vocabulary list)
{
	const char *other, *doc, *unused, *word = vocabulary_word(list, 0, &other, &doc), *next;

	for (size_t i = 1; word; i++) {
		pd_text_add(text, word);
		if (other)
			pd_text_printf(text, " or %s", other);
		if (doc && (list == SORT_KEYS || list == BRANCH_SORT_KEYS || list == EXPORT_FORMATS))
			pd_text_printf(text, " (%s)", doc);
		next = vocabulary_word(list, i, &other, &doc);
		if (next)
			pd_text_add(text, vocabulary_word(list, i + 1, &unused, &unused) ? ", " : " and ");
		word = vocabulary_word(list, i, &other, &doc);
	}
}

static size_t mark_at(const char *text, enum vocabulary *list_out)
{
	for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++) {
		if (strncmp(text, marks[i], strlen(marks[i])) != 0)
			continue;
		*list_out = (enum vocabulary)i;
		return strlen(marks[i]);
	}
	return 0;
}

struct pd_text *vocabulary_expand(const char *text)
{
	struct pd_text *out = pd_text_new();
	enum vocabulary list = SORT_KEYS;

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

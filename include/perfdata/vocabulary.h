/* SPDX-License-Identifier: MIT */
/**
 * vocabulary.h - the lists of words that the library has: sort keys, fields, metrics ... Help, manual pages, completion and menus name
 * them from here, so that a new one is in all of them.
 *
 * Example:
 *
 *	const char *word, *other, *doc;
 *
 *	for (size_t i = 0; (word = pd_vocabulary_word(PD_VOCABULARY_SORT_KEYS, i, &other, &doc)) != NULL; i++)
 *		printf("%s: %s\n", word, doc);
 */
#ifndef PERFDATA_VOCABULARY_H
#define PERFDATA_VOCABULARY_H

#include <perfdata/text.h>

#ifdef __cplusplus
extern "C" {
#endif

enum pd_vocabulary {
	PD_VOCABULARY_SORT_KEYS,        /* report.h, of samples */
	PD_VOCABULARY_BRANCH_SORT_KEYS, /* report.h, of branches */
	PD_VOCABULARY_SAMPLE_FIELDS,    /* samples.h */
	PD_VOCABULARY_METRICS,          /* stat.h */
	PD_VOCABULARY_FINDINGS,         /* doctor.h */
	PD_VOCABULARY_EXPORT_FORMATS    /* export.h */
};

/** The index-th word, with its other name and what it means, each of which may be NULL; NULL past the end. Static. Any thread. */
PD_API const char *pd_vocabulary_word(enum pd_vocabulary list, size_t index, const char **other_out,
				      const char **doc_out);
/** A text in which {sort keys}, {branch sort keys}, {sample fields}, {metrics}, {findings} and {export formats} have become the words of
 * these lists, with a NUL at its end. Owned by the caller, see pd_text_free; NULL without memory. */
PD_API struct pd_text *pd_vocabulary_expand(const char *text);

/** What to use instead of an option of perf (6.1 and 7.2) that the command of its name does not have: by its long name, of length bytes, or
 * (length 0) by its short one. command NULL: of perf itself, whose commands that are not here are names of that kind. NULL if
 * there is nothing to say. Static. Any thread. */
PD_API const char *pd_vocabulary_absent(const char *command, const char *name, size_t length, char short_name);

#ifdef __cplusplus
}
#endif
#endif

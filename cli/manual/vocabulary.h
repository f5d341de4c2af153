/* SPDX-License-Identifier: MIT */
/*
 * The lists of words that the library has: sort keys, fields, metrics. Help, manual pages and completion name them from there, so
 * that a new one is in all of them.
 */
#ifndef CLI_VOCABULARY_H
#define CLI_VOCABULARY_H

#include <perfdata/text.h>

enum vocabulary {
	SORT_KEYS,
	BRANCH_SORT_KEYS,
	SAMPLE_FIELDS,
	METRICS,
	FINDINGS,
	EXPORT_FORMATS
};

/* The index-th word, with its other name and what it means, each of which may be NULL; NULL past the end. */
const char *vocabulary_word(enum vocabulary list, size_t index, const char **other_out, const char **doc_out);

/* A text of a command: {sort keys}, {branch sort keys}, {sample fields}, {metrics}, {findings} and {export formats} become the words of these lists. The result
 * is owned by the caller, see pd_text_free; NULL without memory. */
struct pd_text *vocabulary_expand(const char *text);

#endif

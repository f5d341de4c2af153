/* SPDX-License-Identifier: MIT */
/* The lists of words, their ends, and texts in which they stand; and lack of memory. */
#include <perfdata/report.h>
#include <perfdata/vocabulary.h>

#include "../failing.h"
#include "../test.h"

static bool has_word(enum pd_vocabulary list, const char *wanted)
{
	const char *word, *other, *doc;

	for (size_t i = 0; (word = pd_vocabulary_word(list, i, &other, &doc)) != NULL; i++)
		if (!strcmp(word, wanted))
			return true;
	return false;
}

TEST(test_vocabulary__words)
{
	CHECK(has_word(PD_VOCABULARY_SORT_KEYS, "comm") && !has_word(PD_VOCABULARY_SORT_KEYS, "symbol_from"));
	CHECK(has_word(PD_VOCABULARY_BRANCH_SORT_KEYS, "symbol_from") &&
	      !has_word(PD_VOCABULARY_BRANCH_SORT_KEYS, "comm"));
	CHECK(!has_word(PD_VOCABULARY_BRANCH_SORT_KEYS, "ipc_null") && !has_word(PD_VOCABULARY_SORT_KEYS, "ipc_null"));
	CHECK(has_word(PD_VOCABULARY_SAMPLE_FIELDS, "time") && has_word(PD_VOCABULARY_METRICS, "IPC"));
	CHECK(has_word(PD_VOCABULARY_FINDINGS, "lost-samples") && !has_word(PD_VOCABULARY_FINDINGS, "comm"));
	CHECK(has_word(PD_VOCABULARY_EXPORT_FORMATS, "pprof"));
}

// Every word of the key list stands in the text, with what it means.
TEST(test_vocabulary__expanded)
{
	struct pd_text *text = pd_vocabulary_expand("Keys: {sort keys}. {not a list} {");
	const char *word, *other, *doc, *string;

	CHECK(text);
	string = (const char *)pd_text_bytes(text).data;
	CHECK(!strncmp(string, "Keys: ", 6) && strstr(string, ". {not a list} {") && !strstr(string, "{sort keys}"));
	for (size_t i = 0; (word = pd_vocabulary_word(PD_VOCABULARY_SORT_KEYS, i, &other, &doc)) != NULL; i++)
		CHECK(strstr(string, word) && (!doc || strstr(string, doc)));
	CHECK(strlen(string) + 1 == pd_text_bytes(text).size);
	pd_text_free(text);
}

TEST(test_vocabulary__no_memory)
{
	for (long n = 0;; n++) {
		struct pd_text *text;
		bool whole;

		has_failed = false;
		left = n;
		text = pd_vocabulary_expand("{findings}");
		left = -1;
		whole = text && !pd_text_failed(text);
		pd_text_free(text);
		CHECK(n < 1000);
		if (!has_failed) {
			CHECK(whole && n > 1);
			return;
		}
		CHECK(!whole);
	}
}

RUN(TEST_CASE(test_vocabulary__words), TEST_CASE(test_vocabulary__expanded), TEST_CASE(test_vocabulary__no_memory))

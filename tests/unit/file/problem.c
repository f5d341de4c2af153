/* SPDX-License-Identifier: MIT */
/* The list of all problems. */
#include <perfdata/file.h>

#include "../test.h"

#include <ctype.h>

TEST(test_problem__codes_are_unique_words)
{
	const char *code, *other;

	for (size_t i = 0; (code = pd_problem_at(i, NULL, NULL, NULL)) != NULL; i++) {
		CHECK(*code);
		for (const char *at = code; *at; at++)
			CHECK(islower((unsigned char)*at) || isdigit((unsigned char)*at) || *at == '-');
		for (size_t j = 0; j < i; j++) {
			other = pd_problem_at(j, NULL, NULL, NULL);
			CHECK(strcmp(code, other) != 0);
		}
	}
}

TEST(test_problem__each_has_a_meaning_and_an_advice)
{
	enum pd_severity severity;
	const char *doc, *advice;
	size_t count = 0;

	for (; pd_problem_at(count, &severity, &doc, &advice); count++) {
		CHECK(severity == PD_INFO || severity == PD_WARNING || severity == PD_DAMAGE);
		CHECK(doc && *doc && doc[strlen(doc) - 1] != '.');
		CHECK(advice && *advice && advice[strlen(advice) - 1] != '.');
	}
	CHECK(count > 30);
}

RUN(TEST_CASE(test_problem__codes_are_unique_words), TEST_CASE(test_problem__each_has_a_meaning_and_an_advice))

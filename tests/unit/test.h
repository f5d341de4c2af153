/* SPDX-License-Identifier: MIT */
/*
 * Harness of the unit tests. A file has functions made with TEST(name), and RUN(name, ...) makes
 * its main, which prints TAP. A failed CHECK ends its test; the others still run.
 */
#ifndef PD_TEST_H
#define PD_TEST_H

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static bool test_failed;

#define TEST(name) static void name(void)

// What failed goes to stderr, which runners show.
#define CHECK(condition)                                                                  \
	do {                                                                              \
		if (!(condition)) {                                                       \
			fprintf(stderr, "# %s:%d: %s\n", __FILE__, __LINE__, #condition); \
			test_failed = true;                                               \
			return;                                                           \
		}                                                                         \
	} while (0)

#define CHECK_STR(got, wanted)                                                                     \
	do {                                                                                       \
		const char *test_got = (got), *test_wanted = (wanted);                             \
                                                                                                   \
		if (!test_got || !test_wanted || strcmp(test_got, test_wanted) != 0) {             \
			fprintf(stderr, "# %s:%d: \"%s\", wanted \"%s\"\n", __FILE__, __LINE__,    \
				test_got ? test_got : "NULL", test_wanted ? test_wanted : "NULL"); \
			test_failed = true;                                                        \
			return;                                                                    \
		}                                                                                  \
	} while (0)

struct test_case {
	const char *name;
	void (*run)(void);
};

static inline int test_run(const struct test_case *cases, size_t count)
{
	int failed = 0;

	printf("1..%zu\n", count);
	for (size_t i = 0; i < count; i++) {
		test_failed = false;
		cases[i].run();
		printf("%s %zu - %s\n", test_failed ? "not ok" : "ok", i + 1, cases[i].name);
		failed += test_failed;
	}
	return failed != 0;
}

#define TEST_CASE(name)     \
	{                   \
#name, name \
	}

// RUN(TEST_CASE(a), TEST_CASE(b)) is the main function.
#define RUN(...)                                                          \
	int main(void)                                                    \
	{                                                                 \
		static const struct test_case cases[] = { __VA_ARGS__ };  \
		return test_run(cases, sizeof(cases) / sizeof(cases[0])); \
	}

#endif

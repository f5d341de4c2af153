/* SPDX-License-Identifier: MIT */
/* Lines cut at the edge of a screen, words broken into lines; and lack of memory. */
#include <perfdata/text.h>

#include "../failing.h"
#include "../test.h"

static struct pd_text *text;

// Whether the text is this string, which it is not any more then.
static bool is(const char *wanted)
{
	struct pd_bytes bytes = pd_text_bytes(text);
	bool same = bytes.size == strlen(wanted) && !memcmp(bytes.data, wanted, bytes.size);

	pd_text_clear(text);
	return same;
}

static void clip(const char *lines, unsigned columns, unsigned *column)
{
	pd_text_clipped(text, (struct pd_bytes){ (const uint8_t *)lines, strlen(lines) }, columns, column);
}

TEST(test_lines__clipped)
{
	unsigned column = 0;

	clip("\033[31m12345\033[m6\n\303\2442345\nx", 4, &column);
	CHECK(is("\033[31m1234\033[m\n\303\244234\nx") && column == 1);
	clip("abcdef", 4, &column);
	CHECK(is("abc"));
	clip("g\n", 4, &column);
	CHECK(is("\n") && column == 0);
	pd_text_clipped(text, (struct pd_bytes){ NULL, 0 }, 4, &column);
	clip("\033", 4, &column);
	CHECK(is("\033"));
}

TEST(test_lines__wrapped)
{
	pd_text_wrapped(text, "one two three\n\nfour", 9, 2, 1);
	CHECK(is("one two\n three\n\n four\n"));
	pd_text_wrapped(text, "longer-than-all of", 4, 0, 2);
	CHECK(is("longer-than-all\n  of\n"));
	pd_text_wrapped(text, "", 4, 0, 2);
	CHECK(is("\n"));
}

TEST(test_lines__no_memory)
{
	struct pd_text *small = pd_text_new();
	unsigned column = 0;

	CHECK(small);
	left = 0;
	pd_text_wrapped(small, "one two", 9, 0, 0);
	pd_text_clipped(small, (struct pd_bytes){ (const uint8_t *)"abc", 3 }, 2, &column);
	left = -1;
	CHECK(has_failed && pd_text_failed(small));
	pd_text_free(small);
}

int main(void)
{
	static const struct test_case cases[] = { TEST_CASE(test_lines__clipped), TEST_CASE(test_lines__wrapped),
						  TEST_CASE(test_lines__no_memory) };
	int failed;

	text = pd_text_new();
	if (!text)
		return 1;
	failed = test_run(cases, sizeof(cases) / sizeof(cases[0]));
	pd_text_free(text);
	return failed;
}

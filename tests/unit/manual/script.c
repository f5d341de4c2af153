/* SPDX-License-Identifier: MIT */
/* Markers of completion scripts, and how what shells read is quoted. */
#include "manual/script.h"

#include "../test.h"

static struct pd_text *text;

/* What was added so far; adds nothing more. */
static const char *taken(void)
{
	static char copy[200];
	struct pd_bytes bytes = pd_text_bytes(text);

	snprintf(copy, sizeof(copy), "%.*s", (int)bytes.size, (const char *)bytes.data);
	pd_text_clear(text);
	return copy;
}

static void add_version(struct pd_text *to, const struct manual_program *program)
{
	pd_text_add(to, program->version);
}

static void add_nothing(struct pd_text *to, const struct manual_program *program)
{
	(void)to;
	(void)program;
}

static const char *filled(const char *script)
{
	static const struct script_part parts[] = { { "VERSION", add_version }, { "NONE", add_nothing }, { 0 } };
	static const struct manual_program program = { .version = "7\n" };

	script_add(text, script, parts, &program);
	return taken();
}

TEST(test_script__no_marker)
{
	CHECK_STR(filled(""), "");
	CHECK_STR(filled("a\nb"), "a\nb");
	CHECK_STR(filled("\"$@\" @VERSION @version@ @OTHER@"), "\"$@\" @VERSION @version@ @OTHER@");
}

TEST(test_script__marker)
{
	CHECK_STR(filled("a @VERSION@ b@VERSION@"), "a 7\n b7\n");
}

TEST(test_script__marker_of_a_line)
{
	CHECK_STR(filled("@VERSION@\nb\n@VERSION@\nc\n"), "7\nb\n7\nc\n");
	CHECK_STR(filled("@NONE@\n@NONE@\n@VERSION@\n"), "7\n");
	CHECK_STR(filled("a@NONE@\nb"), "a\nb");
}

TEST(test_script__quoted)
{
	script_add_quoted(text, "it's a:b\\", ":\\", "'\\''");
	CHECK_STR(taken(), "it'\\''s a\\:b\\\\");
}

static void add_words(const void *words, struct pd_text *to)
{
	pd_text_add(to, words);
}

TEST(test_script__value)
{
	static const struct script_form forms[MANUAL_KINDS] = {
		[MANUAL_FILE] = { "files", NULL }, [MANUAL_WORD] = { "(", ")" }
	};
	const struct manual_value file = { .kind = MANUAL_FILE };
	const struct manual_value word = { .kind = MANUAL_WORD, .add_words = add_words, .words = "a b " };

	script_add_value(text, forms, &file);
	script_add_value(text, forms, &word);
	CHECK_STR(taken(), "files(a b )");
}

TEST(test_completion__shells)
{
	CHECK(manual_completion("bash") == script_add_bash);
	CHECK(manual_completion("zsh") == script_add_zsh);
	CHECK(manual_completion("fish") == script_add_fish);
	CHECK(!manual_completion("tcsh"));
	CHECK(!manual_completion(""));
}

static const struct test_case cases[] = {
	TEST_CASE(test_script__no_marker), TEST_CASE(test_script__marker), TEST_CASE(test_script__marker_of_a_line),
	TEST_CASE(test_script__quoted),    TEST_CASE(test_script__value),  TEST_CASE(test_completion__shells),
};

int main(void)
{
	int failed;

	text = pd_text_new();
	failed = test_run(cases, sizeof(cases) / sizeof(cases[0]));
	pd_text_free(text);
	return failed;
}

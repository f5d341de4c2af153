/* SPDX-License-Identifier: MIT */
/* The user's configuration: cli/config.c. */
#include "front/config.h"

#include <stdarg.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "front/output.h"
#include "test.h"

static char complaint[512];

void complain(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(complaint, sizeof(complaint), format, arguments);
	va_end(arguments);
}

static struct config config;

static bool parse(const char *text)
{
	config_fini(&config);
	complaint[0] = '\0';
	return config_add(&config, "file", text);
}

TEST(test_config__values)
{
	CHECK(parse("# first\n[record]\n\tbuild-id = skip ; not this\n\tplain=1\n[Pager]\n\tReport = less -R\n"));
	CHECK_STR(config_get(&config, "record.build-id"), "skip");
	CHECK_STR(config_get(&config, "record.plain"), "1");
	CHECK_STR(config_get(&config, "pager.report"), "less -R");
	CHECK(!config_get(&config, "record.other"));
	CHECK(!config_get(&config, "record"));
	CHECK(!complaint[0]);
}

TEST(test_config__sections)
{
	CHECK(parse("[a \"Sub x\"] k = 1\n[a.b]\nk = 2\n[c]k=3\n"));
	CHECK_STR(config_get(&config, "a.Sub x.k"), "1");
	CHECK_STR(config_get(&config, "a.b.k"), "2");
	CHECK_STR(config_get(&config, "c.k"), "3");
}

TEST(test_config__quotes_and_escapes)
{
	CHECK(parse("[a]\nk = \" x # y \" z \nl = a\\\n b\nm = \\t\\n\\\\\\\"\nn =\no = \"\"\np = \"  \"\n"));
	CHECK_STR(config_get(&config, "a.k"), " x # y  z");
	CHECK_STR(config_get(&config, "a.l"), "a b");
	CHECK_STR(config_get(&config, "a.m"), "\t\n\\\"");
	CHECK_STR(config_get(&config, "a.n"), "");
	CHECK_STR(config_get(&config, "a.o"), "");
	CHECK_STR(config_get(&config, "a.p"), "  ");
}

TEST(test_config__key_alone_is_true)
{
	CHECK(parse("[a]\nk\nl # x\nm"));
	CHECK_STR(config_get(&config, "a.k"), "true");
	CHECK_STR(config_get(&config, "a.l"), "true");
	CHECK_STR(config_get(&config, "a.m"), "true");
}

TEST(test_config__last_one_counts)
{
	CHECK(parse("[a]\nk = 1\n[b]\nk = 2\n[a]\nk = 3\n"));
	CHECK_STR(config_get(&config, "a.k"), "3");
	CHECK(config_add(&config, "other", "[a]\r\nk = 4\r\n"));
	CHECK_STR(config_get(&config, "a.k"), "4");
}

TEST(test_config__wrong_lines)
{
	static const struct {
		const char *text, *line;
	} cases[] = {
		{ "k = 1\n", "file:1:" },
		{ "\n[a\nk = 1\n", "file:2:" },
		{ "[a]\nk = 1\n\n= 2\n", "file:4:" },
		{ "[a]\nk = \"1\nl = 2\"\n", "file:2:" },
		{ "[a]\nk = \\\n\\q\n", "file:3:" },
		{ "[a]\nk 1\n", "file:2:" },
		{ "[]\n", "file:1:" },
		{ "[a \"b]\n", "file:1:" },
		{ "[a \"b\\", "file:1:" },
		{ "[a b]\n", "file:1:" },
		{ "[a]\nk = \\", "file:2:" },
		{ "[a]\n1 = 2\n", "file:2:" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		CHECK(!parse(cases[i].text));
		CHECK(!strncmp(complaint, cases[i].line, strlen(cases[i].line)));
	}
	CHECK(!parse("[a]\nk = 1\n?\nk = 2\n"));
	CHECK_STR(config_get(&config, "a.k"), "1");
}

TEST(test_config__byte_order_mark)
{
	CHECK(parse("\xef\xbb\xbf[a]\nk = 1\n"));
	CHECK_STR(config_get(&config, "a.k"), "1");
	CHECK(!parse("\xef\xbb[a]\nk = 1\n"));
}

TEST(test_config__long_names)
{
	char text[2000], name[600];

	for (size_t length = 100; length < sizeof(name); length += 7) {
		memset(name, 'x', length);
		name[length] = '\0';
		snprintf(text, sizeof(text), "[%s]\nk=1\n", name);
		parse(text);
		snprintf(text, sizeof(text), "[a \"%s\"]\nk=1\n", name);
		parse(text);
		snprintf(text, sizeof(text), "[a]\n%s=1\n", name);
		CHECK(parse(text) == (length < 256));
	}
}

TEST(test_config__files)
{
	char home[] = "/tmp/config-XXXXXX", path[64];
	FILE *file;

	CHECK(mkdtemp(home));
	snprintf(path, sizeof(path), "%s/.perfconfig", home);
	file = fopen(path, "w");
	CHECK(file && fputs("[test]\nkey = of the user\n", file) >= 0 && !fclose(file));
	setenv("HOME", home, 1);
	unsetenv("PERF_CONFIG");
	config_fini(&config);
	config_load(&config);
	CHECK_STR(config_get(&config, "test.key"), "of the user");
	config_fini(&config);
	setenv("PERF_CONFIG", "/dev/null", 1);
	config_load(&config);
	CHECK(!config_get(&config, "test.key"));
	setenv("PERF_CONFIG", path, 1);
	config_load(&config);
	CHECK_STR(config_get(&config, "test.key"), "of the user");
	config_fini(&config);
	unlink(path);
	complaint[0] = '\0';
	config_load(&config);
	CHECK(!config.count && strstr(complaint, path));
	unsetenv("PERF_CONFIG");
	complaint[0] = '\0';
	config_load(&config);
	CHECK(!complaint[0]);
	config_fini(&config);
	/* none at all, as for perf */
	setenv("PERF_CONFIG", "", 1);
	config_load(&config);
	CHECK(!config.count && !complaint[0]);
	unsetenv("PERF_CONFIG");
	/* nobody writes into it */
	CHECK(mkfifo(path, 0600) == 0);
	config_load(&config);
	CHECK(!config.count);
	config_fini(&config);
	unlink(path);
	rmdir(home);
}

RUN(TEST_CASE(test_config__values), TEST_CASE(test_config__sections), TEST_CASE(test_config__quotes_and_escapes),
    TEST_CASE(test_config__key_alone_is_true), TEST_CASE(test_config__last_one_counts),
    TEST_CASE(test_config__wrong_lines), TEST_CASE(test_config__byte_order_mark), TEST_CASE(test_config__long_names),
    TEST_CASE(test_config__files))

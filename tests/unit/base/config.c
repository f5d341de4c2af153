/* SPDX-License-Identifier: MIT */
/* Configuration files, through the public header. */
#include <perfdata/config.h>

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "test.h"

static struct pd_config *config;
static struct pd_error error;

static void start(void)
{
	pd_config_free(config);
	config = pd_config_new();
	error.message[0] = '\0';
}

static bool parse(const char *text)
{
	start();
	return pd_config_add(config, "file", text, &error) == PD_OK;
}

TEST(test_config__values)
{
	CHECK(parse("# first\n[record]\n\tbuild-id = skip ; not this\n\tplain=1\n[Pager]\n\tReport = less -R\n"));
	CHECK_STR(pd_config_get(config, "record.build-id"), "skip");
	CHECK_STR(pd_config_get(config, "record.plain"), "1");
	CHECK_STR(pd_config_get(config, "pager.report"), "less -R");
	CHECK(!pd_config_get(config, "record.other"));
	CHECK(!pd_config_get(config, "record"));
	CHECK(!error.message[0]);
}

TEST(test_config__sections)
{
	CHECK(parse("[a \"Sub x\"] k = 1\n[a.b]\nk = 2\n[c]k=3\n"));
	CHECK_STR(pd_config_get(config, "a.Sub x.k"), "1");
	CHECK_STR(pd_config_get(config, "a.b.k"), "2");
	CHECK_STR(pd_config_get(config, "c.k"), "3");
}

TEST(test_config__quotes_and_escapes)
{
	CHECK(parse("[a]\nk = \" x # y \" z \nl = a\\\n b\nm = \\t\\n\\\\\\\"\nn =\no = \"\"\np = \"  \"\n"));
	CHECK_STR(pd_config_get(config, "a.k"), " x # y  z");
	CHECK_STR(pd_config_get(config, "a.l"), "a b");
	CHECK_STR(pd_config_get(config, "a.m"), "\t\n\\\"");
	CHECK_STR(pd_config_get(config, "a.n"), "");
	CHECK_STR(pd_config_get(config, "a.o"), "");
	CHECK_STR(pd_config_get(config, "a.p"), "  ");
}

TEST(test_config__key_alone_is_true)
{
	CHECK(parse("[a]\nk\nl # x\nm"));
	CHECK_STR(pd_config_get(config, "a.k"), "true");
	CHECK_STR(pd_config_get(config, "a.l"), "true");
	CHECK_STR(pd_config_get(config, "a.m"), "true");
}

TEST(test_config__last_one_counts)
{
	CHECK(parse("[a]\nk = 1\n[b]\nk = 2\n[a]\nk = 3\n"));
	CHECK_STR(pd_config_get(config, "a.k"), "3");
	CHECK(pd_config_add(config, "other", "[a]\r\nk = 4\r\n", &error) == PD_OK);
	CHECK_STR(pd_config_get(config, "a.k"), "4");
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
		CHECK(!strncmp(error.message, cases[i].line, strlen(cases[i].line)));
	}
	CHECK(!parse("[a]\nk = 1\n?\nk = 2\n"));
	CHECK_STR(pd_config_get(config, "a.k"), "1");
}

TEST(test_config__byte_order_mark)
{
	CHECK(parse("\xef\xbb\xbf[a]\nk = 1\n"));
	CHECK_STR(pd_config_get(config, "a.k"), "1");
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

/* A folder of its own with a file. */
struct place {
	char folder[32], path[64];
};

static bool make_place(struct place *place, const char *name, const char *content)
{
	FILE *file;

	strcpy(place->folder, "/tmp/config-XXXXXX");
	if (!mkdtemp(place->folder))
		return false;
	snprintf(place->path, sizeof(place->path), "%s/%s", place->folder, name);
	file = fopen(place->path, "w");
	return file && fputs(content, file) >= 0 && fclose(file) == 0;
}

TEST(test_config__files)
{
	struct place place;
	const char *path = place.path;

	CHECK(make_place(&place, "config", "[test]\nkey = of the user\n?\n"));
	start();
	CHECK(pd_config_add_file(config, path, false, &error) == PD_ERROR_ARGUMENT);
	CHECK_STR(pd_config_get(config, "test.key"), "of the user");
	CHECK(strstr(error.message, path) && strstr(error.message, ":3: "));
	unlink(path);
	start();
	CHECK(pd_config_add_file(config, path, false, &error) == PD_ERROR_SYSTEM);
	CHECK(strstr(error.message, path));
	CHECK(pd_config_add_file(config, path, true, &error) == PD_OK);
	/* nobody writes into it */
	CHECK(mkfifo(path, 0600) == 0);
	CHECK(pd_config_add_file(config, path, true, &error) == PD_OK);
	unlink(path);
	rmdir(place.folder);
}

static bool change(const char *text, const char *name, const char *value, const char *expected)
{
	struct pd_text *changed = pd_text_new();
	struct pd_bytes bytes;
	bool same;

	if (!changed)
		return false;
	if (pd_config_change("file", text, name, value, changed, &error) < 0) {
		pd_text_free(changed);
		return !expected;
	}
	bytes = pd_text_bytes(changed);
	same = expected && bytes.size == strlen(expected) && !memcmp(bytes.data, expected, bytes.size);
	if (!same)
		fprintf(stderr, "%.*s", (int)bytes.size, (const char *)bytes.data);
	pd_text_free(changed);
	return same;
}

TEST(test_config__change)
{
	CHECK(change("", "a.b", "c", "[a]\n\tb = c\n"));
	CHECK(change("# mine\n[A]\n  b=1   # why\n; end", "a.b", "2", "# mine\n[A]\n  b = 2   # why\n; end"));
	CHECK(change("[a]\nb = 1\n[c]\nd\n", "a.e", "x y", "[a]\nb = 1\n\te = x y\n[c]\nd\n"));
	CHECK(change("[a]\nb = 1", "a.e", "2", "[a]\nb = 1\n\te = 2\n"));
	CHECK(change("[c]\nd", "a.e", "2", "[c]\nd\n[a]\n\te = 2\n"));
	CHECK(change("[a]\nb = 1\nb = 2\n", "a.b", "3", "[a]\nb = 1\nb = 3\n"));
	CHECK(change("[a]\nb = \"x\\\n y\"\nc\n", "a.b", "#;\" \\", "[a]\nb = \"#;\\\" \\\\\"\nc\n"));
	CHECK(change("[c]\nd = 1\\\n", "a.e", "2", "[c]\nd = 1\\\n\n[a]\n\te = 2\n"));
	CHECK(change("[a]\n?\n", "a.b", "1", NULL) && strstr(error.message, "file:2: "));
	CHECK(change("", "a", "1", NULL) && change("", ".b", "1", NULL) && change("", "a.", "1", NULL) &&
	      change("", "a.b c", "1", NULL) && change("", "a]\n[x.b", "1", NULL) && change("", "a.1", "1", NULL));
}

/* In no more than linear time: a file may be as large as 1 MiB. */
TEST(test_config__many_keys)
{
	enum {
		KEYS = 60000
	};
	char *text = malloc(16 * KEYS + 16), *at = text;
	const char *value;
	size_t count = 0;

	CHECK(text);
	at += sprintf(at, "[a]\n");
	for (int i = 0; i < KEYS; i++)
		at += sprintf(at, "k%d=%d\n", i % (KEYS / 2), i);
	CHECK(parse(text));
	while (pd_config_at(config, count, &value))
		count++;
	CHECK(count == KEYS / 2);
	CHECK_STR(pd_config_get(config, "a.k7"), "30007");
	free(text);
}

static unsigned warnings;

static void count_warning(void *self, const char *sentence)
{
	(void)self;
	warnings += strstr(sentence, "perfconfig:2: ") != NULL;
}

/* A configuration that is loaded, with a.b of it. */
static bool load(const char *only, const char *home, const char *expected)
{
	struct pd_config *loaded = pd_config_load(only, home, count_warning, NULL);
	const char *value = loaded ? pd_config_get(loaded, "perfdata-test.b") : NULL;
	bool same = loaded && (expected ? value && !strcmp(value, expected) : !value);

	pd_config_free(loaded);
	return same;
}

TEST(test_config__load)
{
	struct place place;
	const char *folder = place.folder, *path = place.path;

	CHECK(make_place(&place, ".perfconfig", "[perfdata-test] b = 1\n?\n"));
	warnings = 0;
	CHECK(load(NULL, folder, "1") && warnings == 1);
	CHECK(load(path, NULL, "1") && warnings == 2);
	CHECK(load(path, "/nowhere", "1") && warnings == 3);
	CHECK(load("", folder, NULL) && load(NULL, NULL, NULL) && load(NULL, folder + 1, NULL) && load(NULL, "", NULL));
	CHECK(warnings == 3);
	CHECK(unlink(path) == 0 && rmdir(folder) == 0);
}

/* Whatever is set is read again, and the rest as it was. */
TEST(test_config__change_and_read)
{
	static const char text[] = "[x]\nbefore = 1 # 2\n[a \"Sub\"]\nk = v\n[a]\nother = \"q\"\n";
	static const char *const values[] = { "",    " ", "a",  " a ", "\"", "\\",      "a\nb",
					      "a#b", ";", "\t", "[x]", "=",  "\x01\xff" };

	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		struct pd_text *changed = pd_text_new();

		CHECK(changed && pd_config_change("file", text, "a.set", values[i], changed, &error) == PD_OK);
		pd_text_printf(changed, "%c", 0);
		CHECK(parse((const char *)pd_text_bytes(changed).data));
		CHECK_STR(pd_config_get(config, "a.set"), values[i]);
		CHECK_STR(pd_config_get(config, "x.before"), "1");
		CHECK_STR(pd_config_get(config, "a.Sub.k"), "v");
		CHECK_STR(pd_config_get(config, "a.other"), "q");
		pd_text_free(changed);
	}
}

RUN(TEST_CASE(test_config__load), TEST_CASE(test_config__change), TEST_CASE(test_config__many_keys),
    TEST_CASE(test_config__change_and_read), TEST_CASE(test_config__values), TEST_CASE(test_config__sections),
    TEST_CASE(test_config__quotes_and_escapes), TEST_CASE(test_config__key_alone_is_true),
    TEST_CASE(test_config__last_one_counts), TEST_CASE(test_config__wrong_lines),
    TEST_CASE(test_config__byte_order_mark), TEST_CASE(test_config__long_names), TEST_CASE(test_config__files))

/* SPDX-License-Identifier: MIT */
/* What people type over the tables of a recording: queries by name, lines of a statement, commands with a dot; and lack of memory. */
#include <sys/stat.h>

#include "../edit/recording.h"

static const char recording[] =
	"header form: file, byte_order: little\n"
	"event {name: \"cycles\", ids: [1], type: hardware, size: 128, sample_type: IDENTIFIER|IP}\n"
	"COMM pid: 7, tid: 7, comm: \"seven\"\n";

static struct pd_error error;
static struct pd_file *file;
static struct pd_sql *sql;

static bool is_text(struct pd_text *text, const char *wanted)
{
	struct pd_bytes bytes = pd_text_bytes(text);
	bool same = bytes.size == strlen(wanted) && (!bytes.size || !memcmp(bytes.data, wanted, bytes.size));

	if (!same)
		printf("# got \"%.*s\"\n", (int)bytes.size, (const char *)bytes.data);
	pd_text_clear(text);
	return same;
}

static void count_warning(void *self, const char *sentence)
{
	*(bool *)self = strcmp(sentence, "there is no '.nothing'; see .help") == 0;
}

TEST(words_that_are_statements)
{
	CHECK(pd_sql_is_statement("@top-functions") && pd_sql_is_statement("select 1") && pd_sql_is_statement("x;"));
	CHECK(pd_sql_is_statement(".schema") && pd_sql_is_statement(".tables"));
	CHECK(!pd_sql_is_statement("perf.data") && !pd_sql_is_statement(""));
}

TEST(queries_by_name)
{
	struct pd_text *text = pd_text_new();

	CHECK(text && pd_sql_ask(sql, "select 1 + 1 as two", PD_SQL_CSV, text, &error) == PD_OK);
	CHECK(is_text(text, "two\n2\n"));
	CHECK(pd_sql_ask(sql, "@top-function", PD_SQL_CSV, text, &error) == PD_ERROR_ARGUMENT);
	CHECK_STR(error.message, "there is no query '@top-function'; did you mean '@top-functions'?");
	CHECK(pd_sql_ask(sql, "@zzzzzzzzzz", PD_SQL_CSV, text, &error) == PD_ERROR_ARGUMENT);
	CHECK_STR(error.message, "there is no query '@zzzzzzzzzz'; --list has them");
	CHECK(pd_sql_ask(sql, "selec", PD_SQL_CSV, text, &error) == PD_ERROR_ARGUMENT);
	CHECK(pd_sql_ask(sql, ".tables", PD_SQL_CSV, text, &error) == PD_OK && text_has(text, "samples\n"));
	pd_text_clear(text);
	pd_sql_print_queries(text);
	CHECK(text_has(text, "@top-functions "));
	pd_text_free(text);
}

TEST(lines)
{
	bool warned = false;
	const struct pd_sql_shell_options options = { .format = PD_SQL_CSV, .warn = count_warning, .self = &warned };
	struct pd_text *text = pd_text_new();
	struct pd_sql_shell *shell;

	CHECK(text && pd_sql_shell_new(sql, &options, text, &shell, &error) == PD_OK);
	CHECK(pd_sql_shell_line(shell, "select 3", &error) == PD_OK && pd_sql_shell_waits(shell));
	CHECK(pd_sql_shell_line(shell, ".quit", &error) == PD_OK && pd_sql_shell_waits(shell));
	CHECK(pd_sql_shell_line(shell, ";", &error) == PD_ERROR_ARGUMENT && !pd_sql_shell_waits(shell));
	CHECK(pd_sql_shell_line(shell, "select 3", &error) == PD_OK && is_text(text, ""));
	CHECK(pd_sql_shell_line(shell, " as x;", &error) == PD_OK && is_text(text, "x\n3\n"));
	CHECK(pd_sql_shell_line(shell, ".schema tasks", &error) == PD_OK && text_has(text, "CREATE TABLE \"tasks\"("));
	CHECK(!text_has(text, "CREATE TABLE \"samples\"("));
	CHECK(pd_sql_shell_line(shell, ".nothing at all", &error) == PD_OK && warned);
	CHECK(pd_sql_shell_line(shell, "select 4 as y", &error) == PD_OK);
	pd_text_clear(text);
	CHECK(pd_sql_shell_end(shell, &error) == PD_OK && is_text(text, "y\n4\n"));
	CHECK(pd_sql_shell_end(shell, &error) == PD_OK && is_text(text, ""));
	CHECK(pd_sql_shell_line(shell, ".exit", &error) == PD_END);
	pd_sql_shell_free(shell);
	pd_text_free(text);
}

// What was asked is there again in the next shell.
TEST(history)
{
	char path[128];
	struct pd_text *text = pd_text_new();
	struct pd_sql_shell *shell;

	snprintf(path, sizeof(path), "%s/state/perfdata/history", folder);
	for (int turn = 0; turn < 2; turn++) {
		const struct pd_sql_shell_options options = { .format = PD_SQL_CSV };

		CHECK(text && pd_sql_shell_new(sql, &options, text, &shell, &error) == PD_OK);
		CHECK_STR(pd_sql_shell_prompt(shell), "perfdata> ");
		CHECK(pd_sql_shell_remember(shell, path, &error) == PD_OK);
		if (!turn) {
			CHECK(pd_sql_shell_line(shell, "!!", &error) == PD_ERROR_ARGUMENT);
			CHECK(pd_sql_shell_line(shell, "select 7", &error) == PD_OK);
			CHECK_STR(pd_sql_shell_prompt(shell), "   ...> ");
			CHECK(pd_sql_shell_line(shell, " as x;", &error) == PD_OK && is_text(text, "x\n7\n"));
			CHECK(pd_sql_shell_line(shell, "nonsense;", &error) == PD_ERROR_ARGUMENT);
			CHECK(pd_sql_shell_line(shell, "nonsense;", &error) == PD_ERROR_ARGUMENT);
		}
		pd_text_clear(text);
		CHECK(pd_sql_shell_line(shell, ".history", &error) == PD_OK);
		CHECK(is_text(text, "    1  select 7  as x;\n    2  nonsense;\n"));
		CHECK(pd_sql_shell_line(shell, "!3", &error) == PD_ERROR_ARGUMENT);
		CHECK_STR(error.message, "no statement '!3'; see .history");
		CHECK(pd_sql_shell_line(shell, "!0", &error) == PD_ERROR_ARGUMENT);
		CHECK(pd_sql_shell_line(shell, "!x", &error) == PD_ERROR_ARGUMENT);
		if (turn)
			CHECK(pd_sql_shell_line(shell, "!1", &error) == PD_OK &&
			      is_text(text, "select 7  as x;\nx\n7\n"));
		pd_sql_shell_free(shell);
	}
	CHECK(pd_sql_shell_new(sql, NULL, text, &shell, &error) == PD_OK);
	CHECK(pd_sql_shell_remember(shell, folder, &error) == PD_ERROR_SYSTEM);
	CHECK(pd_sql_shell_remember(shell, "/dev/null/x", &error) == PD_ERROR_SYSTEM);
	pd_sql_shell_free(shell);
	pd_text_free(text);
	pd_remove_tree(folder);
	CHECK(mkdir(folder, 0700) == 0);
}

TEST(without_memory)
{
	struct pd_text *text = pd_text_new();

	CHECK(text);
	for (long n = 0;; n++) {
		struct pd_sql_shell *shell = NULL;
		enum pd_status status;

		left = n;
		has_failed = false;
		status = pd_sql_shell_new(sql, NULL, text, &shell, &error);
		if (status == PD_OK)
			status = pd_sql_shell_line(shell, "create", &error);
		left = -1;
		pd_sql_shell_free(shell);
		CHECK(status == (has_failed ? PD_ERROR_MEMORY : PD_OK));
		if (!has_failed)
			break;
	}
	pd_text_free(text);
}

TEST(start)
{
	CHECK(mkdtemp(folder));
	file = open_text(recording);
	CHECK(file && pd_sql_new(&file, 1, NULL, &sql, &error) == PD_OK);
}

TEST(end)
{
	pd_sql_free(sql);
	pd_file_close(file);
	CHECK(rmdir(folder) == 0);
}

RUN(TEST_CASE(start), TEST_CASE(words_that_are_statements), TEST_CASE(queries_by_name), TEST_CASE(lines),
    TEST_CASE(history), TEST_CASE(without_memory), TEST_CASE(end))

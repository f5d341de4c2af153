/* SPDX-License-Identifier: MIT */
/*
 * What people type: statements, queries by name, and the commands of a shell that begin with a dot. Lines come from the caller, who has
 * the terminal.
 */
#include "sql/history.h"
#include "sql/sql.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/text/text.h"

#include <perfdata/base.h>

struct pd_sql_shell {
	struct pd_sql *sql;
	struct pd_text *text;
	enum pd_sql_format format;
	pd_warn_fn *warn;
	void *self;
	struct pd_text statement; // that has begun
	struct pd_sql_history history;
};

// ---- one statement ----

bool pd_sql_is_statement(const char *word)
{
	return *word == '@' || strpbrk(word, " \t\n;") != NULL || !strcmp(word, ".schema") || !strcmp(word, ".tables");
}

static enum pd_status find_query(const char *name, struct pd_sql_query *query_out, struct pd_error *error)
{
	struct pd_nearest nearest = { .word = name };

	for (size_t i = 0; pd_sql_query_at(i, query_out); i++) {
		if (strcmp(query_out->name, name) == 0)
			return PD_OK;
		pd_nearest_try(&nearest, query_out->name);
	}
	if (nearest.best)
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "there is no query '@%s'; did you mean '@%s'?",
			       name, nearest.best);
	return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "there is no query '@%s'; --list has them", name);
}

static enum pd_status run_query(struct pd_sql *sql, const char *name, enum pd_sql_format format, struct pd_text *text,
				struct pd_error *error)
{
	struct pd_sql_query query;
	struct pd_error own;
	enum pd_status status = find_query(name, &query, error);

	if (status < 0)
		return status;
	status = pd_sql_run(sql, query.text, format, text, &own);
	if (status == PD_ERROR_ARGUMENT && query.needs)
		return pd_fail(error, status, PD_NO_OFFSET, "%s (@%s needs the tracepoints %s)", own.message,
			       query.name, query.needs);
	if (status < 0 && error)
		*error = own;
	return status;
}

enum pd_status pd_sql_ask(struct pd_sql *sql, const char *statement, enum pd_sql_format format, struct pd_text *text,
			  struct pd_error *error)
{
	if (strcmp(statement, ".tables") == 0) {
		pd_sql_print_tables(sql, text);
		return PD_OK;
	}
	if (strcmp(statement, ".schema") == 0) {
		pd_sql_print_schema(sql, NULL, text);
		return PD_OK;
	}
	return *statement == '@' ? run_query(sql, statement + 1, format, text, error) :
				   pd_sql_run(sql, statement, format, text, error);
}

void pd_sql_print_queries(struct pd_text *text)
{
	struct pd_sql_query query;

	for (size_t i = 0; pd_sql_query_at(i, &query); i++)
		pd_text_printf(text, "@%-20s %s%s%s%s\n", query.name, query.doc, query.needs ? " (" : "",
			       query.needs ? query.needs : "", query.needs ? ")" : "");
}

// ---- lines ----

enum pd_status pd_sql_shell_new(struct pd_sql *sql, const struct pd_sql_shell_options *options, struct pd_text *text,
				struct pd_sql_shell **shell_out, struct pd_error *error)
{
	struct pd_sql_shell *shell = pd_alloc(sizeof(*shell));

	if (!shell)
		return pd_fail_memory(error);
	*shell = (struct pd_sql_shell){ .sql = sql, .text = text };
	shell->history.fd = -1;
	if (options) {
		shell->format = options->format;
		shell->warn = options->warn;
		shell->self = options->self;
	}
	*shell_out = shell;
	return PD_OK;
}

void pd_sql_shell_free(struct pd_sql_shell *shell)
{
	if (!shell)
		return;
	pd_sql_history_close(&shell->history);
	pd_free(shell->statement.data);
	pd_free(shell);
}

bool pd_sql_shell_waits(const struct pd_sql_shell *shell)
{
	return shell->statement.size != 0;
}

const char *pd_sql_shell_prompt(const struct pd_sql_shell *shell)
{
	return shell->statement.size ? "   ...> " : "perfdata> ";
}

enum pd_status pd_sql_shell_remember(struct pd_sql_shell *shell, const char *path, struct pd_error *error)
{
	pd_sql_history_close(&shell->history);
	shell->history.lines = (struct pd_text){ 0 };
	return pd_sql_history_open(&shell->history, path) ? PD_OK : pd_fail_system(error, errno, "history in %s", path);
}

static void warn_of_command(const struct pd_sql_shell *shell, const char *name, size_t length)
{
	char sentence[128];

	snprintf(sentence, sizeof(sentence), "there is no '%.*s'; see .help", (int)(length < 64 ? length : 64), name);
	if (shell->warn)
		shell->warn(shell->self, sentence);
}

static bool is_word(const char *line, size_t length, const char *word)
{
	return strlen(word) == length && memcmp(line, word, length) == 0;
}

// A line that begins with a dot; PD_END ends the shell.
static enum pd_status run_dot(struct pd_sql_shell *shell, const char *line)
{
	size_t length = strcspn(line, " \t");
	const char *rest = line + length + strspn(line + length, " \t");

	if (is_word(line, length, ".quit") || is_word(line, length, ".exit"))
		return PD_END;
	if (is_word(line, length, ".tables"))
		pd_sql_print_tables(shell->sql, shell->text);
	else if (is_word(line, length, ".schema"))
		pd_sql_print_schema(shell->sql, *rest ? rest : NULL, shell->text);
	else if (is_word(line, length, ".queries"))
		pd_sql_print_queries(shell->text);
	else if (is_word(line, length, ".history"))
		pd_sql_history_print(&shell->history, shell->text);
	else if (is_word(line, length, ".help"))
		PD_TEXT_LITERAL(
			shell->text,
			".tables  .schema [TABLE]  .queries  .history  .quit  @QUERY  !NUMBER or !! (again)  or statements that end with ;\n");
	else
		warn_of_command(shell, line, length);
	return PD_OK;
}

// What was collected, with a NUL at its end.
static enum pd_status run_collected(struct pd_sql_shell *shell, struct pd_error *error)
{
	enum pd_status status = pd_sql_ask(shell->sql, shell->statement.data, shell->format, shell->text, error);

	pd_sql_history_add(&shell->history, shell->statement.data);
	pd_text_clear(&shell->statement);
	return status;
}

// "!12", or "!!" for the last one.
static enum pd_status run_again(struct pd_sql_shell *shell, const char *number, struct pd_error *error)
{
	uint64_t value = 0;
	bool is_known = !strcmp(number, "!") || (pd_number_parse(number, &value) && value);
	char *statement = is_known ? pd_sql_history_find(&shell->history, (size_t)value) : NULL;
	enum pd_status status;

	if (!statement)
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "no statement '!%s'; see .history", number);
	pd_text_printf(shell->text, "%s\n", statement);
	pd_sql_history_add(&shell->history, statement);
	status = pd_sql_ask(shell->sql, statement, shell->format, shell->text, error);
	pd_free(statement);
	return status;
}

enum pd_status pd_sql_shell_line(struct pd_sql_shell *shell, const char *line, struct pd_error *error)
{
	struct pd_text *statement = &shell->statement;

	if (!statement->size && *line == '.')
		return run_dot(shell, line);
	if (!statement->size && *line == '!')
		return run_again(shell, line + 1, error);
	if (!statement->size && *line == '@') {
		pd_sql_history_add(&shell->history, line);
		return pd_sql_ask(shell->sql, line, shell->format, shell->text, error);
	}
	pd_text_put(statement, line, strlen(line));
	// the NUL is not part of it until all of it is there
	pd_text_put(statement, "\n", sizeof("\n"));
	if (statement->failed)
		return pd_fail_memory(error);
	statement->size--;
	return pd_sql_is_complete(statement->data) ? run_collected(shell, error) : PD_OK;
}

enum pd_status pd_sql_shell_end(struct pd_sql_shell *shell, struct pd_error *error)
{
	return shell->statement.size ? run_collected(shell, error) : PD_OK;
}

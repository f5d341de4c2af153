/* SPDX-License-Identifier: MIT */
/*
 * perfdata sql: questions about recordings in SQL, one after another or as given.
 */
#include "files/analysis.h"
#include "files/outfile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct values {
	struct input_options input;
	struct pd_select_options select;
	struct symbol_options symbols;
	const char *format, *output, *unwind;
	bool list, manual;
};

static const struct option options[] = {
	STRING("format", 0, "column|csv|json", format,
	       "how rows are printed; json is one object per line (default: column)"),
	STRING("output", 'o', "FILE", output, "write all tables to FILE, a plain SQLite database"),
	FLAG("list", 'l', list, "list the queries that go by a name"),
	FLAG("manual", 0, manual, "print the tables with their columns, and the queries, as a page in Markdown"),
	GROUP(unwind_option, unwind),
	GROUP(select_group, select),
	GROUP(symbol_group, symbols),
	GROUP(waiting_group, input),
	GROUP(input_group, input),
	{ 0 },
};

static const struct example examples[] = {
	{ "perfdata sql perf.data @top-functions", "a query that is there already; --list has all of them" },
	{ "perfdata sql perf.data 'select comm, count(*) from samples group by comm'", "samples of each thread name" },
	{ "perfdata sql *.data 'select file, sum(lost) from losses group by file'", "what was lost, by recording" },
	{ "perfdata sql --format csv perf.data 'select * from tasks' > tasks.csv", "a table for other programs" },
	{ "perfdata sql perf.data", "a shell: .tables, .schema TABLE, statements" },
	{ "perfdata sql -o perf.db perf.data", "all tables, for sqlite3 and others" },
	{ 0 },
};

/* One of the files. */
struct table_input {
	struct input input;
	struct pd_select *select;
	struct pd_symbols *symbols;
	const struct values *values;
};

struct session {
	const struct values *values;
	const struct call *call;
	struct table_input *inputs;
	size_t count;
	struct pd_sql *sql;
	enum pd_sql_format format;
};

/* ---- what the library asks ---- */

static enum pd_choice choose_sample(const void *self, const struct pd_candidate *candidate)
{
	const struct table_input *input = self;

	return pd_select_choose(input->select, candidate);
}

static enum pd_status get_ready(void *self, struct pd_window *window, struct pd_error *error)
{
	struct table_input *input = self;

	return pd_select_ready(input->select, input->input.file, window, error);
}

static struct pd_symbols *open_symbols(void *self, const struct pd_state *state)
{
	struct table_input *input = self;

	input->symbols = symbols_open(&input->values->symbols, input->input.file, state, false);
	return input->symbols;
}

/* ---- files ---- */

static int open_inputs(struct session *session, size_t words)
{
	struct input_options from = session->values->input;
	size_t count = words ? words : 1;
	int code = CODE_OK;

	session->inputs = calloc(count, sizeof(*session->inputs));
	if (!session->inputs)
		return print_failure(CODE_UNREADABLE, "out of memory");
	from.keep = true;
	for (size_t i = 0; code == CODE_OK && i < count; i++) {
		struct table_input *one = &session->inputs[i];
		struct call call = *session->call;

		call.words += i;
		call.word_count = words ? 1 : 0;
		one->values = session->values;
		if (!select_take(&one->select, &session->values->select))
			return CODE_USAGE;
		session->count++;
		code = input_open(&one->input, &from, &call, NULL, NULL);
	}
	return code;
}

static int close_inputs(struct session *session, int code)
{
	pd_sql_free(session->sql);
	for (size_t i = 0; i < session->count; i++) {
		pd_symbols_free(session->inputs[i].symbols);
		pd_select_free(session->inputs[i].select);
		if (session->inputs[i].input.file)
			code = input_close(&session->inputs[i].input, code);
	}
	free(session->inputs);
	return code;
}

static int open_tables(struct session *session)
{
	const struct pd_select_options *select = &session->values->select;
	bool takes_all = !select->comms && !select->comm && !select->pid && !select->tid && !select->cpu &&
			 !select->event && !select->where && !select->time && !select->socket;
	struct pd_sql_options how = { .size = sizeof(how), .self_stride = sizeof(*session->inputs) };
	struct pd_file **files = calloc(session->count, sizeof(struct pd_file *));
	struct pd_error error;
	enum pd_status status;

	if (!files || !unwind_parse(session->values->unwind, &how.tables.no_unwind)) {
		free(files);
		return CODE_USAGE;
	}
	how.tables.choose = takes_all ? NULL : choose_sample;
	how.tables.ready = get_ready;
	how.tables.symbols = open_symbols;
	how.tables.self = session->inputs;
	for (size_t i = 0; i < session->count; i++)
		files[i] = session->inputs[i].input.file;
	status = pd_sql_new(files, session->count, &how, &session->sql, &error);
	free(files);
	return code_with_error(status, &error);
}

/* ---- statements ---- */

static bool find_query(const char *name, struct pd_sql_query *query_out)
{
	struct pd_nearest nearest = { .word = name };

	for (size_t i = 0; pd_sql_query_at(i, query_out); i++) {
		if (strcmp(query_out->name, name) == 0)
			return true;
		pd_nearest_try(&nearest, query_out->name);
	}
	if (nearest.best)
		print_error("there is no query '@%s'; did you mean '@%s'?", name, nearest.best);
	else
		print_error("there is no query '@%s'; --list has them", name);
	return false;
}

static int run_statement(struct session *session, const char *text)
{
	struct pd_sql_query query;
	struct pd_error error;
	enum pd_status status;

	if (strcmp(text, ".tables") == 0 || strcmp(text, ".schema") == 0) {
		if (text[1] == 't')
			pd_sql_print_tables(session->sql, session->call->out->text);
		else
			pd_sql_print_schema(session->sql, NULL, session->call->out->text);
		return CODE_OK;
	}
	if (*text == '@' && !find_query(text + 1, &query))
		return CODE_USAGE;
	status = pd_sql_run(session->sql, *text == '@' ? query.text : text, session->format, session->call->out->text,
			    &error);
	if (status == PD_ERROR_OUTPUT)
		return CODE_OK;
	if (status != PD_ERROR_ARGUMENT)
		return code_with_error(status, &error);
	if (*text == '@' && query.needs)
		print_error("%s (@%s needs the tracepoints %s)", error.message, query.name, query.needs);
	else
		print_error("%s", error.message);
	return CODE_USAGE;
}

/* ---- the shell ---- */

static void list_queries(struct output *out)
{
	struct pd_sql_query query;

	for (size_t i = 0; pd_sql_query_at(i, &query); i++)
		pd_text_printf(out->text, "@%-20s %s%s%s%s\n", query.name, query.doc, query.needs ? " (" : "",
			       query.needs ? query.needs : "", query.needs ? ")" : "");
}

/* A line that begins with a dot; false ends the shell. */
static bool run_dot(struct session *session, char *line)
{
	struct pd_text *text = session->call->out->text;
	char *rest = line + strcspn(line, " \t");

	if (*rest)
		*rest++ = 0;
	rest += strspn(rest, " \t");
	if (strcmp(line, ".quit") == 0 || strcmp(line, ".exit") == 0)
		return false;
	if (strcmp(line, ".tables") == 0)
		pd_sql_print_tables(session->sql, text);
	else if (strcmp(line, ".schema") == 0)
		pd_sql_print_schema(session->sql, *rest ? rest : NULL, text);
	else if (strcmp(line, ".queries") == 0)
		list_queries(session->call->out);
	else if (strcmp(line, ".help") == 0)
		pd_text_add(text, ".tables  .schema [TABLE]  .queries  .quit  @QUERY  or statements that end with ;\n");
	else
		print_error("there is no '%s'; see .help", line);
	return true;
}

static void prompt(bool interactive, const struct pd_text *statement)
{
	if (!interactive)
		return;
	fputs(pd_text_bytes(statement).size ? "   ...> " : "perfdata> ", stdout);
	fflush(stdout);
}

/* Returns the code of the first statement that failed, unless somebody is there to see it. */
static int run_line(struct session *session, char *line, struct pd_text *statement)
{
	int code = CODE_OK;

	if (!pd_text_bytes(statement).size && *line == '@')
		return run_statement(session, line);
	pd_text_printf(statement, "%s\n%c", line, 0);
	if (pd_text_failed(statement))
		return print_failure(CODE_UNREADABLE, "out of memory");
	if (pd_sql_is_complete((const char *)pd_text_bytes(statement).data)) {
		code = run_statement(session, (const char *)pd_text_bytes(statement).data);
		pd_text_clear(statement);
	} else {
		/* without the NUL at its end */
		char *before = strdup((const char *)pd_text_bytes(statement).data);

		pd_text_clear(statement);
		pd_text_add(statement, before ? before : "");
		free(before);
	}
	return code;
}

static int run_shell(struct session *session)
{
	bool interactive = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
	struct pd_text *statement = pd_text_new();
	char *line = NULL;
	size_t capacity = 0;
	ssize_t size;
	int code = CODE_OK;

	for (bool more = statement != NULL; more;) {
		prompt(interactive, statement);
		size = getline(&line, &capacity, stdin);
		if (size < 0)
			break;
		line[size - (size && line[size - 1] == '\n')] = 0;
		if (*line == '.' && !pd_text_bytes(statement).size)
			more = run_dot(session, line);
		else
			code = run_line(session, line, statement);
		more = more && output_flush(session->call->out) && (interactive || code == CODE_OK);
	}
	if (code == CODE_OK && statement && pd_text_bytes(statement).size) {
		pd_text_printf(statement, "%c", 0);
		code = run_statement(session, (const char *)pd_text_bytes(statement).data);
	}
	pd_text_free(statement);
	free(line);
	return interactive ? CODE_OK : code;
}

/* ---- all of it ---- */

static int save(struct session *session)
{
	struct outfile file;
	struct pd_error error;
	int code = outfile_open(&file, session->values->output, session->call->out, session->inputs[0].input.name);

	if (code != CODE_OK)
		return code;
	code = code_with_error(pd_sql_save(session->sql, file.temporary ? file.temporary : file.path, &error), &error);
	return outfile_close(&file, code);
}

/* What is no name of a file: the last word may be a statement. */
static bool is_statement(const char *word)
{
	return *word == '@' || strpbrk(word, " \t\n;") != NULL || !strcmp(word, ".schema") || !strcmp(word, ".tables");
}

static int run_sql(const struct call *call)
{
	static const struct option_word formats[] = {
		{ "column", PD_SQL_COLUMNS }, { "csv", PD_SQL_CSV }, { "json", PD_SQL_JSONL }, { NULL, 0 }
	};
	const struct values *values = call->values;
	struct session session = { .values = values, .call = call };
	size_t words = call->word_count;
	const char *statement = words && is_statement(call->words[words - 1]) ? call->words[words - 1] : NULL;
	int format = PD_SQL_COLUMNS, code;

	if (!option_word_find("format", formats, values->format, &format))
		return CODE_USAGE;
	session.format = (enum pd_sql_format)format;
	if (values->list)
		list_queries(call->out);
	if (values->manual)
		pd_sql_print_manual(call->out->text);
	if (values->list || values->manual)
		return CODE_OK;
	code = open_inputs(&session, words - (statement != NULL));
	if (code == CODE_OK)
		code = open_tables(&session);
	if (code == CODE_OK && values->output)
		code = save(&session);
	if (code == CODE_OK && statement)
		code = run_statement(&session, statement);
	else if (code == CODE_OK && !values->output)
		code = run_shell(&session);
	return close_inputs(&session, code);
}

const struct command cmd_sql = {
	.usage = "[OPTION]... FILE... [STATEMENT | @QUERY]",
	.text = "Ask questions about recordings in SQL. Each FILE is read as tables: samples, records, stacks, frames, maps, tasks, events, "
		"features, counts, losses, and one for each tracepoint, such as \"sched:sched_switch\", with its fields. Several FILEs are one: "
		"each table has a column file.\n"
		"\n"
		"Conditions on time_ns, event, pid, tid, cpu and the type of records narrow what is read. Functions: symbol(ip, pid, time_ns), "
		"object(the same), stack_text(stack), wall_clock(time_ns), address(number). Unsigned numbers above 2^63 are negative in SQL.\n"
		"\n"
		"The last argument is a STATEMENT if it has a blank or a semicolon, and a QUERY of --list if it begins with @. Without one, "
		"statements are read from standard input. Statements open and write no file.",
	OWN_TABLES,
	.usual = "format output list input time comms event",
	.max_words = (size_t)-1,
	.run = run_sql,
};
